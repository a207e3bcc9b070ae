/* SPDX-License-Identifier: Apache-2.0 */
/* Who is to blame. */
#include <errno.h>

#include "blame.h"

/* An endpoint at fault fails with everybody; one that passes a quarter of its tests is not. */
#define FAILED_PERCENT 75

/* One rail while it is judged. */
struct judge {
	const struct nca_tests *tests;
	struct nca_pool *pool;
	size_t rail;
	bool *used;	/* by result: not yet explained */
	size_t *failed; /* by node, of tests that are not explained */
	size_t *known;
	bool *bad;     /* by node */
	size_t *group; /* by node: a node that it reaches over tests that passed */
};

static void *array(struct judge *j, size_t n, size_t size)
{
	return nca_pool_alloc(j->pool, n * size);
}

static int begin(struct judge *j)
{
	size_t n = j->tests->nodes;

	j->used = array(j, j->tests->results.n, sizeof(*j->used));
	j->failed = array(j, n, sizeof(*j->failed));
	j->known = array(j, n, sizeof(*j->known));
	j->bad = array(j, n, sizeof(*j->bad));
	j->group = array(j, n, sizeof(*j->group));
	return j->used && j->failed && j->known && j->bad && j->group ? 0 : -ENOMEM;
}

static void count(struct judge *j, const struct nca_test_result *t, size_t by)
{
	size_t failed = t->outcome == NCA_TEST_FAILED ? by : 0;

	j->known[t->a] += by;
	j->known[t->b] += by;
	j->failed[t->a] += failed;
	j->failed[t->b] += failed;
}

static size_t count_outcomes(const struct judge *j, enum nca_outcome_kind outcome)
{
	const struct nca_test_result *t;
	size_t n = 0;

	NCA_FOREACH(t, j->tests->results)
		n += t->rail == j->rail && t->outcome == outcome;
	return n;
}

static void read_results(struct judge *j)
{
	const struct nca_test_result *t;

	NCA_FOREACH(t, j->tests->results) {
		bool mine = t->rail == j->rail && t->outcome != NCA_TEST_UNKNOWN;

		j->used[t - j->tests->results.v] = mine;
		if (mine)
			count(j, t, 1);
	}
}

static bool is_suspect(const struct judge *j, size_t i)
{
	return !j->bad[i] && j->failed[i] >= 2 &&
	       100 * j->failed[i] >= FAILED_PERCENT * j->known[i];
}

/* The worst of those that are suspect: most failures, then fewest tests passed. */
static size_t find_worst(const struct judge *j)
{
	size_t i, worst = NCA_NOBODY;

	for (i = 0; i < j->tests->nodes; i++) {
		size_t passed = j->known[i] - j->failed[i];

		if (is_suspect(j, i) && (worst == NCA_NOBODY || j->failed[i] > j->failed[worst] ||
					 (j->failed[i] == j->failed[worst] &&
					  passed < j->known[worst] - j->failed[worst])))
			worst = i;
	}
	return worst;
}

/* What a bad endpoint took part in says nothing about its partners. */
static void explain(struct judge *j, size_t node)
{
	const struct nca_test_result *t;

	j->bad[node] = true;
	NCA_FOREACH(t, j->tests->results) {
		bool *used = &j->used[t - j->tests->results.v];

		if (!*used || (t->a != node && t->b != node))
			continue;
		*used = false;
		count(j, t, (size_t)-1);
	}
}

static size_t root(const struct judge *j, size_t i)
{
	while (j->group[i] != i)
		i = j->group[i];
	return i;
}

static void join_groups(struct judge *j)
{
	const struct nca_test_result *t;
	size_t i;

	for (i = 0; i < j->tests->nodes; i++)
		j->group[i] = i;
	NCA_FOREACH(t, j->tests->results)
		if (j->used[t - j->tests->results.v] && t->outcome == NCA_TEST_PASSED)
			j->group[root(j, t->a)] = root(j, t->b);
}

/* How many nodes are of a group, given its root. */
static size_t group_size(const struct judge *j, size_t of)
{
	size_t i, n = 0;

	for (i = 0; i < j->tests->nodes; i++)
		n += root(j, i) == of;
	return n;
}

/*
 * Do the nodes fall into groups of two and more, within which tests pass and between which all
 * fail? That takes more failures than two endpoints have in common; a group of one is an endpoint.
 */
static bool is_split(const struct judge *j, size_t *node, size_t *peer)
{
	const struct nca_test_result *t;
	size_t between = 0;

	NCA_FOREACH(t, j->tests->results) {
		size_t a = root(j, t->a), b = root(j, t->b);

		if (!j->used[t - j->tests->results.v] || t->outcome != NCA_TEST_FAILED || a == b ||
		    group_size(j, a) < 2 || group_size(j, b) < 2)
			continue;
		if (!between++) {
			*node = t->a;
			*peer = t->b;
		}
	}
	return between >= 3 && 2 * between >= j->tests->nodes;
}

static int add(struct judge *j, nca_faults *ret, enum nca_fault_kind kind, size_t node, size_t peer)
{
	struct nca_fault *f = NCA_APPEND(j->pool, *ret);

	if (!f)
		return -ENOMEM;
	*f = (struct nca_fault){kind, node, peer, j->rail, 0};
	return 0;
}

static int add_pairs(struct judge *j, nca_faults *ret)
{
	const struct nca_test_result *t;
	int rc = 0;

	NCA_FOREACH(t, j->tests->results)
		if (!rc && j->used[t - j->tests->results.v] && t->outcome == NCA_TEST_FAILED)
			rc = add(j, ret, NCA_FAULT_PAIR, t->a, t->b);
	return rc;
}

/* Nothing passes, and not only because few were heard of. */
static bool is_dead(const struct judge *j)
{
	return !count_outcomes(j, NCA_TEST_PASSED) && j->tests->nodes > 2 &&
	       count_outcomes(j, NCA_TEST_FAILED) >= j->tests->nodes;
}

static int judge_rail(struct judge *j, nca_faults *ret)
{
	size_t i = 0, peer = 0;
	int rc = 0;

	if (!count_outcomes(j, NCA_TEST_FAILED))
		return 0;
	if (is_dead(j))
		return add(j, ret, NCA_FAULT_RAIL, NCA_NOBODY, NCA_NOBODY);
	if (begin(j))
		return -ENOMEM;
	read_results(j);
	join_groups(j);
	if (is_split(j, &i, &peer))
		return add(j, ret, NCA_FAULT_SPLIT, i, peer);
	while ((i = find_worst(j)) != NCA_NOBODY)
		explain(j, i);
	for (i = 0; !rc && i < j->tests->nodes; i++)
		if (j->bad[i])
			rc = add(j, ret, NCA_FAULT_ENDPOINT, i, NCA_NOBODY);
	return rc ? rc : add_pairs(j, ret);
}

int nca_blame_find(const struct nca_tests *tests, struct nca_pool *pool, nca_faults *ret)
{
	struct judge j = {.tests = tests, .pool = pool};
	nca_faults found = {0};
	int rc = 0;

	for (j.rail = 0; !rc && j.rail < tests->rails; j.rail++)
		rc = judge_rail(&j, &found);
	return rc ? rc : nca_blame_sum(tests, pool, &found, ret);
}
