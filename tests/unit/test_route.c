/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <nca/route.h>

#include "document.h"

#define NODE(interfaces, routes)                                                                   \
	"{'schema': 'hwdesc/1', 'name': 'n', 'hcas': [], 'interfaces': [" interfaces               \
	"], 'routes': [" routes "]}"
#define ROUTE(dst, dev, more) "{'family': 'inet', 'dst': '" dst "', 'dev': '" dev "'" more "}"
#define TABLE(dst, dev) ROUTE(dst, dev, ", 'table': '101'")
#define LINK(name, addr, len)                                                                      \
	"{'name': '" name "', 'addresses': [{'family': 'inet', 'addr': '" addr                     \
	"', 'prefixlen': " len "}]}"

#define INDEXED(name, addr, index)                                                                 \
	"{'name': '" name "', 'ifindex': " index                                                   \
	", 'addresses': [{'family': 'inet', 'addr': '" addr "', 'prefixlen': 24}]}"

static struct nca_ip ip_of(const char *text)
{
	struct nca_ip ip = {0};

	assert_int_equal(nca_ip_parse(text, &ip), 0);
	return ip;
}

static struct nca_routes read_routes(struct nca_pool *pool, const char *node)
{
	struct nca_routes routes = {0};

	assert_int_equal(nca_routes_read(document_read(pool, &nca_node_shape, node), pool, &routes),
			 0);
	return routes;
}

struct lookup {
	const char *name, *node, *dev, *ip;
	bool via, any_via;
	const char *device;
};

#define TWO ROUTE("default", "eth0", "") "," ROUTE("10.0.0.0/8", "eth1", "")

static const struct lookup lookups[] = {
	{"default", NODE("", TWO), "eth0", "192.0.2.1", true, true, "eth0"},
	{"the longest prefix wins", NODE("", TWO), "eth0", "10.1.2.3", false, true, "eth1"},
	{"the longest prefix", NODE("", TWO), "eth1", "10.1.2.3", true, true, "eth1"},
	{"no route", NODE("", ROUTE("10.0.0.0/8", "eth1", "")), "eth1", "192.0.2.1", false, false,
	 NULL},
	{"host route", NODE("", TWO "," ROUTE("10.0.0.1/32", "eth2", "")), "eth2", "10.0.0.1", true,
	 true, "eth2"},
	{"host route and its neighbour", NODE("", TWO "," ROUTE("10.0.0.1/32", "eth2", "")), "eth2",
	 "10.0.0.2", false, false, "eth1"},
	{"halves", NODE("", ROUTE("0.0.0.0/1", "a", "") "," ROUTE("128.0.0.0/1", "b", "")), "b",
	 "128.0.0.0", true, true, "b"},
	{"equal prefixes: each counts",
	 NODE("", ROUTE("10.0.0.0/8", "a", "") "," ROUTE("10.0.0.0/8", "b", "")), "b", "10.0.0.1",
	 true, true, "a"},
	{"equal prefixes of interfaces: the kernel's order, not the document's",
	 NODE(INDEXED("a", "10.0.0.1", "3") "," INDEXED("b", "10.0.0.2", "2"), ""), "a", "10.0.0.3",
	 true, true, "b"},
	{"equal prefixes of interfaces: without indexes the document's order",
	 NODE(LINK("b", "10.0.0.1", "24") "," LINK("a", "10.0.0.2", "24"), ""), "a", "10.0.0.3",
	 true, true, "b"},
	{"equal prefixes: the lower metric sends",
	 NODE("", ROUTE("10.0.0.0/8", "a", ", 'metric': 101") "," ROUTE("10.0.0.0/8", "b",
									", 'metric': 100")),
	 "a", "10.0.0.1", true, true, "b"},
	{"another table is for source rules", NODE("", TABLE("10.0.0.0/8", "a")), "a", "10.0.0.1",
	 false, true, NULL},
	{"next hops",
	 NODE("", "{'family': 'inet', 'dst': 'default', 'nexthops': [{'dev': 'a'}, {'dev': 'b'}]}"),
	 "b", "10.0.0.1", true, true, "a"},
	{"broken prefix", NODE("", ROUTE("10.0.0.0/33", "a", "")), "a", "10.0.0.1", false, false,
	 NULL},
	{"unknown routes: own prefix", NODE(LINK("a", "10.0.0.1", "24"), ""), "a", "10.0.0.2", true,
	 true, "a"},
	{"unknown routes: not the other's prefix",
	 NODE(LINK("a", "10.0.0.1", "24") "," LINK("b", "10.0.1.1", "24"), ""), "a", "10.0.1.2",
	 false, true, "b"},
	{"unknown routes: anywhere", NODE(LINK("a", "10.0.0.1", "24"), ""), "a", "192.0.2.1", true,
	 true, NULL},
	{"nothing is known", NODE("", ""), "a", "192.0.2.1", true, true, NULL},
};

