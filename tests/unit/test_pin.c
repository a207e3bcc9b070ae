/* SPDX-License-Identifier: Apache-2.0 */
/* What a site pins decides, where it can work; else it is said and the rules decide. */
#include "table.h"

#include <stdio.h>

#include <nca/plan.h>

#include "document.h"

/* Two nodes, a and b: eth0 on 10.0, eth1 on 10.1; m0 (slow) and m1 of InfiniBand, m2 and m3 of
 * RoCE with a GID of each family, one of them a VF. */
#define LINK(name, net, host)                                                                      \
	"{'name': '" name "', 'kind': 'ether', 'carrier': 1, 'speed_mbps': 100000, 'mtu': 1500, "  \
	"'addresses': [{'family': 'inet', 'addr': '10." net ".0." host "', 'prefixlen': 24}, "     \
	"{'family': 'inet6', 'addr': 'fd00:" net "::" host "', 'prefixlen': 64}]}"
#define ROUTES(net)                                                                                \
	"{'family': 'inet', 'dst': '10." net ".0.0/24', 'dev': 'eth" net "'}, "                    \
	"{'family': 'inet6', 'dst': 'fd00:" net "::/64', 'dev': 'eth" net "'}"
#define IB(name, rate, state)                                                                      \
	"{'name': '" name "', 'pci': '" name "', 'ports': [{'port': 1, 'state': '" state           \
	"', 'link_layer': 'InfiniBand', 'rate_gbps': " rate "}]}"
#define ROCE(name, net, host, more)                                                                \
	"{'name': '" name "', 'pci': '" name "'" more ", 'ports': [{'port': 1, 'state': "          \
	"'ACTIVE', 'link_layer': 'Ethernet', 'rate_gbps': 100, 'netdev': 'eth" net                 \
	"', 'gids': [{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:0a0" net ":000" host       \
	"', 'type': 'RoCE v2', 'ndev': 'eth" net "'}, {'index': 2, 'gid': 'fd00:000" net           \
	":0000:0000:0000:0000:0000:000" host "', 'type': 'RoCE v2', 'ndev': 'eth" net "'}]}]}"
#define NODE(name, host, state, site, more)                                                                                                                                   \
	"{'schema': 'hwdesc/1', 'name': '" name                                                                                                                               \
	"', 'interfaces': [" LINK("eth0", "0", host) ", " LINK(                                                                                                               \
		"eth1", "1",                                                                                                                                                  \
		host) "], 'routes': [" ROUTES("0") ", " ROUTES("1") "], 'hcas': [" IB("m0", "100",                                                                            \
										      "ACTIVE") ", " IB("m1",                                                                 \
													"200",                                                                \
													state) ", " ROCE("m2",                                                \
															 "0",                                                 \
															 host,                                                \
															 "") ", " ROCE("m3",                                  \
																       "1",                                   \
																       host,                                  \
																       ", 'is_vf': true") "], 'site': {" site \
																			  "}" more            \
																			  "}"
#define JOB(state, site, more)                                                                     \
	"{'schema': 'job/1', 'nnodes': 2, 'nodes': [" NODE(                                        \
		"a", "1", "ACTIVE", site, more) ", " NODE("b", "2", state, site, more) "]}"
#define PINS(site) JOB("ACTIVE", site, "")
#define USER(more) ", 'environment_origin': 'user', 'environment': {" more "}"

struct row {
	const char *name, *job;
	const char *ifname, *hcas;    /* of node b */
	const char *warning;	      /* code of the only one; NULL: none */
	const char *variable, *value; /* of node b; "": unset */
};

