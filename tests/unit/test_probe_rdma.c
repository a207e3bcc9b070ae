/* SPDX-License-Identifier: Apache-2.0 */
/* HCAs, their ports and GIDs out of a small tree. */
#include "tree.h"

#include "lib/probe_parts.h"

#define IB "sys/class/infiniband/"
#define NET "sys/class/net/"
#define PCI "sys/devices/pci0000:15/"
#define MLX(addr) PCI addr "/infiniband/"

static const struct tree_entry entries[] = {
	{PCI "0000:18:00.0/vendor", "0x15b3\n"},
	{PCI "0000:18:00.0/device", "0x101d\n"},
	{PCI "0000:18:00.0/numa_node", "1\n"},
	{PCI "0000:18:00.0/driver", "-> ../../../bus/pci/drivers/mlx5_core"},
	{"sys/bus/pci/drivers/mlx5_core/bind", ""},
	{PCI "0000:18:00.0/net/eth0/mtu", ""},
	{MLX("0000:18:00.0") "mlx5_bond_0/device", "-> ../../../0000:18:00.0"},
	{MLX("0000:18:00.0") "mlx5_bond_0/node_type", "1: CA\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/state", "4: ACTIVE\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/phys_state", "5: LinkUp\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/link_layer", "Ethernet\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/rate", "100 Gb/sec (4X EDR)\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/lid", "0x0\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/counters/link_downed", "12\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/counters/symbol_error", "7\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/gids/0",
	 "0000:0000:0000:0000:0000:0000:0000:0000\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/gids/2",
	 "fe80:0000:0000:0000:0000:00ff:fe00:0001\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/gids/10",
	 "0000:0000:0000:0000:0000:ffff:0a00:0001\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/gid_attrs/types/2", "IB/RoCE v1\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/gid_attrs/types/10", "RoCE v2\n"},
	{MLX("0000:18:00.0") "mlx5_bond_0/ports/1/gid_attrs/ndevs/10", "bond0\n"},
	{IB "mlx5_bond_0", "-> ../../devices/pci0000:15/0000:18:00.0/infiniband/mlx5_bond_0"},
	{PCI "0000:19:00.2/vendor", "0x15b3\n"},
	{PCI "0000:19:00.2/device", "0x101e\n"},
	{PCI "0000:19:00.2/numa_node", "-1\n"},
	{MLX("0000:19:00.2") "mlx5_7/device", "-> ../../../0000:19:00.2"},
	{MLX("0000:19:00.2") "mlx5_7/node_type", "1: CA\n"},
	{MLX("0000:19:00.2") "mlx5_7/ports/1/state", "1: DOWN\n"},
	{MLX("0000:19:00.2") "mlx5_7/ports/1/phys_state", "2: Polling\n"},
	{MLX("0000:19:00.2") "mlx5_7/ports/1/counters/link_downed", "3\n"},
	{MLX("0000:19:00.2") "mlx5_7/ports/1/link_layer", "InfiniBand\n"},
	{MLX("0000:19:00.2") "mlx5_7/ports/1/rate", "10 Gb/sec (4X SDR)\n"},
	{MLX("0000:19:00.2") "mlx5_7/ports/1/sm_lid", "0x71e\n"},
	{IB "mlx5_7", "-> ../../devices/pci0000:15/0000:19:00.2/infiniband/mlx5_7"},
	{"proc/sys/net/ipv4/conf/bond0/arp_ignore", "2\n"},
	{"proc/sys/net/ipv4/conf/eth0/arp_ignore", "0\n"},
	{NET "wired/ifindex", "1\n"},
	{NET "wired/device/uevent", ""},
	{NET "wired/speed", "10000\n"},
	{NET "radio/ifindex", "2\n"},
	{NET "radio/device/uevent", ""},
	{NET "radio/phy80211/index", "0\n"},
	{NET "elsewhere/ifindex", "9\n"},
	{NET "elsewhere/device/uevent", ""},
	{NET "elsewhere/phy80211/index", "0\n"},
	{IB "rxe0/node_type", "1: CA\n"},
	{IB "rxe0/parent", "bond0\n"},
	{IB "rxe0/ports/1/state", "4: ACTIVE\n"},
	{IB "rxe0/ports/1/link_layer", "Ethernet\n"},
	{IB "rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n"},
};

struct bench {
	struct tree tree;
	struct nca_source src;
	struct nca_probe p;
};

static void add_link(const struct nca_probe *p, const char *name, const char *pci, int speed)
{
	struct nca_link *l = NCA_APPEND(p->pool, p->node->interfaces);

	nca_schema_init(&nca_link_shape, l);
	l->name = nca_pool_strdup(p->pool, name);
	l->ifindex = (int)p->node->interfaces.n;
	l->pci = nca_pool_strdup(p->pool, pci);
	l->mtu = 4200;
	l->speed_mbps = speed;
}

