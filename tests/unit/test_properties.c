/* SPDX-License-Identifier: Apache-2.0 */
/* What must not change a decision, over all recorded jobs: the order in which things are listed,
 * names, and what has no part in the step. */
#include <nca/digest.h>

#include "mutate.h"

typedef void (*mutate_fn)(json_t *job);

struct property {
	const char *name;
	mutate_fn mutate;
	struct likeness how;
};

static const struct property properties[] = {
	{"the order of the nodes", reverse_nodes, {ANY_ORDER | ANY_FIRST, NULL}},
	{"the order of the devices", reverse_devices, {0, NULL}},
	{"the names of the devices", rename_devices, {ANY_ORDER, "q"}},
	{"an interface that is down", add_down, {ANY_ROWS, NULL}},
	{"a docker bridge", add_docker, {ANY_ROWS, NULL}},
	{"unknown keys", add_keys_to, {0, NULL}},
};

static void check_property(void **state)
{
	const struct property *p = *state;
	size_t i, wrong = 0;

	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		json_t *before = json_deep_copy(jobs[i].json), *after;
		const char *what;

		if (p->how.rename)
			forget_environment(before);
		after = json_deep_copy(before);
		p->mutate(after);
		what = plan_difference(recorded_plan(recorded_job(before, pool), pool),
				       recorded_plan(recorded_job(after, pool), pool), &p->how);
		if (what)
			print_message("# %s: %s differ\n", jobs[i].name, what);
		wrong += what != NULL;
		json_decref(before);
		json_decref(after);
	}
	assert_int_equal(wrong, 0);
}

/* A digest, which is what nodes send, gives the plan of the snapshot to the last letter. */
static void check_digest(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		struct nca_job *job = recorded_job(jobs[i].json, pool);
		nca_autofree char *want = NULL, *got = NULL;
		struct nca_node *node;
		json_t *digest;

		want = nca_schema_print(&nca_plan_shape, recorded_plan(job, pool), 0, 1);
		NCA_FOREACH(node, job->nodes)
			assert_int_equal(nca_digest_prepare(node, pool), 0);
		digest = nca_schema_encode(&nca_job_shape, job, NCA_DIGEST);
		got = nca_schema_print(&nca_plan_shape,
				       recorded_plan(recorded_job(digest, pool), pool), 0, 1);
		json_decref(digest);
		if (!streq(want, got))
			print_message("# %s\n", jobs[i].name);
		assert_string_equal(want, got);
	}
}

/* *what differs with a node more, NULL where nothing does. False: there is no room. */
static bool compare_more(const json_t *job, size_t like, const char **what)
{
	const struct likeness any = {.flags = ANY_ROWS};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	json_t *after = json_deep_copy(job);
	bool room = add_node(after, like);

	if (room)
		*what = plan_difference(recorded_plan(recorded_job(job, pool), pool),
					recorded_plan(recorded_job(after, pool), pool), &any);
	json_decref(after);
	return room;
}

/* Of two nodes that differ either may be the odd one, and a second one like it makes it the rule:
 * then a node like the other changes nothing. */
static void check_add_node(void **state)
{
	size_t i, n, wrong = 0, tried = 0;

	(void)state;
	for (i = 0; i < njobs; i++) {
		const char *what = NULL;

		n = json_array_size(get(jobs[i].json, "nodes"));
		tried += compare_more(jobs[i].json, n - 1, &what);
		if (what && n == 2)
			compare_more(jobs[i].json, 0, &what);
		if (what)
			print_message("# %s: %s differ\n", jobs[i].name, what);
		wrong += what != NULL;
	}
	assert_true(tried > 350);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, properties, check_property);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_add_node);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_digest);
	return _cmocka_run_group_tests("properties", tests, n, recorded_read, recorded_free);
}
