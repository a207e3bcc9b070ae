/* SPDX-License-Identifier: Apache-2.0 */
/* Routes as rtnetlink describes them: RTM_NEWROUTE messages into routes[]. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

#include "nlattr.h"
#include "probe_parts.h"

/* The names of /etc/iproute2/rt_protos. */
static const struct {
	int protocol;
	const char *name;
} protocols[] = {
	{RTPROT_REDIRECT, "redirect"},
	{RTPROT_KERNEL, "kernel"},
	{RTPROT_BOOT, "boot"},
	{RTPROT_STATIC, "static"},
	{RTPROT_RA, "ra"},
	{RTPROT_ZEBRA, "zebra"},
	{RTPROT_BIRD, "bird"},
	{RTPROT_DHCP, "dhcp"},
	{RTPROT_BGP, "bgp"},
	{RTPROT_KEEPALIVED, "keepalived"},
	{RTPROT_ISIS, "isis"},
	{RTPROT_OSPF, "ospf"},
};

static char *protocol_text(struct nca_pool *pool, int protocol)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (protocols[i].protocol == protocol)
			return nca_pool_strdup(pool, protocols[i].name);
	return nca_pool_printf(pool, "%d", protocol);
}

/* Global is the rule and left out, as ip(8) does. */
static char *scope_text(struct nca_pool *pool, int scope)
{
	if (scope == RT_SCOPE_LINK)
		return nca_pool_strdup(pool, "link");
	return scope == RT_SCOPE_HOST ? nca_pool_strdup(pool, "host") : NULL;
}

static char *table_text(struct nca_pool *pool, unsigned int table)
{
	return table == RT_TABLE_MAIN ? nca_pool_strdup(pool, "main")
				      : nca_pool_printf(pool, "%u", table);
}

static char *dst_text(struct nca_pool *pool, const struct rtmsg *rtm, const struct nlattr *dst)
{
	static const unsigned char zeros[16];
	char text[INET6_ADDRSTRLEN];
	const void *bytes = zeros;

	if (rtm->rtm_dst_len == 0)
		return nca_pool_strdup(pool, "default");
	if (nca_nlattr_has(dst, rtm->rtm_family == AF_INET ? 4 : 16))
		bytes = mnl_attr_get_payload(dst);
	if (!inet_ntop(rtm->rtm_family, bytes, text, sizeof(text)))
		return NULL;
	return nca_pool_printf(pool, "%s/%d", text, rtm->rtm_dst_len);
}

/* RTA_VIA: a gateway of the other family, as of IPv4 routes over IPv6 next hops. */
static char *gateway_text(struct nca_pool *pool, int family, const struct nlattr **tb)
{
	const struct rtvia *via;
	char text[INET6_ADDRSTRLEN];
	size_t need;

	if (tb[RTA_GATEWAY])
		return nca_addr_text(pool, family, tb[RTA_GATEWAY]);
	if (!nca_nlattr_has(tb[RTA_VIA], sizeof(*via)))
		return NULL;
	via = mnl_attr_get_payload(tb[RTA_VIA]);
	need = via->rtvia_family == AF_INET ? 4 : 16;
	if (!nca_nlattr_has(tb[RTA_VIA], sizeof(*via) + need) ||
	    !inet_ntop(via->rtvia_family, via->rtvia_addr, text, sizeof(text)))
		return NULL;
	return nca_pool_strdup(pool, text);
}

static char *dev_name(const struct nca_probe *p, int ifindex)
{
	const struct nca_link *l = nca_probe_link(p, ifindex);

	return l ? l->name : NULL;
}

static int add_nexthop(const struct nca_probe *p, struct nca_route *r, int family,
		       const struct rtnexthop *nh)
{
	const struct nlattr *tb[RTA_MAX + 1] = {0}, *a;
	const char *end = (const char *)nh + nh->rtnh_len;
	struct nca_nexthop *hop = NCA_APPEND(p->pool, r->nexthops);

	if (!hop)
		return -ENOMEM;
	for (a = (const void *)RTNH_DATA(nh); mnl_attr_ok(a, (int)(end - (const char *)a));
	     a = mnl_attr_next(a))
		nca_nlattr_put(a, tb, ARRAY_SIZE(tb));
	hop->via = gateway_text(p->pool, family, tb);
	hop->dev = dev_name(p, nh->rtnh_ifindex);
	return 0;
}

static int set_nexthops(const struct nca_probe *p, struct nca_route *r, int family,
			const struct nlattr *list)
{
	int rc = 0, left = list ? mnl_attr_get_payload_len(list) : 0;
	const struct rtnexthop *nh = list ? mnl_attr_get_payload(list) : NULL;

	while (!rc && left >= (int)sizeof(*nh) && nh->rtnh_len >= sizeof(*nh) &&
	       nh->rtnh_len <= left) {
		rc = add_nexthop(p, r, family, nh);
		left -= RTNH_ALIGN(nh->rtnh_len);
		nh = RTNH_NEXT(nh);
	}
	return rc;
}

/* A kernel that knows no filter also sends the routes of the other kinds, and of all families where
 * it has no IPv6. */
static bool is_wanted(const struct rtmsg *rtm, unsigned int table, int family)
{
	return rtm->rtm_family == family && rtm->rtm_type == RTN_UNICAST &&
	       !(rtm->rtm_flags & RTM_F_CLONED) && table != RT_TABLE_LOCAL;
}

static int parse_route(const struct nca_probe *p, const struct nlmsghdr *nlh, int family)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *tb[RTA_MAX + 1];
	struct nca_pool *pool = p->pool;
	unsigned int table;
	struct nca_route *r;

	nca_nlattr_index(nlh, sizeof(*rtm), tb, ARRAY_SIZE(tb));
	table = nca_nlattr_has(tb[RTA_TABLE], 4) ? mnl_attr_get_u32(tb[RTA_TABLE]) : rtm->rtm_table;
	if (!is_wanted(rtm, table, family))
		return 0;
	r = NCA_APPEND(pool, p->node->routes);
	if (!r)
		return -ENOMEM;
	nca_schema_init(&nca_route_shape, r);
	r->family = nca_pool_strdup(pool, family == AF_INET ? "inet" : "inet6");
	r->dst = dst_text(pool, rtm, tb[RTA_DST]);
	r->dev = dev_name(p, nca_nlattr_u32(tb[RTA_OIF]));
	r->table = table_text(pool, table);
	r->gateway = gateway_text(pool, family, tb);
	r->metric = nca_nlattr_u32(tb[RTA_PRIORITY]);
	r->prefsrc = nca_addr_text(pool, family, tb[RTA_PREFSRC]);
	r->scope = scope_text(pool, rtm->rtm_scope);
	r->protocol = protocol_text(pool, rtm->rtm_protocol);
	if (!r->family || !r->dst)
		return -ENOMEM;
	return set_nexthops(p, r, family, tb[RTA_MULTIPATH]);
}

int nca_routes_parse(const struct nca_probe *p, const struct nca_dump *routes, int family)
{
	const struct nlmsghdr *nlh;
	int left, rc = 0;

	NCA_NLMSG_FOREACH(nlh, left, routes)
	{
		if (!rc && nca_nlmsg_is(nlh, RTM_NEWROUTE, sizeof(struct rtmsg)))
			rc = parse_route(p, nlh, family);
	}
	return rc;
}
