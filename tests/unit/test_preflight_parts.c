/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes are asked, hints, and one preflight after another. */
#include "preflight_case.h"

/* Of two nodes, "m0 m1" and so on: the rails of each. */
static struct nca_plan *plan_of(struct nca_pool *pool, const char *const rails[2])
{
	struct nca_plan *plan = nca_pool_alloc(pool, sizeof(*plan));
	size_t i;

	for (i = 0; i < 2; i++) {
		struct nca_plan_node *node = NCA_APPEND(pool, plan->nodes);
		const char *at = rails[i];

		for (; *at; at += strcspn(at, " ") + (strchr(at, ' ') != NULL))
			*(struct nca_plan_hca *)NCA_APPEND(pool, node->hcas) =
				(struct nca_plan_hca){nca_pool_strndup(pool, at, strcspn(at, " ")),
						      1, 3, 0};
	}
	return plan;
}

struct cover {
	const char *name;
	const char *tested[2], *plan[2];
	bool covers;
};

static const struct cover covers[] = {
	{"the same plan is tested", {"m0 m1", "m0 m1"}, {"m0 m1", "m0 m1"}, true},
	{"a part of it", {"m0 m1", "m2 m3"}, {"m1", "m3"}, true},
	{"nothing left", {"m0", "m0"}, {"", ""}, true},
	{"another port", {"m0", "m0"}, {"m1", "m0"}, false},
	{"tested ports that are paired anew", {"m0 m1", "m0 m1"}, {"m0", "m1"}, false},
};

static void check_covers(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct cover *r = *state;

	assert_int_equal(nca_preflight_covers(plan_of(pool, r->tested), plan_of(pool, r->plan)),
			 r->covers);
}

static void check_hints(void **state)
{
	static const struct row row = {"", 3, 2, "", "", "", NULL, .bans = ""};
	static struct nca_risen risen[] = {{0, "symbol_error", 3}, {1, "symbol_error", 5}};
	static char *odd[] = {"tc 0", "pfc 8"}, *usual[] = {"tc 106", "pfc 8"};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct sim s = {.row = &row, .pool = pool};
	struct nca_preflight pre;
	nca_bans bans = {0};
	size_t i;

	(void)state;
	sim_run(&s);
	for (i = 0; i < 3; i++)
		*(struct nca_row *)NCA_APPEND(pool, s.trial.pinged[i]->facts) =
			(struct nca_row){"m1:1", {i == 1 ? odd : usual, 2}};
	s.trial.pinged[2]->risen.v = risen;
	s.trial.pinged[2]->risen.n = 2;
	s.trial.opened[0]->ends.v[0].mtu = 1024;
	s.trial.opened[1]->ends.v[1].mtu = -1;
	assert_int_equal(nca_trial_judge(&s.trial, pool, &pre, &bans), 0);
	assert_string_equal(pre.verdict, "healthy");
	assert_int_equal(pre.hints.n, 3);
	assert_string_equal(pre.hints.v[0],
			    "the RDMA MTU of rail 0 (m0:1) differs: 4096 on n1,n2, 1024 on n0");
	assert_string_equal(pre.hints.v[1], "tc of rail 1 (m1:1) differs: 106 on n0,n2, 0 on n1");
	assert_string_equal(pre.hints.v[2],
			    "symbol_error rose during the check on n2 (by 5 at most)");
}

