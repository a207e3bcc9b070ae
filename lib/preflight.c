/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes are asked in a preflight. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "preflight.h"

/* One queue pair takes one port of a LAG and one path of an ECMP fabric. In a large step each port
 * has more partners, and the hub more to pass on. */
#define QPS 4
#define QPS_LARGE 2
#define LARGE 65

bool nca_preflight_applies(const struct nca_plan *plan)
{
	return plan->nodes.n > 1 && plan->nodes.v->hcas.n > 0 &&
	       (nca_same(plan->net, "IB") || nca_same(plan->net, "RoCE"));
}

int nca_trial_begin(const struct nca_job *job, const struct nca_plan *plan, struct nca_pool *pool,
		    struct nca_trial *ret)
{
	size_t n = plan->nodes.n;

	*ret = (struct nca_trial){
		.job = job,
		.plan = plan,
		.nodes = n,
		.rails = plan->nodes.v->hcas.n,
		.rounds = nca_schedule_rounds(n),
		.qps = n < LARGE ? QPS : QPS_LARGE,
		.leaf = nca_pool_alloc(pool, n * sizeof(*ret->leaf)),
		.opened = nca_pool_alloc(pool, n * sizeof(*ret->opened)),
		.linked = nca_pool_alloc(pool, n * sizeof(*ret->linked)),
		.pinged = nca_pool_alloc(pool, n * sizeof(*ret->pinged)),
	};
	return ret->leaf && ret->opened && ret->linked && ret->pinged ? 0 : -ENOMEM;
}

/* What NCCL finds: ours, which replaces what somebody has set, then that; as a file or not. */
static const char *variable(const struct nca_trial *t, size_t node, const char *name)
{
	const struct nca_plan_node *p = &t->plan->nodes.v[node];
	const char *set = nca_pairs_get(p->env, name);

	set = set ? set : nca_pairs_get(p->conf, name);
	return set ? set : nca_pairs_get(t->job->nodes.v[node].environment, name);
}

/* As NCCL reads a number (src/misc/param.cc, strtoll() with base 0); what is none, or negative, is
 * its default. */
static int number(const struct nca_trial *t, size_t node, const char *name, int otherwise)
{
	const char *text = variable(t, node, name);
	char *end;
	long value;

	if (!text || !*text)
		return otherwise;
	value = strtol(text, &end, 0);
	return *end || value < 0 || value > INT_MAX ? otherwise : (int)value;
}

int nca_trial_open(const struct nca_trial *t, size_t node, struct nca_pool *pool,
		   struct nca_open *ret)
{
	const struct nca_plan_hca *hca;
	bool roce = nca_same(t->plan->net, "RoCE");

	*ret = (struct nca_open){.sets = (int)t->rounds, .qps = (int)t->qps};
	NCA_FOREACH(hca, t->plan->nodes.v[node].hcas) {
		struct nca_open_port *port = NCA_APPEND(pool, ret->ports);
		int gid = hca->gid_index < 0 ? 0 : hca->gid_index;

		if (!port)
			return -ENOMEM;
		*port = (struct nca_open_port){
			.hca = hca->name,
			.port = hca->port,
			.gid_index = roce ? number(t, node, "NCCL_IB_GID_INDEX", gid) : -1,
			/* Upper bits are lost in verbs' fields, and of SL in the packet: NCCL
			 * gets no further with them. */
			.pkey_index = number(t, node, "NCCL_IB_PKEY", 0) & 0xffff,
			.sl = number(t, node, "NCCL_IB_SL", 0) & 0xf,
			.tc = number(t, node, "NCCL_IB_TC", 0) & 0xff,
		};
	}
	return 0;
}

const struct nca_end *nca_trial_end(const struct nca_trial *t, size_t node, size_t rail)
{
	const struct nca_opened *opened = t->opened[node];

	return opened && rail < opened->ends.n ? &opened->ends.v[rail] : NULL;
}

bool nca_trial_is_open(const struct nca_trial *t, size_t node, size_t rail)
{
	const struct nca_end *end = nca_trial_end(t, node, rail);

	return end && !end->why && end->qpns.n == t->rounds * t->qps;
}

char *nca_trial_port(const struct nca_trial *t, size_t node, size_t rail, struct nca_pool *pool)
{
	const struct nca_plan_hca *hca = &t->plan->nodes.v[node].hcas.v[rail];

	return nca_pool_printf(pool, "%s:%d", hca->name, hca->port);
}

static int add_partner(const struct nca_trial *t, size_t peer, size_t rail, size_t round,
		       struct nca_pool *pool, struct nca_link_up *ret)
{
	struct nca_partner *p = NCA_APPEND(pool, ret->partners);
	struct nca_end *end = nca_pool_alloc(pool, sizeof(*end));

	if (!p || !end)
		return -ENOMEM;
	*end = *nca_trial_end(t, peer, rail);
	/* It is compared here. */
	end->mac = NULL;
	end->qpns.v += round * t->qps;
	end->qpns.n = t->qps;
	*p = (struct nca_partner){(int)rail, (int)round, end};
	return 0;
}

int nca_trial_link(const struct nca_trial *t, size_t node, struct nca_pool *pool,
		   struct nca_link_up *ret)
{
	size_t rail, round;

	*ret = (struct nca_link_up){.partners = {nca_pool_alloc(pool, 0), 0}};
	if (!ret->partners.v)
		return -ENOMEM;
	for (rail = 0; rail < t->rails; rail++)
		for (round = 0; round < t->rounds; round++) {
			size_t peer = nca_schedule_partner(t->nodes, rail, round, node);

			if (peer == NCA_NOBODY || !nca_trial_is_open(t, node, rail) ||
			    !nca_trial_is_open(t, peer, rail))
				continue;
			if (add_partner(t, peer, rail, round, pool, ret))
				return -ENOMEM;
		}
	return 0;
}

static bool is_rail(const struct nca_plan *tested, size_t rail, const struct nca_plan *plan,
		    size_t other)
{
	size_t i;

	for (i = 0; i < plan->nodes.n; i++) {
		const struct nca_plan_hca *a = &tested->nodes.v[i].hcas.v[rail];
		const struct nca_plan_hca *b = &plan->nodes.v[i].hcas.v[other];

		if (!streq(a->name, b->name) || a->port != b->port)
			return false;
	}
	return true;
}

bool nca_preflight_covers(const struct nca_plan *tested, const struct nca_plan *plan)
{
	size_t rails = tested->nodes.v->hcas.n, i, k;

	for (i = 0; i < plan->nodes.v->hcas.n; i++) {
		for (k = 0; k < rails && !is_rail(tested, k, plan, i); k++)
			continue;
		if (k == rails)
			return false;
	}
	return true;
}
