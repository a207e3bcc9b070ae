/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces as rtnetlink describes them: RTM_NEWLINK messages into interfaces[]. */
#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

#include "link_kind.h"
#include "nlattr.h"

typedef NCA_LIST(struct nca_link_parents) parents;

/* In the order in which ip(8) prints them; NO-CARRIER comes first. ip leaves RUNNING out. */
static const struct {
	unsigned int flag;
	const char *name;
} flag_names[] = {
	{IFF_LOOPBACK, "LOOPBACK"},
	{IFF_BROADCAST, "BROADCAST"},
	{IFF_POINTOPOINT, "POINTOPOINT"},
	{IFF_MULTICAST, "MULTICAST"},
	{IFF_NOARP, "NOARP"},
	{IFF_ALLMULTI, "ALLMULTI"},
	{IFF_PROMISC, "PROMISC"},
	{IFF_MASTER, "MASTER"},
	{IFF_SLAVE, "SLAVE"},
	{IFF_UP, "UP"},
	{IFF_RUNNING, "RUNNING"},
	{IFF_LOWER_UP, "LOWER_UP"},
	{IFF_DORMANT, "DORMANT"},
};

static const char *const operstates[] = {
	"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up",
};

static int set_flags(struct nca_pool *pool, struct nca_link *l, unsigned int flags)
{
	char **name;
	size_t i;

	l->flags.v = nca_pool_alloc(pool, (ARRAY_SIZE(flag_names) + 1) * sizeof(*l->flags.v));
	if (!l->flags.v)
		return -ENOMEM;
	name = l->flags.v;
	if (flags & IFF_UP && !(flags & IFF_RUNNING))
		*name++ = nca_pool_strdup(pool, "NO-CARRIER");
	for (i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (flags & flag_names[i].flag)
			*name++ = nca_pool_strdup(pool, flag_names[i].name);
	l->flags.n = (size_t)(name - l->flags.v);
	return 0;
}

static char *mac_text(struct nca_pool *pool, const struct nlattr *a)
{
	size_t i, n = a ? mnl_attr_get_payload_len(a) : 0;
	const unsigned char *mac = n ? mnl_attr_get_payload(a) : NULL;
	char text[3 * 32];

	if (n == 0 || n > sizeof(text) / 3)
		return NULL;
	for (i = 0; i < n; i++)
		sprintf(text + 3 * i, "%02x%s", mac[i], i + 1 < n ? ":" : "");
	return nca_pool_strdup(pool, text);
}

/* A bond gives its slaves one address; their own is in the slave's data, and since 5.6 also in
 * IFLA_PERM_ADDRESS. */
static char *own_mac(struct nca_pool *pool, const struct nlattr **tb, const struct nlattr **info)
{
	const struct nlattr *slave[IFLA_BOND_SLAVE_MAX + 1];
	char *kind = nca_nlattr_str(pool, info[IFLA_INFO_SLAVE_KIND]);
	const struct nlattr *mac = NULL;

	if (nca_same(kind, "bond")) {
		nca_nlattr_nested(info[IFLA_INFO_SLAVE_DATA], slave, ARRAY_SIZE(slave));
		mac = slave[IFLA_BOND_SLAVE_PERM_HWADDR] ? slave[IFLA_BOND_SLAVE_PERM_HWADDR]
							 : tb[IFLA_PERM_ADDRESS];
	}
	return mac_text(pool, mac ? mac : tb[IFLA_ADDRESS]);
}

/* The kernel's word, or one for devices that no software created. A child of an InfiniBand
 * interface is called ipoib there. */
static char *kind_text(struct nca_pool *pool, const struct nlattr *kind, int arphrd)
{
	if (arphrd == ARPHRD_LOOPBACK)
		return nca_pool_strdup(pool, "loopback");
	if (arphrd == ARPHRD_INFINIBAND)
		return nca_pool_strdup(pool, "infiniband");
	if (kind)
		return nca_nlattr_str(pool, kind);
	return nca_pool_strdup(pool, arphrd == ARPHRD_ETHER ? "ether" : "other");
}

/* Kernels before 5.5 have no alternative names. */
static int set_altnames(struct nca_pool *pool, struct nca_link *l, const struct nlattr *list)
{
	const struct nlattr *a;
	char **name;

	if (!list)
		return 0;
	mnl_attr_for_each_nested(a, list)
	{
		if (mnl_attr_get_type(a) != IFLA_ALT_IFNAME)
			continue;
		name = NCA_APPEND(pool, l->altnames);
		if (!name || !(*name = nca_nlattr_str(pool, a)))
			return -ENOMEM;
	}
	return 0;
}

/* The peer of a veth is no lower device, and a number that counts in another namespace is not
 * ours. */
static void set_parent(struct nca_link *l, const struct nlattr **tb, struct nca_link_parents *up)
{
	bool elsewhere = tb[IFLA_LINK_NETNSID];

	up->master = nca_nlattr_u32(tb[IFLA_MASTER]);
	up->lower = elsewhere ? -1 : nca_nlattr_u32(tb[IFLA_LINK]);
	up->active_slave = -1;
	if (nca_same(l->kind, "veth")) {
		l->netns_peer = elsewhere;
		up->lower = -1;
	}
}

static int parse_link(const struct nca_probe *p, const struct nlmsghdr *nlh, parents *ups)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct nca_pool *pool = p->pool;
	struct nca_link_parents *up;
	struct nca_link *l;
	char *name;
	int rc;

	nca_nlattr_index(nlh, sizeof(*ifi), tb, ARRAY_SIZE(tb));
	nca_nlattr_nested(tb[IFLA_LINKINFO], info, ARRAY_SIZE(info));
	name = nca_nlattr_str(pool, tb[IFLA_IFNAME]);
	if (!name || !nca_name_ok(name))
		return nca_probe_note(p, "its name cannot stand in a variable", "interfaces[%d]",
				      ifi->ifi_index);
	l = NCA_APPEND(pool, p->node->interfaces);
	up = NCA_APPEND(pool, *ups);
	if (!l || !up)
		return -ENOMEM;
	nca_schema_init(&nca_link_shape, l);
	l->name = name;
	l->ifindex = ifi->ifi_index;
	l->arphrd = ifi->ifi_type;
	l->kind = kind_text(pool, info[IFLA_INFO_KIND], ifi->ifi_type);
	l->mac = own_mac(pool, tb, info);
	l->mtu = nca_nlattr_u32(tb[IFLA_MTU]);
	l->operstate = NCA_WORD(pool, operstates, nca_nlattr_u8(tb[IFLA_OPERSTATE]));
	/* An interface that is down may still say 1; its sysfs file cannot be read then. */
	l->carrier = ifi->ifi_flags & IFF_UP ? nca_nlattr_u8(tb[IFLA_CARRIER]) : 0;
	l->addresses.v = nca_pool_alloc(pool, 0);
	set_parent(l, tb, up);
	rc = set_flags(pool, l, ifi->ifi_flags);
	rc = rc ? rc : nca_link_set_kind(pool, l, info[IFLA_INFO_DATA], up);
	rc = rc ? rc : set_altnames(pool, l, tb[IFLA_PROP_LIST]);
	return !rc && !l->addresses.v ? -ENOMEM : rc;
}

