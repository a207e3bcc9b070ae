/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <nca/topo.h>

#include "document.h"

#define PCI(addr, parent, kind) "{'addr': '" addr "', 'parent': '" parent "', 'kind': '" kind "'}"
#define NODE(more, pci)                                                                            \
	"{'schema': 'hwdesc/1', 'name': 'n', 'interfaces': [], " more                              \
	" 'gpus': [{'index': 0, 'pci': 'gpu', 'numa': 1}],"                                        \
	" 'hcas': [{'name': 'h', 'pci': 'nic', 'numa': 1, 'ports': [{'port': 1}]}],"               \
	" 'pci': [{'addr': 'hb0', 'kind': 'hostbridge'}, {'addr': 'hb1', 'kind': "                 \
	"'hostbridge'}," pci "]}"

struct level {
	const char *name, *node;
	enum nca_level want;
};

static const struct level levels[] = {
	{"one collapsed switch",
	 NODE("", PCI("sw", "hb0", "switch") "," PCI("gpu", "sw", "endpoint") "," PCI("nic", "sw",
										      "endpoint")),
	 NCA_LEVEL_PIX},
	{"two ports of one switch",
	 NODE("", PCI("up", "hb0", "upstream") "," PCI("d1", "up", "downstream") "," PCI(
			  "d2", "up", "downstream") "," PCI("gpu", "d1",
							    "endpoint") "," PCI("nic", "d2",
										"endpoint")),
	 NCA_LEVEL_PIX},
	{"a switch below a switch",
	 NODE("", PCI("sw", "hb0", "switch") "," PCI("s2", "sw", "switch") "," PCI(
			  "gpu", "s2", "endpoint") "," PCI("nic", "sw", "endpoint")),
	 NCA_LEVEL_PXB},
	{"one root port, its switch not recorded",
	 NODE("", PCI("rp", "hb0", "rootport") "," PCI("gpu", "rp", "endpoint") "," PCI(
			  "nic", "rp", "endpoint")),
	 NCA_LEVEL_PXB},
	{"one host bridge",
	 NODE("", PCI("gpu", "hb0", "endpoint") "," PCI("nic", "hb0", "endpoint")), NCA_LEVEL_PHB},
	{"two host bridges, one NUMA node",
	 NODE("", PCI("gpu", "hb0", "endpoint") "," PCI("nic", "hb1", "endpoint")), NCA_LEVEL_NODE},
	{"a loop in the tree",
	 NODE("",
	      PCI("a", "b", "switch") "," PCI("b", "a", "switch") "," PCI("gpu", "a", "endpoint")),
	 NCA_LEVEL_NODE},
	{"a virtual machine",
	 NODE("'host': {'virtual': true},",
	      PCI("gpu", "hb0", "endpoint") "," PCI("nic", "hb0", "endpoint")),
	 NCA_LEVEL_UNKNOWN},
	{"distances before the tree",
	 NODE("'distances': {'h': ['SYS']},",
	      PCI("gpu", "hb0", "endpoint") "," PCI("nic", "hb0", "endpoint")),
	 NCA_LEVEL_SYS},
	{"a distance that means nothing",
	 NODE("'distances': {'h': [null]},", PCI("gpu", "hb0", "endpoint")), NCA_LEVEL_UNKNOWN},
	{"a row too short", NODE("'distances': {'h': []},", PCI("gpu", "hb0", "endpoint")),
	 NCA_LEVEL_UNKNOWN},
};

static void check_level(void **state)
{
	const struct level *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_node *node = document_read(pool, &nca_node_shape, r->node);
	assert_int_equal(nca_topo_nearest(node, node->hcas.v), r->want);
}

