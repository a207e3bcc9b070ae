/* SPDX-License-Identifier: Apache-2.0 */
/* Which HCA ports are for computing, and which of two nodes are the same rail. */
#include "small_steps.h"

/* A node whose default route leaves by its first rail. */
#define LEADS_OUT(name, last, more_links, more_hcas, more)                                         \
	NODE(name, LINK("r1", "10.1.0." last, "") more_links,                                      \
	     ROUTE("default", "r1") "," ROUTE("10.1.0.0/24", "r1") "," ROUTE("10.2.0.0/24", "r2"), \
	     ROCE("1", "ACTIVE", GID("1", last)) more_hcas, more)
#define WITH_R2(name, last, more)                                                                  \
	LEADS_OUT(name, last, RAIL("2", last, ""), "," ROCE("2", "ACTIVE", GID("2", last)), more)
#define WITH_R4(name, last, gpus)                                                                  \
	LEADS_OUT(name, last, RAIL("2", last, "") RAIL("3", last, "") RAIL("4", last, ""),         \
		  "," ROCE("2", "ACTIVE", GID("2", last)) "," ROCE(                                \
			  "3", "ACTIVE", GID("3", last)) "," ROCE("4", "ACTIVE", GID("4", last)),  \
		  ", 'gpus': [{'index': 0}, {'index': 1}" gpus "]")
#define GPUS(m1, m2)                                                                               \
	", 'gpus': [{'index': 0}, {'index': 1}], 'distances': {'m1': [" m1 "], 'm2': [" m2 "]}"

/* Two rails in one subnet. */
#define SUBNET(sysctl)                                                                             \
	JOB(2,                                                                                     \
	    NODE("a",                                                                              \
		 LINK("eth0", "10.0.0.1", "") RAIL("1", "1", "") "," LINK("r2", "10.1.0.2", ""),   \
		 ROUTE("default", "eth0"),                                                         \
		 ROCE("1", "ACTIVE",                                                               \
		      GID("1", "1")) ","                                                           \
				     "{'name': 'm2', 'ports': [{'port': 1, 'state': 'ACTIVE', "    \
				     "'link_layer': "                                              \
				     "'Ethernet', 'netdev': 'r2', 'rate_gbps': 200, 'gids': "      \
				     "[{'index': 1, "                                              \
				     "'gid': '0000:0000:0000:0000:0000:ffff:0a01:0002', 'type': "  \
				     "'RoCE v2', "                                                 \
				     "'ndev': 'r2'}]}]}",                                          \
		 ", 'sysctl': {" sysctl "}"))
#define BARE(name, state)                                                                          \
	"{'name': '" name "', 'ports': [{'port': 1, 'state': '" state                              \
	"', 'link_layer': 'InfiniBand'}]}"
#define SM(name, lid)                                                                              \
	"{'name': '" name "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': "             \
	"'InfiniBand', 'netdev': 'i" name "', 'sm_lid': " lid "}]}"
#define IPOIB(gpus)                                                                                \
	NODE("a",                                                                                  \
	     LINK("eth0", "10.0.0.1", "") ", {'name': 'im2', 'kind': 'infiniband', 'addresses': "  \
					  "[{'family': 'inet', 'addr': '10.9.0.1', "               \
					  "'prefixlen': 24, 'scope': 'global'}]}",                 \
	     ROUTE("default", "eth0"), SM("m0", "1") "," SM("m1", "1") "," SM("m2", "1"),          \
	     ", 'gpus': [" gpus "]")
#define STATELESS(name, netdev)                                                                    \
	"{'name': '" name "', 'ports': [{'port': 1, 'link_layer': 'Ethernet', 'netdev': '" netdev  \
	"'}]}"
#define FUNCTION(name, vf, physfn, rate)                                                           \
	"{'name': '" name "', 'pci': '" name "', 'is_vf': " vf ", 'physfn': " physfn               \
	", 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'InfiniBand', "                  \
	"'rate_gbps': " rate "}]}"
