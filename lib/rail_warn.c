/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a rail that is not on all nodes: the majority is taken to be right. */
#include "rail_keys.h"

/* A rail that fewer have is no fault of the others: it is not part of the step's fabric. */
static bool is_fabric(const struct nca_step *step, const struct nca_rail *rail)
{
	return 10 * rail->n >= 9 * step->nodes.n || rail->n + 1 == step->nodes.n;
}

/* p: the port that a node lacks; NULL: none is there. */
static const char *cure(const struct nca_step *step, const struct nca_rail *rail,
			const struct nca_port_state *p)
{
	if (p && p->rule == NCA_RULE_NOT_OPENABLE)
		return "Give the task its device node (container mounts, device cgroup), or leave "
		       "the nodes out with --exclude={nodes}";
	if (p && p->rule == NCA_RULE_FRONT_END)
		return "Correct its default route, or set NCCL_IB_HCA";
	return is_fabric(step, rail) ? "Repair it, or leave the nodes out with --exclude={nodes}"
				     : "Compare the nodes";
}

/* Why a port may have lost what tells its rail. */
static bool is_out_of_order(const struct nca_port_state *p)
{
	return p->rule == NCA_RULE_PORT_DOWN || p->rule == NCA_RULE_NO_GID ||
	       p->rule == NCA_RULE_NOT_OPENABLE;
}

static bool has_address(const struct nca_node_state *node, const struct nca_port_state *p,
			const struct nca_prefix *net)
{
	const struct nca_link *link = nca_node_link(node->node, p->port->netdev);
	const struct nca_addr *a;
	struct nca_ip ip;

	if (!link || !net->ip.family)
		return false;
	NCA_FOREACH(a, link->addresses)
		if (!nca_ip_parse(a->addr, &ip) && nca_prefix_has(net, &ip))
			return true;
	return false;
}

/*
 * The port that would be the rail's. One that is out of order may have no key any more: then its
 * netdev's address tells, or, without one, that it has the name of the others' port.
 */
static const struct nca_port_state *find_port(const struct nca_step *step,
					      const struct nca_node_state *node,
					      const struct nca_rail *rail, size_t has,
					      enum nca_rail_key_kind kind)
{
	const struct nca_port_state *p = nca_rail_find(step, node, &rail->key, kind);
	const struct nca_port_state *other = rail->port[has], *named = NULL;

	if (p)
		return p;
	NCA_FOREACH(p, node->ports) {
		if (!is_out_of_order(p))
			continue;
		if (has_address(node, p, &rail->key.net))
			return p;
		if (streq(p->hca->name, other->hca->name) && p->port->port == other->port->port)
			named = p;
	}
	return named;
}

/* Left out for what it is for, which is no fault? */
static bool has_role(const struct nca_port_state *p)
{
	return p->rule == NCA_RULE_FRONT_END || p->rule == NCA_RULE_LOCALITY;
}

static void warn_lacking(struct nca_step *step, const struct nca_rail *rail, size_t i, size_t has,
			 enum nca_rail_key_kind kind)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	const struct nca_port_state *p = find_port(step, node, rail, has, kind);
	const char *key = nca_rail_key_text(step, &rail->key), *name = node->node->name;
	const char *other = step->nodes.v[has].node->name, *advice = cure(step, rail, p);

	/* Who asked for the test says what failed. */
	if (!key || (p && (p->rule == NCA_RULE_PING_FAILED || has_role(p))))
		return;
	if (p && p->rule == NCA_RULE_PORT_DOWN)
		nca_step_warn(step, "rail-down", key, name,
			      nca_step_text(step,
					    "%s port %d is %s (%s): %s; left out on all nodes. %s",
					    p->hca->name, p->port->port,
					    p->port->state ? p->port->state : "DOWN",
					    p->port->phys_state ? p->port->phys_state : "unknown",
					    nca_port_is_unmanaged(p)
						    ? "no subnet manager has set it up"
						    : "no cable, no peer or switched off",
					    advice));
	else if (p)
		nca_step_warn(step, "rail-unusable", key, name,
			      nca_step_text(step,
					    "%s; it is usable on %s and left out on all nodes. %s",
					    p->text, other, advice));
	else
		nca_step_warn(step, "rail-missing", key, name,
			      nca_step_text(step,
					    "no rail %s, which %s has as %s; left out on all "
					    "nodes. %s",
					    key, other, rail->port[has]->hca->name, advice));
}

/* Have all nodes that do without it a port that would be it, and leave that out for its role? Then
 * the others do not know the role, and that is all. */
static bool is_known_elsewhere(const struct nca_step *step, const struct nca_rail *rail,
			       enum nca_rail_key_kind kind)
{
	size_t i;

	for (i = 0; i < step->nodes.n; i++) {
		const struct nca_port_state *p =
			nca_rail_find(step, &step->nodes.v[i], &rail->key, kind);

		if (!rail->port[i] && (!p || !has_role(p)))
			return false;
	}
	return true;
}

/* Most nodes do without: those that have it are named. */
static void warn_extra(struct nca_step *step, const struct nca_rail *rail)
{
	const char *key = nca_rail_key_text(step, &rail->key);
	size_t i;

	for (i = 0; key && i < step->nodes.n; i++)
		if (rail->port[i])
			nca_step_warn(step, "rail-extra", key, step->nodes.v[i].node->name,
				      nca_step_text(step,
						    "%s port %d (rail %s) is usable there, but not "
						    "on most nodes; left out. Compare the nodes",
						    rail->port[i]->hca->name,
						    rail->port[i]->port->port, key));
}

/* Did a test take the rail from a node? Then nobody lacks it by nature. */
static bool is_dead(const struct nca_step *step, const struct nca_rail *rail,
		    enum nca_rail_key_kind kind)
{
	size_t i;

	for (i = 0; i < step->nodes.n; i++) {
		const struct nca_port_state *p =
			rail->port[i] ? NULL
				      : nca_rail_find(step, &step->nodes.v[i], &rail->key, kind);

		if (p && p->rule == NCA_RULE_PING_FAILED)
			return true;
	}
	return false;
}

void nca_rail_warn(struct nca_step *step, const struct nca_rail *rail, enum nca_rail_key_kind kind)
{
	size_t i, has = 0;

	if (step->nodes.n > 2 && 2 * rail->n <= step->nodes.n && !is_dead(step, rail, kind)) {
		if (!is_known_elsewhere(step, rail, kind))
			warn_extra(step, rail);
		return;
	}
	while (!rail->port[has])
		has++;
	for (i = 0; i < step->nodes.n; i++)
		if (!rail->port[i])
			warn_lacking(step, rail, i, has, kind);
}
