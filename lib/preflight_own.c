/* SPDX-License-Identifier: Apache-2.0 */
/* What ends of a preflight prove of themselves: that needs no partner. */
#include <errno.h>

#include "preflight.h"

struct nca_blamed *nca_judge_add(struct nca_judge *j, const struct nca_fault *f,
				 const struct nca_finding_kind *kind)
{
	struct nca_blamed *b = NCA_APPEND(j->pool, j->blamed);

	if (b)
		*b = (struct nca_blamed){.fault = *f, .kind = kind};
	return b;
}

/* Has an end proved the same of itself? */
static bool is_same(const struct nca_judge *j, size_t node, size_t rail,
		    const struct nca_finding_kind *kind)
{
	const struct nca_finding_kind *own = j->own[nca_end_index(j->t, node, rail)];

	return own && own->code == kind->code;
}

/* How many rails of a node have, and how many nodes on a rail. */
static size_t own_rails(const struct nca_judge *j, size_t node, const struct nca_finding_kind *kind)
{
	size_t rail, n = 0;

	for (rail = 0; rail < j->t->rails; rail++)
		n += is_same(j, node, rail, kind);
	return n;
}

static size_t own_nodes(const struct nca_judge *j, size_t rail, const struct nca_finding_kind *kind)
{
	size_t i, n = 0;

	for (i = 0; i < j->t->nodes; i++)
		n += is_same(j, i, rail, kind);
	return n;
}

/* What the node says, or the errno of its queue pairs; NULL: the verdict says it all. */
static const char *why(const struct nca_judge *j, size_t node, size_t rail)
{
	const struct nca_end *end = nca_trial_end(j->t, node, rail);
	const struct nca_try *try;

	if (end && end->why)
		return end->why;
	NCA_FOREACH(try, j->tries)
		if ((try->a == node || try->b == node) && try->rail == rail && try->error &&
		    streq(try->kind->word, "not-connected"))
			return nca_pool_strdup(j->pool, strerror(try->error));
	return NULL;
}

/* What an end proves itself: one finding for a rail on all nodes, or for all rails of a node. */
static int blame_end(struct nca_judge *j, size_t node, size_t rail)
{
	const struct nca_finding_kind *kind = j->own[nca_end_index(j->t, node, rail)];
	struct nca_fault f = {NCA_FAULT_ENDPOINT, node, NCA_NOBODY, rail, 0};
	struct nca_blamed *b;
	size_t first;

	if (!kind)
		return 0;
	if (j->t->nodes > 2 && own_nodes(j, rail, kind) == j->t->nodes) {
		if (node)
			return 0;
		f = (struct nca_fault){NCA_FAULT_RAIL, NCA_NOBODY, NCA_NOBODY, rail, 0};
	} else if (j->t->rails > 1 && own_rails(j, node, kind) == j->t->rails) {
		for (first = 0; first < rail; first++)
			if (is_same(j, node, first, kind))
				return 0;
		f = (struct nca_fault){NCA_FAULT_NODE, node, NCA_NOBODY, NCA_NOBODY, 0};
	}
	b = nca_judge_add(j, &f, kind);
	if (b)
		b->why = why(j, node, rail);
	return b ? 0 : -ENOMEM;
}

int nca_judge_own(struct nca_judge *j)
{
	size_t node, rail;
	int rc = 0;

	for (rail = 0; rail < j->t->rails; rail++)
		for (node = 0; !rc && node < j->t->nodes; node++)
			rc = blame_end(j, node, rail);
	return rc;
}
