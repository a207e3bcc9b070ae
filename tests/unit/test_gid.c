/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "document.h"
#include "lib/step.h"

#define GID4(index, last, type, ndev)                                                              \
	"{'index': " index ", 'gid': '0000:0000:0000:0000:0000:ffff:0a00:000" last                 \
	"', 'type': '" type "', 'ndev': '" ndev "'}"
#define OLD(index, last)                                                                           \
	"{'index': " index ", 'gid': '0000:0000:0000:0000:0000:ffff:0a00:000" last "'}"
#define GID6(index, gid, type) "{'index': " index ", 'gid': '" gid "', 'type': '" type "'}"
#define LINK(name, more) "{'name': '" name "', " more "}"
#define ADDR(addr) "'addresses': [{'family': 'inet', 'addr': '" addr "', 'prefixlen': 24}]"
#define NODE(links, gids)                                                                          \
	"{'schema': 'hwdesc/1', 'name': 'n', 'interfaces': [" links                                \
	"], 'routes': [{'family': 'inet', 'dst': 'default', 'dev': 'mgmt'}], 'hcas': [{'name': "   \
	"'h', 'ports': [{'port': 1, 'link_layer': 'Ethernet', 'netdev': 'own', 'gids': [" gids     \
	"]}]}]}"
#define OWN LINK("own", ADDR("10.0.0.1"))

struct gid {
	const char *name, *node;
	int best4, best6, first; /* index; -1: none; first: what NCCL takes by itself */
};

static const struct gid gids[] = {
	{"empty table", NODE(OWN, ""), -1, -1, -1},
	{"v1 and v2 of one address",
	 NODE(OWN, GID4("2", "1", "IB/RoCE v1", "own") "," GID4("3", "1", "RoCE v2", "own")), 3, -1,
	 3},
	{"v1 only", NODE(OWN, GID4("2", "1", "IB/RoCE v1", "own")), 2, -1, 2},
	{"link-local only",
	 NODE(OWN, GID6("1", "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2")), -1, -1, -1},
	{"zero", NODE(OWN, GID6("1", "0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2")), -1, -1,
	 -1},
	{"global IPv6", NODE(OWN, GID6("5", "fd00:0000:0000:0000:0000:0000:0000:0001", "RoCE v2")),
	 -1, 5, -1},
	{"both families",
	 NODE(OWN, GID6("1", "fd00:0000:0000:0000:0000:0000:0000:0001",
			"RoCE v2") "," GID4("7", "1", "RoCE v2", "own")),
	 7, 1, 7},
	{"a netdev of another namespace", NODE(OWN, GID4("3", "1", "RoCE v2", "gone")), -1, -1, 3},
	{"an address that the netdev lost", NODE(OWN, GID4("3", "9", "RoCE v2", "own")), -1, -1, 3},
	{"a netdev without carrier",
	 NODE(LINK("own", "'carrier': 0, " ADDR("10.0.0.1")), GID4("3", "1", "RoCE v2", "own")), -1,
	 -1, 3},
	{"a netdev whose addresses are unknown",
	 NODE(LINK("own", "'carrier': 1"), GID4("3", "1", "RoCE v2", "own")), 3, -1, 3},
	{"the port's own netdev before an overlay",
	 NODE(OWN "," LINK("vx", "'kind': 'vxlan', " ADDR("10.0.0.1")),
	      GID4("3", "1", "RoCE v2", "vx") "," GID4("5", "1", "RoCE v2", "own")),
	 5, -1, 3},
	{"a VLAN before the one with the default route",
	 NODE(LINK("mgmt", "'kind': 'vlan', " ADDR("10.0.0.1")) "," LINK(
		      "data", "'kind': 'vlan', " ADDR("10.0.0.2")),
	      GID4("3", "1", "RoCE v2", "mgmt") "," GID4("7", "2", "RoCE v2", "data")),
	 7, -1, 3},
	{"the larger MTU",
	 NODE(LINK("a", "'mtu': 1500, " ADDR("10.0.0.1")) "," LINK(
		      "b", "'mtu': 9000, " ADDR("10.0.0.2")),
	      GID4("3", "1", "RoCE v2", "a") "," GID4("7", "2", "RoCE v2", "b")),
	 7, -1, 3},
	{"without types: v1 comes before v2", NODE(OWN, OLD("0", "1") "," OLD("1", "1")), 1, -1, 1},
	{"without types, one entry", NODE(OWN, OLD("4", "1")), 4, -1, 4},
	{"without types, another address behind it",
	 NODE(LINK("own", "'addresses': [{'family': 'inet', 'addr': '10.0.0.1', 'prefixlen': 24}, "
			  "{'family': 'inet', 'addr': '10.0.0.2', 'prefixlen': 24}]"),
	      OLD("2", "1") "," OLD("3", "1") "," OLD("4", "2") "," OLD("5", "2")),
	 3, -1, 3},
	{"equal in all: the lowest index, whatever the order",
	 NODE(OWN, GID4("9", "1", "RoCE v2", "own") "," GID4("4", "1", "RoCE v2", "own")), 4, -1,
	 4},
};

static int index_of(const struct nca_gid *gid)
{
	return gid ? gid->index : -1;
}

static void check_gid(void **state)
{
	const struct gid *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_node_state node = {.node = document_read(pool, &nca_node_shape, r->node)};
	struct nca_port_state port = {.port = node.node->hcas.v->ports.v};
	struct nca_routes routes;

	assert_int_equal(nca_routes_read(node.node, pool, &routes), 0);
	node.routes = &routes;
	nca_gids_read(&node, &port);
	assert_int_equal(index_of(port.gid[0]), r->best4);
	assert_int_equal(index_of(port.gid[1]), r->best6);
	assert_int_equal(index_of(port.automatic[0]), r->first);
}

/* NCCL_IB_ADDR_RANGE moves the automatic choice. */
static void check_range(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_node *node = document_read(
		pool, &nca_node_shape,
		NODE(OWN, GID4("3", "1", "RoCE v2", "own") "," GID4("5", "9", "RoCE v2", "own")));
	struct nca_prefix range;

	(void)state;
	assert_int_equal(nca_prefix_parse("10.0.0.8/31", 4, &range), 0);
	assert_int_equal(index_of(nca_gid_auto(node->hcas.v->ports.v, 4, &range)), 5);
	assert_int_equal(nca_prefix_parse("10.0.0.10/31", 4, &range), 0);
	assert_int_equal(index_of(nca_gid_auto(node->hcas.v->ports.v, 4, &range)), -1);
}

struct version {
	const char *name;
	int want;
};

static const struct version versions[] = {
	{"2.27.3", 22703}, {"2.20.5-1", 22005}, {"2.30.7+cuda12", 23007},
	{"2.21", 22100},   {"2", -1},		{"", -1},
	{"unknown", -1},
};

static void check_version(void **state)
{
	const struct version *r = *state;
	struct nca_node node = {.nccl_version = (char *)r->name};

	assert_int_equal(nca_version_nccl(&node), r->want);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, gids, check_gid);
	TABLE_ADD(tests, n, versions, check_version);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_range);
	return _cmocka_run_group_tests("gid", tests, n, NULL, NULL);
}
