/* SPDX-License-Identifier: Apache-2.0 */
/* The GIDs of a port where those of the other nodes decide. */
#include "small_steps.h"

/* A RoCE port on "r" whose addresses are 10.A.0.X, ...; index i is the i-th of them. */
#define ADDR(net, last)                                                                            \
	"{'family': 'inet', 'addr': '10." net ".0." last "', 'prefixlen': 24, 'scope': 'global'}"
#define ENTRY(index, net, last)                                                                    \
	"{'index': " index ", 'gid': '0000:0000:0000:0000:0000:ffff:0a0" net ":000" last           \
	"', 'type': 'RoCE v2', 'ndev': 'r'}"
#define SIDE(name, last, addresses, gids, routes, more)                                            \
	NODE(name,                                                                                 \
	     LINK("eth0", "10.0.0." last, "") ", {'name': 'r', 'kind': 'ether', 'addresses': "     \
					      "[" addresses "]}",                                  \
	     routes,                                                                               \
	     "{'name': 'm', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': 'Ethernet', "   \
	     "'netdev': 'r', 'gids': [" gids "]}]}",                                               \
	     more)
#define ETH0 ROUTE("10.0.0.0/24", "eth0")
#define VIA(net) "," ROUTE("10." net ".0.0/24", "r")
#define ONE(name, last, a, more)                                                                   \
	SIDE(name, last, ADDR(a, last), ENTRY("0", a, last), ETH0 VIA(a) more, "")
#define TWO_OF(name, last, a, b, more)                                                             \
	SIDE(name, last, ADDR(a, last) "," ADDR(b, last),                                          \
	     ENTRY("0", a, last) "," ENTRY("1", b, last), ETH0 VIA(a) VIA(b) more, "")
#define UNROUTED(name, last, a, b)                                                                 \
	SIDE(name, last, ADDR(a, last) "," ADDR(b, last),                                          \
	     ENTRY("0", a, last) "," ENTRY("1", b, last), "", "")
#define PINNED(name, last, a, b)                                                                   \
	SIDE(name, last, ADDR(a, last) "," ADDR(b, last),                                          \
	     ENTRY("0", a, last) "," ENTRY("1", b, last), ETH0 VIA(a) VIA(b),                      \
	     ", 'site': {'rail-subnet': '10.4.0.0/14'}")
/* What is the same on both nodes is 10.5.0.9. */
#define SAME(name, last, addresses, gids)                                                          \
	SIDE(name, last, ADDR("5", "9") addresses, ENTRY("0", "5", "9") gids,                      \
	     ETH0 VIA("5") VIA("9"), "")

struct agree {
	const char *name, *job;
	int index[3]; /* of the nodes' rails; -1: there is none */
	const char *warning;
};

static const struct agree rows[] = {
	{"the first network of each",
	 JOB(2, TWO_OF("a", "1", "5", "9", "") "," TWO_OF("b", "2", "5", "9", "")),
	 .index = {0, 0}},
	{"a first network of the node's own",
	 JOB(2, TWO_OF("a", "1", "5", "9", "") "," TWO_OF("b", "2", "6", "9", "")),
	 .index = {1, 1}},
	{"on one node only", JOB(2, TWO_OF("a", "1", "5", "9", "") "," ONE("b", "2", "9", "")),
	 .index = {1, 0}},
	{"on the last of three",
	 JOB(3,
	     ONE("a", "1", "9", "") "," ONE("b", "2", "9", "") "," TWO_OF("c", "3", "5", "9", "")),
	 .index = {0, 0, 1}},
	{"two of three share a network of their own",
	 JOB(3, TWO_OF("a", "1", "5", "9", "") "," TWO_OF("b", "2", "6", "9",
							  "") "," TWO_OF("c", "3", "6", "9", "")),
	 .index = {1, 1, 1}},
	{"the others do, and the last has one network",
	 JOB(3, TWO_OF("a", "1", "5", "9", "") "," TWO_OF("b", "2", "5", "9", "") "," ONE("c", "3",
											  "9", "")),
	 .index = {1, 1, 0}},
	{"and the one in the middle",
	 JOB(3, TWO_OF("a", "1", "5", "9", "") "," ONE("b", "2", "9", "") "," TWO_OF("c", "3", "5",
										     "9", "")),
	 .index = {1, 0, 1}},
	{"own networks, with a route there and back",
	 JOB(2, TWO_OF("a", "1", "5", "9", VIA("6")) "," TWO_OF("b", "2", "6", "9", VIA("5"))),
	 .index = {0, 0}},
	{"with a route there alone: the network that both have",
	 JOB(2, TWO_OF("a", "1", "5", "9", VIA("6")) "," TWO_OF("b", "2", "6", "9", "")),
	 .index = {1, 1}},
	{"own networks, and no route is known: the one that both are in",
	 JOB(2, UNROUTED("a", "1", "5", "9") "," UNROUTED("b", "2", "6", "9")), .index = {1, 1}},
	{"no network in common",
	 JOB(2, TWO_OF("a", "1", "5", "7", "") "," TWO_OF("b", "2", "6", "8", "")), .index = {0, 0},
	 .warning = "rail-unrouted"},
	{"the site's network stays",
	 JOB(2, PINNED("a", "1", "5", "9") "," PINNED("b", "2", "6", "9")), .index = {0, 0},
	 .warning = "rail-unrouted"},
	{"one snapshot stands for all", JOB(2, TWO_OF("a", "1", "5", "9", "")), .index = {0}},
	{"both have the address", JOB(2, SAME("a", "1", "", "") "," SAME("b", "2", "", "")),
	 .index = {-1, -1}, .warning = "no-rdma"},
	{"both have the address, and each one of its own",
	 JOB(2, SAME("a", "1", "," ADDR("9", "1"), "," ENTRY("1", "9", "1")) "," SAME(
			"b", "2", "," ADDR("9", "2"), "," ENTRY("1", "9", "2"))),
	 .index = {1, 1}},
};

static void check_row(void **state)
{
	const struct agree *r = *state;
	const struct plan row = {.job = r->job};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_warning *w;
	const struct nca_job *job;
	struct nca_plan *plan;
	bool warned = false;
	size_t i;

	plan_make(pool, &row, &plan, &job);
	for (i = 0; i < plan->nodes.n; i++) {
		const struct nca_plan_node *node = &plan->nodes.v[i];

		assert_int_equal(node->hcas.n ? node->hcas.v->gid_index : -1, r->index[i]);
	}
	NCA_FOREACH(w, plan->warnings)
		warned = warned || nca_same(w->code, r->warning);
	assert_int_equal(warned, r->warning != NULL);
	assert_int_equal(plan->warnings.n != 0, warned);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_row);
	return _cmocka_run_group_tests("gid_agree", tests, n, NULL, NULL);
}
