/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that two nodes of the step have lead from neither to the other. */
#include <errno.h>
#include <stdint.h>

#include "step.h"

/* Who has an address: the candidate that was seen first, and a node that has it too. Small, and
 * with the hash in it, because a large step has a hundred thousand. */
struct owner {
	uint32_t hash;
	uint32_t node; /* counted from 1; 0: the entry is free */
	uint32_t candidate;
	uint32_t other; /* as node; 0: none */
};

/* Open addressing, at most three quarters full. */
struct owners {
	struct owner *v;
	size_t mask;
};

static uint32_t hash(const struct nca_ip *ip)
{
	int i, bytes = nca_ip_bits(ip) / 8;
	uint32_t h = ip->family;

	for (i = 0; i < bytes; i++)
		h = h * 31 + ip->byte[i];
	h *= 0x9e3779b1;
	return h ^ h >> 15;
}

static struct owner *find_owner(const struct nca_step *step, const struct owners *all,
				const struct nca_ip *ip, uint32_t h)
{
	size_t at = h & all->mask;

	for (; all->v[at].node; at = (at + 1) & all->mask) {
		const struct owner *o = &all->v[at];

		if (o->hash == h &&
		    !nca_ip_compare(&step->nodes.v[o->node - 1].candidates.v[o->candidate].ip, ip))
			break;
	}
	return &all->v[at];
}

static int make_owners(struct nca_step *step, struct owners *ret)
{
	const struct nca_node_state *node;
	size_t n = 0, size = 16;

	NCA_FOREACH(node, step->nodes)
		n += node->candidates.n;
	while (size < n + n / 3)
		size *= 2;
	ret->mask = size - 1;
	ret->v = nca_pool_alloc(step->pool, size * sizeof(*ret->v));
	return ret->v ? 0 : -ENOMEM;
}

/* Is candidate k of node i an address that another node has? */
static bool own(const struct nca_step *step, const struct owners *all, size_t i, size_t k)
{
	const struct nca_ip *ip = &step->nodes.v[i].candidates.v[k].ip;
	uint32_t h = hash(ip), node = (uint32_t)i + 1;
	struct owner *o = find_owner(step, all, ip, h);

	if (!o->node)
		*o = (struct owner){h, node, (uint32_t)k, 0};
	else if (o->node != node && !o->other)
		o->other = node;
	return o->other != 0;
}

static bool has_own(const struct nca_node_state *node, const struct nca_link_state *state)
{
	const struct nca_candidate *c;

	NCA_FOREACH(c, node->candidates)
		if (c->state == state && !c->duplicate && !c->local)
			return true;
	return false;
}

/* An address of the other family that is the interface's own may still lead to it. */
static void reject_duplicate(struct nca_step *step, const struct owners *all, size_t i,
			     const struct nca_candidate *c)
{
	const struct owner *o = find_owner(step, all, &c->ip, hash(&c->ip));
	uint32_t other = o->node == i + 1 ? o->other : o->node;

	if (c->duplicate && !has_own(&step->nodes.v[i], c->state))
		nca_link_reject(step, c->state, NCA_RULE_DUPLICATE_ADDRESS,
				"the same address is on ", step->nodes.v[other - 1].node->name);
}

static void judge_node(struct nca_step *step, const struct owners *all, size_t i)
{
	struct nca_node_state *node = &step->nodes.v[i];
	struct nca_candidate *c;

	NCA_FOREACH(c, node->candidates) {
		c->duplicate = find_owner(step, all, &c->ip, hash(&c->ip))->other != 0;
		node->duplicates = node->duplicates || c->duplicate;
	}
	NCA_FOREACH(c, node->candidates)
		reject_duplicate(step, all, i, c);
}

/* Finds addresses that two nodes have. */
int nca_links_judge_duplicates(struct nca_step *step)
{
	struct owners all;
	bool any = false;
	size_t i, k;

	if (make_owners(step, &all))
		return -ENOMEM;
	for (i = 0; i < step->nodes.n; i++)
		for (k = 0; k < step->nodes.v[i].candidates.n; k++)
			any |= own(step, &all, i, k);
	for (i = 0; any && i < step->nodes.n; i++)
		judge_node(step, &all, i);
	return 0;
}
