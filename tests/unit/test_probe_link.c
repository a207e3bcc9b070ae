/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces, addresses and routes out of netlink bytes: recorded ones and damaged ones. */
#include <sys/socket.h>

#include "data/network.h"
#include "probe.h"

#define RECORDED(name) ((struct nca_dump){(void *)(uintptr_t)(name), sizeof(name)})

static void parse(const struct nca_probe *p, const struct nca_dump *dump)
{
	assert_int_equal(nca_links_parse(p, dump), 0);
}

static void parse_recorded(const struct nca_probe *p)
{
	const struct nca_dump links = RECORDED(recorded_links), addrs = RECORDED(recorded_addrs);
	const struct nca_dump v4 = RECORDED(recorded_routes), v6 = RECORDED(recorded_routes6);

	parse(p, &links);
	assert_int_equal(nca_addrs_parse(p, &addrs), 0);
	assert_int_equal(nca_routes_parse(p, &v4, AF_INET), 0);
	assert_int_equal(nca_routes_parse(p, &v6, AF_INET6), 0);
}

static const struct {
	const char *name, *kind, *mac, *operstate, *master, *link;
	int arphrd, carrier, netns_peer;
	size_t naddrs;
	const char *first_flag;
} recorded[] = {
	{"lo", "loopback", "00:00:00:00:00:00", "unknown", NULL, NULL, 772, 1, -1, 2, "LOOPBACK"},
	{"v1", "veth", "02:00:00:00:00:01", "up", NULL, NULL, 1, 1, 0, 2, "BROADCAST"},
	{"v0", "veth", "02:00:00:00:00:01", "up", "br7", NULL, 1, 1, 0, 0, "BROADCAST"},
	{"br7", "bridge", "02:00:00:00:00:01", "up", NULL, NULL, 1, 1, -1, 1, "BROADCAST"},
	{"v2", "veth", "02:00:00:00:00:01", "down", NULL, NULL, 1, 0, 1, 0, "NO-CARRIER"},
	{"tun0", "tun", NULL, "down", NULL, NULL, 65534, 0, -1, 0, "POINTOPOINT"},
};

static void test_recorded_links(void **state)
{
	const struct nca_probe *p = *state;
	size_t i;

	parse_recorded(p);
	assert_int_equal(p->node->interfaces.n, ARRAY_SIZE(recorded));
	for (i = 0; i < ARRAY_SIZE(recorded); i++) {
		const struct nca_link *l = &p->node->interfaces.v[i];

		print_message("%s\n", recorded[i].name);
		assert_text(l->name, recorded[i].name);
		assert_int_equal(l->ifindex, i + 1);
		assert_text(l->kind, recorded[i].kind);
		assert_text(l->mac, recorded[i].mac);
		assert_text(l->operstate, recorded[i].operstate);
		assert_text(l->master, recorded[i].master);
		assert_text(l->link, recorded[i].link);
		assert_int_equal(l->arphrd, recorded[i].arphrd);
		assert_int_equal(l->carrier, recorded[i].carrier);
		assert_int_equal(l->netns_peer, recorded[i].netns_peer);
		assert_int_equal(l->addresses.n, recorded[i].naddrs);
		assert_text(l->flags.v[0], recorded[i].first_flag);
	}
	assert_int_equal(nca_node_link(p->node, "br7")->bridge->ports.n, 1);
	assert_text(nca_node_link(p->node, "br7")->bridge->ports.v[0], "v0");
	assert_text(nca_node_link(p->node, "v1")->altnames.v[0], "uplink");
}

/* v1 also has a deprecated address and a tentative one; its first one is a point-to-point one. */
static void test_recorded_addresses(void **state)
{
	const struct nca_probe *p = *state;
	const struct nca_link *l;

	parse_recorded(p);
	l = nca_node_link(p->node, "v1");
	assert_text(l->addresses.v[0].addr, "10.9.1.1");
	assert_int_equal(l->addresses.v[0].prefixlen, 32);
	assert_text(l->addresses.v[1].addr, "fd09::1");
	assert_text(l->addresses.v[1].family, "inet6");
	assert_text(nca_node_link(p->node, "lo")->addresses.v[0].scope, "host");
}

