/* SPDX-License-Identifier: Apache-2.0 */
/* Reads IFLA_INFO_DATA of the kinds of interfaces that a rule looks into. */
#include <errno.h>
#include <linux/if_link.h>

#include "link_kind.h"
#include "nlattr.h"

static const char *const bond_modes[] = {
	"balance-rr", "active-backup", "balance-xor", "broadcast",
	"802.3ad",    "balance-tlb",   "balance-alb",
};

static const char *const hash_policies[] = {
	"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac",
};

static const char *const lacp_rates[] = {"slow", "fast"};

char *nca_word(struct nca_pool *pool, const char *const *words, size_t n, int i)
{
	return i >= 0 && (size_t)i < n ? nca_pool_strdup(pool, words[i]) : NULL;
}

/* Only what the mode uses: the kernel reports a hash policy and an LACP rate for every bond. */
static int set_bond(struct nca_pool *pool, struct nca_link *l, const struct nlattr *data,
		    struct nca_link_parents *up)
{
	struct nca_bond *b = nca_schema_new(pool, &nca_bond_shape);
	const struct nlattr *tb[IFLA_BOND_MAX + 1];
	int mode;

	if (!b)
		return -ENOMEM;
	l->bond = b;
	nca_nlattr_nested(data, tb, ARRAY_SIZE(tb));
	mode = nca_nlattr_u8(tb[IFLA_BOND_MODE]);
	b->mode = NCA_WORD(pool, bond_modes, mode);
	b->miimon = nca_nlattr_u32(tb[IFLA_BOND_MIIMON]);
	if (mode == 2 || mode == 4 || mode == 5)
		b->xmit_hash_policy = NCA_WORD(pool, hash_policies,
					       nca_nlattr_u8(tb[IFLA_BOND_XMIT_HASH_POLICY]));
	if (mode == 4)
		b->lacp_rate =
			NCA_WORD(pool, lacp_rates, nca_nlattr_u8(tb[IFLA_BOND_AD_LACP_RATE]));
	/* /proc/net/bonding says the same of the bond's carrier. */
	b->mii_status = l->carrier < 0 ? NULL : nca_pool_strdup(pool, l->carrier ? "up" : "down");
	b->slaves.v = nca_pool_alloc(pool, 0);
	up->active_slave = nca_nlattr_u32(tb[IFLA_BOND_ACTIVE_SLAVE]);
	return b->slaves.v ? 0 : -ENOMEM;
}

static int set_bridge(struct nca_pool *pool, struct nca_link *l)
{
	l->bridge = nca_schema_new(pool, &nca_bridge_shape);
	if (l->bridge)
		l->bridge->ports.v = nca_pool_alloc(pool, 0);
	return l->bridge && l->bridge->ports.v ? 0 : -ENOMEM;
}

static int set_vlan(struct nca_pool *pool, struct nca_link *l, const struct nlattr *data)
{
	const struct nlattr *tb[IFLA_VLAN_MAX + 1];

	l->vlan = nca_schema_new(pool, &nca_vlan_shape);
	if (!l->vlan)
		return -ENOMEM;
	nca_nlattr_nested(data, tb, ARRAY_SIZE(tb));
	l->vlan->id = nca_nlattr_u16(tb[IFLA_VLAN_ID]);
	return 0;
}

int nca_link_set_kind(struct nca_pool *pool, struct nca_link *l, const struct nlattr *data,
		      struct nca_link_parents *up)
{
	const struct nlattr *tb[IFLA_VXLAN_MAX + 1];

	if (nca_same(l->kind, "bond"))
		return set_bond(pool, l, data, up);
	if (nca_same(l->kind, "bridge"))
		return set_bridge(pool, l);
	if (nca_same(l->kind, "vlan"))
		return set_vlan(pool, l, data);
	if (nca_same(l->kind, "vxlan") && up->lower < 0) {
		nca_nlattr_nested(data, tb, ARRAY_SIZE(tb));
		up->lower = nca_nlattr_u32(tb[IFLA_VXLAN_LINK]);
	}
	return 0;
}
