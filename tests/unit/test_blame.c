/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdio.h>

#include "blame_sim.h"

/* Tests as text: "ab0+" is nodes a and b on rail 0, passed; "-" failed, "?" unknown. */
struct row {
	const char *name;
	size_t nodes, rails;
	const char *leaves; /* one letter per node; NULL: not known */
	const char *tests;
	const char *faults; /* as print() writes them */
};

static const struct row rows[] = {
	{"all well", 4, 1, NULL, "ab0+ cd0+ ac0+ bd0+", ""},
	{"nothing known", 4, 1, NULL, "ab0? cd0?", ""},
	{"no tests", 4, 1, NULL, "", ""},
	{"two nodes: nobody can tell", 2, 1, NULL, "ab0-", "pair ab0"},
	{"two nodes, two rails, one is well", 2, 2, NULL, "ab0- ab1+", "pair ab0"},
	{"two nodes, both rails", 2, 2, NULL, "ab0- ab1-", "pair ab0, pair ab1"},
	{"three nodes: one is in all failures", 3, 1, NULL, "ab0- ac0- bc0+", "end a0"},
	{"three nodes: one pair", 3, 1, NULL, "ab0- ac0+ bc0+", "pair ab0"},
	{"three nodes: nothing passes", 3, 1, NULL, "ab0- ac0- bc0-", "rail 0"},
	{"three nodes: two failures are not two partners", 3, 1, NULL, "ab0- ac0? bc0?",
	 "pair ab0"},
	{"four nodes: one is bad", 4, 1, NULL, "ab0- ac0- ad0- bc0+ bd0+ cd0+", "end a0"},
	{"four nodes: two are bad", 4, 1, NULL, "ab0- ac0- ad0- bc0- bd0- cd0+", "end a0, end b0"},
	{"four nodes: node and pair", 4, 1, NULL, "ab0- ac0- ad0- bc0- bd0+ cd0+",
	 "end a0, pair bc0"},
	{"four nodes in two halves", 4, 1, NULL, "ab0+ cd0+ ac0- ad0- bc0- bd0-", "split ac0"},
	{"a cut is not seen by one failure", 4, 1, NULL, "ab0+ cd0+ ac0- ad0? bc0? bd0?",
	 "pair ac0"},
	{"both rails of a node are the node", 3, 2, NULL, "ab0- ac0- bc0+ ab1- ac1- bc1+",
	 "node a"},
	{"the only rail of a node is the rail", 3, 1, NULL, "ab0- ac0- bc0+", "end a0"},
	{"a dead rail beside a bad node", 4, 3, NULL,
	 "ab0- ac0- ad0- bc0- bd0- cd0- ab1- ac1- ad1- bc1+ bd1+ cd1+ ab2- ac2- ad2- bc2+ bd2+ "
	 "cd2+",
	 "rail 0, node a"},
	{"a leaf", 5, 1, "xxyyy", "ab0- ac0- ad0- ae0- bc0- bd0- be0- cd0+ ce0+ de0+", "leaf x0"},
	{"one node of a leaf", 5, 1, "xxyyy", "ab0+ ac0- ad0- ae0- bc0+ bd0+ be0+ cd0+ ce0+ de0+",
	 "end a0"},
	{"one leaf is all there is", 4, 1, "xxxx", "ab0- ac0- ad0- bc0- bd0- cd0+",
	 "end a0, end b0"},
};

static void read_tests(struct nca_pool *pool, const char *text, struct nca_tests *tests)
{
	for (; *text; text += 4 + (text[4] == ' ')) {
		struct nca_test_result *r = NCA_APPEND(pool, tests->results);

		*r = (struct nca_test_result){(size_t)(text[0] - 'a'), (size_t)(text[1] - 'a'),
					      (size_t)(text[2] - '0'),
					      text[3] == '+'   ? NCA_TEST_PASSED
					      : text[3] == '-' ? NCA_TEST_FAILED
							       : NCA_TEST_UNKNOWN};
	}
}

