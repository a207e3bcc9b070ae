/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One list of rails for all nodes: equal in number and order, entry i the same rail everywhere.
 * Nodes with unequal lists hang in NCCL (NVIDIA/nccl#2428), so a rail that one node lacks is left
 * out on all, and the node is named.
 */
#include <errno.h>

#include "rail_keys.h"

/* MAX_IB_DEVS (src/transport/net_ib/common.h, 32 since 2.18.5). */
#define RAILS_MAX 32

static bool is_candidate(const struct nca_port_state *p)
{
	return p->rule == NCA_RULE_NONE;
}

static int collect_rails(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_port_state *p, **rail;

	NCA_FOREACH(node, step->nodes) {
		NCA_FOREACH(p, node->ports) {
			rail = is_candidate(p) ? NCA_APPEND(step->pool, node->rails) : NULL;
			if (rail)
				*rail = p;
			else if (is_candidate(p))
				return -ENOMEM;
		}
		if (node->rails.n)
			qsort(node->rails.v, node->rails.n, sizeof(*node->rails.v),
			      nca_rail_compare);
	}
	return 0;
}

static bool equal_counts(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (node->rails.n != step->nodes.v->rails.n)
			return false;
	return true;
}

/* The port of a node that has a key, whatever is decided of it. */
static const struct nca_port_state *find_port(struct nca_step *step,
					      const struct nca_node_state *node, const char *key,
					      enum nca_rail_key kind)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports) {
		const char *other = nca_rail_key(step, node, p, kind);

		if (other && streq(other, key))
			return p;
	}
	return NULL;
}

/* Is a rail that some node lacks there on it too, but of no use? Then keys tell more than places.
 */
static bool has_sick_sibling(struct nca_step *step, const struct nca_rail_holders *h,
			     enum nca_rail_key kind)
{
	size_t i;

	for (i = 0; i < h->n; i = nca_rail_holders_end(h, i)) {
		size_t lacking = nca_rail_holders_lacking(h, i, nca_rail_holders_end(h, i));

		if (lacking < step->nodes.n &&
		    find_port(step, &step->nodes.v[lacking], h->v[i].key, kind))
			return true;
	}
	return false;
}

/* The kind of key by which the rails of the nodes are matched, and all keys of that kind. */
static enum nca_rail_key choose_kind(struct nca_step *step, struct nca_rail_holders *h)
{
	enum nca_rail_key kind;

	for (kind = NCA_KEY_NETWORK; kind < NCA_KEY_ORDINAL; kind++) {
		if (!nca_rail_holders_read(step, kind, h) || !nca_rail_holders_tell(step, h, kind))
			continue;
		if (kind <= NCA_KEY_SUBNET || !equal_counts(step) ||
		    has_sick_sibling(step, h, kind))
			return kind;
	}
	return NCA_KEY_ORDINAL;
}

static void warn_missing(struct nca_step *step, const struct nca_rail_holder *have, size_t lacking,
			 enum nca_rail_key kind)
{
	const struct nca_node_state *node = &step->nodes.v[lacking];
	const struct nca_port_state *p = find_port(step, node, have->key, kind);
	const char *other = step->nodes.v[have->node].node->name;

	if (p && p->rule == NCA_RULE_PORT_DOWN)
		nca_step_warn(step, "rail-down", have->key, node->node->name,
			      nca_step_text(step,
					    "%s port %d is %s (%s): no cable, no peer or switched "
					    "off; left out on all nodes. Repair the link, or leave "
					    "the node out with --exclude=%s",
					    p->hca->name, p->port->port, p->port->state,
					    p->port->phys_state ? p->port->phys_state : "unknown",
					    node->node->name));
	else if (p)
		nca_step_warn(step, "rail-unusable", have->key, node->node->name,
			      nca_step_text(step,
					    "%s; it is usable on %s and left out on all nodes. "
					    "Repair it, or leave the node out with --exclude=%s",
					    p->text, other, node->node->name));
	else
		nca_step_warn(step, "rail-missing", have->key, node->node->name,
			      nca_step_text(step,
					    "no rail %s, which %s has as %s; left out on all "
					    "nodes. Repair it, or leave the node out with "
					    "--exclude=%s",
					    have->key, other, have->port->hca->name,
					    node->node->name));
}

static void drop(struct nca_step *step, struct nca_port_state *p, const char *why)
{
	nca_step_judge_port(
		step, p, NCA_RULE_MISSING_RAIL,
		nca_step_text(step, "%s port %d: %s", p->hca->name, p->port->port, why));
}

