/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that join the nodes only if some router does, where another surely joins them. */
#include "network.h"

static int value(const struct nca_network *net, enum nca_rule rule)
{
	return net->value[rule - NCA_RULE_FAMILY];
}

/*
 * What speaks against a network that is a guess: one of software to which the names of the nodes
 * lead (a VPN between sites); where no routes are known, one subnet that joins all. Whether one
 * that a plug-in owns carries IP, nobody knows.
 */
static const struct nca_network *find_proof(const struct nca_step *step, const nca_networks *all,
					    bool known)
{
	const struct nca_network *net;

	NCA_FOREACH(net, *all) {
		bool overlay = value(net, NCA_RULE_PHYSICAL) == 0;
		bool named = value(net, NCA_RULE_NODE_ADDRESS) == 1;

		if (net->broken || (step->foreign && value(net, NCA_RULE_NOT_RAIL) == 0))
			continue;
		if (known ? overlay && named
			  : value(net, NCA_RULE_SUBNET) == 1 && (!overlay || named))
			return net;
	}
	return NULL;
}

/* Is nothing known of the way but that some router might know it, and do the names not lead there?
 */
static bool is_guess(const struct nca_routes *routes, const struct nca_network *net)
{
	return value(net, NCA_RULE_NODE_ADDRESS) == 0 &&
	       (routes->known ? nca_routes_longest(routes, &net->member[1]->ip) == 0
			      : value(net, NCA_RULE_SUBNET) == 0);
}

void nca_network_drop_guesses(struct nca_step *step, nca_networks *all)
{
	const struct nca_routes *routes = step->nodes.v->routes;
	const struct nca_network *proof =
		step->nodes.n > 1 ? find_proof(step, all, routes->known) : NULL;
	struct nca_network *net;

	NCA_FOREACH(net, *all)
		if (proof && !net->broken && is_guess(routes, net)) {
			net->guess = true;
			net->broken = nca_step_text(step, "%s leads to %s, and %s %s",
						    routes->known ? "only the default route"
								  : "no known route",
						    step->nodes.v[1].node->name,
						    routes->known ? "the names of the nodes lead to"
								  : "one subnet joins all on",
						    proof->seed->state->link->name);
		}
}

/*
 * May the other one be the right one? Where no routes are known, if it is no network of software;
 * else one of software that is in one subnet, not a bridge of the node's own, where no node's name
 * leads to either.
 */
static bool is_rival(const struct nca_step *step, const struct nca_network *net,
		     const struct nca_network *other)
{
	bool overlay = value(other, NCA_RULE_PHYSICAL) == 0;

	if (!step->nodes.v->routes->known)
		return !overlay;
	return overlay && value(other, NCA_RULE_KIND) > 0 && value(other, NCA_RULE_SUBNET) == 1 &&
	       value(net, NCA_RULE_SUBNET) == 0 && !step->nodes.v->node->peers.n;
}

/* A guess that was dropped, and over which the data would go faster; NULL: none. */
static const struct nca_network *find_faster(const struct nca_step *step, const nca_networks *all,
					     const struct nca_network *won)
{
	const struct nca_network *net;

	if (!streq(step->plan->net, "Socket") || step->nodes.v->user_ifname)
		return NULL;
	NCA_FOREACH(net, *all)
		if (net->guess &&
		    nca_topo_speed(step->nodes.v->node, net->seed->state->link) >
			    nca_topo_speed(step->nodes.v->node, won->seed->state->link))
			return net;
	return NULL;
}

void nca_network_doubt_guess(struct nca_step *step, const nca_networks *all,
			     const struct nca_network *won, const struct nca_network *second)
{
	const struct nca_routes *routes = step->nodes.v->routes;
	const struct nca_network *faster = find_faster(step, all, won);
	const char *a = won->seed->state->link->name, *b;

	if (step->nodes.n < 2)
		return;
	if (faster) {
		b = faster->seed->state->link->name;
		nca_step_unsure(
			step, "route-unknown", NULL,
			nca_step_text(step,
				      "%s is faster than %s, but no route is known that joins the "
				      "nodes over it: %s is taken. The routes settle it, "
				      "NCCL_SOCKET_IFNAME==%s, or control-interface=%s in the "
				      "site's file, pins the other",
				      b, a, a, b, b));
	} else if (second && second->seed->state != won->seed->state && is_guess(routes, won) &&
		   is_rival(step, won, second)) {
		b = second->seed->state->link->name;
		nca_step_unsure(
			step, "route-unknown", NULL,
			nca_step_text(step,
				      "whether %s joins the nodes is not known, nor whether %s "
				      "does: %s is taken. The routes settle it, "
				      "NCCL_SOCKET_IFNAME==%s, or control-interface=%s in the "
				      "site's file, pins the other",
				      a, b, a, b, b));
	}
}
