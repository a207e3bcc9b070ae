/* SPDX-License-Identifier: Apache-2.0 */
/* The results of one preflight and the next, and what is said of them. */
#include <errno.h>

#include <nca/hostlist.h>

#include "preflight.h"

/* Names and ranges in a warning. */
#define NAMES_MAX 12

/* Both lists are in the order of the nodes, so it mostly stands where the last one was found. */
static struct nca_tested *find_port(const struct nca_preflight *pre, const struct nca_tested *like,
				    size_t *at)
{
	size_t i, n = pre->ports.n;

	for (i = 0; i < n; i++) {
		struct nca_tested *p = &pre->ports.v[(*at + i) % n];

		if (streq(p->node, like->node) && streq(p->hca, like->hca) &&
		    p->port == like->port) {
			*at = (*at + i) % n;
			return p;
		}
	}
	return NULL;
}

static int add_ports(struct nca_preflight *to, const struct nca_preflight *later,
		     struct nca_pool *pool)
{
	const struct nca_tested *p;
	size_t at = 0;

	NCA_FOREACH(p, later->ports) {
		struct nca_tested *slot = find_port(to, p, &at);

		slot = slot ? slot : NCA_APPEND(pool, to->ports);
		if (!slot)
			return -ENOMEM;
		*slot = *p;
	}
	return 0;
}

static bool has_hint(const struct nca_preflight *pre, const char *hint)
{
	size_t i;

	for (i = 0; i < pre->hints.n; i++)
		if (streq(pre->hints.v[i], hint))
			return true;
	return false;
}

static int add_exclude(struct nca_preflight *to, const struct nca_preflight *later,
		       struct nca_pool *pool)
{
	if (!later->exclude)
		return 0;
	to->exclude = to->exclude ? nca_pool_printf(pool, "%s,%s", to->exclude, later->exclude)
				  : later->exclude;
	return to->exclude ? 0 : -ENOMEM;
}

int nca_preflight_add(struct nca_preflight *to, const struct nca_preflight *later,
		      struct nca_pool *pool)
{
	const struct nca_finding *f;
	size_t i;

	if (add_ports(to, later, pool))
		return -ENOMEM;
	to->verdict = later->verdict;
	if (to->findings.n && !streq(later->verdict, "failed"))
		to->verdict = "degraded";
	to->seconds += later->seconds;
	NCA_FOREACH(f, later->findings) {
		struct nca_finding *slot = NCA_APPEND(pool, to->findings);

		if (!slot)
			return -ENOMEM;
		*slot = *f;
	}
	for (i = 0; i < later->hints.n; i++) {
		char **slot;

		if (has_hint(to, later->hints.v[i]))
			continue;
		slot = NCA_APPEND(pool, to->hints);
		if (!slot)
			return -ENOMEM;
		*slot = later->hints.v[i];
	}
	return add_exclude(to, later, pool);
}

/* Of one cause: what fails on the same port of each node in the same way. */
static bool is_same(const struct nca_finding *a, const struct nca_finding *b)
{
	return a->node && b->node && !a->peer && !b->peer && streq(a->code, b->code) &&
	       (a->hca ? nca_same(a->hca, b->hca) : !b->hca) &&
	       (a->direction ? nca_same(a->direction, b->direction) : !b->direction);
}

static bool is_said(const struct nca_preflight *pre, const struct nca_finding *f)
{
	const struct nca_finding *before;

	for (before = pre->findings.v; before < f; before++)
		if (is_same(before, f))
			return true;
	return false;
}

static int warn_nodes(const struct nca_preflight *pre, const struct nca_finding *f,
		      struct nca_plan *plan, struct nca_pool *pool)
{
	const char **names = nca_pool_alloc(pool, pre->findings.n * sizeof(*names));
	const struct nca_finding *other;
	char *list, *all;
	size_t n = 0;

	if (!names)
		return -ENOMEM;
	NCA_FOREACH(other, pre->findings)
		if (is_same(f, other))
			names[n++] = other->node;
	list = nca_hostlist_make(pool, names, n, NAMES_MAX);
	all = nca_hostlist_make(pool, names, n, 0);
	if (!list || !all)
		return -ENOMEM;
	if (n == 1)
		return nca_plan_warn(plan, pool, f->code, f->node,
				     "%s, or leave the node out with --exclude=%s", f->text, all);
	return nca_plan_warn(plan, pool, f->code, f->node,
			     "%s (%zu of %zu): %s, or leave the nodes out with --exclude=%s", list,
			     n, plan->nodes.n, f->text, all);
}

static int warn_findings(const struct nca_preflight *pre, struct nca_plan *plan,
			 struct nca_pool *pool)
{
	const struct nca_finding *f;
	int rc = 0;

	NCA_FOREACH(f, pre->findings) {
		if (rc || is_said(pre, f))
			continue;
		rc = f->node && !f->peer
			     ? warn_nodes(pre, f, plan, pool)
			     : nca_plan_warn(plan, pool, f->code, f->node, "%s", f->text);
	}
	return rc;
}

int nca_preflight_warn(const struct nca_preflight *pre, struct nca_plan *plan,
		       struct nca_pool *pool)
{
	__typeof__(plan->warnings) planned = plan->warnings;
	const struct nca_warning *w;
	int rc;

	plan->warnings.v = nca_pool_alloc(pool, 0);
	plan->warnings.n = 0;
	rc = plan->warnings.v ? warn_findings(pre, plan, pool) : -ENOMEM;
	NCA_FOREACH(w, planned) {
		struct nca_warning *slot = rc ? NULL : NCA_APPEND(pool, plan->warnings);

		if (!slot)
			return -ENOMEM;
		*slot = *w;
	}
	return rc;
}
