/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf switch in what Slurm says of a node's place. */
#include "table.h"

#include <nca/leaf.h>

struct row {
	const char *name;
	const char *addr, *pattern;
	const char *leaf; /* NULL: not known */
};

static const struct row rows[] = {
	{"two levels", "s0.s1.node1", "switch.switch.node", "s1"},
	{"one level", "s1.node1", "switch.node", "s1"},
	{"a node on two leaves", "s0.s[1-2].node1", "switch.switch.node", "s[1-2]"},
	{"no topology", "node1", "node", NULL},
	{"blocks", "b1.node1", "block.node", NULL},
	{"a block below switches", "s0.b1.node1", "switch.block.node", NULL},
	{"another word that begins so", "s1.node1", "switches.node", NULL},
	{"no name", "s0..node1", "switch.switch.node", NULL},
	{"no name at the beginning", ".node1", "switch.node", NULL},
	{"a name with a dot", "s0.s1.node1.cluster", "switch.switch.node", NULL},
	{"fewer words than kinds", "s1.node1", "switch.switch.node", NULL},
	{"no address", NULL, "switch.node", NULL},
	{"no pattern", "s1.node1", NULL, NULL},
	{"empty", "", "", NULL},
};

static void check(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct row *r = *state;
	const char *leaf = nca_leaf_name(r->addr, r->pattern, pool);

	if (r->leaf)
		assert_string_equal(leaf, r->leaf);
	else
		assert_null(leaf);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	return _cmocka_run_group_tests("leaf", tests, n, NULL, NULL);
}
