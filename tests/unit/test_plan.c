/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>

#include <nca/plan.h>

#include "document.h"
#include "lib/step.h"

#define JOB(n, nodes) "{'schema': 'job/1', 'nnodes': " #n ", 'nodes': [" nodes "]}"
#define NODE(name, links, routes, hcas, more)                                                      \
	"{'schema': 'hwdesc/1', 'name': '" name "', 'interfaces': [" links "], 'routes': [" routes \
	"], 'hcas': [" hcas "]" more "}"
#define LINK(name, addr, more)                                                                     \
	"{'name': '" name "', 'kind': 'ether', 'addresses': [{'family': 'inet', 'addr': '" addr    \
	"', 'prefixlen': 24, 'scope': 'global'}]" more "}"
#define ROUTE(dst, dev) "{'family': 'inet', 'dst': '" dst "', 'dev': '" dev "'}"
#define IB(name, state, rate)                                                                      \
	"{'name': '" name "', 'pci': '" name "', 'ports': [{'port': 1, 'state': '" state           \
	"', 'link_layer': 'InfiniBand', 'rate_gbps': " rate "}]}"
#define ETH(name)                                                                                  \
	"{'name': '" name "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': "             \
	"'Ethernet'}]}"

/* Two nodes with eth0 10.0.0.1 and .2, and what a row adds. */
#define TWO(links1, links2, hcas1, hcas2, more1, more2)                                            \
	JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") links1,                                      \
		    ROUTE("10.0.0.0/24", "eth0") "," ROUTE("10.1.0.0/24", "eth1"), hcas1,          \
		    more1) "," NODE("b", LINK("eth0", "10.0.0.2", "") links2,                      \
				    ROUTE("10.0.0.0/24", "eth0") "," ROUTE("10.1.0.0/24", "eth1"), \
				    hcas2, more2))
#define ETH1(last, more) "," LINK("eth1", "10.1.0." last, more)
#define HCAS(more) TWO("", "", IB("m0", "ACTIVE", "200"), IB("m0", "ACTIVE", "200"), "", more)
#define USER(more) ", 'environment_origin': 'user', 'environment': {" more "}"
#define BGP(last)                                                                                  \
	"{'name': 'dummy0', 'kind': 'dummy', 'addresses': [{'family': 'inet', 'addr': "            \
	"'10.255.0." last "', 'prefixlen': 32, 'scope': 'global'}]}, {'name': 'lan0', 'kind': "    \
	"'ether', 'addresses': []}, {'name': 'lan1', 'kind': 'ether', 'addresses': []}"
#define HOP(dev) "{'family': 'inet', 'dst': 'default', 'dev': '" dev "', 'metric': 20}"
#define V2(last)                                                                                   \
	"{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:0a00:" last                            \
	"', 'type': 'RoCE v2', 'ndev': 'eth0'}"
#define RNIC(gids)                                                                                 \
	"{'name': 'e0', 'node_type': '4: RNIC', 'ports': [{'port': 1, 'state': 'ACTIVE', "         \
	"'link_layer': 'Ethernet', 'netdev': 'eth0', 'gids': [" gids "]}]}"
/* Three nodes with what a row gives each. */
#define ON(n, hcas) NODE(#n, LINK("eth0", "10.0.0." #n, ""), ROUTE("10.0.0.0/24", "eth0"), hcas, "")
#define THREE(hcas1, hcas2, hcas3) JOB(3, ON(1, hcas1) "," ON(2, hcas2) "," ON(3, hcas3))
#define BOTH IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "200")
#define FIREWALL(ports)                                                                            \
	USER("'MASTER_PORT': '29500'")                                                             \
	", 'ip_local_port_range': [40000, 40001], 'firewall': {'input': 'drop', 'accept': "        \
	"[{'proto': 'tcp', 'ports': [" ports "]}]}"

struct plan {
	const char *name, *job;
	const char *verdict, *net;
	const char *ifname[2];
	const char *hcas[2]; /* with commas */
	const char *warning; /* code of one; NULL: there is none */
	int missing_rail_fail, min_rails, fallback_fail;
};

