/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as rtnetlink describes them: RTM_NEWADDR messages into interfaces[].addresses[]. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "nlattr.h"
#include "probe_parts.h"

static const char *scope_name(unsigned char scope)
{
	switch (scope) {
	case RT_SCOPE_UNIVERSE:
	case RT_SCOPE_SITE:
		return "global";
	case RT_SCOPE_LINK:
		return "link";
	case RT_SCOPE_HOST:
		return "host";
	default:
		return NULL;
	}
}

/* Nothing can be bound to an address whose duplicate check is open or failed, and nothing new
 * should use a deprecated one. */
static bool is_usable(const struct ifaddrmsg *ifa, const struct nlattr *long_flags)
{
	unsigned int flags = ifa->ifa_flags;

	if (nca_nlattr_has(long_flags, sizeof(uint32_t)))
		flags = mnl_attr_get_u32(long_flags);
	if (flags & (IFA_F_DADFAILED | IFA_F_DEPRECATED))
		return false;
	return !(flags & IFA_F_TENTATIVE) || flags & IFA_F_OPTIMISTIC;
}

char *nca_addr_text(struct nca_pool *pool, int family, const struct nlattr *a)
{
	char text[INET6_ADDRSTRLEN];

	if (!nca_nlattr_has(a, family == AF_INET ? 4 : 16))
		return NULL;
	if (!inet_ntop(family, mnl_attr_get_payload(a), text, sizeof(text)))
		return NULL;
	return nca_pool_strdup(pool, text);
}

static int parse_addr(const struct nca_probe *p, const struct nlmsghdr *nlh)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	struct nca_link *l = nca_probe_link(p, (int)ifa->ifa_index);
	const struct nlattr *tb[IFA_MAX + 1];
	struct nca_addr *addr;
	char *text;

	if (!l || (ifa->ifa_family != AF_INET && ifa->ifa_family != AF_INET6))
		return 0;
	nca_nlattr_index(nlh, sizeof(*ifa), tb, ARRAY_SIZE(tb));
	if (!is_usable(ifa, tb[IFA_FLAGS]))
		return 0;
	/* On a point-to-point link IFA_ADDRESS is the peer's. */
	text = nca_addr_text(p->pool, ifa->ifa_family,
			     tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS]);
	addr = text ? NCA_APPEND(p->pool, l->addresses) : NULL;
	if (!addr)
		return text ? -ENOMEM : 0;
	addr->family = nca_pool_strdup(p->pool, ifa->ifa_family == AF_INET ? "inet" : "inet6");
	addr->addr = text;
	addr->prefixlen = ifa->ifa_prefixlen;
	addr->scope = nca_pool_strdup(p->pool, scope_name(ifa->ifa_scope));
	return addr->family ? 0 : -ENOMEM;
}

int nca_addrs_parse(const struct nca_probe *p, const struct nca_dump *addrs)
{
	const struct nlmsghdr *nlh;
	int left, rc = 0;

	NCA_NLMSG_FOREACH(nlh, left, addrs)
	{
		if (!rc && nca_nlmsg_is(nlh, RTM_NEWADDR, sizeof(struct ifaddrmsg)))
			rc = parse_addr(p, nlh);
	}
	return rc;
}