#define FUNCTIONS(pf, vfs, physfn, more)                                                           \
	NODE("a", LINK("eth0", "10.0.0.1", ""), "",                                                \
	     FUNCTION("m0", "false", "null", pf) "," FUNCTION(                                     \
		     "m1", "true", physfn, vfs) "," FUNCTION("m2", "true", physfn, vfs),           \
	     more)
#define LOCAL                                                                                      \
	"{'index': 1, 'gid': 'fe80:0000:0000:0000:0000:00ff:fe00:0001', 'type': 'RoCE v2', "       \
	"'ndev': 'r1'}"
/* A rail with an address, and a port with a link-local GID only. */
#define IDLE(rate, more)                                                                           \
	JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") RAIL("1", "1", "") RAIL("2", "1", ""),       \
		    ROUTE("default", "eth0"),                                                      \
		    "{'name': 'm1'" more ", 'ports': [{'port': 1, 'state': 'ACTIVE', "             \
		    "'link_layer': 'Ethernet', 'netdev': 'r1', 'rate_gbps': " rate                 \
		    ", 'gids': [" LOCAL "]}]}," ROCE("2", "ACTIVE", GID("2", "1")),                \
		    ""))
/* A RoCE port with an IPv6 address. */
#define SIX(n, last)                                                                               \
	"{'name': 'm" n "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'Ethernet', "   \
	"'netdev': 'r" n "', 'rate_gbps': 200, 'gids': [{'index': 3, 'gid': "                      \
	"'fd00:0000:0000:0000:0000:0000:0000:000" last "', 'type': 'RoCE v2', 'ndev': 'r" n        \
	"'}]}]}"
#define RAIL6(n, last)                                                                             \
	",{'name': 'r" n                                                                           \
	"', 'kind': 'ether', 'addresses': [{'family': 'inet6', 'addr': 'fd00::" last               \
	"', 'prefixlen': 64, 'scope': 'global'}]}"
#define FAMILIES(links1, hcas1, links2, hcas2)                                                     \
	JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") RAIL("1", "1", "") links1, "",               \
		    ROCE("1", "ACTIVE", GID("1", "1")) hcas1,                                      \
		    "") "," NODE("b", LINK("eth0", "10.0.0.2", "") RAIL6("1", "2") links2, "",     \
				 SIX("1", "2") hcas2, ""))
#define MODEL(name, model)                                                                         \
	"{'name': '" name "', 'vendor_part_id': " model ", 'ports': [{'port': 1, 'state': "        \
	"'ACTIVE', 'link_layer': 'InfiniBand', 'rate_gbps': 400}]}"
#define MODELS(odd, gpus)                                                                          \
	NODE("a", LINK("eth0", "10.0.0.1", ""), "",                                                \
	     MODEL("m0", odd) "," MODEL("m1", "4129") "," MODEL("m2", "4129"),                     \
	     ", 'gpus': [" gpus "]")