/* bond0 over the two functions of one card, of which only the first has an HCA. */
static void add_bond(const struct nca_probe *p)
{
	struct nca_link *bond;
	size_t i;

	add_link(p, "eth0", "0000:18:00.0", 100000);
	add_link(p, "eth1", "0000:18:00.1", 100000);
	add_link(p, "bond0", NULL, 200000);
	bond = &p->node->interfaces.v[2];
	bond->bond = nca_schema_new(p->pool, &nca_bond_shape);
	for (i = 0; i < 2; i++) {
		char **slave = NCA_APPEND(p->pool, bond->bond->slaves);

		*slave = p->node->interfaces.v[i].name;
		p->node->interfaces.v[i].master = bond->name;
	}
}

static int set_up(void **state)
{
	static struct bench b;

	memset(&b, 0, sizeof(b));
	tree_open(&b.tree, entries, ARRAY_SIZE(entries));
	b.src.root_fd = b.tree.fd;
	b.p.src = &b.src;
	b.p.pool = nca_pool_new();
	b.p.node = nca_schema_new(b.p.pool, &nca_node_shape);
	add_bond(&b.p);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	nca_pool_free(b->p.pool);
	tree_close(&b->tree);
	return 0;
}

static void test_roce_lag(void **state)
{
	const struct bench *b = *state;
	const struct nca_hca *h;
	const struct nca_port *port;

	assert_int_equal(nca_probe_hcas(&b->p), 0);
	assert_int_equal(b->p.node->hcas.n, 3);
	h = nca_node_hca(b->p.node, "mlx5_bond_0");
	assert_string_equal(h->pci, "0000:18:00.0");
	assert_string_equal(h->driver, "mlx5_core");
	assert_string_equal(h->vendor_id, "0x02c9");
	assert_string_equal(h->transport, "InfiniBand (0)");
	assert_int_equal(h->vendor_part_id, 4125);
	assert_int_equal(h->numa, 1);
	assert_int_equal(h->is_vf, 0);
	assert_string_equal(h->lag->bond, "bond0");
	assert_string_equal(h->lag->slaves.v[1], "0000:18:00.1");
	port = h->ports.v;
	assert_string_equal(port->netdev, "bond0");
	assert_string_equal(port->state, "ACTIVE");
	assert_string_equal(port->phys_state, "LinkUp");
	assert_int_equal(port->active_mtu, 4096);
	assert_true(port->rate_gbps == 200);
}

/* Index 0 is empty, the order is that of numbers, and a missing netdev is unknown. */
static void test_gids(void **state)
{
	const struct bench *b = *state;
	const struct nca_port *port;

	assert_int_equal(nca_probe_hcas(&b->p), 0);
	port = nca_node_hca(b->p.node, "mlx5_bond_0")->ports.v;
	assert_int_equal(port->gids.n, 2);
	assert_int_equal(port->gids.v[0].index, 2);
	assert_string_equal(port->gids.v[0].type, "IB/RoCE v1");
	assert_null(port->gids.v[0].ndev);
	assert_int_equal(port->gids.v[1].index, 10);
	assert_string_equal(port->gids.v[1].gid, "0000:0000:0000:0000:0000:ffff:0a00:0001");
	assert_string_equal(port->gids.v[1].ndev, "bond0");
}

/* A table that is not there is unknown with a note; a guest's function is one by its number; the
 * kernel's SDR is no speed of real hardware. */
static void test_unknown(void **state)
{
	const struct bench *b = *state;
	const struct nca_hca *h;

	assert_int_equal(nca_probe_hcas(&b->p), 0);
	h = nca_node_hca(b->p.node, "mlx5_7");
	assert_int_equal(h->is_vf, 1);
	assert_null(h->physfn);
	assert_int_equal(h->numa, -1);
	assert_int_equal(h->uverbs_opens, -1);
	assert_null(h->fw_ver);
	assert_null(h->ports.v[0].gids.v);
	assert_string_equal(h->ports.v[0].phys_state, "Polling");
	assert_true(h->ports.v[0].rate_gbps < 0);
	assert_int_equal(h->ports.v[0].lid, -1);
	assert_int_equal(h->ports.v[0].sm_lid, 0x71e);
	assert_string_equal(nca_pairs_get(b->p.node->unknown, "hcas[mlx5_7].ports[1].gids"),
			    "No such file or directory");
}

