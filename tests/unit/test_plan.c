/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>

#include <nca/plan.h>

#include "document.h"

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
	 TWO("", "", "", "", FIREWALL("40000, 40001"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
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
	     USER("'NCCL_IB_DISABLE': '1'"), ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
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
	TABLE_ADD(tests, n, variables, check_variable);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_bad_jobs);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_ban);
	return _cmocka_run_group_tests("plan", tests, n, NULL, NULL);
}
