/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose MAC the kernel has found for a partner's address.
 *
 * A partner behind a gateway has no entry: then nothing is known of its MAC, only of the gateway's.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>

#include <nca/addr.h>

#include "nlattr.h"
#include "pinger_parts.h"
#include "rtnl.h"

static bool is_of(const struct nlattr *dst, int family, const struct nca_ip *ip)
{
	size_t bytes = (size_t)nca_ip_bits(ip) / 8;

	return family == (ip->family == 4 ? AF_INET : AF_INET6) && nca_nlattr_has(dst, bytes) &&
	       memcmp(mnl_attr_get_payload(dst), ip->byte, bytes) == 0;
}

static char *mac_text(struct nca_pool *pool, const struct nlattr *a)
{
	const unsigned char *m;

	if (!nca_nlattr_has(a, ETHER_ADDR_LEN))
		return NULL;
	m = mnl_attr_get_payload(a);
	return nca_pool_printf(pool, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
			       m[5]);
}

char *nca_neighbour_find(const struct nca_dump *dump, int ifindex, const struct nca_ip *ip,
			 struct nca_pool *pool)
{
	const struct nlattr *tb[NDA_MAX + 1];
	const struct nlmsghdr *nlh;
	int left;

	NCA_NLMSG_FOREACH(nlh, left, dump)
	{
		const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);

		if (!nca_nlmsg_is(nlh, RTM_NEWNEIGH, sizeof(*ndm)) || ndm->ndm_ifindex != ifindex)
			continue;
		nca_nlattr_index(nlh, sizeof(*ndm), tb, ARRAY_SIZE(tb));
		if (is_of(tb[NDA_DST], ndm->ndm_family, ip) && tb[NDA_LLADDR])
			return mac_text(pool, tb[NDA_LLADDR]);
	}
	return NULL;
}

static bool is_resolved(const struct nca_pinger_partner *t)
{
	return t->port->roce && !t->error;
}

static char *find(const struct nca_pinger *p, const struct nca_pinger_partner *t,
		  const struct nca_dump *dump, struct nca_pool *pool)
{
	struct nca_ip ip;
	int ifindex = t->port->ndev ? nca_sysroot_int(p->root_fd, "sys/class/net/%s/ifindex",
						      t->port->ndev)
				    : -1;

	return ifindex < 0 || nca_ip_parse_gid(t->gid_text, &ip)
		       ? NULL
		       : nca_neighbour_find(dump, ifindex, &ip, pool);
}

int nca_pinger_neighbours(const struct nca_pinger *p, struct nca_pool *pool,
			  struct nca_linked *answer)
{
	struct nca_dump dump = {0};
	bool any = false;
	size_t i;
	int rc;

	for (i = 0; i < p->partners.n; i++)
		any |= is_resolved(&p->partners.v[i]);
	if (!any)
		return 0;
	rc = nca_rtnl_dump(RTM_GETNEIGH, AF_UNSPEC, pool, &dump);
	for (i = 0; !rc && i < p->partners.n; i++)
		if (is_resolved(&p->partners.v[i]))
			answer->partners.v[i].mac = find(p, &p->partners.v[i], &dump, pool);
	return rc == -ENOMEM ? rc : 0;
}
