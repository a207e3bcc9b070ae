/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is preferred on one node can part it from the others: of two RoCE ports a node keeps the one
 * without the default route, and another node has only the one with it. A preference gives up
 * rather than leave nothing, and so it does where what it leaves does not meet. And a default route
 * that some node has over a rail of the others does not make it a front end.
 */
#include "rail_keys.h"

static bool is_preference(enum nca_rule rule)
{
	return rule == NCA_RULE_FRONT_END || rule == NCA_RULE_LOCALITY || rule == NCA_RULE_SLOWER;
}

static const struct nca_prefix *network(const struct nca_step *step, const struct nca_port_state *p)
{
	return nca_port_is_open(p) || is_preference(p->rule) ? nca_rail_network(step, p) : NULL;
}

/* Does a rail meet one of the other node, by network or by route, or is that not known? */
static bool meets(const struct nca_step *step, const struct nca_node_state *node,
		  const struct nca_node_state *other)
{
	size_t i, k;

	for (i = 0; i < node->rails.n; i++)
		for (k = 0; k < other->rails.n; k++) {
			const struct nca_prefix *from = nca_rail_network(step, node->rails.v[i]);
			const struct nca_prefix *to = nca_rail_network(step, other->rails.v[k]);

			if (!from || !to || nca_prefix_same(from, to) ||
			    nca_rail_reaches(step, node, node->rails.v[i], &to->ip))
				return true;
		}
	return false;
}

static bool is_parted(const struct nca_step *step)
{
	const struct nca_node_state *node;
	bool parted = false;

	NCA_FOREACH(node, step->nodes) {
		size_t next = (size_t)(node - step->nodes.v + 1) % step->nodes.n;

		parted = parted || (next && !meets(step, node, &step->nodes.v[next]));
	}
	return parted;
}

/* The node's port of a network, first one that is open; NULL: none. */
static const struct nca_port_state *
find(const struct nca_step *step, const struct nca_node_state *node, const struct nca_prefix *net)
{
	const struct nca_port_state *p, *found = NULL;

	NCA_FOREACH(p, node->ports)
		if (network(step, p) && nca_prefix_same(network(step, p), net) &&
		    (!found || nca_port_is_open(p)))
			found = p;
	return found;
}

/* Have all nodes a port of the network, and is one of them a rail? What all have left out is for
 * something else. */
static bool is_common(const struct nca_step *step, const struct nca_prefix *net)
{
	const struct nca_node_state *node;
	bool rail = false;

	NCA_FOREACH(node, step->nodes) {
		const struct nca_port_state *p = find(step, node, net);

		if (!p)
			return false;
		rail = rail || nca_port_is_open(p);
	}
	return rail;
}

/* Where no routes are known, nobody has looked whether it is the front end there. */
static bool has_rail(const struct nca_step *step, const struct nca_node_state *node,
		     const struct nca_prefix *net)
{
	const struct nca_port_state *p = find(step, node, net);

	return node->routes->known && p && nca_port_is_open(p);
}

/* Is a front end of the node as fast as its rails, and a rail of at least half of the nodes? The
 * next and the first node are asked first: mostly it is no rail of any. */
static bool is_rail_elsewhere(const struct nca_step *step, const struct nca_node_state *node,
			      const struct nca_port_state *p)
{
	const struct nca_prefix *net = network(step, p);
	const struct nca_node_state *other = step->nodes.v;
	size_t n = 0, next = (size_t)(node - step->nodes.v + 1) % step->nodes.n;

	if (p->rule != NCA_RULE_FRONT_END || !net || !node->rails.n ||
	    p->rate != node->rails.v[0]->rate ||
	    (!has_rail(step, &step->nodes.v[next], net) && !has_rail(step, other, net)))
		return false;
	NCA_FOREACH(other, step->nodes)
		n += has_rail(step, other, net);
	return 2 * n >= step->nodes.n;
}

static bool any_fixed(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (node->fixed_hcas)
			return true;
	return false;
}

bool nca_rails_rejoin(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_port_state *p;
	bool any = false;

	if (any_fixed(step))
		return false;
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (is_rail_elsewhere(step, node, p)) {
				p->rule = NCA_RULE_NONE;
				any = true;
			}
	if (any || !is_parted(step))
		return any;
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (is_preference(p->rule) && network(step, p) &&
			    is_common(step, network(step, p))) {
				p->rule = NCA_RULE_NONE;
				any = true;
			}
	return any;
}