/* A second check that is healthy does not undo what the first has found. */
static void check_add(void **state)
{
	static const struct row bad = {"", 7,  2,    "both 0.1,both 1.1,in 2.1",
				       "", "", NULL, .bans = ""};
	static const struct row good = {"", 7, 1, "", "", "", NULL, .bans = ""};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct sim first = {.row = &bad, .pool = pool}, second = {.row = &good, .pool = pool};
	struct nca_preflight pre, later;
	nca_bans bans = {0};

	(void)state;
	sim_run(&first);
	sim_run(&second);
	assert_int_equal(nca_trial_judge(&first.trial, pool, &pre, &bans), 0);
	assert_int_equal(nca_trial_judge(&second.trial, pool, &later, &bans), 0);
	pre.seconds = 1.5;
	later.seconds = 0.25;
	assert_int_equal(nca_preflight_add(&pre, &later, pool), 0);
	assert_string_equal(pre.verdict, "degraded");
	assert_true(pre.seconds == 1.75);
	assert_int_equal(pre.ports.n, 14);
	assert_int_equal(pre.findings.n, 3);
	assert_string_equal(pre.exclude, "n[0-2]");
	later.verdict = "untested";
	assert_int_equal(nca_preflight_add(&pre, &later, pool), 0);
	assert_string_equal(pre.verdict, "degraded");
	/* Nodes of one cause are one warning, and what the plan warned of comes last. */
	assert_int_equal(nca_plan_warn(&first.plan, pool, "planned", NULL, "of old"), 0);
	assert_int_equal(nca_preflight_warn(&pre, &first.plan, pool), 0);
	assert_int_equal(first.plan.warnings.n, 3);
	assert_string_equal(first.plan.warnings.v[2].code, "planned");
	assert_string_equal(first.plan.warnings.v[0].code, "rdma-dead");
	assert_non_null(strstr(first.plan.warnings.v[0].text, "n0,n1 (2 of 7): m1:1: "));
	assert_non_null(strstr(first.plan.warnings.v[0].text, "--exclude=n0,n1"));
	assert_string_equal(first.plan.warnings.v[1].node, "n2");
}

/* What NCCL will use: the plan's variables before the user's, his before none. */
static void check_open(void **state)
{
	static const struct row row = {"", 2, 1, "", "", "", NULL, .bans = ""};
	static struct nca_pair ours[] = {{"NCCL_IB_TC", "106"}, {"NCCL_IB_GID_INDEX", "3"}};
	static struct nca_pair users[] = {{"NCCL_IB_TC", "0"},
					  {"NCCL_IB_SL", "0x5"},
					  {"NCCL_IB_PKEY", "many"},
					  {"NCCL_IB_GID_INDEX", "7"}};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct sim s = {.row = &row, .pool = pool};
	struct nca_open open;

	(void)state;
	sim_make(&s);
	s.plan.nodes.v[1].env.v = ours;
	s.plan.nodes.v[1].env.n = 1;
	s.job.nodes.v[1].environment.v = users;
	s.job.nodes.v[1].environment.n = 4;
	assert_int_equal(nca_trial_begin(&s.job, &s.plan, pool, &s.trial), 0);
	assert_int_equal(nca_trial_open(&s.trial, 1, pool, &open), 0);
	assert_int_equal(open.sets, 1);
	assert_int_equal(open.qps, 4);
	assert_string_equal(open.ports.v[0].hca, "m0");
	assert_int_equal(open.ports.v[0].tc, 106);
	assert_int_equal(open.ports.v[0].sl, 5);
	assert_int_equal(open.ports.v[0].pkey_index, 0);
	assert_int_equal(open.ports.v[0].gid_index, 7);
	s.plan.nodes.v[1].env.n = 2;
	assert_int_equal(nca_trial_open(&s.trial, 1, pool, &open), 0);
	assert_int_equal(open.ports.v[0].gid_index, 3);
	ours[0].value = "257";
	users[1].value = "16";
	users[2].value = "65537";
	assert_int_equal(nca_trial_open(&s.trial, 1, pool, &open), 0);
	assert_int_equal(open.ports.v[0].tc, 1);
	assert_int_equal(open.ports.v[0].sl, 0);
	assert_int_equal(open.ports.v[0].pkey_index, 1);
	s.plan.net = "IB";
	assert_int_equal(nca_trial_open(&s.trial, 0, pool, &open), 0);
	assert_int_equal(open.ports.v[0].gid_index, -1);
	s.plan.nodes.n = 1;
	assert_false(nca_preflight_applies(&s.plan));
	s.plan.nodes.n = 2;
	assert_true(nca_preflight_applies(&s.plan));
	s.plan.nodes.v[0].hcas.n = 0;
	assert_false(nca_preflight_applies(&s.plan));
	s.plan.nodes.v[0].hcas.n = 1;
	s.plan.net = "Socket";
	assert_false(nca_preflight_applies(&s.plan));
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, covers, check_covers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_hints);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_add);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_open);
	return _cmocka_run_group_tests("preflight_parts", tests, n, NULL, NULL);
}
