/* SPDX-License-Identifier: Apache-2.0 */
/* Why each interface is or is not the one of the step. */
#include "network.h"

/* Room for "bond0 10.0.0.1/24: ". */
#define OWN_MAX (64 + NCA_ADDR_TEXT + 8)

/* The interface and the address that a row is about, in buf. */
static const char *own(const struct nca_candidate *c, char *buf)
{
	char text[NCA_ADDR_TEXT], len[NCA_INT_TEXT];
	const char *parts[] = {c->state->link->name,	      " ", nca_ip_text(&c->ip, text), "/",
			       nca_step_int(c->net.len, len), ": "};
	size_t i, n = 0;

	buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t more = strlen(parts[i]);

		if (n + more >= OWN_MAX)
			break;
		memcpy(buf + n, parts[i], more + 1);
		n += more;
	}
	return buf;
}

static void judge_candidate(struct nca_step *step, const struct nca_node_state *node,
			    struct nca_candidate *c, const struct nca_network *won)
{
	const struct nca_node_state *first = step->nodes.v;
	const char *device = won->seed->state->link->name;
	char text[NCA_ADDR_TEXT], buf[OWN_MAX];
	bool same = c->ip.family == won->seed->ip.family;
	enum nca_rule rule = NCA_RULE_UNREACHABLE;
	char *why;

	if (same && !nca_routes_via(&node->routes, nca_candidate_device(c), &won->seed->ip)) {
		why = nca_step_join(step, own(c, buf), "the route to ", first->node->name, "'s ",
				    nca_ip_text(&won->seed->ip, text), " does not lead over it");
	} else if (same &&
		   !nca_routes_via(&first->routes, nca_candidate_device(won->seed), &c->ip)) {
		why = nca_step_join(step, own(c, buf), first->node->name,
				    " does not reach it over ", device);
	} else {
		nca_network_see(won, c);
		nca_network_compare(nca_network_order(step), node->chosen->value, c->value, &rule);
		why = nca_step_join(step, own(c, buf), node->chosen->state->link->name,
				    " is preferred (", nca_rules[rule].word, ")");
	}
	nca_step_judge_link(step, c->state, rule, why);
}

/* A network that joins all nodes too. */
static void judge_loser(struct nca_step *step, const struct nca_network *net,
			const struct nca_network *won, size_t i)
{
	struct nca_candidate *c = net->member[i];
	char buf[OWN_MAX];
	enum nca_rule rule;

	if (c->state->rule != NCA_RULE_NONE)
		return;
	nca_network_compare(nca_network_order(step), won->value, net->value, &rule);
	nca_step_judge_link(step, c->state, rule,
			    nca_step_join(step, own(c, buf), "joins all nodes too; ",
					  won->member[i]->state->link->name, " is preferred (",
					  nca_rules[rule].word, ")"));
}

static void judge_networks(struct nca_step *step, const nca_networks *all,
			   const struct nca_network *won, size_t i)
{
	const struct nca_network *net;
	char buf[OWN_MAX];

	NCA_FOREACH(net, *all)
		if (!net->broken)
			judge_loser(step, net, won, i);
		else if (i == 0 && net->seed->state != won->seed->state)
			nca_step_judge_link(step, net->seed->state, NCA_RULE_UNREACHABLE,
					    nca_step_join(step, own(net->seed, buf), net->broken));
}

void nca_network_rows(struct nca_step *step, const nca_networks *all, const struct nca_network *won,
		      enum nca_rule rule)
{
	struct nca_candidate *c;
	char buf[OWN_MAX];
	size_t i;

	for (i = 0; i < step->nodes.n; i++) {
		struct nca_node_state *node = &step->nodes.v[i];

		nca_step_judge_link(
			step, node->chosen->state, rule,
			nca_step_join(step, own(node->chosen, buf),
				      "reaches all nodes; decided by: ", nca_rules[rule].word));
		judge_networks(step, all, won, i);
		NCA_FOREACH(c, node->candidates)
			if (c->state->rule == NCA_RULE_NONE)
				judge_candidate(step, node, c, won);
	}
}
