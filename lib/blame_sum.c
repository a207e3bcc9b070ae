/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of one cause are one. */
#include <errno.h>

#include "blame.h"

static bool has_endpoint(const nca_faults *found, size_t node, size_t rail)
{
	const struct nca_fault *f;

	NCA_FOREACH(f, *found)
		if (f->kind == NCA_FAULT_ENDPOINT && f->node == node && f->rail == rail)
			return true;
	return false;
}

static bool is_whole(const nca_faults *found, enum nca_fault_kind kind, size_t rail)
{
	const struct nca_fault *f;

	NCA_FOREACH(f, *found)
		if (f->kind == kind && f->rail == rail)
			return true;
	return false;
}

/* All rails of the node, of those that are not at fault as a whole: it is not eight HCAs that are
 * broken at once. */
static bool is_node(const struct nca_tests *tests, const nca_faults *found, size_t node)
{
	size_t rail, n = 0;

	for (rail = 0; rail < tests->rails; rail++) {
		if (is_whole(found, NCA_FAULT_RAIL, rail) || is_whole(found, NCA_FAULT_SPLIT, rail))
			continue;
		if (!has_endpoint(found, node, rail))
			return false;
		n++;
	}
	return n > 1;
}

/* All nodes of the leaf on the rail, but those that are at fault altogether. */
static bool is_leaf(const struct nca_tests *tests, const nca_faults *found, const bool *node_bad,
		    size_t leaf, size_t rail)
{
	size_t i, inside = 0, outside = 0;

	for (i = 0; i < tests->nodes; i++) {
		outside += tests->leaf[i] != leaf;
		if (tests->leaf[i] != leaf || node_bad[i])
			continue;
		if (!has_endpoint(found, i, rail))
			return false;
		inside++;
	}
	return inside > 1 && outside > 0;
}

static int compare(const void *x, const void *y)
{
	const struct nca_fault *a = x, *b = y;
	const size_t va[] = {(size_t)a->kind, a->rail + 1, a->leaf, a->node + 1, a->peer + 1};
	const size_t vb[] = {(size_t)b->kind, b->rail + 1, b->leaf, b->node + 1, b->peer + 1};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(va); i++)
		if (va[i] != vb[i])
			return va[i] < vb[i] ? -1 : 1;
	return 0;
}

static bool is_there(const nca_faults *list, const struct nca_fault *f)
{
	const struct nca_fault *other;

	NCA_FOREACH(other, *list)
		if (!compare(other, f))
			return true;
	return false;
}

int nca_blame_sum(const struct nca_tests *tests, struct nca_pool *pool, const nca_faults *found,
		  nca_faults *ret)
{
	bool *node_bad = nca_pool_alloc(pool, tests->nodes * sizeof(*node_bad));
	const struct nca_fault *f;
	nca_faults sum = {0};

	if (!node_bad)
		return -ENOMEM;
	NCA_FOREACH(f, *found)
		if (f->kind == NCA_FAULT_ENDPOINT && !node_bad[f->node])
			node_bad[f->node] = is_node(tests, found, f->node);
	NCA_FOREACH(f, *found) {
		struct nca_fault one = *f, *slot;
		bool end = f->kind == NCA_FAULT_ENDPOINT;

		if (end && node_bad[f->node])
			one = (struct nca_fault){NCA_FAULT_NODE, f->node, NCA_NOBODY, NCA_NOBODY,
						 0};
		else if (end && tests->leaf &&
			 is_leaf(tests, found, node_bad, tests->leaf[f->node], f->rail))
			one = (struct nca_fault){NCA_FAULT_LEAF, NCA_NOBODY, NCA_NOBODY, f->rail,
						 tests->leaf[f->node]};
		if (is_there(&sum, &one))
			continue;
		slot = NCA_APPEND(pool, sum);
		if (!slot)
			return -ENOMEM;
		*slot = one;
	}
	if (sum.n)
		qsort(sum.v, sum.n, sizeof(*sum.v), compare);
	*ret = sum;
	return 0;
}
