/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One list of rails for all nodes: equal in number and order, entry i the same rail everywhere.
 * Nodes with unequal lists hang in NCCL (NVIDIA/nccl#2428), so a rail that one node lacks is left
 * out on all, and the node is named.
 */
#include <errno.h>

#include "mesh.h"

#define VERSION_32_DEVICES 21805

/* Mostly they stand in the document as they come by PCI path. */
static void sort_rails(struct nca_node_state *node)
{
	size_t i;

	for (i = 1; i < node->rails.n; i++)
		if (nca_rail_compare_pinned(&node->rails.v[i - 1], &node->rails.v[i]) > 0) {
			qsort(node->rails.v, node->rails.n, sizeof(*node->rails.v),
			      nca_rail_compare_pinned);
			return;
		}
}

static int collect_rails(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes) {
		node->rails.v = nca_pool_alloc(step->pool, node->ports.n * sizeof(*node->rails.v));
		if (!node->rails.v)
			return -ENOMEM;
		node->rails.n = 0;
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_open(p))
				node->rails.v[node->rails.n++] = p;
		sort_rails(node);
	}
	return 0;
}

/* A rail that is not on all nodes: names those that lack it, drops it. */
static void drop_rail(struct nca_step *step, const struct nca_rail *rail,
		      enum nca_rail_key_kind kind)
{
	const char *lacking = step->nodes.v[nca_rail_lacking(rail)].node->name;
	size_t i;

	/* Subnets that are not on all nodes are other fabrics. */
	if (kind != NCA_KEY_SUBNET)
		nca_rail_warn(step, rail, kind);
	for (i = 0; i < step->nodes.n; i++) {
		struct nca_port_state *p = rail->port[i];

		if (p)
			nca_step_judge_port(step, p, NCA_RULE_MISSING_RAIL,
					    nca_step_text(step, "%s port %d: %s has no such rail",
							  p->hca->name, p->port->port, lacking));
	}
}

/* Keeps the rails that all nodes have, in the order of the first node, at the same place of every
 * node's list. */
static void match_keys(struct nca_step *step, const struct nca_rail_table *table)
{
	const struct nca_rail *rail;
	size_t i, place = 0;

	NCA_FOREACH(rail, table->rails) {
		if (rail->n < step->nodes.n) {
			drop_rail(step, rail, table->kind);
			continue;
		}
		for (i = 0; i < step->nodes.n; i++)
			step->nodes.v[i].rails.v[place] = rail->port[i];
		place++;
	}
	for (i = 0; i < step->nodes.n; i++)
		step->nodes.v[i].rails.n = place;
}

/* Drops what is behind the first n rails of every node. */
static void cut(struct nca_step *step, size_t n, enum nca_rule rule, const char *why)
{
	struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		while (node->rails.n > n) {
			struct nca_port_state *p = node->rails.v[--node->rails.n];

			nca_step_judge_port(step, p, rule,
					    nca_step_text(step, "%s port %d: %s", p->hca->name,
							  p->port->port, why));
		}
}

/* Is it known that a port reaches no address in the network of another node's port? */
static bool is_apart(const struct nca_step *step, size_t i, const struct nca_port_state *p,
		     const struct nca_port_state *other)
{
	const struct nca_prefix *from = nca_rail_network(step, p);
	const struct nca_prefix *to = nca_rail_network(step, other);
	const struct nca_gid *gid = p->gid[0] ? p->gid[0] : p->gid[1];

	return from && to && gid && !nca_prefix_same(from, to) &&
	       !nca_routes_any_via(step->nodes.v[i].routes, gid->ndev, &to->ip);
}

/* Are the GIDs of a rail known to be of IPv4 only on one node and of IPv6 only on another? */
static bool is_of_two_families(const struct nca_step *step, size_t rail)
{
	const struct nca_node_state *node;
	bool only[2] = {false, false};

	NCA_FOREACH(node, step->nodes) {
		const struct nca_port_state *p = node->rails.v[rail];

		only[0] = only[0] || (p->gid[0] && !p->gid[1]);
		only[1] = only[1] || (p->gid[1] && !p->gid[0]);
	}
	return only[0] && only[1];
}

/* A queue pair joins GIDs of one family. */
static void check_families(struct nca_step *step)
{
	size_t i, n = step->nodes.v->rails.n;

	for (i = 0; i < n; i++)
		if (!is_of_two_families(step, i))
			return;
	cut(step, 0, NCA_RULE_NO_GID,
	    "its GIDs are of IPv4 on some nodes and of IPv6 on others, which do not connect. Give "
	    "the rail one family");
}

/* Does what the routes say speak against all pairs by place? */
static bool places_are_apart(const struct nca_step *step)
{
	size_t i, k, n = step->nodes.n;

	for (k = 0; k < step->nodes.v->rails.n; k++) {
		bool apart = false;

		for (i = 0; i < n && !apart; i++)
			apart = is_apart(step, i, step->nodes.v[i].rails.v[k],
					 step->nodes.v[(i + 1) % n].rails.v[k]);
		if (!apart)
			return false;
	}
	return true;
}

