/* SPDX-License-Identifier: Apache-2.0 */
/* The port over which a node is reached from outside, and the rails that only look like it. */
#include "fabric.h"

static bool is_inside(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_link_state *link;

	NCA_FOREACH(link, node->links)
		if (link->is_default && link->uses[p - node->ports.v])
			return false;
	return true;
}

/* Is it of the kind of p, and not the front end? */
static bool is_like(const struct nca_node_state *node, const struct nca_port_state *p,
		    const struct nca_port_state *other)
{
	return other != p && nca_port_is_open(other) && other->layer == p->layer &&
	       other->rate == p->rate && is_inside(node, other);
}

/*
 * Is a port the only one of its kind next to some GPU, where others of that kind are next to other
 * GPUs? Then the node has no front end of its own: the port is a rail that carries the rest, too.
 */
static bool is_rail_of_gpu(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_port_state *other;
	size_t i;

	if (!nca_port_is_near(node, p))
		return false;
	for (i = 0; i < node->node->gpus.n; i++) {
		bool elsewhere = false, here = false;

		if (nca_topo_level(node->node, p->hca, i) < NCA_LEVEL_PXB)
			continue;
		NCA_FOREACH(other, node->ports)
			if (is_like(node, p, other)) {
				elsewhere = elsewhere || nca_port_is_near(node, other);
				here = here ||
				       nca_topo_level(node->node, other->hca, i) >= NCA_LEVEL_PXB;
			}
		if (elsewhere && !here)
			return true;
	}
	return false;
}

static bool any_level(const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (p->level != NCA_LEVEL_UNKNOWN)
			return true;
	return false;
}

/*
 * Where no distance is known: can the GPUs be shared out evenly among the ports of its kind with
 * it, and not without it? A board with four ports for eight GPUs has no fifth one for management.
 */
static bool completes_share(const struct nca_node_state *node, const struct nca_port_state *p)
{
	size_t gpus = node->node->gpus.n, n = 1;
	const struct nca_port_state *other;

	if (!gpus || p->rate < 0 || any_level(node))
		return false;
	NCA_FOREACH(other, node->ports)
		n += is_like(node, p, other);
	return n > 1 && gpus % n == 0 && gpus % (n - 1);
}

bool nca_port_is_no_front_end(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return is_inside(node, p) || is_rail_of_gpu(node, p) || completes_share(node, p);
}

/* A node that has nothing but its front end. */
static const struct nca_node_state *find_poor(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes) {
		size_t open = 0, inside = 0;

		NCA_FOREACH(p, node->ports)
			if (nca_port_is_open(p)) {
				open++;
				inside += is_inside(node, p);
			}
		if (open && !inside)
			return node;
	}
	return NULL;
}

/* Has the port an address in a network of the node's open ports? */
static bool meets(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_port_state *other;
	size_t i;

	NCA_FOREACH(other, node->ports)
		for (i = 0; nca_port_is_open(other) && i < ARRAY_SIZE(p->net); i++)
			if (p->net[i].ip.family && nca_prefix_same(&p->net[i], &other->net[i]))
				return true;
	return false;
}

void nca_front_end_settle(struct nca_step *step)
{
	const struct nca_node_state *poor = find_poor(step);
	struct nca_node_state *node;
	struct nca_port_state *p;

	if (!poor)
		return;
	NCA_FOREACH(node, step->nodes) {
		bool joined = node == poor || node->fixed_hcas;

		NCA_FOREACH(p, node->ports)
			joined = joined || (nca_port_is_open(p) && meets(poor, p));
		NCA_FOREACH(p, node->ports)
			if (!joined && p->rule == NCA_RULE_FRONT_END && meets(poor, p)) {
				p->rule = NCA_RULE_NONE;
				p->text = NULL;
			}
	}
}