static const struct nca_route *find_route(const struct nca_node *node, const char *dst)
{
	const struct nca_route *r;

	NCA_FOREACH(r, node->routes)
		if (streq(r->dst, dst) && streq(r->family, "inet"))
			return r;
	return NULL;
}

static void test_recorded_routes(void **state)
{
	const struct nca_probe *p = *state;
	const struct nca_route *r;

	parse_recorded(p);
	r = find_route(p->node, "default");
	assert_non_null(r);
	assert_text(r->gateway, "10.9.0.2");
	assert_text(r->dev, "br7");
	assert_text(r->protocol, "dhcp");
	assert_text(r->table, "main");
	assert_int_equal(r->metric, 50);
	assert_text(find_route(p->node, "10.10.0.0/16")->table, "101");
	r = find_route(p->node, "10.11.0.0/16");
	assert_null(r->dev);
	assert_int_equal(r->nexthops.n, 2);
	assert_text(r->nexthops.v[1].via, "10.9.0.3");
	assert_text(r->nexthops.v[1].dev, "br7");
	assert_text(find_route(p->node, "10.9.0.0/24")->scope, "link");
	assert_null(find_route(p->node, "10.12.0.0/16"));
	assert_null(find_route(p->node, "127.0.0.0/8"));
}

/* Every length of an answer that was cut, and every byte that was changed: nothing beyond the bytes
 * is read (AddressSanitizer watches), and nothing fails. */
static void damage(const struct nca_dump *good,
		   int (*parse_one)(const struct nca_probe *, const struct nca_dump *))
{
	size_t i;

	for (i = 0; i < good->len; i++) {
		struct nca_pool *pool = nca_pool_new();
		struct nca_probe q = {NULL, pool, nca_schema_new(pool, &nca_node_shape)};
		const struct nca_dump links = RECORDED(recorded_links);
		nca_autofree unsigned char *copy = malloc(good->len);
		nca_autofree unsigned char *part = malloc(i + 1);
		const struct nca_dump whole = {copy, good->len}, cut = {part, i};

		parse(&q, &links);
		memcpy(part, good->data, i);
		assert_int_equal(parse_one(&q, &cut), 0);
		memcpy(copy, good->data, good->len);
		copy[i] ^= 0xff;
		assert_int_equal(parse_one(&q, &whole), 0);
		nca_pool_free(pool);
	}
}

static int parse_routes(const struct nca_probe *p, const struct nca_dump *routes)
{
	return nca_routes_parse(p, routes, AF_INET);
}

static void test_damaged(void **state)
{
	const struct nca_dump links = RECORDED(recorded_links), addrs = RECORDED(recorded_addrs);
	const struct nca_dump routes = RECORDED(recorded_routes);

	(void)state;
	damage(&links, nca_links_parse);
	damage(&addrs, nca_addrs_parse);
	damage(&routes, parse_routes);
}

static void test_empty(void **state)
{
	const struct nca_probe *p = *state;
	const struct nca_dump none = {NULL, 0};

	assert_int_equal(nca_links_parse(p, &none), 0);
	assert_int_equal(nca_addrs_parse(p, &none), 0);
	assert_int_equal(nca_routes_parse(p, &none, AF_INET), 0);
	assert_int_equal(p->node->interfaces.n, 0);
}

static const struct {
	const char *path, *pci;
} paths[] = {
	{"sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0", "0000:18:00.0"},
	{"sys/devices/pci0000:00/0000:00:03.0/virtio2", "0000:00:03.0"},
	{"sys/devices/pci0000:15/0000:18:00.1/mlx5_core.sf.4", "0000:18:00.1"},
	{"sys/devices/pci10001:00/10001:00:00.0", "10001:00:00.0"},
	{"sys/devices/virtual/net/lo", NULL},
	{"sys/devices/pci0000:15", NULL},
	{"0000:18:00.0x", NULL},
	{"0000:18:00", NULL},
	{"", NULL},
};

static void test_pci_of_path(void **state)
{
	const struct nca_probe *p = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		print_message("%s\n", paths[i].path);
		assert_text(nca_pci_of_path(p->pool, paths[i].path), paths[i].pci);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_recorded_links),  TEST(test_recorded_addresses),
		TEST(test_recorded_routes), TEST(test_damaged),
		TEST(test_empty),	    TEST(test_pci_of_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