static void print(const nca_faults *faults, char *buf, size_t size)
{
	static const char *const words[] = {"rail", "split", "leaf", "node", "end", "pair"};
	const struct nca_fault *f;
	size_t n = 0;

	buf[0] = '\0';
	NCA_FOREACH(f, *faults) {
		n += (size_t)snprintf(buf + n, size - n, "%s%s ", n ? ", " : "", words[f->kind]);
		if (f->kind == NCA_FAULT_LEAF)
			n += (size_t)snprintf(buf + n, size - n, "%c", (int)f->leaf);
		if (f->node != NCA_NOBODY)
			n += (size_t)snprintf(buf + n, size - n, "%c", 'a' + (int)f->node);
		if (f->peer != NCA_NOBODY)
			n += (size_t)snprintf(buf + n, size - n, "%c", 'a' + (int)f->peer);
		if (f->rail != NCA_NOBODY)
			n += (size_t)snprintf(buf + n, size - n, "%zu", f->rail);
	}
}

static void check(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct row *r = *state;
	struct nca_tests tests = {.nodes = r->nodes, .rails = r->rails};
	size_t leaf[8], i;
	nca_faults faults;
	char text[256];

	for (i = 0; r->leaves && i < r->nodes; i++)
		leaf[i] = (size_t)r->leaves[i];
	tests.leaf = r->leaves ? leaf : NULL;
	read_tests(pool, r->tests, &tests);
	assert_int_equal(nca_blame_find(&tests, pool, &faults), 0);
	print(&faults, text, sizeof(text));
	assert_string_equal(text, r->faults);
}

/* In every round each has one partner, who has it as his; nobody meets the same twice. */
static void check_schedule(void **state)
{
	static bool met[130][130];
	size_t n, rail, round, i;

	(void)state;
	for (n = 0; n < 130; n++)
		for (rail = 0; rail < 3; rail++) {
			memset(met, 0, sizeof(met));
			for (round = 0; round < nca_schedule_rounds(n); round++)
				for (i = 0; i < n; i++) {
					size_t p = nca_schedule_partner(n, rail, round, i);

					if (p == NCA_NOBODY) {
						assert_int_equal(n % 2, 1);
						continue;
					}
					assert_true(p < n && p != i);
					assert_int_equal(nca_schedule_partner(n, rail, round, p),
							 i);
					assert_false(met[i][p]);
					met[i][p] = true;
				}
			assert_int_equal(nca_schedule_partner(n, rail, round, 0), NCA_NOBODY);
		}
}

/* Up to 16 nodes every pair is tested. */
static void check_all_pairs(void **state)
{
	size_t n, round, i;

	(void)state;
	for (n = 2; n <= 16; n++)
		for (i = 0; i < n; i++) {
			size_t partners = 0;

			for (round = 0; round < nca_schedule_rounds(n); round++)
				partners += nca_schedule_partner(n, 0, round, i) != NCA_NOBODY;
			assert_int_equal(partners, n - 1);
		}
}

/* tests/bench/blame_sim.c has the whole range. */
static void check_sim(void **state)
{
	static const size_t sizes[] = {4, 5, 8, 9, 17, 64, 250};
	unsigned int seed = 20260101;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct sim s = {.nodes = sizes[i],
				      .rails = 2,
				      .bad_nodes = sizes[i] / 10 ? sizes[i] / 10 : 1,
				      .bad_pairs = sizes[i] >= 8,
				      .lost = 0.05};
		size_t exact = 0, innocent = 0;

		for (k = 0; k < 60; k++) {
			struct sim_score score = sim_run(&s, &seed);

			exact += score.exact;
			innocent += score.innocent;
		}
		assert_true(exact >= 59);
		assert_int_equal(innocent, 0);
	}
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_schedule);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_all_pairs);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_sim);
	return _cmocka_run_group_tests("blame", tests, n, NULL, NULL);
}
