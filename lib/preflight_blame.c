/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the tests of a preflight blame. */
#include <errno.h>

#include "preflight.h"

static bool is_end(const struct nca_try *try, size_t node)
{
	return try->a == node || try->b == node;
}

static bool is_own(const struct nca_judge *j, const struct nca_try *try)
{
	return j->own[nca_end_index(j->t, try->a, try->rail)] ||
	       j->own[nca_end_index(j->t, try->b, try->rail)];
}

static bool is_banned(const struct nca_judge *j, size_t node, size_t rail)
{
	return j->banned[nca_end_index(j->t, node, rail)];
}

bool nca_fault_has(const struct nca_judge *j, const struct nca_fault *f, size_t node)
{
	return f->kind != NCA_FAULT_LEAF || j->leaf[node] == f->leaf;
}

/* Is the test one that the fault explains? */
static bool covers(const struct nca_judge *j, const struct nca_fault *f, const struct nca_try *try)
{
	bool rail = f->rail == NCA_NOBODY || f->rail == try->rail;

	switch (f->kind) {
	case NCA_FAULT_PAIR:
		return rail && is_end(try, f->node) && is_end(try, f->peer);
	case NCA_FAULT_NODE:
	case NCA_FAULT_ENDPOINT:
		return rail && is_end(try, f->node);
	case NCA_FAULT_LEAF:
		return rail && (nca_fault_has(j, f, try->a) || nca_fault_has(j, f, try->b));
	default:
		return rail;
	}
}

/* Has a worse fault than one of a pair explained the test? */
static bool is_explained(const struct nca_judge *j, const struct nca_try *try)
{
	const struct nca_blamed *b;

	NCA_FOREACH(b, j->blamed)
		if (b->kind->harm == NCA_HARM_DEAD && b->fault.kind != NCA_FAULT_PAIR &&
		    covers(j, &b->fault, try))
			return true;
	return false;
}

/*
 * A test as one of this harm. What passes, or fails less, counts as passed where it is about what
 * is dead; of a bond with a dead port all queue pairs of one test may take that port, so what is
 * dead and not explained counts as degraded too.
 */
static enum nca_outcome_kind outcome(const struct nca_judge *j, const struct nca_try *try,
				     enum nca_harm harm)
{
	enum nca_harm is = try->kind ? try->kind->harm : NCA_HARM_NONE;

	if (is_own(j, try))
		return NCA_TEST_UNKNOWN;
	if (is == harm)
		return NCA_TEST_FAILED;
	if (is == NCA_HARM_UNHEARD)
		return NCA_TEST_UNKNOWN;
	if (is == NCA_HARM_DEAD)
		return harm == NCA_HARM_DEGRADED && !is_explained(j, try) ? NCA_TEST_FAILED
									  : NCA_TEST_UNKNOWN;
	return NCA_TEST_PASSED;
}

static int find(struct nca_judge *j, enum nca_harm harm, nca_faults *ret)
{
	struct nca_tests tests = {.nodes = j->t->nodes, .rails = j->t->rails, .leaf = j->leaf};
	const struct nca_try *try;
	size_t failed = 0;

	tests.results.v = nca_pool_alloc(j->pool, j->tries.n * sizeof(*tests.results.v));
	if (!tests.results.v)
		return -ENOMEM;
	NCA_FOREACH(try, j->tries) {
		struct nca_test_result *r = &tests.results.v[tests.results.n++];

		*r = (struct nca_test_result){try->a, try->b, try->rail, outcome(j, try, harm)};
		failed += try->kind && try->kind->harm == harm;
	}
	return failed ? nca_blame_find(&tests, j->pool, ret) : 0;
}

/* Of one fault: the tests that it explains. clean: but for those with another end at fault. */
static bool is_part(const struct nca_judge *j, const struct nca_fault *f, bool clean,
		    const struct nca_try *try)
{
	size_t far = try->a == f->node ? try->b : try->a;

	return covers(j, f, try) && !is_own(j, try) &&
	       !(clean && f->node != NCA_NOBODY && is_banned(j, far, try->rail));
}

/* Counts tests and failures; the commonest verdict of this harm is the fault's. */
static void count(const struct nca_judge *j, enum nca_harm harm, bool clean, struct nca_blamed *b)
{
	size_t of[NCA_FINDING_KINDS] = {0}, best = 0;
	const struct nca_try *try;

	b->tests = b->failed = 0;
	NCA_FOREACH(try, j->tries) {
		size_t *n = try->kind ? &of[try->kind - nca_finding_kinds] : NULL;

		if (!is_part(j, &b->fault, clean, try))
			continue;
		b->tests++;
		if (!n || try->kind->harm > harm)
			continue;
		b->failed++;
		if (try->kind->harm == harm && ++*n > best) {
			best = *n;
			b->kind = try->kind;
		}
	}
}