static void test_virtual(void **state)
{
	const struct bench *b = *state;
	const struct nca_hca *h;

	assert_int_equal(nca_probe_hcas(&b->p), 0);
	h = nca_node_hca(b->p.node, "rxe0");
	assert_null(h->pci);
	assert_null(h->lag);
	assert_string_equal(h->ports.v[0].netdev, "bond0");
	assert_true(h->ports.v[0].rate_gbps == 200);
}

/* Two HCAs on one bond are no LAG: each keeps its own interface. */
static void test_no_lag(void **state)
{
	const struct bench *b = *state;
	const struct nca_hca *h;

	tree_put(&b->tree, PCI "0000:18:00.1/vendor", "0x15b3\n");
	tree_put(&b->tree, IB "mlx5_1/ports/1/state", "4: ACTIVE\n");
	tree_put(&b->tree, IB "mlx5_1/device", "-> ../../../devices/pci0000:15/0000:18:00.1");
	assert_int_equal(nca_probe_hcas(&b->p), 0);
	assert_string_equal(nca_node_hca(b->p.node, "mlx5_1")->pci, "0000:18:00.1");
	h = nca_node_hca(b->p.node, "mlx5_bond_0");
	assert_null(h->lag);
	assert_string_equal(h->ports.v[0].netdev, "eth0");
}

/* The counter that a rule reads, of ports that are up. */
static void test_counters(void **state)
{
	const struct bench *b = *state;
	const struct nca_port *port;

	assert_int_equal(nca_probe_hcas(&b->p), 0);
	port = nca_node_hca(b->p.node, "mlx5_bond_0")->ports.v;
	assert_int_equal(port->counters.n, 1);
	assert_string_equal(nca_pairs_get(port->counters, "link_downed"), "12");
	assert_int_equal(nca_node_hca(b->p.node, "mlx5_7")->ports.v->counters.n, 0);
	assert_int_equal(nca_node_hca(b->p.node, "rxe0")->ports.v->counters.n, 0);
}

/* Vital product data: a ConnectX-7 that manages NVLink switches, one that does not, and a model
 * that is not asked. */
static void test_vpd(void **state)
{
	static const struct {
		const char *device, *vpd, *want;
	} rows[] = {
		{"0x1021", "\x82\x05xV0MLX:MODL=CX71:SMDL=SW_MNG:X=1", "SW_MNG"},
		{"0x1021", "MLX:SMDL=SW_MNG", "SW_MNG"},
		{"0x1021", "MLX:SMDL=", ""},
		{"0x1021", "MLX:MODL=CX71", NULL},
		{"0x101d", "MLX:SMDL=SW_MNG", NULL},
	};
	struct bench *b = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct nca_hca *h;
		const char *got;

		nca_schema_init(&nca_node_shape, b->p.node);
		tree_put(&b->tree, PCI "0000:18:00.0/device", rows[i].device);
		tree_put(&b->tree, PCI "0000:18:00.0/vpd", rows[i].vpd);
		assert_int_equal(nca_probe_hcas(&b->p), 0);
		h = nca_node_hca(b->p.node, "mlx5_bond_0");
		got = nca_pairs_get(h->vpd, "SMDL");
		if (rows[i].want)
			assert_string_equal(got, rows[i].want);
		else
			assert_null(got);
	}
}

/* Of the interfaces of RoCE ports, once each; zero is what "all" says anyhow. */
static void test_arp(void **state)
{
	const struct bench *b = *state;
	const struct nca_node *node = b->p.node;

	assert_int_equal(nca_probe_hcas(&b->p), 0);
	assert_int_equal(nca_probe_arp(&b->p), 0);
	assert_int_equal(node->sysctl.n, 1);
	assert_string_equal(nca_pairs_get(node->sysctl, "arp_ignore/bond0"), "2");
}

/* What sysfs shows of another network namespace is not read. */
static void test_radio(void **state)
{
	const struct bench *b = *state;
	const struct nca_node *node = b->p.node;

	b->p.node->interfaces.n = 0;
	add_link(&b->p, "wired", NULL, -1);
	add_link(&b->p, "radio", NULL, -1);
	add_link(&b->p, "elsewhere", NULL, -1);
	assert_int_equal(nca_probe_netdevs(&b->p), 0);
	assert_int_equal(node->interfaces.v[0].wireless, 0);
	assert_int_equal(node->interfaces.v[0].speed_mbps, 10000);
	assert_int_equal(node->interfaces.v[1].wireless, 1);
	assert_int_equal(node->interfaces.v[2].wireless, -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_roce_lag), TEST(test_gids),	TEST(test_unknown),
		TEST(test_virtual),  TEST(test_no_lag), TEST(test_counters),
		TEST(test_vpd),	     TEST(test_arp),	TEST(test_radio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