static int join(struct nca_pool *pool, nca_strs *members, char *name)
{
	char **member = NCA_APPEND(pool, *members);

	if (!member)
		return -ENOMEM;
	*member = name;
	return 0;
}

/* Numbers into names. A VRF holds routes, not frames: the interfaces in it stay on their own. */
static int set_names(const struct nca_probe *p, struct nca_link *l,
		     const struct nca_link_parents *up)
{
	struct nca_link *master = nca_probe_link(p, up->master);
	struct nca_link *lower = nca_probe_link(p, up->lower);
	struct nca_link *active = nca_probe_link(p, up->active_slave);

	if (lower && lower != l)
		l->link = lower->name;
	if (active && l->bond)
		l->bond->active_slave = active->name;
	if (!master || nca_same(master->kind, "vrf"))
		return 0;
	l->master = master->name;
	if (master->bond)
		return join(p->pool, &master->bond->slaves, l->name);
	return master->bridge ? join(p->pool, &master->bridge->ports, l->name) : 0;
}

int nca_links_parse(const struct nca_probe *p, const struct nca_dump *links)
{
	const struct nlmsghdr *nlh;
	parents ups = {0};
	int left, rc = 0;
	size_t i;

	NCA_NLMSG_FOREACH(nlh, left, links)
	{
		if (!rc && nca_nlmsg_is(nlh, RTM_NEWLINK, sizeof(struct ifinfomsg)))
			rc = parse_link(p, nlh, &ups);
	}
	for (i = 0; !rc && i < ups.n; i++)
		rc = set_names(p, &p->node->interfaces.v[i], &ups.v[i]);
	return rc;
}
