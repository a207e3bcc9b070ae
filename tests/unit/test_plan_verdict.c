/* SPDX-License-Identifier: Apache-2.0 */
/* What the options make of a step, and whom a warning names. */
#include "small_steps.h"

#include "lib/step.h"

/* InfiniBand with a link that no subnet manager has set up, and with another MTU. */
#define INIT                                                                                       \
	"{'name': 'm1', 'pci': 'm1', 'ports': [{'port': 1, 'state': 'INIT', 'phys_state': "        \
	"'LinkUp', 'link_layer': 'InfiniBand'}]}"
#define NO_LID                                                                                     \
	"{'name': 'm', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'InfiniBand', "      \
	"'lid': 0, 'sm_lid': 0}]}"
#define MTU(layer, mtu)                                                                            \
	"{'name': 'm', 'ports': [{'port': 1, 'link_layer': '" layer "', 'active_mtu': " mtu "}]}"

#define TEN BOTH "," IB("m10", "ACTIVE", "200")

/* Two RoCE rails in networks of their own; the first is N on one node and M on the other. */
#define PORT(n, last) ROCE(n, "ACTIVE", GID(n, last))
#define RAILS(n, m, user)                                                                          \
	TWO(RAIL(n, "1", "") RAIL("7", "1", ""), RAIL(m, "2", "") RAIL("7", "2", ""),              \
	    PORT(n, "1") "," PORT("7", "1"), PORT(m, "2") "," PORT("7", "2"), user, user)

