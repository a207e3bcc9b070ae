/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan makes of facts that are not known: what the others tell, else it is unsure. */
#include "small_steps.h"

/* A node with eth0 10.0.0.LAST and a default route over it, and one without routes. */
#define OUT(name, last, links, hcas, more)                                                         \
	NODE(name, LINK("eth0", "10.0.0." last, "") links, HOP("eth0"), hcas, more)
#define UNROUTED(name, last, links, hcas, more)                                                    \
	NODE(name, LINK("eth0", "10.0.0." last, "") links, "", hcas, more)

/* InfiniBand of which little is known: devices as the kernel numbers them. */
#define MLX(n)                                                                                     \
	"{'name': 'mlx5_" #n "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': "          \
	"'InfiniBand'}]}"
#define MLX3 MLX(0) "," MLX(1) "," MLX(2)
#define MLX5 MLX3 "," MLX(3) "," MLX(4)
#define MLX8 MLX5 "," MLX(5) "," MLX(6) "," MLX(7)
#define UDEV(n)                                                                                    \
	"{'name': 'ibp" #n "s0', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': "          \
	"'InfiniBand'}]}"
#define GPU8                                                                                       \
	", 'gpus': [{'index': 0}, {'index': 1}, {'index': 2}, {'index': 3}, {'index': 4}, "        \
	"{'index': 5}, {'index': 6}, {'index': 7}]"
#define PFVF(pci)                                                                                  \
	"{'name': 'm0', 'pci': " pci ", 'is_vf': false, 'ports': [{'port': 1, 'state': "           \
	"'ACTIVE', 'link_layer': 'InfiniBand', 'rate_gbps': 200}]}, {'name': 'm1', 'is_vf': true"  \
	", 'physfn': 'p0', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'InfiniBand', "  \
	"'rate_gbps': 200}]}"

/* RoCE rails r1 to r4 in 10.N.0.0/24, GIDs known. */
#define R(n, last) RAIL(n, last, "")
#define P(n, last) ROCE(n, "ACTIVE", GID(n, last))
#define OVER_RAILS(name, last, routes)                                                             \
	NODE(name, LINK("r1", "10.1.0." last, "") R("2", last) R("3", last) R("4", last), routes,  \
	     P("1", last) "," P("2", last) "," P("3", last) "," P("4", last), "")
#define RATED(n, last, rate)                                                                       \
	"{'name': 'm" n "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'Ethernet', "   \
	"'netdev': 'r" n "', 'rate_gbps': " rate ", 'gids': [" GID(n, last) "]}]}"
#define UNRATED(n, last)                                                                           \
	"{'name': 'm" n "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'Ethernet', "   \
	"'netdev': 'r" n "', 'gids': [" GID(n, last) "]}]}"
#define DHCP(name, last, dev)                                                                      \
	NODE(name, LINK("eth0", "10.0.0." last, "") R("1", last) R("2", last),                     \
	     HOP(dev) "," ROUTE("10.0.0.0/24", "eth0"), UNRATED("1", last) "," UNRATED("2", last), \
	     "")
#define SLOW(name, last)                                                                           \
	NODE(name, LINK("eth0", "10.0.0." last, "") R("1", last) R("2", last), HOP("eth0"),        \
	     RATED("1", last, "2.5") "," RATED("2", last, "10"), "")

/* A RoCE port m0 over r1 whose GID table is not known. */
#define NO_TABLE(more)                                                                             \
	"{'name': 'm0', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'Ethernet', "       \
	"'netdev': 'r1'}]" more "}"
#define BARE(more) ", {'name': 'r1', 'kind': 'ether', 'addresses': []" more "}"
#define ABOVE(name, kind, addr, more)                                                              \
	", {'name': '" name "', 'kind': '" kind                                                    \
	"', 'addresses': [{'family': 'inet', 'addr': '" addr                                       \
	"', 'prefixlen': 24, 'scope': 'global'}]" more "}"
#define FE80                                                                                       \
	", {'name': 'r1', 'kind': 'ether', 'addresses': [{'family': 'inet6', 'addr': 'fe80::1', "  \
	"'prefixlen': 64, 'scope': 'link'}]}"
#define CONTAINER ", 'in_container': true"

/* Three nodes, a cable between each two, a /LEN per cable. */
#define CABLE(n, net, addr, len)                                                                   \
	", {'name': 'r" n "', 'kind': 'ether', 'addresses': [{'family': 'inet', 'addr': '10." net  \
	".0." addr "', 'prefixlen': " len ", 'scope': 'global'}]}"
#define END(n, net, addr)                                                                          \
	"{'name': 'm" n "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'Ethernet', "   \
	"'netdev': 'r" n "', 'gids': [{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:0a0" net  \
	":000" addr "', 'type': 'RoCE v2', 'ndev': 'r" n "'}]}]}"
#define CORNER(name, last, a, at, b, bt, more)                                                     \
	UNROUTED(name, last, CABLE("1", a, at, "30") CABLE("2", b, bt, "30"),                      \
		 END("1", a, at) "," END("2", b, bt), more)
