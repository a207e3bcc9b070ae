/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in words. */
#include <errno.h>

#include <nca/hostlist.h>

#include "preflight.h"

/* Names and ranges in a finding. */
#define NAMES_MAX 12

/* Whose names of ports are said: the node's, or the first one's. */
static size_t speaker(const struct nca_fault *f)
{
	if (f->kind == NCA_FAULT_LEAF)
		return f->leaf;
	return f->node == NCA_NOBODY ? 0 : f->node;
}

static char *leaf_text(const struct nca_judge *j, const struct nca_fault *f, const char *port)
{
	const char **names = nca_pool_alloc(j->pool, j->t->nodes * sizeof(*names));
	size_t i, n = 0;
	char *list;

	for (i = 0; names && i < j->t->nodes; i++)
		if (nca_fault_has(j, f, i))
			names[n++] = j->t->plan->nodes.v[i].name;
	list = names ? nca_hostlist_make(j->pool, names, n, NAMES_MAX) : NULL;
	return list ? nca_pool_printf(j->pool, "rail %zu (%s) of all %zu nodes on switch %s (%s)",
				      f->rail, port, n, j->t->leaf[f->leaf], list)
		    : NULL;
}

/* Both ends of a pair. */
static char *where_pair(const struct nca_judge *j, const struct nca_fault *f)
{
	const char *peer = j->t->plan->nodes.v[f->peer].name;
	char *port, *other;

	if (f->rail == NCA_NOBODY)
		return nca_pool_printf(j->pool, "and %s, all %zu HCA ports", peer, j->t->rails);
	port = nca_trial_port(j->t, f->node, f->rail, j->pool);
	other = nca_trial_port(j->t, f->peer, f->rail, j->pool);
	return port && other ? nca_pool_printf(j->pool, "%s and %s %s", port, peer, other) : NULL;
}

/* Where, of a node's own view: its name is said before. */
static char *where(const struct nca_judge *j, const struct nca_fault *f)
{
	struct nca_pool *pool = j->pool;
	char *port;

	if (f->kind == NCA_FAULT_PAIR)
		return where_pair(j, f);
	if (f->rail == NCA_NOBODY)
		return nca_pool_printf(pool, "all %zu HCA ports", j->t->rails);
	port = nca_trial_port(j->t, speaker(f), f->rail, pool);
	if (!port || f->kind == NCA_FAULT_ENDPOINT)
		return port;
	if (f->kind == NCA_FAULT_LEAF)
		return leaf_text(j, f, port);
	return nca_pool_printf(pool, "rail %zu (%s)", f->rail, port);
}

/* Who of a pair does not reach whom. */
static char *way_text(const struct nca_judge *j, const struct nca_blamed *b)
{
	const char *node = j->t->plan->nodes.v[b->fault.node].name;
	const char *peer = j->t->plan->nodes.v[b->fault.peer].name;

	if (b->ways == NCA_WAY_BOTH)
		return nca_pool_strdup(j->pool, " in either direction");
	if (!b->ways)
		return nca_pool_strdup(j->pool, "");
	return nca_pool_printf(j->pool, " from %s to %s", b->ways == NCA_WAY_OUT ? node : peer,
			       b->ways == NCA_WAY_OUT ? peer : node);
}

static char *what(const struct nca_judge *j, const struct nca_blamed *b)
{
	const struct nca_fault *f = &b->fault;
	const struct nca_plan_node *nodes = j->t->plan->nodes.v;
	char *way;

	switch (f->kind) {
	case NCA_FAULT_SPLIT:
		return nca_pool_printf(j->pool,
				       "it joins groups of nodes, but not one with another, as %s "
				       "with %s: %s",
				       nodes[f->node].name, nodes[f->peer].name, b->kind->pair);
	case NCA_FAULT_PAIR:
		way = way_text(j, b);
		return way ? nca_pool_printf(j->pool, "%s%s", b->kind->pair, way) : NULL;
	case NCA_FAULT_RAIL:
		return nca_pool_printf(j->pool, "%s, on all nodes", b->kind->pair);
	case NCA_FAULT_LEAF:
		return nca_pool_strdup(j->pool, b->kind->pair);
	default:
		return nca_pool_printf(j->pool, "%s%s%s", b->kind->what[b->ways],
				       b->why ? ": " : "", b->why ? b->why : "");
	}
}

/* Beyond the cure. */
static const char *advice(const struct nca_judge *j, const struct nca_fault *f)
{
	if (f->kind == NCA_FAULT_LEAF)
		return "; so many HCAs at once point to the switch";
	if (f->kind != NCA_FAULT_PAIR)
		return "";
	return j->t->nodes == 2 ? "; of two nodes nothing tells whose fault it is: try --exclude "
				  "of one, then of the other"
				: "; nothing tells whose fault it is, look at the path between "
				  "them too";
}

static char *count_text(const struct nca_judge *j, const struct nca_blamed *b)
{
	if (b->tests < 2)
		return nca_pool_strdup(j->pool, "");
	return nca_pool_printf(j->pool, " (%zu of %zu tests failed)", b->failed, b->tests);
}

int nca_finding_make(const struct nca_judge *j, const struct nca_blamed *b, struct nca_finding *ret)
{
	static const char *const words[] = {NULL, "out", "in", "both"};
	const struct nca_fault *f = &b->fault;
	const struct nca_plan_node *nodes = j->t->plan->nodes.v;
	char *at = where(j, f), *is = what(j, b), *n = count_text(j, b);
	bool split = f->kind == NCA_FAULT_SPLIT;

	if (!at || !is || !n)
		return -ENOMEM;
	*ret = (struct nca_finding){
		.code = (char *)b->kind->code,
		.node = f->node == NCA_NOBODY || split ? NULL : nodes[f->node].name,
		.peer = f->peer == NCA_NOBODY || split ? NULL : nodes[f->peer].name,
		.direction = (char *)words[b->ways],
		.text = nca_pool_printf(j->pool, "%s: %s%s. %s%s", at, is, n, b->kind->cure,
					advice(j, f)),
	};
	if (f->rail != NCA_NOBODY)
		ret->hca = nca_trial_port(j->t, speaker(f), f->rail, j->pool);
	return ret->text && (ret->hca || f->rail == NCA_NOBODY) ? 0 : -ENOMEM;
}
