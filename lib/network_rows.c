/* SPDX-License-Identifier: Apache-2.0 */
/* Why each interface is or is not the one of the step. */
#include "network.h"

static char *candidate_text(struct nca_step *step, const struct nca_candidate *c, const char *why)
{
	char text[NCA_ADDR_TEXT];

	return nca_step_text(step, "%s %s/%d: %s", c->state->link->name, nca_ip_text(&c->ip, text),
			     c->net.len, why);
}

static void judge_candidate(struct nca_step *step, const struct nca_node_state *node,
			    struct nca_candidate *c, const struct nca_network *won)
{
	const struct nca_node_state *first = step->nodes.v;
	enum nca_rule rule;
	char text[NCA_ADDR_TEXT];

	nca_ip_text(&won->seed->ip, text);
	if (c->ip.family == won->seed->ip.family &&
	    !nca_routes_via(&node->routes, c->state->link->name, &won->seed->ip))
		nca_step_judge_link(
			step, c->state, NCA_RULE_UNREACHABLE,
			candidate_text(step, c,
				       nca_step_text(step,
						     "the route to %s's %s does not lead over it",
						     first->node->name, text)));
	else if (c->ip.family == won->seed->ip.family &&
		 !nca_routes_via(&first->routes, won->seed->state->link->name, &c->ip))
		nca_step_judge_link(
			step, c->state, NCA_RULE_UNREACHABLE,
			candidate_text(step, c,
				       nca_step_text(step, "%s does not reach it over %s",
						     first->node->name,
						     won->seed->state->link->name)));
	nca_network_compare(nca_network_order(step), node->chosen->value, c->value, &rule);
	nca_step_judge_link(step, c->state, rule,
			    candidate_text(step, c,
					   nca_step_text(step, "%s is preferred (%s)",
							 node->chosen->state->link->name,
							 nca_rules[rule].word)));
}

/* A network that joins all nodes too, on all of them. */
static void judge_loser(struct nca_step *step, const struct nca_network *net,
			const struct nca_network *won)
{
	enum nca_rule rule;
	size_t i;

	nca_network_compare(nca_network_order(step), won->value, net->value, &rule);
	for (i = 0; i < step->nodes.n; i++) {
		struct nca_candidate *c = net->member[i];
		const char *better = won->member[i]->state->link->name;

		if (c->state->rule == NCA_RULE_NONE)
			nca_step_judge_link(
				step, c->state, rule,
				candidate_text(step, c,
					       nca_step_text(step,
							     "joins all nodes too; %s is preferred "
							     "(%s)",
							     better, nca_rules[rule].word)));
	}
}

static void judge_networks(struct nca_step *step, const nca_networks *all,
			   const struct nca_network *won)
{
	const struct nca_network *net;

	NCA_FOREACH(net, *all)
		if (!net->broken)
			judge_loser(step, net, won);
		else if (net->seed->state != won->seed->state)
			nca_step_judge_link(step, net->seed->state, NCA_RULE_UNREACHABLE,
					    candidate_text(step, net->seed, net->broken));
}

void nca_network_rows(struct nca_step *step, const nca_networks *all, const struct nca_network *won,
		      enum nca_rule rule)
{
	struct nca_node_state *node;
	struct nca_candidate *c;

	NCA_FOREACH(node, step->nodes)
		nca_step_judge_link(
			step, node->chosen->state, rule,
			candidate_text(step, node->chosen,
				       nca_step_text(step, "reaches all nodes; decided by: %s",
						     nca_rules[rule].word)));
	judge_networks(step, all, won);
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(c, node->candidates)
			if (c->state->rule == NCA_RULE_NONE)
				judge_candidate(step, node, c, won);
}