static void check_lookup(void **state)
{
	const struct lookup *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_routes routes = read_routes(pool, r->node);
	struct nca_ip ip = ip_of(r->ip);

	assert_int_equal(nca_routes_via(&routes, r->dev, &ip), r->via);
	assert_int_equal(nca_routes_any_via(&routes, r->dev, &ip), r->any_via);
	if (r->device)
		assert_string_equal(nca_routes_device(&routes, &ip), r->device);
	else
		assert_null(nca_routes_device(&routes, &ip));
}

struct reach {
	const char *name, *routes, *ips[6], *unreached;
};

static const struct reach reaches[] = {
	{"no addresses", TWO, {NULL}, NULL},
	{"all by the default route", TWO, {"1.1.1.1", "9.255.255.255", "11.0.0.0"}, NULL},
	{"the first of a longer prefix",
	 TWO,
	 {"9.255.255.255", "10.0.0.0", "11.0.0.0"},
	 "10.0.0.0"},
	{"the last of a longer prefix", TWO, {"1.1.1.1", "10.255.255.255"}, "10.255.255.255"},
	{"a hole of one address",
	 TWO "," ROUTE("192.0.2.2/32", "eth1", ""),
	 {"192.0.2.1", "192.0.2.2", "192.0.2.3"},
	 "192.0.2.2"},
	{"around the hole",
	 TWO "," ROUTE("192.0.2.2/32", "eth1", ""),
	 {"192.0.2.1", "192.0.2.3", "255.255.255.255"},
	 NULL},
	{"the end of the address space",
	 ROUTE("0.0.0.0/1", "eth0", ""),
	 {"255.255.255.255"},
	 "255.255.255.255"},
};

static void check_reach(void **state)
{
	const struct reach *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_routes routes;
	const struct nca_ip *got;
	struct nca_ip ips[6];
	char buf[NCA_ADDR_TEXT];
	size_t n = 0;

	routes = read_routes(pool, nca_pool_printf(pool, NODE("", "%s"), r->routes));
	while (r->ips[n]) {
		ips[n] = ip_of(r->ips[n]);
		n++;
	}
	got = nca_routes_unreached(&routes, "eth0", ips, n);
	if (r->unreached)
		assert_string_equal(nca_ip_text(got, buf), r->unreached);
	else
		assert_null(got);
}

/* Only the default route with the lowest metric counts, per family. */
static void check_default(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_routes routes =
		read_routes(pool, NODE("", ROUTE("default", "a", ", 'metric': 200") "," ROUTE(
						   "default", "b", "") "," TABLE("default", "c")));

	(void)state;
	assert_false(nca_routes_default(&routes, "a", 4));
	assert_true(nca_routes_default(&routes, "b", 4));
	assert_false(nca_routes_default(&routes, "c", 4));
	assert_false(nca_routes_default(&routes, "b", 6));
}

struct pair {
	const char *name, *a, *b;
	bool equal;
};

#define HOPS(a, b)                                                                                 \
	"{'family': 'inet', 'dst': 'default', 'nexthops': [{'dev': '" a "'}, {'dev': '" b "'}]}"

static const struct pair equals[] = {
	{"the same", TWO, TWO, true},
	{"none: the interfaces stand for them", "", "", false},
	{"one more", TWO, TWO "," TABLE("10.1.0.0/16", "eth1"), false},
	{"another order", ROUTE("10.0.0.0/8", "eth1", "") "," ROUTE("default", "eth0", ""), TWO,
	 false},
	{"another prefix", ROUTE("10.0.0.0/8", "a", ""), ROUTE("10.0.0.0/9", "a", ""), false},
	{"another device", ROUTE("10.0.0.0/8", "a", ""), ROUTE("10.0.0.0/8", "b", ""), false},
	{"another table", ROUTE("10.0.0.0/8", "a", ""), TABLE("10.0.0.0/8", "a"), false},
	{"another metric", ROUTE("10.0.0.0/8", "a", ""), ROUTE("10.0.0.0/8", "a", ", 'metric': 1"),
	 false},
	{"another gateway: who is asked does not matter",
	 ROUTE("default", "a", ", 'gateway': '10.0.0.1'"),
	 ROUTE("default", "a", ", 'gateway': '10.0.0.2'"), true},
	{"the same hops", HOPS("a", "b"), HOPS("a", "b"), true},
	{"another hop", HOPS("a", "b"), HOPS("a", "c"), false},
	{"one device or two", HOPS("a", "b"), ROUTE("default", "a", ""), false},
};

/* Nodes with equal routes share one table. */
static void check_equal(void **state)
{
	const struct pair *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_node *a, *b;

	a = document_read(pool, &nca_node_shape, nca_pool_printf(pool, NODE("", "%s"), r->a));
	b = document_read(pool, &nca_node_shape, nca_pool_printf(pool, NODE("", "%s"), r->b));
	assert_int_equal(nca_routes_equal(a, b), r->equal);
	assert_int_equal(nca_routes_equal(b, a), r->equal);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, lookups, check_lookup);
	TABLE_ADD(tests, n, reaches, check_reach);
	TABLE_ADD(tests, n, equals, check_equal);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_default);
	return _cmocka_run_group_tests("route", tests, n, NULL, NULL);
}
