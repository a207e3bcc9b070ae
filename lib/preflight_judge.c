/* SPDX-License-Identifier: Apache-2.0 */
/* What a preflight shows. */
#include <errno.h>

#include <nca/hostlist.h>

#include "preflight.h"

static const char *state_of(const struct nca_judge *j, size_t end, const struct nca_tested *port)
{
	if (j->banned[end])
		return "failed";
	if (j->degraded[end])
		return "degraded";
	return port->tests ? "ok" : "untested";
}

static void count(const struct nca_judge *j, struct nca_tested *ports)
{
	const struct nca_try *try;

	NCA_FOREACH(try, j->tries) {
		struct nca_tested *a = &ports[nca_end_index(j->t, try->a, try->rail)];
		struct nca_tested *b = &ports[nca_end_index(j->t, try->b, try->rail)];
		int failed = try->kind != NULL;

		if (failed && try->kind->harm == NCA_HARM_UNHEARD)
			continue;
		a->tests++;
		b->tests++;
		a->failed += failed;
		b->failed += failed;
	}
}

static int add_ports(const struct nca_judge *j, struct nca_preflight *ret)
{
	size_t n = j->t->nodes * j->t->rails, i;

	for (i = 0; i < n; i++) {
		const struct nca_plan_node *node = &j->t->plan->nodes.v[i / j->t->rails];
		const struct nca_plan_hca *hca = &node->hcas.v[i % j->t->rails];
		struct nca_tested *p = NCA_APPEND(j->pool, ret->ports);

		if (!p)
			return -ENOMEM;
		*p = (struct nca_tested){node->name, hca->name, hca->port, (int)(i % j->t->rails),
					 NULL,	     0,		0};
	}
	count(j, ret->ports.v);
	for (i = 0; i < n; i++)
		ret->ports.v[i].state = (char *)state_of(j, i, &ret->ports.v[i]);
	return 0;
}

/* All rails between two nodes, of one verdict: one finding. */
static bool is_whole_pair(const struct nca_judge *j, const struct nca_blamed *b)
{
	const struct nca_blamed *o;
	size_t n = 0;

	NCA_FOREACH(o, j->blamed)
		n += o->fault.kind == NCA_FAULT_PAIR && o->fault.node == b->fault.node &&
		     o->fault.peer == b->fault.peer && o->kind->code == b->kind->code &&
		     o->ways == b->ways;
	return b->fault.kind == NCA_FAULT_PAIR && n == j->t->rails && n > 1;
}

static int compare(const void *x, const void *y)
{
	const struct nca_blamed *a = x, *b = y;
	const size_t va[] = {a->kind->harm, a->fault.kind,     a->fault.rail + 1,
			     a->fault.leaf, a->fault.node + 1, a->fault.peer + 1};
	const size_t vb[] = {b->kind->harm, b->fault.kind,     b->fault.rail + 1,
			     b->fault.leaf, b->fault.node + 1, b->fault.peer + 1};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(va); i++)
		if (va[i] != vb[i])
			return va[i] < vb[i] ? -1 : 1;
	return 0;
}

static int add_findings(struct nca_judge *j, struct nca_preflight *ret)
{
	const struct nca_blamed *b;

	ret->findings.v = nca_pool_alloc(j->pool, 0);
	if (!ret->findings.v)
		return -ENOMEM;
	if (j->blamed.n)
		qsort(j->blamed.v, j->blamed.n, sizeof(*j->blamed.v), compare);
	NCA_FOREACH(b, j->blamed) {
		struct nca_blamed one = *b;
		struct nca_finding *f;

		if (is_whole_pair(j, b)) {
			if (b->fault.rail)
				continue;
			one.fault.rail = NCA_NOBODY;
		}
		f = NCA_APPEND(j->pool, ret->findings);
		if (!f || nca_finding_make(j, &one, f))
			return -ENOMEM;
	}
	return 0;
}

/* The planner names the node and the port; the finding has said why. */
static int add_bans(const struct nca_judge *j, nca_bans *bans)
{
	size_t i, n = j->t->nodes * j->t->rails;

	for (i = 0; i < n; i++) {
		struct nca_ban *ban;

		if (!j->banned[i])
			continue;
		ban = NCA_APPEND(j->pool, *bans);
		if (!ban)
			return -ENOMEM;
		*ban = (struct nca_ban){
			j->t->plan->nodes.v[i / j->t->rails].name,
			nca_trial_port(j->t, i / j->t->rails, i % j->t->rails, j->pool),
			"RDMA over it failed the check"};
		if (!ban->subject)
			return -ENOMEM;
	}
	return 0;
}

static size_t rails_left(const struct nca_judge *j)
{
	size_t rail, node, n = 0;

	for (rail = 0; rail < j->t->rails; rail++) {
		bool good = true;

		for (node = 0; node < j->t->nodes; node++)
			good = good && !j->banned[nca_end_index(j->t, node, rail)];
		n += good;
	}
	return n;
}

/* Is it the node's fault, or its switch's, and not a pair's or a whole rail's? */
static bool is_of(const struct nca_judge *j, const struct nca_fault *f, size_t node)
{
	switch (f->kind) {
	case NCA_FAULT_LEAF:
		return nca_fault_has(j, f, node);
	case NCA_FAULT_NODE:
	case NCA_FAULT_ENDPOINT:
		return f->node == node;
	default:
		return false;
	}
}

static bool is_to_blame(const struct nca_judge *j, size_t node)
{
	const struct nca_blamed *b;

	NCA_FOREACH(b, j->blamed)
		if (b->kind->harm == NCA_HARM_DEAD && is_of(j, &b->fault, node))
			return true;
	return false;
}

/* The nodes that are to blame. Without any of the others nothing would be left to run. */
static int add_exclude(const struct nca_judge *j, struct nca_preflight *ret)
{
	const char **names = nca_pool_alloc(j->pool, j->t->nodes * sizeof(*names));
	size_t i, n = 0;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < j->t->nodes; i++)
		if (is_to_blame(j, i))
			names[n++] = j->t->plan->nodes.v[i].name;
	if (!n || n == j->t->nodes)
		return 0;
	ret->exclude = nca_hostlist_make(j->pool, names, n, 0);
	return ret->exclude ? 0 : -ENOMEM;
}

/* Without a test that says something nothing is known, be it that nothing was found. */
static char *verdict_of(const struct nca_judge *j, const struct nca_preflight *pre)
{
	const struct nca_tested *port;
	bool known = false;

	NCA_FOREACH(port, pre->ports)
		known = known || !streq(port->state, "untested");
	if (!known)
		return "untested";
	if (!pre->findings.n)
		return "healthy";
	return rails_left(j) ? "degraded" : "failed";
}

int nca_trial_judge(const struct nca_trial *t, struct nca_pool *pool, struct nca_preflight *ret,
		    nca_bans *bans)
{
	struct nca_judge j = {.t = t, .pool = pool};
	int rc = nca_judge_read(&j);

	*ret = (struct nca_preflight){.seconds = -1};
	rc = rc ? rc : nca_judge_blame(&j);
	rc = rc ? rc : add_ports(&j, ret);
	rc = rc ? rc : add_findings(&j, ret);
	rc = rc ? rc : add_bans(&j, bans);
	rc = rc ? rc : nca_preflight_hint(t, pool, &ret->hints);
	if (rc)
		return rc;
	ret->verdict = verdict_of(&j, ret);
	return add_exclude(&j, ret);
}
