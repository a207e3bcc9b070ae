/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "blame_sim.h"

/* Small, good enough for a draw, and the same everywhere. */
static size_t draw(unsigned int *seed, size_t n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % n;
}

struct truth {
	const struct sim *s;
	nca_faults faults;
	struct nca_tests tests;
	struct nca_pool *pool;
};

static bool covers(const struct truth *t, const struct nca_fault *f, size_t node, size_t rail)
{
	switch (f->kind) {
	case NCA_FAULT_NODE:
		return f->node == node;
	case NCA_FAULT_ENDPOINT:
		return f->node == node && f->rail == rail;
	case NCA_FAULT_RAIL:
		return f->rail == rail;
	case NCA_FAULT_LEAF:
		return f->rail == rail && t->tests.leaf[node] == f->leaf;
	default:
		return false;
	}
}

static bool end_is_bad(const struct truth *t, size_t node, size_t rail)
{
	const struct nca_fault *f;

	NCA_FOREACH(f, t->faults)
		if (covers(t, f, node, rail))
			return true;
	return false;
}

/* Two rails of one node would be the node. */
static bool has_end(const struct truth *t, size_t node)
{
	size_t rail;

	for (rail = 0; rail < t->s->rails; rail++)
		if (end_is_bad(t, node, rail))
			return true;
	return false;
}

static bool pair_is_bad(const struct truth *t, const struct nca_test_result *r)
{
	const struct nca_fault *f;

	NCA_FOREACH(f, t->faults)
		if (f->kind == NCA_FAULT_PAIR && f->rail == r->rail && f->node == r->a &&
		    f->peer == r->b)
			return true;
	return false;
}

static void add(struct truth *t, struct nca_fault fault)
{
	struct nca_fault *f = NCA_APPEND(t->pool, t->faults);

	*f = fault;
}

static void make_tests(struct truth *t)
{
	size_t rail, round, i;
	struct nca_test_result *r;

	t->tests.nodes = t->s->nodes;
	t->tests.rails = t->s->rails;
	for (rail = 0; rail < t->s->rails; rail++)
		for (round = 0; round < nca_schedule_rounds(t->s->nodes); round++)
			for (i = 0; i < t->s->nodes; i++) {
				size_t p = nca_schedule_partner(t->s->nodes, rail, round, i);

				if (p == NCA_NOBODY || p < i)
					continue;
				r = NCA_APPEND(t->pool, t->tests.results);
				*r = (struct nca_test_result){i, p, rail, NCA_TEST_UNKNOWN};
			}
}

static void make_leaves(struct truth *t)
{
	size_t i, *leaf;

	if (!t->s->leaf_size)
		return;
	leaf = nca_pool_alloc(t->pool, t->s->nodes * sizeof(*leaf));
	for (i = 0; i < t->s->nodes; i++)
		leaf[i] = i / t->s->leaf_size;
	t->tests.leaf = leaf;
}

/* Faults do not overlap, so that the truth has one name. */
static void make_faults(struct truth *t, unsigned int *seed)
{
	const struct sim *s = t->s;
	size_t n;

	if (s->bad_rails)
		add(t, (struct nca_fault){NCA_FAULT_RAIL, NCA_NOBODY, NCA_NOBODY,
					  draw(seed, s->rails), 0});
	if (s->bad_leaves)
		add(t,
		    (struct nca_fault){NCA_FAULT_LEAF, NCA_NOBODY, NCA_NOBODY, draw(seed, s->rails),
				       draw(seed, s->nodes / s->leaf_size)});
	for (n = 0; n < s->bad_nodes;) {
		size_t node = draw(seed, s->nodes);

		if (end_is_bad(t, node, 0))
			continue;
		add(t, (struct nca_fault){s->rails > 1 ? NCA_FAULT_NODE : NCA_FAULT_ENDPOINT, node,
					  NCA_NOBODY, s->rails > 1 ? NCA_NOBODY : 0, 0});
		n++;
	}
	for (n = 0; n < s->bad_ends;) {
		size_t node = draw(seed, s->nodes), rail = draw(seed, s->rails);

		if (has_end(t, node))
			continue;
		add(t, (struct nca_fault){NCA_FAULT_ENDPOINT, node, NCA_NOBODY, rail, 0});
		n++;
	}
	for (n = 0; n < s->bad_pairs;) {
		const struct nca_test_result *r =
			&t->tests.results.v[draw(seed, t->tests.results.n)];

		if (end_is_bad(t, r->a, r->rail) || end_is_bad(t, r->b, r->rail) ||
		    pair_is_bad(t, r))
			continue;
		add(t, (struct nca_fault){NCA_FAULT_PAIR, r->a, r->b, r->rail, 0});
		n++;
	}
}

static bool is_lost(const struct truth *t, unsigned int *seed)
{
	return (double)draw(seed, 1000000) < t->s->lost * 1000000;
}

/* A pair that nobody heard of cannot be found. */
static void run_tests(struct truth *t, unsigned int *seed)
{
	struct nca_test_result *r;

	NCA_FOREACH(r, t->tests.results) {
		bool lost = is_lost(t, seed) & is_lost(t, seed);

		if (lost && !pair_is_bad(t, r))
			continue;
		r->outcome = end_is_bad(t, r->a, r->rail) || end_is_bad(t, r->b, r->rail) ||
					     pair_is_bad(t, r)
				     ? NCA_TEST_FAILED
				     : NCA_TEST_PASSED;
	}
}

static bool has(const nca_faults *list, const struct nca_fault *f)
{
	const struct nca_fault *o;

	NCA_FOREACH(o, *list)
		if (o->kind == f->kind && o->node == f->node && o->peer == f->peer &&
		    o->rail == f->rail && o->leaf == f->leaf)
			return true;
	return false;
}

/* Is some end that the fault covers in order? */
static bool is_innocent(const struct truth *t, const struct nca_fault *f)
{
	size_t i, rail;

	for (i = 0; i < t->s->nodes; i++)
		for (rail = 0; rail < t->s->rails; rail++)
			if (covers(t, f, i, rail) && !end_is_bad(t, i, rail))
				return true;
	return f->kind == NCA_FAULT_SPLIT;
}

struct sim_score sim_run(const struct sim *s, unsigned int *seed)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct truth t = {.s = s, .pool = pool};
	struct sim_score score = {true, 0};
	const struct nca_fault *f;
	nca_faults found;

	make_tests(&t);
	make_leaves(&t);
	make_faults(&t, seed);
	run_tests(&t, seed);
	if (nca_blame_find(&t.tests, pool, &found))
		return (struct sim_score){false, s->nodes};
	NCA_FOREACH(f, t.faults)
		score.exact = score.exact && has(&found, f);
	NCA_FOREACH(f, found) {
		score.exact = score.exact && has(&t.faults, f);
		score.innocent += is_innocent(&t, f);
	}
	return score;
}