static const struct row rows[] = {
	{"nothing pinned", PINS(""), "eth0", "m1", .warning = NULL},
	{"an interface", PINS("'control-interface': 'eth1'"), "eth1", "m1", .warning = NULL},
	{"a list of interfaces", PINS("'control-interface': 'x,eth1'"), "eth1", "m1",
	 .warning = NULL},
	{"no beginning of a name", PINS("'control-interface': 'eth'"), "eth0", "m1",
	 .warning = "pin-ignored"},
	{"an interface that is not there", PINS("'control-interface': 'eth7'"), "eth0", "m1",
	 .warning = "pin-ignored"},
	{"a subnet", PINS("'control-subnet': '10.1.0.0/16'"), "eth1", "m1", .warning = NULL},
	{"a subnet of no interface", PINS("'control-subnet': '10.9.0.0/16'"), "eth0", "m1",
	 .warning = "pin-ignored"},
	{"both", PINS("'control-interface': 'eth0', 'control-subnet': '10.1.0.0/16'"), "eth0", "m1",
	 .warning = "pin-ignored"},
	{"what the user says stays",
	 JOB("ACTIVE", "'control-interface': 'eth1', 'rail-hca': 'm0'",
	     USER("'NCCL_SOCKET_IFNAME': '=eth0', 'NCCL_IB_HCA': '=m1'")),
	 "eth0", "m1", .warning = NULL},
	{"HCAs in their order", PINS("'rail-hca': 'm1,m0'"), "eth0", "m1,m0", .warning = NULL},
	{"an HCA with its port", PINS("'rail-hca': 'm0:1'"), "eth0", "m0", .warning = NULL},
	{"another port", PINS("'rail-hca': 'm0:2'"), "eth0", "m1", .warning = "pin-ignored"},
	{"HCAs that are not there", PINS("'rail-hca': 'mlx5_0'"), "eth0", "m1",
	 .warning = "pin-ignored"},
	{"one of them is down on a node", JOB("DOWN", "'rail-hca': 'm0,m1'", ""), "eth0", "m0",
	 .warning = "rail-down"},
	{"what is never used", PINS("'rail-exclude': 'm1'"), "eth0", "m0", .warning = NULL},
	{"nothing is left", PINS("'rail-exclude': 'm0,m1,m2,m3'"), "eth0", "", .warning = NULL},
	{"Ethernet", PINS("'rail-link-layer': 'ethernet'"), "eth0", "m2,m3", .warning = NULL},
	{"InfiniBand", PINS("'rail-link-layer': 'infiniband'"), "eth0", "m1", .warning = NULL},
	{"no VF", PINS("'rail-link-layer': 'ethernet', 'allow-vf': 'no'"), "eth1", "m2",
	 .warning = NULL},
	{"a VF", PINS("'rail-link-layer': 'ethernet', 'allow-vf': 'yes'"), "eth0", "m2,m3",
	 .warning = NULL},
	{"a rate", PINS("'rail-min-gbps': '150'"), "eth0", "m1", .warning = NULL},
	{"a rate that none has", PINS("'rail-min-gbps': '400'"), "eth0", "m1",
	 .warning = "pin-ignored"},
	{"a rail's subnet", PINS("'rail-link-layer': 'ethernet', 'rail-subnet': '10.1.0.0/16'"),
	 "eth0", "m3", NULL, "NCCL_IB_GID_INDEX", "1"},
	{"of IPv6", PINS("'rail-link-layer': 'ethernet', 'rail-subnet': 'fd00:1::/32'"), "eth0",
	 "m3", .warning = NULL},
	{"a family", PINS("'rail-link-layer': 'ethernet', 'gid-family': 'ipv6'"), "eth0", "m2,m3",
	 NULL, "NCCL_IB_ADDR_FAMILY", "AF_INET6"},
	{"a family on InfiniBand", PINS("'gid-family': 'ipv6'"), "eth0", "m1", .warning = NULL},
	{"as many as expected", PINS("'rail-hca': 'm0,m1', 'rail-count': '2'"), "eth0", "m0,m1",
	 .warning = NULL},
	{"fewer than expected", PINS("'rail-count': '2'"), "eth0", "m1", .warning = "rail-count"},
	{"a variable", PINS("'NCCL_IB_TC': '106'"), "eth0", "m1", NULL, "NCCL_IB_TC", "106"},
	{"a variable of the user's stays",
	 JOB("ACTIVE", "'NCCL_IB_TC': '106'", USER("'NCCL_IB_TC': '0'")), "eth0", "m1", NULL,
	 "NCCL_IB_TC", NULL},
};

static void list_hcas(const struct nca_plan_node *node, char *buf, size_t size)
{
	const struct nca_plan_hca *h;
	size_t n = 0;

	buf[0] = '\0';
	NCA_FOREACH(h, node->hcas)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "," : "", h->name);
}

static void check(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct row *r = *state;
	const struct nca_job *job = document_read(pool, &nca_job_shape, r->job);
	struct nca_error err = {""};
	struct nca_options opt;
	struct nca_plan *plan;
	const char *value;
	char hcas[64];

	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(job, &opt, NULL, pool, &plan, &err), 0);
	assert_string_equal(plan->verdict, "choose");
	assert_string_equal(plan->nodes.v[1].socket_ifname, r->ifname);
	list_hcas(&plan->nodes.v[1], hcas, sizeof(hcas));
	assert_string_equal(hcas, r->hcas);
	if (plan->warnings.n != (r->warning ? 1 : 0))
		fail_msg("%zu warnings: %s", plan->warnings.n,
			 plan->warnings.n ? plan->warnings.v[0].text : "");
	if (r->warning)
		assert_string_equal(plan->warnings.v[0].code, r->warning);
	value = r->variable ? nca_pairs_get(plan->nodes.v[1].env, r->variable) : NULL;
	if (r->variable && !r->value)
		assert_null(value);
	else if (r->variable)
		assert_string_equal(value ? value : "unset", r->value);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	return _cmocka_run_group_tests("pin", tests, n, NULL, NULL);
}
