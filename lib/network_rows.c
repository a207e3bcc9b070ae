/* SPDX-License-Identifier: Apache-2.0 */
/* Why each interface is or is not the one of the step. */
#include "network.h"

struct texts {
	char ip[NCA_ADDR_TEXT];
	char len[NCA_INT_TEXT];
};

/* The interface and the address that a row is about, as parts of nca_step_join():
 * "bond0 10.0.0.1/24: ". */
#define OWN(c, buf)                                                                                \
	(c)->state->link->name, " ", nca_ip_text(&(c)->ip, (buf)->ip), "/",                        \
		nca_step_int((c)->net.len, (buf)->len), ": "

static void judge_candidate(struct nca_step *step, const struct nca_node_state *node,
			    struct nca_candidate *c, const struct nca_network *won)
{
	const struct nca_node_state *first = step->nodes.v;
	const char *device = won->seed->state->link->name;
	struct texts buf;
	char text[NCA_ADDR_TEXT];
	bool same = c->ip.family == won->seed->ip.family;
	enum nca_rule rule = NCA_RULE_UNREACHABLE;
	char *why;

	if (same && !nca_routes_via(node->routes, nca_candidate_device(c), &won->seed->ip)) {
		why = nca_step_join(step, OWN(c, &buf), "the route to ", first->node->name, "'s ",
				    nca_ip_text(&won->seed->ip, text), " does not lead over it");
	} else if (same &&
		   !nca_routes_via(first->routes, nca_candidate_device(won->seed), &c->ip)) {
		why = nca_step_join(step, OWN(c, &buf), first->node->name,
				    " does not reach it over ", device);
	} else {
		nca_network_see(won, c);
		nca_network_compare(nca_network_order(step), node->chosen->value, c->value, &rule);
		why = nca_step_join(step, OWN(c, &buf), node->chosen->state->link->name,
				    " is preferred (", nca_rules[rule].word, ")");
	}
	nca_step_judge_link(step, c->state, rule, why);
}

/* A network that joins all nodes too. */
static void judge_loser(struct nca_step *step, const struct nca_network *net,
			const struct nca_network *won, size_t i)
{
	struct nca_candidate *c = net->member[i];
	struct texts buf;
	enum nca_rule rule;

	if (c->state->rule != NCA_RULE_NONE)
		return;
	nca_network_compare(nca_network_order(step), won->value, net->value, &rule);
	nca_step_judge_link(step, c->state, rule,
			    nca_step_join(step, OWN(c, &buf), "joins all nodes too; ",
					  won->member[i]->state->link->name, " is preferred (",
					  nca_rules[rule].word, ")"));
}

static void judge_networks(struct nca_step *step, const nca_networks *all,
			   const struct nca_network *won, size_t i)
{
	const struct nca_network *net;
	struct texts buf;

	NCA_FOREACH(net, *all)
		if (!net->broken)
			judge_loser(step, net, won, i);
		else if (i == 0 && net->seed->state != won->seed->state)
			nca_step_judge_link(step, net->seed->state, NCA_RULE_UNREACHABLE,
					    nca_step_join(step, OWN(net->seed, &buf), net->broken));
}

void nca_network_rows(struct nca_step *step, const nca_networks *all, const struct nca_network *won,
		      enum nca_rule rule)
{
	struct nca_candidate *c;
	struct texts buf;
	size_t i;

	for (i = 0; i < step->nodes.n; i++) {
		struct nca_node_state *node = &step->nodes.v[i];

		nca_step_judge_link(
			step, node->chosen->state, rule,
			nca_step_join(step, OWN(node->chosen, &buf),
				      "reaches all nodes; decided by: ", nca_rules[rule].word));
		judge_networks(step, all, won, i);
		NCA_FOREACH(c, node->candidates)
			if (c->state->rule == NCA_RULE_NONE)
				judge_candidate(step, node, c, won);
	}
}