/* A bridge over a bond over two ports, a VLAN on the bridge, a container bridge, a loop. */
#define STACK                                                                                      \
	"{'schema': 'hwdesc/1', 'name': 'n', 'interfaces': ["                                      \
	"{'name': 'p0', 'kind': 'ether', 'master': 'bond0', 'speed_mbps': 100000, 'pci': 'x'},"    \
	"{'name': 'p1', 'kind': 'ether', 'master': 'bond0', 'speed_mbps': 100000},"                \
	"{'name': 'bond0', 'kind': 'bond', 'master': 'br0', 'bond': {'mode': '802.3ad',"           \
	" 'slaves': ['p0', 'p1']}},"                                                               \
	"{'name': 'br0', 'kind': 'bridge', 'bridge': {'ports': ['bond0', 'tap0']}},"               \
	"{'name': 'tap0', 'kind': 'tun', 'speed_mbps': 10, 'master': 'br0'},"                      \
	"{'name': 'br0.5', 'kind': 'vlan', 'link': 'br0'},"                                        \
	"{'name': 'docker0', 'kind': 'bridge', 'bridge': {'ports': ['veth1']}},"                   \
	"{'name': 'veth1', 'kind': 'veth', 'speed_mbps': 10000, 'master': 'docker0'},"             \
	"{'name': 'v1', 'kind': 'vlan', 'link': 'v2'}, {'name': 'v2', 'kind': 'vlan', 'link': "    \
	"'v1'}, {'name': 'alone', 'kind': 'ether'}, {'name': 'ib0', 'kind': 'infiniband'},"        \
	"{'name': 'ib0.8001', 'kind': 'infiniband', 'link': 'ib0'}, {'name': 'bond1', 'kind': "    \
	"'bond', 'bond': {'slaves': ['s0', 's1']}}, {'name': 's0', 'kind': 'ether', 'master': "    \
	"'bond1'}, {'name': 's1', 'kind': 'ether', 'master': 'bond1'}, {'name': 'bond2', "         \
	"'kind': 'bond', 'bond': {'slaves': []}}, {'name': 'slow', 'kind': 'ether', "              \
	"'speed_mbps': 1000}],"                                                                    \
	"'hcas': [{'name': 'h', 'pci': 'x', 'ports': [{'port': 1}]},"                              \
	"{'name': 'lag', 'lag': {'bond': 'bond0'}, 'ports': [{'port': 1}]},"                       \
	"{'name': 'gid', 'ports': [{'port': 1, 'gids': [{'index': 0, 'gid': '', 'ndev': "          \
	"'br0'}]}]}, {'name': 'none', 'ports': [{'port': 1}]}, {'name': 'ib', 'ports': [{"         \
	"'port': 1, 'netdev': 'ib0', 'rate_gbps': 56}]}, {'name': 'r0', 'ports': [{'port': 1, "    \
	"'netdev': 's0', 'rate_gbps': 25}]}, {'name': 'r1', 'ports': [{'port': 1, 'netdev': "      \
	"'s1', 'rate_gbps': 25}]}, {'name': 'r2', 'ports': [{'port': 1, 'netdev': 'bond2', "       \
	"'rate_gbps': 100}]}, {'name': 'r3', 'ports': [{'port': 1, 'netdev': 'slow', "             \
	"'rate_gbps': 100}]}]}"

struct link {
	const char *name;
	int speed;
	bool physical;
	const char *master;
	bool uses[4]; /* h, lag, gid, none */
};

static const struct link links[] = {
	{"p0", 100000, true, "bond0", {true}},
	{"bond0", 200000, true, "br0", {true, true}},
	{"br0", 200000, true, NULL, {true, true, true}},
	{"br0.5", 200000, true, NULL, {true, true, true}},
	{"tap0", 10, false, "br0", {false}},
	{"docker0", -1, false, NULL, {false}},
	{"veth1", 10000, false, "docker0", {false}},
	{"v1", -1, true, NULL, {false}},
	{"alone", -1, true, NULL, {false}},
	/* what only the port of the HCA tells */
	{"ib0", 56000, true, NULL, {false}},
	{"ib0.8001", 56000, true, NULL, {false}},
	{"bond1", 50000, true, NULL, {false}},
	{"bond2", 100000, true, NULL, {false}},
	{"slow", 1000, true, NULL, {false}},
};

static void check_link(void **state)
{
	const struct link *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_node *node = document_read(pool, &nca_node_shape, STACK);
	const struct nca_link *link = nca_node_link(node, r->name);
	size_t i;

	assert_int_equal(nca_topo_speed(node, link), r->speed);
	assert_int_equal(nca_topo_physical(node, link), r->physical);
	if (r->master)
		assert_string_equal(nca_topo_master(node, link), r->master);
	else
		assert_null(nca_topo_master(node, link));
	for (i = 0; i < 4; i++) {
		const struct nca_hca *hca = &node->hcas.v[i];
		nca_strs netdevs = {0};

		assert_int_equal(nca_topo_netdevs(hca, hca->ports.v, pool, &netdevs), 0);
		assert_int_equal(
			nca_topo_uses(node, link, nca_topo_lowest(node, link), hca, &netdevs),
			r->uses[i]);
	}
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, levels, check_level);
	TABLE_ADD(tests, n, links, check_link);
	return _cmocka_run_group_tests("topo", tests, n, NULL, NULL);
}