#define RING(more)                                                                                 \
	JOB(4, CORNER("a", "1", "1", "1", "4", "2", more) "," CORNER(                              \
		       "b", "2", "2", "1", "1", "2",                                               \
		       more) "," CORNER("c", "3", "3", "1", "2", "2",                              \
					more) "," CORNER("d", "4", "4", "1", "3", "2", more))
#define TRIANGLE(more)                                                                             \
	JOB(3, CORNER("a", "1", "1", "1", "3", "2",                                                \
		      more) "," CORNER("b", "2", "2", "1", "1", "2",                               \
				       more) "," CORNER("c", "3", "3", "1", "2", "2", more))

/* Networks of TCP. */
#define IN(dev, addr, more)                                                                        \
	", {'name': '" dev "', 'kind': 'ether', 'addresses': [{'family': 'inet', 'addr': '" addr   \
	"', 'prefixlen': 24, 'scope': 'global'}]" more "}"
#define WG(last)                                                                                   \
	", {'name': 'wg0', 'kind': 'tun', 'addresses': [{'family': 'inet', 'addr': '10.8.0." last  \
	"', 'prefixlen': 24, 'scope': 'global'}]}"
#define LAN(name, net, links, routes, more)                                                        \
	NODE(name, LINK("eth0", "192.168." net ".10", "") links, routes, "", more)
#define NAMED(name, addr) ", 'peers': [{'name': '" name "', 'addresses': ['" addr "']}]"
#define VETH(last)                                                                                 \
	NODE("c" last,                                                                             \
	     "{'name': 'eth0', 'kind': 'veth', 'mtu': 1450, 'addresses': [{'family': 'inet', "     \
	     "'addr': '10.0.1." last "', 'prefixlen': 24, 'scope': 'global'}]}, {'name': 'eth1', " \
	     "'kind': 'veth', 'mtu': 1500, 'addresses': [{'family': 'inet', 'addr': "              \
	     "'172.18.0." last "', 'prefixlen': 16, 'scope': 'global'}]}",                         \
	     ROUTE("10.0.1.0/24", "eth0") "," ROUTE("172.18.0.0/16", "eth1"), "", CONTAINER)