static void add_ways(const struct nca_judge *j, bool clean, struct nca_blamed *b)
{
	const struct nca_try *try;

	NCA_FOREACH(try, j->tries)
		if (try->kind && try->kind->code == b->kind->code &&
		    is_part(j, &b->fault, clean, try))
			b->ways |= try->a == b->fault.node ? try->ways : nca_ways_turned(try->ways);
}

/* Tests with another end at fault tell little, where others are left. */
static void describe(const struct nca_judge *j, enum nca_harm harm, struct nca_blamed *b)
{
	bool clean = b->fault.kind != NCA_FAULT_PAIR;

	count(j, harm, clean, b);
	if (!b->failed)
		count(j, harm, clean = false, b);
	if (b->kind && b->fault.node != NCA_NOBODY && b->fault.kind != NCA_FAULT_SPLIT)
		add_ways(j, clean, b);
}

/* The ends that a fault takes out, or only marks. */
static void mark(const struct nca_judge *j, const struct nca_fault *f, bool *ends)
{
	size_t node, rail;
	bool pair = f->kind == NCA_FAULT_PAIR;

	for (rail = 0; rail < j->t->rails; rail++)
		for (node = 0; node < j->t->nodes; node++)
			if ((f->rail == NCA_NOBODY || f->rail == rail) &&
			    ((f->node == NCA_NOBODY && nca_fault_has(j, f, node)) ||
			     f->kind == NCA_FAULT_SPLIT || f->node == node ||
			     (pair && f->peer == node)))
				ends[nca_end_index(j->t, node, rail)] = true;
}

static int blame(struct nca_judge *j, enum nca_harm harm)
{
	nca_faults faults = {0};
	const struct nca_fault *f;
	size_t first = j->blamed.n, i;
	int rc = find(j, harm, &faults);

	if (rc)
		return rc;
	NCA_FOREACH(f, faults) {
		if (!nca_judge_add(j, f, NULL))
			return -ENOMEM;
		if (harm != NCA_HARM_UNHEARD)
			mark(j, f, harm == NCA_HARM_DEAD ? j->banned : j->degraded);
	}
	for (i = first; i < j->blamed.n; i++)
		describe(j, harm, &j->blamed.v[i]);
	return 0;
}

/* A dead pair, one end of which is degraded with others too, is that end's. */
static bool is_absorbed(const struct nca_judge *j, const struct nca_blamed *b)
{
	const struct nca_blamed *o;

	NCA_FOREACH(o, j->blamed)
		if (b->kind && o->kind && b->fault.kind == NCA_FAULT_PAIR &&
		    b->kind->harm == NCA_HARM_DEAD && o->kind->harm == NCA_HARM_DEGRADED &&
		    o->fault.kind != NCA_FAULT_PAIR &&
		    (o->fault.node == b->fault.node || o->fault.node == b->fault.peer) &&
		    (o->fault.rail == NCA_NOBODY || o->fault.rail == b->fault.rail))
			return true;
	return false;
}

/* Drops what other faults say, and faults of which no test of their own harm is left. */
static void tidy(struct nca_judge *j)
{
	const struct nca_blamed *b;
	size_t n = 0;

	NCA_FOREACH(b, j->blamed)
		if (b->kind && !is_absorbed(j, b))
			j->blamed.v[n++] = *b;
	j->blamed.n = n;
	memset(j->banned, 0, j->t->nodes * j->t->rails * sizeof(*j->banned));
	NCA_FOREACH(b, j->blamed)
		if (b->kind->harm == NCA_HARM_DEAD)
			mark(j, &b->fault, j->banned);
}

/* Leaves as numbers; where one node's is not known, of none. */
static int read_leaves(struct nca_judge *j)
{
	const char **names = j->t->leaf;
	size_t *leaf = nca_pool_alloc(j->pool, j->t->nodes * sizeof(*leaf)), i;

	if (!leaf)
		return -ENOMEM;
	for (i = 0; i < j->t->nodes && names[i]; i++)
		while (!streq(names[leaf[i]], names[i]))
			leaf[i]++;
	j->leaf = i < j->t->nodes ? NULL : leaf;
	return 0;
}

/* The worst first, then as nca_blame_find() sorts. */
int nca_judge_blame(struct nca_judge *j)
{
	enum nca_harm harm;
	int rc = read_leaves(j);

	rc = rc ? rc : nca_judge_own(j);
	for (harm = NCA_HARM_DEAD; !rc && harm < NCA_HARM_NONE; harm++)
		rc = blame(j, harm);
	if (!rc)
		tidy(j);
	return rc;
}