static const struct plan plans[] = {
	{"the front end is left out",
	 JOB(2, WITH_R2("a", "1", "") "," WITH_R2("b", "2", "")),
	 "choose",
	 "RoCE",
	 {"r1", "r1"},
	 .hcas = {"m2", "m2"}},
	{"the front end beside a GPU that has a rail",
	 JOB(2, WITH_R2("a", "1", GPUS("'PIX', 'SYS'", "'PXB', 'PIX'"))),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m2"}},
	{"the front end is the only rail of a GPU",
	 JOB(2, WITH_R2("a", "1", GPUS("'PXB', 'SYS'", "'SYS', 'PIX'"))),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m1,m2"}},
	{"no distance is known, and only with the front end there is one for each GPU",
	 JOB(2, WITH_R4("a", "1", ", {'index': 2}, {'index': 3}")),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m1,m2,m3,m4"}},
	{"without it there is one for each GPU",
	 JOB(2, WITH_R4("a", "1", ", {'index': 2}")),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m2,m3,m4"}},
	{"with it there are too many, and the rest does not tell",
	 JOB(2, WITH_R4("a", "1", "")),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m2,m3,m4"},
	 .warning = "hcas-unclear"},
	{"a faster port has no address",
	 IDLE("400", ""),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m2"},
	 .warning = "hcas-unaddressed"},
	{"one as fast has none", IDLE("200", ""), "choose", "RoCE", {"eth0"}, .hcas = {"m2"}},
	{"its speed is not known", IDLE("null", ""), "choose", "RoCE", {"eth0"}, .hcas = {"m2"}},
	{"a VF has none",
	 IDLE("400", ", 'is_vf': true"),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m2"}},
	{"v2 is what the first line calls it",
	 JOB(2, WITH_R2("a", "1", "")),
	 "choose",
	 "RoCE",
	 {"r1"},
	 .hcas = {"m2"},
	 .summary = "RoCE v2 on m2"},
	{"v1 where there is no other",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") RAIL("1", "1", ""), ROUTE("default", "eth0"),
		     ROCE("1", "ACTIVE",
			  "{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:0a01:0001', "
			  "'type': 'IB/RoCE v1', 'ndev': 'r1'}"),
		     "")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1"},
	 .summary = "RoCE v1 on m1"},
	{"IPv4 on one node and IPv6 on the other",
	 FAMILIES("", "", "", ""),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-rdma"},
	{"another rail has IPv4 on both",
	 FAMILIES(RAIL("2", "1", ""), "," ROCE("2", "ACTIVE", GID("2", "1")), RAIL("2", "2", ""),
		  "," ROCE("2", "ACTIVE", GID("2", "2"))),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0"},
	 .hcas = {"m2", "m2"},
	 .warning = "rail-missing"},
	{"in a container, a device of which it has no interface",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") RAIL("1", "1", ""), ROUTE("default", "eth0"),
		     STATELESS("m1", "r1") "," ETH("m2"), ", 'in_container': true")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1"}},
	{"it has none of any",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") RAIL("1", "1", ""), ROUTE("default", "eth0"),
		     ETH("m1") "," ETH("m2"), ", 'in_container': true")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1,m2"}},
	{"on a host the report may not say all",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") RAIL("1", "1", ""), ROUTE("default", "eth0"),
		     STATELESS("m1", "r1") "," ETH("m2"), "")),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1,m2"}},
	{"the front end of one node is all that the other has",
	 JOB(2, WITH_R2("a", "1", "") "," LEADS_OUT("b", "2", "", "", "")),
	 "choose",
	 "RoCE",
	 {"r1", "r1"},
	 .hcas = {"m1", "m1"},
	 .warning = "rail-missing"},
	{"numbers are shifted by an Ethernet device: the names tell nothing",
	 TWO("", "", BARE("m0", "ACTIVE") "," BARE("m1", "DOWN") "," BARE("m2", "ACTIVE"),
	     ETH("m0") "," BARE("m1", "ACTIVE") "," BARE("m2", "ACTIVE") "," BARE("m3", "ACTIVE"),
	     "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0,m2", "m1,m2"},
	 .warning = "rail-missing"},
	{"each node has another rail, and no route joins them",
	 TWO(RAIL("1", "1", "") RAIL("2", "1", ""), RAIL("1", "2", "") RAIL("2", "2", ""),
	     ROCE("1", "ACTIVE", GID("1", "1")) "," ROCE("2", "DOWN", ""),
	     ROCE("1", "DOWN", "") "," ROCE("2", "ACTIVE", GID("2", "2")), "", ""),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-common-rail"},
	{"two RoCE ports in one subnet that answer for each other",
	 SUBNET("'arp_ignore': '0'"),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1,m2"},
	 .warning = "arp-flux"},
	{"they do not", SUBNET("'arp_ignore': '1'"), "choose", "RoCE", {"eth0"}, .hcas = {"m1,m2"}},
	{"one of them does not",
	 SUBNET("'arp_ignore': '0', 'arp_ignore/r2': '2'"),
	 "choose",
	 "RoCE",
	 {"eth0"},
	 .hcas = {"m1,m2"}},
	{"nothing is known of it", SUBNET(""), "choose", "RoCE", {"eth0"}, .hcas = {"m1,m2"}},
	{"two of a model for each GPU, and an odd one",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ""), "",
		     MODEL("m0", "41692") "," MODEL("m1", "4131") "," MODEL("m2", "4131") "," MODEL(
			     "m3", "4131") "," MODEL("m4", "4131"),
		     ", 'gpus': [{'index': 0}, {'index': 1}]")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m1,m2,m3,m4"}},
	{"far from the GPUs on one node, which is no fault",
	 TWO("", "", BOTH, BOTH,
	     ", 'gpus': [{'index': 0}], 'distances': {'m0': ['PIX'], 'm1': ['SYS']}", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"}},
	{"the state of a RoCE port is not known, but its netdev has no carrier",
	 TWO(", {'name': 'r1', 'kind': 'ether'}", ", {'name': 'r1', 'kind': 'ether', 'carrier': 0}",
	     STATELESS("m0", "r0") "," STATELESS("m1", "r1"),
	     STATELESS("m0", "r0") "," STATELESS("m1", "r1"), "", ""),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "rail-down"},
	{"VFs of unknown PFs beside a PF",
	 JOB(2, FUNCTIONS("100", "100", "null", "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0"}},
	{"they are faster",
	 JOB(2, FUNCTIONS("100", "200", "null", "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m1,m2"}},
	{"their PF is known, and another one",
	 JOB(2, FUNCTIONS("100", "100", "'m9'", "")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1,m2"}},
	{"the VFs and the PF of a virtual machine",
	 JOB(2, FUNCTIONS("100", "100", "null", ", 'host': {'virtual': true}")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1,m2"}},
	{"two fabrics with one prefix: the SM LIDs tell",
	 TWO("", "", SM("m0", "1") "," SM("m1", "1") "," SM("m2", "7"),
	     SM("m0", "1") "," SM("m1", "1") "," SM("m2", "7"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0,m1", "m0,m1"}},
	{"one port of each: nothing tells which",
	 TWO("", "", SM("m0", "1") "," SM("m1", "7"), SM("m0", "1") "," SM("m1", "7"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0,m1", "m0,m1"}},
	{"the SM LID of one port is not known",
	 TWO("", "", SM("m0", "1") "," SM("m1", "1") "," SM("m2", "7"),
	     SM("m0", "1") "," SM("m1", "1") "," SM("m2", "null"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0,m1,m2", "m0,m1,m2"}},
	{"a port that carries IP beside one for each GPU",
	 JOB(2, IPOIB("{'index': 0}, {'index': 1}")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1"}},
	{"three GPUs",
	 JOB(2, IPOIB("{'index': 0}, {'index': 1}, {'index': 2}")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1,m2"},
	 .warning = "hcas-unclear"},
	{"the VF below netvsc is not lost",
	 TWO(", {'name': 'r1', 'kind': 'ether', 'master': 'eth0', 'addresses': []}",
	     ", {'name': 'r1', 'kind': 'ether', 'master': 'eth0', 'addresses': []}",
	     ROCE("1", "ACTIVE", LOCAL), ROCE("1", "ACTIVE", LOCAL), "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"a RoCE port without a routable address is",
	 TWO("", "", ROCE("1", "ACTIVE", LOCAL), ROCE("1", "ACTIVE", LOCAL), "", ""),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-rdma"},
	{"one of a model for each GPU, and an odd one",
	 JOB(2, MODELS("41692", "{'index': 0}, {'index': 1}")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m1,m2"}},
	{"one GPU of two is seen",
	 JOB(2, MODELS("41692", "{'index': 0}")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1,m2"}},
	{"three of one model",
	 JOB(2, MODELS("4129", "{'index': 0}, {'index': 1}")),
	 "choose",
	 "IB",
	 {"eth0"},
	 .hcas = {"m0,m1,m2"},
	 .warning = "hcas-unclear"},
	{"a device of the name is Ethernet there: as many on both, so none is missing",
	 TWO("", "", IB("m0", "ACTIVE", "200") "," ETH("m1") "," IB("m2", "ACTIVE", "200"),
	     IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "200") "," ETH("m2"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0,m2", "m0,m1"}},
};

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, plans, check_plan);
	return _cmocka_run_group_tests("plan_roles", tests, n, NULL, NULL);
}