static const struct plan plans[] = {
	{"one network",
	 TWO("", "", "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"one node needs nothing",
	 JOB(1, NODE("a", LINK("eth0", "10.0.0.1", ""), "", IB("m0", "ACTIVE", "200"), "")),
	 "choose",
	 "none",
	 {NULL},
	 .hcas = {""}},
	{"a sample of one",
	 JOB(4, NODE("a", LINK("eth0", "10.0.0.1", ""), "", "", "")),
	 "choose",
	 "Socket",
	 {"eth0"},
	 .hcas = {""}},
	{"no interfaces are known",
	 JOB(2, NODE("a", "", "", "", "") "," NODE("b", "", "", "", "")),
	 "choose",
	 "Socket",
	 {NULL},
	 .hcas = {"", ""},
	 .warning = "no-interface"},
	{"the faster of two",
	 TWO(ETH1("1", ", 'speed_mbps': 100"), ETH1("2", ", 'speed_mbps': 100"), "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"an unknown carrier is not down",
	 TWO(ETH1("1", ", 'mtu': 9000"), ETH1("2", ", 'mtu': 9000"), "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"no carrier",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ", 'carrier': 0") ETH1("1", ""), "", "",
		     "") "," NODE("b", LINK("eth1", "10.1.0.2", ""), "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"the same address on both",
	 JOB(2, NODE("a", LINK("docker0", "172.17.0.1", "") ETH1("1", ""), "", "", "") "," NODE(
			"b", LINK("docker0", "172.17.0.1", "") ETH1("2", ""), "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"islands",
	 JOB(2,
	     NODE("a", LINK("eth0", "10.0.0.1", ""), ROUTE("10.0.0.0/24", "eth0"), "", "") "," NODE(
		     "b", LINK("eth0", "10.2.0.1", ""), ROUTE("10.2.0.0/24", "eth0"), "", "")),
	 "refuse",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-common-network"},
	{"only a routable address on lo",
	 JOB(2, NODE("a",
		     "{'name': 'lo', 'kind': 'loopback', 'addresses': [{'family': 'inet', "
		     "'addr': '10.9.9.9', 'prefixlen': 32}]}",
		     "", "", "") "," NODE("b", LINK("eth0", "10.0.0.2", ""), "", "", "")),
	 "refuse",
	 "Socket",
	 {NULL, "eth0"},
	 .hcas = {"", ""},
	 .warning = "address-on-loopback"},

	{"a host address on a dummy device: BGP carries it over any link",
	 JOB(2, NODE("a", BGP("1"), HOP("lan0") "," HOP("lan1"), "",
		     "") "," NODE("b", BGP("2"), HOP("lan0") "," HOP("lan1"), "", "")),
	 "choose",
	 "Socket",
	 {"dummy0", "dummy0"},
	 .hcas = {"", ""}},
	{"iWARP",
	 TWO("", "", RNIC(""), RNIC(""), "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"an RNIC with RoCE v2 GIDs",
	 TWO("", "", RNIC(V2("0001")), RNIC(V2("0002")), "", ""),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0"},
	 .hcas = {"e0", "e0"}},

	{"InfiniBand", HCAS(""), "choose", "IB", {"eth0", "eth0"}, .hcas = {"m0", "m0"}},
	{"a node without HCA",
	 TWO("", "", IB("m0", "ACTIVE", "200"), "", "", ""),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-rdma"},
	{"fallback=fail",
	 TWO("", "", IB("m0", "ACTIVE", "200"), "", "", ""),
	 "refuse",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-rdma",
	 .fallback_fail = 1},
	{"all ports down",
	 TWO("", "", IB("m0", "DOWN", "10"), IB("m0", "DOWN", "10"), "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"InfiniBand here, Ethernet there",
	 TWO("", "", IB("m0", "ACTIVE", "200"), ETH("m0"), "", ""),
	 "fallback",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "no-common-rail"},
	{"InfiniBand first",
	 TWO("", "", IB("m0", "ACTIVE", "200") "," ETH("m1"),
	     ETH("m1") "," IB("m0", "ACTIVE", "200"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"}},
	{"numbers in names are numbers",
	 TWO("", "",
	     "{'name': 'm_10', 'ports': [{'port': 1}]}, {'name': 'm_9', 'ports': [{'port': 1}]}",
	     "{'name': 'm_9', 'ports': [{'port': 1}]}, {'name': 'm_10', 'ports': [{'port': 1}]}",
	     "", ""),
	 "choose",
	 "RoCE",
	 {"eth0", "eth0"},
	 .hcas = {"m_9,m_10", "m_9,m_10"}},
	{"a rail is down on one node",
	 TWO("", "", IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "200"),
	     IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "rail-down"},
	{"missing-rail=fail",
	 TWO("", "", IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "200"),
	     IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10"), "", ""),
	 "refuse",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "rail-down",
	 .missing_rail_fail = 1},
	{"min-rails",
	 HCAS(""),
	 "refuse",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "too-few-rails",
	 .min_rails = 2},
	{"min-rails, just enough",
	 HCAS(""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .min_rails = 1},
	{"each node lacks another rail: places pair the rest",
	 TWO("", "", IB("m0", "DOWN", "10") "," IB("m1", "ACTIVE", "200"),
	     IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m1", "m0"},
	 .warning = "rail-unmatched"},
	{"a slow rail",
	 TWO("", "", IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "200"),
	     IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "100"), "", ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "rail-unusable"},

	{"memlock, no more than what failed",
	 HCAS(", 'memlock_kb': 8192"),
	 "refuse",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "memlock-low"},
	{"memlock, low",
	 HCAS(", 'memlock_kb': 8193"),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"},
	 .warning = "memlock-low"},
	{"memlock, enough",
	 HCAS(", 'memlock_kb': 65536"),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"}},
	{"memlock without RDMA",
	 TWO("", "", "", "", ", 'memlock_kb': 64", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"firewall, one port short",
	 TWO("", "", "", "", FIREWALL("40000"), ""),
	 "refuse",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "firewall-closed"},
	{"firewall, the whole range",
	 TWO("", "", "", "", FIREWALL("29500, 40000, 40001"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"firewall, the port that is set",
	 TWO("", "", "", "", FIREWALL("40000, 40001"), ""),
	 "refuse",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "firewall-closed"},
	{"firewall, all ports",
	 TWO("", "", "", "", FIREWALL(""), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},

	{"a set interface stays",
	 TWO(ETH1("1", ""), ETH1("2", ""), "", "", USER("'NCCL_SOCKET_IFNAME': '=eth1'"), ""),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"a set interface that is not there",
	 TWO("", "", "", "", USER("'NCCL_SOCKET_IFNAME': 'eth9'"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "env-no-interface"},
	{"a set interface that leads nowhere",
	 TWO(ETH1("1", ""), "", "", "", USER("'NCCL_SOCKET_IFNAME': '=eth1'"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "env-unreachable"},
	{"RDMA switched off",
	 TWO("", "", IB("m0", "ACTIVE", "200"), IB("m0", "ACTIVE", "200"),
	     USER("'NCCL_IB_DISABLE': '1'"), USER("'NCCL_IB_DISABLE': '1'")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"RDMA switched off on one node",
	 TWO("", "", IB("m0", "ACTIVE", "200"), IB("m0", "ACTIVE", "200"),
	     USER("'NCCL_IB_DISABLE': '1'"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "env-differs"},
	{"NCCL_IB_DISABLE=0 is no wish",
	 TWO("", "", IB("m0", "ACTIVE", "200"), IB("m0", "ACTIVE", "200"),
	     USER("'NCCL_IB_DISABLE': '0'"), ""),
	 "choose",
	 "IB",
	 {"eth0", "eth0"},
	 .hcas = {"m0", "m0"}},
	{"a misspelt variable",
	 TWO("", "", "", "", USER("'NCCL_IB_GID_INDX': '3'"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "env-unknown"},
	{"a variable of the user's own",
	 TWO("", "", "", "", USER("'MY_IB_HCA': '3'"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
};

static void make(struct nca_pool *pool, const struct plan *r, struct nca_plan **plan,
		 const struct nca_job **job)
{
	struct nca_error err = {""};
	struct nca_options opt;

	nca_options_init(&opt);
	nca_options_finish(&opt);
	opt.missing_rail_fail = r->missing_rail_fail;
	opt.min_rails = r->min_rails;
	opt.fallback_fail = r->fallback_fail;
	*job = document_read(pool, &nca_job_shape, r->job);
	if (nca_plan_make(*job, &opt, NULL, pool, plan, &err))
		fail_msg("%s", err.text);
}

static char *hcas_text(struct nca_pool *pool, const struct nca_plan_node *node)
{
	const struct nca_plan_hca *hca;
	char *text = "";

	NCA_FOREACH(hca, node->hcas)
		text = nca_pool_printf(pool, "%s%s%s", text, *text ? "," : "", hca->name);
	return text;
}

/* One row for each interface and each port, decided, with a sentence. */
static void check_rows(const struct nca_node *node, const struct nca_plan_node *got)
{
	const struct nca_decision *row;
	const struct nca_hca *hca;
	size_t n = node->interfaces.n, chosen = 0;

	NCA_FOREACH(hca, node->hcas)
		n += hca->ports.n;
	assert_int_equal(got->decisions.n, n);
	NCA_FOREACH(row, got->decisions) {
		assert_string_not_equal(row->rule, "undecided");
		assert_non_null(row->text);
		chosen += streq(row->outcome, "chosen");
	}
	assert_int_equal(chosen, (got->socket_ifname != NULL) + got->hcas.n);
}

static void check_plan(void **state)
{
	const struct plan *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_warning *w;
	const struct nca_job *job;
	struct nca_plan *plan;
	bool warned = false;
	size_t i;

	make(pool, r, &plan, &job);
	assert_string_equal(plan->verdict, r->verdict);
	assert_string_equal(plan->net, r->net);
	for (i = 0; i < plan->nodes.n; i++) {
		const struct nca_plan_node *node = &plan->nodes.v[i];

		if (r->ifname[i])
			assert_string_equal(node->socket_ifname, r->ifname[i]);
		else
			assert_null(node->socket_ifname);
		assert_string_equal(hcas_text(pool, node), r->hcas[i]);
		check_rows(&job->nodes.v[i], node);
	}
	NCA_FOREACH(w, plan->warnings)
		warned = warned || nca_same(w->code, r->warning);
	assert_int_equal(warned, r->warning != NULL);
	if (!r->warning)
		assert_int_equal(plan->warnings.n, 0);
	assert_non_null(nca_plan_summary(plan, job, pool));
}

/* What the options make of a step, and whom a warning names. */
struct verdict {
	const char *name, *job, *options, *verdict, *confidence;
	const char *code, *node, *text; /* of one warning; text: its beginning */
};

static const struct verdict verdicts[] = {
	{"the node that lacks a rail is named, not the first",
	 THREE(BOTH, BOTH, IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10")), "", "choose",
	 "sure", "rail-down", "3", "m1 port 1 is DOWN"},
	{"missing-rail=fail",
	 THREE(BOTH, BOTH, IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10")),
	 "missing-rail=fail", "refuse", "sure", "rail-down", "3", "m1 port 1 is DOWN"},
	{"strict: a missing rail",
	 THREE(BOTH, BOTH, IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10")), "strict",
	 "refuse", "sure", "rail-down", "3", "m1 port 1 is DOWN"},
	{"strict: no RDMA on a node", THREE(BOTH, BOTH, ""), "strict", "refuse", "sure", "no-rdma",
	 "3", "3 has no HCA"},
	{"strict: nothing is wrong", THREE(BOTH, BOTH, BOTH), "strict", "choose", "sure", NULL,
	 NULL, NULL},
	{"fallback=fail", THREE(BOTH, BOTH, ""), "fallback=fail", "refuse", "sure", "no-rdma", "3",
	 "3 has no HCA"},
	{"fallback=socket", THREE(BOTH, BOTH, ""), "fallback=socket", "fallback", "sure", "no-rdma",
	 "3", "3 has no HCA"},
	{"min-rails", THREE(BOTH, BOTH, BOTH), "min-rails=3", "refuse", "sure", "too-few-rails",
	 NULL, "2 rails are usable"},
	{"min-rails, just enough", THREE(BOTH, BOTH, BOTH), "min-rails=2", "choose", "sure", NULL,
	 NULL, NULL},
	{"two of three lack it: the one that has it is named",
	 THREE(IB("m0", "ACTIVE", "200"), BOTH, IB("m0", "ACTIVE", "200")), "", "choose", "sure",
	 "rail-extra", "2", "m1 port 1 (rail m1)"},
	{"nodes of one cause are one warning",
	 THREE(BOTH, IB("m0", "DOWN", "10") "," IB("m1", "DOWN", "10"),
	       IB("m0", "DOWN", "10") "," IB("m1", "DOWN", "10")),
	 "", "fallback", "sure", "no-rdma", "2", "2,3 (2 of 3): "},
	{"each lacks another: nothing tells what is joined",
	 THREE(BOTH "," IB("m2", "DOWN", "10"),
	       IB("m0", "DOWN", "10") "," IB("m1", "ACTIVE", "200") "," IB("m2", "ACTIVE", "200"),
	       IB("m0", "ACTIVE", "200") "," IB("m1", "DOWN", "10") "," IB("m2", "ACTIVE", "200")),
	 "", "choose", "unsure", "rail-unmatched", NULL, "the nodes lack different rails"},
	{"the slower of three is named",
	 THREE(IB("m0", "ACTIVE", "100"), IB("m0", "ACTIVE", "200"), IB("m0", "ACTIVE", "200")), "",
	 "choose", "sure", "rail-speed", "1", "m0 port 1 has a speed of 100 Gb/s"},
	{"of two, neither is right",
	 TWO("", "", IB("m0", "ACTIVE", "100"), IB("m0", "ACTIVE", "200"), "", ""), "", "choose",
	 "sure", "rail-speed", "b", "m0 port 1 has a speed of 200 Gb/s, the same rail on a"},
	{"two networks, and neither speed could be read",
	 JOB(2,
	     NODE("a", LINK("eth0", "10.0.0.1", ", 'mtu': 1500") ETH1("1", ", 'mtu': 1500"), "", "",
		  "") "," NODE("b",
			       LINK("eth0", "10.0.0.2", ", 'mtu': 1500") ETH1("2", ", 'mtu': 1500"),
			       "", "", "")),
	 "", "choose", "unsure", "speed-unknown", NULL, "eth0 and eth1 both join all nodes"},
	{"no PCIe switch in common with a GPU, and no multiple of the GPUs",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ""), "", BOTH "," IB("m2", "ACTIVE", "200"),
		     ", 'gpus': [{'index': 0}, {'index': 1}]")),
	 "", "choose", "unsure", "hcas-unclear", "a", "which of 3 HCA ports"},
};

static void check_verdict(void **state)
{
	const struct verdict *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {""};
	const struct nca_warning *w, *found = NULL;
	struct nca_options opt;
	struct nca_plan *plan;

	nca_options_init(&opt);
	assert_int_equal(nca_options_parse(&opt, r->options, NCA_FROM_USER, &err), 0);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(document_read(pool, &nca_job_shape, r->job), &opt, NULL,
				       pool, &plan, &err),
			 0);
	assert_string_equal(plan->verdict, r->verdict);
	assert_string_equal(plan->confidence, r->confidence);
	NCA_FOREACH(w, plan->warnings)
		found = nca_same(w->code, r->code) ? w : found;
	assert_int_equal(found != NULL, r->code != NULL);
	if (!found)
		return;
	assert_int_equal(found->node != NULL, r->node != NULL);
	if (found->node)
		assert_string_equal(found->node, r->node);
	if (!nca_has_prefix(found->text, r->text))
		fail_msg("%s", found->text);
}

struct names {
	const char *name, *list, *want;
};

static const struct names names[] = {
	{"one", "node7", "node7"},
	{"two in a row", "node1,node2", "node1,node2"},
	{"a run", "node1,node2,node3,node7", "node[1-3],node7"},
	{"a run over ten", "n8,n9,n10,n11", "n[8-11]"},
	{"zeros in front", "n008,n009,n010", "n[008-010]"},
	{"other widths", "n8,n09,n10", "n8,n09,n10"},
	{"no numbers", "a,b,c", "a,b,c"},
	{"numbers alone", "1,2,3", "[1-3]"},
	{"too many to read", "a1,a3,a5,a7,a9,a11,a13,a15,a17,a19,a21,a23,a25,a27",
	 "a1,a3,a5,a7,a9,a11,a13,a15,a17,a19,a21,a23 and 2 more"},
};

static void check_names(void **state)
{
	const struct names *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_step step = {.pool = pool};
	char *rest = nca_pool_strdup(pool, r->list);
	const char *list[32];
	size_t n = 0;

	while (rest)
		list[n++] = strsep(&rest, ",");
	assert_string_equal(nca_step_names(&step, list, n), r->want);
}

struct variable {
	const char *name, *job, *variable, *want; /* NULL: not set */
};

static const struct variable variables[] = {
	{"one exact name", HCAS(""), "NCCL_SOCKET_IFNAME", "=eth0"},
	{"Gloo takes it plain", HCAS(""), "GLOO_SOCKET_IFNAME", "eth0"},
	{"TensorPipe too", HCAS(""), "TP_SOCKET_IFNAME", "eth0"},
	{"exact devices and ports", HCAS(""), "NCCL_IB_HCA", "=m0:1"},
	{"NVSHMEM without =", HCAS(""), "NVSHMEM_HCA_LIST", "m0:1"},
	{"no GID index on InfiniBand", HCAS(""), "NCCL_IB_GID_INDEX", NULL},
	{"RDMA does not need NCCL_NET", HCAS(""), "NCCL_NET", NULL},
	{"agreed TCP beside an HCA", TWO("", "", IB("m0", "ACTIVE", "200"), "", "", ""), "NCCL_NET",
	 "Socket"},
	{"TCP beside a plug-in", TWO("", "", "", "", ", 'nccl_net_plugin': 'libnccl-net.so'", ""),
	 "NCCL_NET", "Socket"},
	{"TCP where there is nothing else", TWO("", "", "", "", "", ""), "NCCL_NET", NULL},
	{"what is set stays", TWO("", "", "", "", USER("'GLOO_SOCKET_IFNAME': 'eth0'"), ""),
	 "GLOO_SOCKET_IFNAME", NULL},
	{"what cannot work does not",
	 TWO("", "", "", "", USER("'GLOO_SOCKET_IFNAME': '10.0.0.1'"), ""), "GLOO_SOCKET_IFNAME",
	 "eth0"},
};

static void check_variable(void **state)
{
	const struct variable *r = *state;
	const struct plan row = {.job = r->job};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_job *job;
	struct nca_plan *plan;
	const char *got;

	make(pool, &row, &plan, &job);
	got = nca_pairs_get(plan->nodes.v->env, r->variable);
	if (r->want)
		assert_string_equal(got, r->want);
	else
		assert_null(got);
}

static void check_bad_jobs(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {""};
	struct nca_options opt;
	struct nca_plan *plan;

	(void)state;
	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(document_read(pool, &nca_job_shape, JOB(2, "")), &opt, NULL,
				       pool, &plan, &err),
			 -EINVAL);
	assert_int_equal(nca_plan_make(document_read(pool, &nca_job_shape,
						     JOB(2, NODE("a", "", "", "", "") "," NODE(
								    "a", "", "", "", ""))),
				       &opt, NULL, pool, &plan, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "two nodes"));
}

/* The interface that a test proved useless is left out on that node; the others follow. */
static void check_ban(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_ban ban = {"b", "eth0", "timed out"};
	const nca_bans bans = {&ban, 1};
	struct nca_options opt;
	struct nca_plan *plan;
	const struct nca_job *job = document_read(
		pool, &nca_job_shape, TWO(ETH1("1", ""), ETH1("2", ""), "", "", "", ""));

	(void)state;
	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(job, &opt, &bans, pool, &plan, NULL), 0);
	assert_string_equal(plan->nodes.v[0].socket_ifname, "eth1");
	assert_string_equal(plan->nodes.v[1].socket_ifname, "eth1");
	assert_string_equal(plan->nodes.v[1].decisions.v[0].rule, "connect-failed");
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, plans, check_plan);
	TABLE_ADD(tests, n, verdicts, check_verdict);
	TABLE_ADD(tests, n, names, check_names);
	TABLE_ADD(tests, n, variables, check_variable);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_bad_jobs);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_ban);
	return _cmocka_run_group_tests("plan", tests, n, NULL, NULL);
}
