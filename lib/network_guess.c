/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that join the nodes only if some router does, where another surely joins them. */
#include "network.h"

static int value(const struct nca_network *net, enum nca_rule rule)
{
	return net->value[rule - NCA_RULE_FAMILY];
}

/*
 * What speaks against a network that is a guess: where routes are known, one of software to which
 * the names of the nodes lead (a VPN between sites); where none are, one subnet that joins all.
 */
static const struct nca_network *find_proof(const nca_networks *all, bool known)
{
	const struct nca_network *net;

	NCA_FOREACH(net, *all) {
		bool overlay = value(net, NCA_RULE_PHYSICAL) == 0;

		if (!net->broken && (known ? overlay && value(net, NCA_RULE_NODE_ADDRESS) == 1
					   : !overlay && value(net, NCA_RULE_SUBNET) == 1))
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
	const struct nca_network *proof = step->nodes.n > 1 ? find_proof(all, routes->known) : NULL;
	struct nca_network *net;

	NCA_FOREACH(net, *all)
		if (proof && !net->broken && is_guess(routes, net))
			net->broken = nca_step_text(step, "%s leads to %s, and %s %s",
						    routes->known ? "only the default route"
								  : "no known route",
						    step->nodes.v[1].node->name,
						    routes->known ? "the names of the nodes lead to"
								  : "one subnet joins all on",
						    proof->seed->state->link->name);
}
