/* SPDX-License-Identifier: Apache-2.0 */
/* Bonds, bridges, VLANs and what else stands on other interfaces, assembled after linux/if_link.h.
 */
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "probe.h"

static void parse(const struct nca_probe *p, const struct nca_dump *dump)
{
	assert_int_equal(nca_links_parse(p, dump), 0);
}

struct builder {
	char buf[8192] __attribute__((aligned(4)));
	size_t len;
};

static struct nlmsghdr *begin(struct builder *b, int index, unsigned short type, const char *name)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(b->buf + b->len);
	struct ifinfomsg *ifi;

	nlh->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = index;
	ifi->ifi_type = type;
	ifi->ifi_flags = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	mnl_attr_put_u8(nlh, IFLA_CARRIER, 1);
	return nlh;
}

static void end(struct builder *b, const struct nlmsghdr *nlh)
{
	b->len += MNL_ALIGN(nlh->nlmsg_len);
}

static void put_slave(struct builder *b, int index, const char *name, int master)
{
	const unsigned char shared[6] = {2, 0, 0, 0, 0, 1};
	const unsigned char own[6] = {2, 0, 0, 0, 0, (unsigned char)(0x10 + index)};
	struct nlmsghdr *nlh = begin(b, index, ARPHRD_ETHER, name);
	struct nlattr *info, *data;

	mnl_attr_put_u32(nlh, IFLA_MASTER, (uint32_t)master);
	mnl_attr_put(nlh, IFLA_ADDRESS, sizeof(shared), shared);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_SLAVE_KIND, "bond");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_SLAVE_DATA);
	mnl_attr_put(nlh, IFLA_BOND_SLAVE_PERM_HWADDR, sizeof(own), own);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	end(b, nlh);
}

static void put_bond(struct builder *b, int index, const char *name, unsigned char mode, int active)
{
	struct nlmsghdr *nlh = begin(b, index, ARPHRD_ETHER, name);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO), *data;

	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "bond");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	mnl_attr_put_u8(nlh, IFLA_BOND_MODE, mode);
	mnl_attr_put_u32(nlh, IFLA_BOND_MIIMON, 100);
	mnl_attr_put_u8(nlh, IFLA_BOND_XMIT_HASH_POLICY, 1);
	mnl_attr_put_u8(nlh, IFLA_BOND_AD_LACP_RATE, 1);
	if (active)
		mnl_attr_put_u32(nlh, IFLA_BOND_ACTIVE_SLAVE, (uint32_t)active);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	end(b, nlh);
}

static void put_upper(struct builder *b, int index, const char *name, const char *kind, int lower)
{
	struct nlmsghdr *nlh = begin(b, index, ARPHRD_ETHER, name);
	struct nlattr *info, *data;

	mnl_attr_put_u32(nlh, IFLA_LINK, (uint32_t)lower);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, kind);
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	if (streq(kind, "vlan"))
		mnl_attr_put_u16(nlh, IFLA_VLAN_ID, 2973);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	end(b, nlh);
}

static const struct {
	unsigned char mode;
	int active;
	const char *name, *hash, *lacp, *active_name;
} modes[] = {
	{0, 0, "balance-rr", NULL, NULL, NULL},	       {1, 3, "active-backup", NULL, NULL, "eth1"},
	{2, 0, "balance-xor", "layer3+4", NULL, NULL}, {4, 0, "802.3ad", "layer3+4", "fast", NULL},
	{6, 2, "balance-alb", NULL, NULL, "eth0"},     {7, 0, NULL, NULL, NULL, NULL},
};

/* Slaves come before their bond: their numbers are named at the end. */
static void test_bonds(void **state)
{
	const struct nca_probe *p = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		struct builder b = {0};
		const struct nca_link *bond;
		struct nca_dump dump;

		nca_schema_init(&nca_node_shape, p->node);
		put_slave(&b, 2, "eth0", 4);
		put_slave(&b, 3, "eth1", 4);
		put_bond(&b, 4, "bond0", modes[i].mode, modes[i].active);
		dump = (struct nca_dump){b.buf, b.len};
		parse(p, &dump);
		bond = nca_node_link(p->node, "bond0");
		assert_text(bond->bond->mode, modes[i].name);
		assert_text(bond->bond->xmit_hash_policy, modes[i].hash);
		assert_text(bond->bond->lacp_rate, modes[i].lacp);
		assert_text(bond->bond->active_slave, modes[i].active_name);
		assert_text(bond->bond->mii_status, "up");
		assert_int_equal(bond->bond->miimon, 100);
		assert_int_equal(bond->bond->slaves.n, 2);
		assert_text(bond->bond->slaves.v[1], "eth1");
		assert_text(nca_node_link(p->node, "eth1")->master, "bond0");
		assert_text(nca_node_link(p->node, "eth1")->mac, "02:00:00:00:00:13");
	}
}

static void test_uppers(void **state)
{
	const struct nca_probe *p = *state;
	struct builder b = {0};
	struct nca_dump dump;

	put_bond(&b, 4, "bond0", 4, 0);
	put_upper(&b, 5, "bond0.2973", "vlan", 4);
	put_upper(&b, 6, "mv0", "macvlan", 4);
	put_upper(&b, 7, "odd name", "dummy", 0);
	dump = (struct nca_dump){b.buf, b.len};
	parse(p, &dump);
	assert_int_equal(p->node->interfaces.n, 3);
	assert_int_equal(nca_node_link(p->node, "bond0.2973")->vlan->id, 2973);
	assert_text(nca_node_link(p->node, "bond0.2973")->link, "bond0");
	assert_text(nca_node_link(p->node, "mv0")->link, "bond0");
	assert_text(p->node->unknown.v[0].key, "interfaces[7]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_bonds), TEST(test_uppers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