/* What is wrong with a port of a node that lacks some; "" where none is seen. */
static const char *sick_text(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (p->rule == NCA_RULE_PORT_DOWN && p->layer == node->rails.v[0]->layer)
			return nca_step_text(step, " (%s)", p->text);
	return "";
}

/* Nothing tells which rail is which: as many on every node as the poorest has. */
static void match_places(struct nca_step *step, bool sick)
{
	const struct nca_node_state *node, *poorest = step->nodes.v;

	NCA_FOREACH(node, step->nodes)
		if (node->rails.n < poorest->rails.n)
			poorest = node;
	if (!nca_rails_equal(step))
		nca_step_unsure(step, "rail-missing", poorest->node->name,
				nca_step_text(step,
					      "only %zu usable HCA ports%s, other nodes have more, "
					      "and nothing tells which is missing: the first %zu "
					      "of each node are used. Compare the nodes, or set "
					      "NCCL_IB_HCA on each",
					      poorest->rails.n, sick_text(step, poorest),
					      poorest->rails.n));
	else if (sick && places_are_apart(step))
		cut(step, 0, NCA_RULE_MISSING_RAIL, "no other node has a port in its network");
	else if (sick)
		nca_step_unsure(step, "rail-unmatched", NULL,
				nca_step_text(step,
					      "the nodes lack different rails, and nothing tells "
					      "which of the others are joined: they are paired by "
					      "place. Repair the ports that are left out, or set "
					      "NCCL_IB_HCA on each node"));
	cut(step, poorest->rails.n, NCA_RULE_MISSING_RAIL, "other nodes have fewer");
}

/* Has every node rails, and all of one link layer? */
static bool can_agree(const struct nca_step *step)
{
	const struct nca_node_state *node;
	enum nca_layer layer = NCA_LAYER_UNKNOWN;
	size_t i;

	NCA_FOREACH(node, step->nodes) {
		if (!node->rails.n)
			return false;
		for (i = 0; i < node->rails.n; i++) {
			enum nca_layer other = node->rails.v[i]->layer;

			if (layer && other && layer != other)
				return false;
			layer = layer ? layer : other;
		}
	}
	return true;
}

/* A rail that failed its test may be gone from all nodes alike. */
static bool any_failed(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (p->rule == NCA_RULE_PING_FAILED)
				return true;
	return false;
}

static void check_missing(struct nca_step *step, size_t before)
{
	size_t after = step->nodes.v->rails.n;

	if (step->opt->missing_rail_fail > 0 && (after < before || any_failed(step)))
		nca_step_verdict(step, "refuse");
	/* Without any rail it is `fallback` that decides, unless more than one was asked for. */
	if (!after && step->opt->min_rails <= 1)
		return;
	if (step->opt->min_rails <= 0 || after >= (size_t)step->opt->min_rails)
		return;
	nca_step_warn(step, "too-few-rails", "", NULL,
		      nca_step_text(step, "%zu rails are usable on all nodes, min-rails=%d", after,
				    step->opt->min_rails));
	nca_step_verdict(step, "refuse");
}

/* MAX_IB_DEVS by version (src/transport/net_ib.cc). */
static size_t devices_max(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes) {
		int version = nca_version_nccl(node->node);

		if (version >= 0 && version < VERSION_32_DEVICES)
			return 16;
	}
	return NCA_RAILS_MAX;
}

static void use_mesh(struct nca_step *step, const struct nca_rail_table *table)
{
	if (!nca_mesh_use(step, table))
		cut(step, 0, NCA_RULE_MESH,
		    "direct cables need NCCL 2.30.7 and one for every pair");
	else
		match_places(step, false);
}

int nca_rails_agree(struct nca_step *step)
{
	struct nca_rail_table table = {0};
	const struct nca_node_state *node;
	bool sick = false;
	size_t before;
	int rc = collect_rails(step);

	if (rc)
		return rc;
	NCA_FOREACH(node, step->nodes)
		nca_pins_count(step, node);
	if (can_agree(step) && nca_rails_rejoin(step) && collect_rails(step))
		return -ENOMEM;
	if (can_agree(step) && !step->rdma_refused && !step->foreign) {
		before = nca_rails_most(step);
		if (nca_rail_choose_kind(step, &table, &sick) == NCA_KEY_ORDINAL)
			match_places(step, sick);
		else if (nca_mesh_is(step, &table))
			use_mesh(step, &table);
		else
			match_keys(step, &table);
		check_families(step);
		cut(step, devices_max(step), NCA_RULE_TOO_MANY,
		    "NCCL opens no more devices (16 up to 2.18.3, then 32)");
		check_missing(step, before);
		return step->no_memory ? -ENOMEM : 0;
	}
	if (step->foreign)
		cut(step, 0, NCA_RULE_PLUGIN_FABRIC, "NCCL_NET names a network plug-in");
	else
		cut(step, 0, NCA_RULE_TCP, "the step uses TCP");
	return 0;
}
