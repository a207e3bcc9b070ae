/* SPDX-License-Identifier: Apache-2.0 */
/* A network that joins all nodes of a step: one candidate of each. */
#ifndef NCA_NETWORK_H
#define NCA_NETWORK_H

#include "step.h"

#define STANDARD_MTU 1500

/* What was looked up in a route table for a device. Nodes with the same routes share one, so the
 * last answer is mostly the next. */
struct nca_lookup {
	const struct nca_routes *routes;
	const char *dev;
	bool yes;
};

struct nca_network {
	struct nca_candidate *seed;    /* of the first node */
	struct nca_candidate **member; /* one per node */
	int value[NCA_VALUES];	       /* the worst of all nodes, -1 where one is unknown */
	struct nca_ip *ips;	       /* of the members, sorted */
	bool *leads; /* by route of the first node: does it lead out of the seed's device? */
	struct nca_lookup back;	 /* does it lead to the seed? */
	struct nca_lookup cover; /* does it lead to all members? */
	const char *broken;	 /* why it does not join all nodes; NULL: it does */
	bool guess;		 /* broken, because another surely joins them */
	bool left;		 /* by the rules that have been asked */
};

typedef NCA_LIST(struct nca_network) nca_networks;

/* Which of the rules compares networks of this step: nca_rules_control or nca_rules_data. */
const enum nca_rule *nca_network_order(const struct nca_step *step);

/* Fills the values of all candidates that depend on the whole step, except SUBNET, which a network
 * decides. -ENOMEM. */
int nca_network_values(struct nca_step *step);

/* One network per candidate of the first node, those that do not join all nodes too. -ENOMEM. */
int nca_network_build(struct nca_step *step, nca_networks *all);

/* Breaks the networks of which nobody knows that they join the nodes, where another is known to. */
void nca_network_drop_guesses(struct nca_step *step, nca_networks *all);

/*
 * The device over which packets of a candidate must leave, NULL: any. A host address on a dummy
 * device is the node's own, whatever carries the packets: so nodes are addressed that speak BGP.
 */
static inline const char *nca_candidate_device(const struct nca_candidate *c)
{
	bool host = c->net.len == nca_ip_bits(&c->ip) && nca_same(c->state->link->kind, "dummy");

	return host ? NULL : c->state->link->name;
}

/* Sets the one value of a candidate that depends on the network. */
static inline void nca_network_see(const struct nca_network *net, struct nca_candidate *c)
{
	c->value[NCA_RULE_SUBNET - NCA_RULE_FAMILY] = nca_prefix_same(&c->net, &net->seed->net);
}

/* The rule by which a is better (> 0, *rule) or worse (< 0) than b; 0: equal in all. */
int nca_network_compare(const enum nca_rule *order, const int *a, const int *b,
			enum nca_rule *rule);

/* Says so where the network that won (second: the next best, NULL: there is none) is a guess while
 * another may be right, or a guess was dropped that would be faster. */
void nca_network_doubt_guess(struct nca_step *step, const nca_networks *all,
			     const struct nca_network *won, const struct nca_network *second);

/* Decision rows of all candidates, given the network that won and the rule that decided. */
void nca_network_rows(struct nca_step *step, const nca_networks *all, const struct nca_network *won,
		      enum nca_rule rule);

/* No network joins all nodes: refuses where that is proven, else takes the likeliest candidates and
 * says so. */
void nca_network_fail(struct nca_step *step, const nca_networks *all);

/* The kernel's order of two interfaces, by index, then by name. */
bool nca_link_is_before(const struct nca_link *a, const struct nca_link *b);

/* Lets a link-local candidate be chosen, and not any more. */
static inline void nca_candidate_open_local(struct nca_candidate *c)
{
	c->local = false;
	c->state->rule = NCA_RULE_NONE;
}

static inline void nca_candidate_close_local(struct nca_candidate *c)
{
	c->local = true;
	c->state->rule = NCA_RULE_LINK_LOCAL;
}

/* May the candidate still be chosen? */
static inline bool nca_candidate_open(const struct nca_candidate *c)
{
	return c->state->rule == NCA_RULE_NONE && !c->duplicate && !c->local;
}

#endif