#define CONTAINER ", 'in_container': true"
#define VIRTUAL ", 'host': {'virtual': true}"
#define NCCL(version) ", 'nccl_version': '" version "'"
#define PLUGIN(name) ", 'nccl_net_plugin': '" name "'"

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
	{"an Ethernet port without address where the others have InfiniBand",
	 JOB(2, ON(1, IB("m0", "ACTIVE", "200")) "," ON(
			2, ROCE("1", "ACTIVE",
				"{'index': 0, 'gid': 'fe80:0000:0000:0000:0000:00ff:fe00:0001', "
				"'type': 'RoCE v2', 'ndev': 'r1'}"))),
	 "", "fallback", "sure", "no-rdma", "2",
	 "2 has no HCA port that this step can use (m1 port 1: none of 1 GIDs is RoCE v2 with a "
	 "routable address that an interface of this network namespace holds), so the whole step "
	 "uses TCP. 1 has InfiniBand"},
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
	{"all rails of a node in the same way",
	 JOB(2, ON(1, BOTH) "," ON(2, IB("m0", "ACTIVE", "100") "," IB("m1", "ACTIVE", "100"))), "",
	 "choose", "sure", "rail-speed", "2",
	 "m0 port 1 and 1 more rail have a speed of 100 Gb/s, the same rail on 1 of 200 Gb/s"},
	{"two networks, and neither speed could be read",
	 JOB(2,
	     NODE("a", LINK("eth0", "10.0.0.1", ", 'mtu': 1500") ETH1("1", ", 'mtu': 1500"), "", "",
		  "") "," NODE("b",
			       LINK("eth0", "10.0.0.2", ", 'mtu': 1500") ETH1("2", ", 'mtu': 1500"),
			       "", "", "")),
	 "", "choose", "unsure", "speed-unknown", NULL, "eth0 and eth1 both join all nodes"},
	{"two networks, of a step that is not started",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ", 'mtu': 1500") ETH1("1", ", 'mtu': 1500"), "",
		     BOTH, "") "," NODE("b",
					LINK("eth0", "10.0.0.2", ", 'mtu': 1500")
						ETH1("2", ", 'mtu': 1500"),
					"", "", "")),
	 "fallback=fail", "refuse", "sure", "no-rdma", "b", "b has no HCA"},
	{"no PCIe switch in common with a GPU, and no multiple of the GPUs",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ""), "", BOTH "," IB("m2", "ACTIVE", "200"),
		     ", 'gpus': [{'index': 0}, {'index': 1}]")),
	 "", "choose", "unsure", "hcas-unclear", "a", "which of 3 HCA ports"},
	{"no subnet manager", TWO("", "", INIT, INIT, "", ""), "", "fallback", "sure", "no-rdma",
	 "a",
	 "a,b (2 of 2): a has no HCA port that this step can use (m1 port 1: INIT (LinkUp): no "
	 "subnet manager has set it up)"},
	{"what is down on the node that lacks the fabric is said",
	 TWO("", "", IB("m0", "ACTIVE", "200"), IB("m0", "DOWN", "10") "," ETH("m1"), "", ""), "",
	 "fallback", "sure", "no-common-rail", "b",
	 "no fabric is usable on all nodes: a has InfiniBand, b has Ethernet (m0 port 1: DOWN "
	 "(unknown)); so"},
	{"no subnet manager any more", TWO("", "", NO_LID, NO_LID, "", ""), "", "fallback", "sure",
	 "no-rdma", "a",
	 "a,b (2 of 2): a has no HCA port that this step can use (m port 1: LID 0, SM LID 0: no "
	 "subnet manager has set it up)"},
	{"no subnet manager on one rail of one node",
	 THREE(BOTH, BOTH, IB("m0", "ACTIVE", "200") "," INIT), "", "choose", "sure", "rail-down",
	 "3", "m1 port 1 is INIT (LinkUp): no subnet manager has set it up; left out"},
	{"the MTU of InfiniBand",
	 TWO("", "", MTU("InfiniBand", "4096"), MTU("InfiniBand", "2048"), "", ""), "", "choose",
	 "sure", "mtu-mismatch", "b",
	 "m port 1 has an RDMA MTU of 2048, the same rail on a of 4096: connections fail or hang, "
	 "NCCL does not negotiate it. Set one in the subnet manager's partition"},
	{"the MTU of RoCE", TWO("", "", MTU("Ethernet", "4096"), MTU("Ethernet", "1024"), "", ""),
	 "", "choose", "sure", "mtu-mismatch", "b",
	 "m port 1 has an RDMA MTU of 1024, the same rail on a of 4096: connections fail or hang, "
	 "NCCL does not negotiate it. Set one MTU on the netdevs"},
	{"an exclusion takes out more than it names",
	 TWO("", "", TEN, TEN, USER("'NCCL_IB_HCA': '^m1'"), USER("'NCCL_IB_HCA': '^m1'")), "",
	 "choose", "sure", "env-prefix", "a",
	 "a,b (2 of 2): NCCL_IB_HCA=^m1 (set by the user) leaves m10 out too"},
	{"an exclusion of whole names",
	 TWO("", "", TEN, TEN, USER("'NCCL_IB_HCA': '^=m1'"), USER("'NCCL_IB_HCA': '^=m1'")), "",
	 "choose", "sure", NULL, NULL, NULL},
	{"rails that do not reach each other", RAILS("5", "5", ""), "", "choose", "sure", NULL,
	 NULL, NULL},
	{"NCCL may join them", RAILS("5", "5", USER("'NCCL_CROSS_NIC': '2'")), "", "choose", "sure",
	 "env-cross-nic", "a", "a,b (2 of 2): NCCL_CROSS_NIC=2 (set by the user)"},
	{"NCCL may not", RAILS("5", "5", USER("'NCCL_CROSS_NIC': '0'")), "", "choose", "sure", NULL,
	 NULL, NULL},
	{"the user takes a port of another network on each node",
	 TWO(RAIL("5", "1", ""), RAIL("6", "2", ""), PORT("5", "1"), PORT("6", "2"),
	     USER("'NCCL_IB_HCA': 'm'"), USER("'NCCL_IB_HCA': 'm'")),
	 "", "choose", "sure", "rail-unrouted", "a",
	 "a,b (2 of 2): m5 (r5, subnet 10.5.0.0/24) has no route over r5 to the same rail of b "
	 "(subnet 10.6.0.0/24). NCCL_IB_HCA=m (set by the user) takes it: unset that, or add a "
	 "route"},
	{"Gloo with a list of NCCL's",
	 TWO("", "", "", "", USER("'GLOO_SOCKET_IFNAME': '^lo,docker'"), ""), "", "choose", "sure",
	 "env-no-interface", "a",
	 "GLOO_SOCKET_IFNAME=^lo,docker (set by the user) names no interface of the node that "
	 "could "
	 "work; it is replaced by eth0. It takes whole names"},
	{"Gloo with a name that is not there",
	 TWO("", "", "", "", USER("'GLOO_SOCKET_IFNAME': 'bond1'"), ""), "", "choose", "sure",
	 "env-no-interface", "a",
	 "GLOO_SOCKET_IFNAME=bond1 (set by the user) names no interface of the node that could "
	 "work; it is replaced by eth0. Unset it, or name one"},
	{"a container that sees an HCA but none of its GIDs",
	 TWO("", "", ROCE("5", "ACTIVE", ""), ROCE("5", "ACTIVE", ""), CONTAINER, CONTAINER), "",
	 "fallback", "sure", "no-rdma", "a",
	 "a,b (2 of 2): a has no HCA port that this step can use (m5 port 1: its GID table is "
	 "empty in this network namespace), so the whole step uses TCP. Give the container the"},
	{"a port without GIDs outside of containers: not configured",
	 TWO("", "", ROCE("5", "ACTIVE", ""), ROCE("5", "ACTIVE", ""), "", ""), "", "choose",
	 "sure", NULL, NULL, NULL},
	{"a container of a virtual machine: the twin of its Ethernet",
	 TWO("", "", ROCE("5", "ACTIVE", ""), ROCE("5", "ACTIVE", ""), CONTAINER VIRTUAL,
	     CONTAINER VIRTUAL),
	 "", "choose", "sure", NULL, NULL, NULL},
	{"the same NCCL, with what it was built for",
	 TWO("", "", "", "", NCCL("2.21.5"), NCCL("2.21.5+cuda12.4")), "", "choose", "sure", NULL,
	 NULL, NULL},
	{"the same NCCL of a package",
	 TWO("", "", "", "", NCCL("2.21.5-1"), NCCL("2.21.5+cuda12.4")), "", "choose", "sure", NULL,
	 NULL, NULL},
	{"another patch of NCCL", TWO("", "", "", "", NCCL("2.21.5"), NCCL("2.21.51")), "",
	 "refuse", "sure", "nccl-differs", NULL,
	 "the task's NCCL differs: 2.21.5 on a, 2.21.51 on b; NCCL refuses"},
	{"a plug-in on one node", TWO("", "", BOTH, BOTH, PLUGIN("libnccl-net.so"), PLUGIN("")), "",
	 "choose", "sure", "node-differs", NULL,
	 "NCCL's network plug-in differs: libnccl-net.so on a, none on b;"},
	{"a plug-in, and nothing known of the other node",
	 TWO("", "", BOTH, BOTH, PLUGIN("libnccl-net.so"), ""), "", "choose", "sure", NULL, NULL,
	 NULL},
	{"different plug-ins, left out by NCCL_NET",
	 TWO("", "", BOTH, BOTH, PLUGIN("libnccl-net.so") USER("'NCCL_NET': 'IB'"),
	     PLUGIN("") USER("'NCCL_NET': 'IB'")),
	 "", "choose", "sure", NULL, NULL, NULL},
	{"different plug-ins where TCP is set", TWO("", "", "", "", PLUGIN("a"), PLUGIN("")), "",
	 "choose", "sure", NULL, NULL, NULL},
	{"the rules take it",
	 TWO(RAIL("5", "1", ""), RAIL("6", "2", ""), PORT("5", "1"), PORT("6", "2"), "", ""), "",
	 "choose", "sure", "rail-unrouted", "a",
	 "a,b (2 of 2): m5 (r5, subnet 10.5.0.0/24) has no route over r5 to the same rail of b "
	 "(subnet 10.6.0.0/24). Add one"},
	{"nor has the other rail a route",
	 TWO(RAIL("4", "1", "") RAIL("5", "1", ""), RAIL("6", "2", "") RAIL("7", "2", ""),
	     PORT("4", "1") "," PORT("5", "1"), PORT("6", "2") "," PORT("7", "2"), "", ""),
	 "", "choose", "sure", "rail-unrouted", "a",
	 "a,b (2 of 2): m4 (r4, subnet 10.4.0.0/24) has no route over r4 to the same rail of b "
	 "(subnet 10.6.0.0/24); so it is with 1 more. Add one"},
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

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, verdicts, check_verdict);
	TABLE_ADD(tests, n, names, check_names);
	return _cmocka_run_group_tests("plan_verdict", tests, n, NULL, NULL);
}