/* The rail whose holders stand at [i, end) is not on all nodes: names those that lack it, drops it.
 */
static void drop_rail(struct nca_step *step, const struct nca_rail_holders *h, size_t i, size_t end,
		      enum nca_rail_key kind)
{
	size_t lacking = nca_rail_holders_lacking(h, i, end), node, k = i;

	for (node = 0; kind != NCA_KEY_SUBNET && node < step->nodes.n; node++)
		if (k < end && h->v[k].node == node)
			k++;
		else
			warn_missing(step, &h->v[i], node, kind);
	for (k = i; k < end; k++)
		drop(step, h->v[k].port,
		     nca_step_text(step, "%s has no such rail", step->nodes.v[lacking].node->name));
}

/* Puts the holders of one rail at the same place of every node's list. */
static void place_rail(struct nca_step *step, const struct nca_rail_holders *h,
		       const struct nca_port_state *rail, size_t place)
{
	size_t i = 0, k;

	while (h->v[i].port != rail)
		i++;
	i -= h->v[i].node;
	for (k = 0; k < step->nodes.n; k++)
		step->nodes.v[k].rails.v[place] = h->v[i + k].port;
}

/* Keeps the rails whose key all nodes have, in the order of the first node. */
static void match_keys(struct nca_step *step, const struct nca_rail_holders *h,
		       enum nca_rail_key kind)
{
	struct nca_node_state *first = step->nodes.v, *node;
	size_t i, end, place = 0;

	for (i = 0; i < h->n; i = end) {
		end = nca_rail_holders_end(h, i);
		if (end - i < step->nodes.n)
			drop_rail(step, h, i, end, kind);
	}
	for (i = 0; i < first->rails.n; i++)
		if (is_candidate(first->rails.v[i]))
			place_rail(step, h, first->rails.v[i], place++);
	NCA_FOREACH(node, step->nodes)
		node->rails.n = place;
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

/* Nothing tells which rail is which: as many on every node as the poorest has. */
static void match_places(struct nca_step *step)
{
	const struct nca_node_state *node, *poorest = step->nodes.v;

	NCA_FOREACH(node, step->nodes)
		if (node->rails.n < poorest->rails.n)
			poorest = node;
	if (!equal_counts(step)) {
		nca_step_warn(step, "rail-missing", "count", poorest->node->name,
			      nca_step_text(step,
					    "only %zu usable HCA ports, other nodes have more, and "
					    "nothing tells which is missing: the first %zu of each "
					    "node are used. Compare the nodes",
					    poorest->rails.n, poorest->rails.n));
		step->plan->confidence = "unsure";
	}
	cut(step, poorest->rails.n, NCA_RULE_MISSING_RAIL, "other nodes have fewer");
}

/* Has every node rails, and all of one link layer? */
static bool can_agree(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const char *layer = NULL;
	size_t i;

	NCA_FOREACH(node, step->nodes) {
		if (!node->rails.n)
			return false;
		for (i = 0; i < node->rails.n; i++) {
			const char *other = node->rails.v[i]->port->link_layer;

			if (layer && other && !streq(layer, other))
				return false;
			layer = layer ? layer : other;
		}
	}
	return true;
}

static void check_missing(struct nca_step *step, size_t before)
{
	size_t after = step->nodes.v->rails.n;

	if (after < before && step->opt->missing_rail_fail > 0)
		nca_step_verdict(step, "refuse");
	if (step->opt->min_rails <= 0 || after >= (size_t)step->opt->min_rails)
		return;
	nca_step_warn(step, "too-few-rails", "", NULL,
		      nca_step_text(step, "%zu rails are usable on all nodes, min-rails=%d", after,
				    step->opt->min_rails));
	nca_step_verdict(step, "refuse");
}

int nca_rails_agree(struct nca_step *step)
{
	struct nca_rail_holders h = {0};
	enum nca_rail_key kind;
	size_t before;
	int rc = collect_rails(step);

	if (rc)
		return rc;
	if (can_agree(step) && !step->rdma_refused) {
		before = nca_rails_most(step);
		kind = choose_kind(step, &h);
		if (kind == NCA_KEY_ORDINAL)
			match_places(step);
		else
			match_keys(step, &h, kind);
		cut(step, RAILS_MAX, NCA_RULE_TOO_MANY, "NCCL opens at most 32 devices");
		check_missing(step, before);
		return step->no_memory ? -ENOMEM : 0;
	}
	cut(step, 0, NCA_RULE_TCP, "the step uses TCP");
	return 0;
}