static const struct plan plans[] = {
	{"five HCAs, and no GPU is known",
	 JOB(2, OUT("a", "1", "", MLX5, "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4"},
	 .warning = "hcas-unclear"},
	{"eight",
	 JOB(2, OUT("a", "1", "", MLX8, "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7"}},
	{"three, which may be a part",
	 JOB(2, OUT("a", "1", "", MLX3, "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"mlx5_0,mlx5_1,mlx5_2"}},
	{"five for eight GPUs",
	 JOB(2, OUT("a", "1", "", MLX5, GPU8)),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4"},
	 .warning = "hcas-unclear"},
	{"three beside a front end that is as fast",
	 JOB(2, OVER_RAILS("a", "1", HOP("r1"))),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m2,m3,m4"},
	 .warning = "hcas-unclear"},
	{"all runs over the rails, and the default route is not known",
	 JOB(2, OVER_RAILS("a", "1", "")),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m1,m2,m3,m4"},
	 .warning = "hcas-unclear"},
	{"a rate of 2.5 Gb/s is none",
	 JOB(2, SLOW("a", "1")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1,m2"},
	 .warning = "hcas-unclear"},
	{"a default route over a rail of the other node, and no rate is known",
	 JOB(2, DHCP("a", "1", "eth0") "," DHCP("b", "2", "r2")),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0"},
	 .hcas = {"m1,m2", "m1,m2"}},
	{"a VF of a PF whose address is not known",
	 JOB(2, OUT("a", "1", "", PFVF("null"), "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0"}},
	{"a VF of none of the PFs",
	 JOB(2, OUT("a", "1", "", PFVF("'p1'"), "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1"}},
	{"the kernel's numbers do not tell which is missing",
	 JOB(2, OUT("a", "1", "", MLX3, "") "," OUT("b", "2", "", MLX(0) "," MLX(1), "")),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"mlx5_0,mlx5_1", "mlx5_0,mlx5_1"},
	 .warning = "rail-missing",
	 .says = "nothing tells which"},
	{"places in names do",
	 JOB(2, OUT("a", "1", "", UDEV(1) "," UDEV(2) "," UDEV(3),
		    "") "," OUT("b", "2", "", UDEV(1) "," UDEV(2), "")),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"ibp1s0,ibp2s0", "ibp1s0,ibp2s0"},
	 .warning = "rail-missing",
	 .says = "no rail ibp3s0"},
	{"no GID table, and no address of which a GID would be made",
	 JOB(2, OUT("a", "1", BARE(""), NO_TABLE(""), "")),
	 "fallback",
	 "Socket",
	 {"eth0"},
	 .hcas = {""},
	 .warning = "no-rdma"},
	{"one of the wire alone",
	 JOB(2, OUT("a", "1", FE80, NO_TABLE(""), "")),
	 "fallback",
	 "Socket",
	 {"eth0"},
	 .hcas = {""},
	 .warning = "no-rdma"},
	{"one of a VLAN over it",
	 JOB(2, OUT("a", "1", BARE("") ABOVE("r1.5", "vlan", "10.1.0.1", ", 'link': 'r1'"),
		    NO_TABLE(""), "")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m0"}},
	{"one of a bridge",
	 JOB(2, OUT("a", "1", BARE(", 'master': 'br0'") ABOVE("br0", "bridge", "10.1.0.1", ""),
		    NO_TABLE(""), "")),
	 "fallback",
	 "Socket",
	 {"eth0"},
	 .hcas = {""},
	 .warning = "no-rdma"},
	{"of Hyper-V's netvsc: it was never meant for RDMA",
	 JOB(2, OUT("a", "1", BARE(", 'master': 'eth0'"), NO_TABLE(""), "")),
	 "choose",
	 "Socket",
	 {"eth0"},
	 .hcas = {""}},
	{"addresses that the other node has too",
	 JOB(2, OUT("a", "1", R("1", "9"), NO_TABLE(""), "") "," OUT("b", "2", R("1", "9"),
								     NO_TABLE(""), "")),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-rdma"},
	{"addresses of two networks without a route",
	 JOB(2, OUT("a", "1", R("1", "1"), NO_TABLE(""),
		    "") "," OUT("b", "2", IN("r1", "10.2.0.2", ""), NO_TABLE(""), "")),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "hcas-unclear",
	 .says = "no route leads over r1"},
	{"the netdev is in another network namespace",
	 JOB(2, OUT("a", "1", "", NO_TABLE(""), CONTAINER)),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m0"},
	 .warning = "hcas-unclear"},
	{"iWARP or RoCE",
	 JOB(2, OUT("a", "1", R("1", "1"), NO_TABLE(", 'driver': 'irdma'"), "")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m0"},
	 .warning = "hcas-unclear"},
	{"an RNIC that may be in its mode for RoCE",
	 JOB(2, OUT("a", "1", R("1", "1"), NO_TABLE(", 'driver': 'erdma', 'node_type': '4: RNIC'"),
		    "")),
	 "fallback",
	 "Socket",
	 {"eth0"},
	 .hcas = {""},
	 .warning = "no-rdma"},
	{"cables, and NCCL's version is not known",
	 TRIANGLE(""),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0", "eth0"},
	 .hcas = {"m1,m2", "m1,m2", "m1,m2"},
	 .warning = "mesh-old-nccl"},
	{"a ring of cables: its subnets have no room for a router, and no route is known",
	 RING(", 'nccl_version': '2.30.7'"),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0", "eth0", "eth0"},
	 .hcas = {"", "", "", ""},
	 .warning = "mesh-gap"},
	{"two networks, and no route is known to either",
	 JOB(2, LAN("a", "1", IN("eth1", "10.1.0.1", ""), "",
		    "") "," LAN("b", "2", IN("eth1", "10.2.0.1", ""), "", "")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "route-unknown"},
	{"one network, and no route is known to it",
	 JOB(2, LAN("a", "1", "", "", "") "," LAN("b", "2", "", "", "")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"a VPN to which the names lead, and no route is known",
	 JOB(2, LAN("a", "1", WG("1"), "", NAMED("b", "10.8.0.2")) "," LAN("b", "2", WG("2"), "",
									   NAMED("a", "10.8.0.1"))),
	 "choose",
	 "Socket",
	 {"wg0", "wg0"},
	 .hcas = {"", ""}},
	{"a VPN beside the default route, and no name is known",
	 JOB(2, LAN("a", "1", WG("1"), HOP("eth0") "," ROUTE("10.8.0.0/24", "wg0"), "") "," LAN(
			"b", "2", WG("2"), HOP("eth0") "," ROUTE("10.8.0.0/24", "wg0"), "")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "route-unknown"},
	{"two as fast, beside a third of unknown speed",
	 JOB(2, NODE("a",
		     LINK("eth1", "10.1.0.1", ", 'speed_mbps': 1000") IN(
			     "eth2", "10.2.0.1", ", 'speed_mbps': 1000") IN("eth3", "10.3.0.1", ""),
		     "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1"},
	 .hcas = {""}},
	{"what a tunnel takes off a frame, in containers",
	 JOB(2, VETH("1") "," VETH("2")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""},
	 .warning = "speed-unknown"},
	{"the firewall drops Linux's default range, and the node's own is not known",
	 JOB(2,
	     OUT("a", "1", "", "",
		 ", 'firewall': {'input': 'drop', 'accept': [{'proto': 'tcp', 'ports': [22]}]}")),
	 "choose",
	 "Socket",
	 {"eth0"},
	 .hcas = {""},
	 .warning = "firewall-closed"},
};

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, plans, check_plan);
	return _cmocka_run_group_tests("plan_facts", tests, n, NULL, NULL);
}
