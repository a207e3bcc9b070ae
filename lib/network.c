/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the step: which of those that join all nodes. */
#include <errno.h>

#include "network.h"

/* No port of a machine with GPUs is slower. */
#define SLOW_MBPS 1000

/* The name of the interface with the lowest address. */
static const char *lowest_name(const struct nca_step *step, const struct nca_network *net)
{
	size_t i = 0;

	while (i + 1 < step->nodes.n && nca_ip_compare(&net->member[i]->ip, &net->ips[0]))
		i++;
	return net->member[i]->state->link->name;
}

/* Equal in all: by name and address, so that it does not matter which node comes first. */
static bool is_before(const struct nca_step *step, const struct nca_network *a,
		      const struct nca_network *b)
{
	int c = nca_name_compare(lowest_name(step, a), lowest_name(step, b));

	return c ? c < 0 : nca_ip_compare(&a->ips[0], &b->ips[0]) < 0;
}

/*
 * Of the networks that are left, those with the best value stay. A value that is not known of all
 * that are left compares none of them: the order would depend on who meets whom. What the rules
 * before have left behind has no part in it.
 */
static void keep_best(nca_networks *all, size_t value)
{
	struct nca_network *net;
	bool known = true;
	int best = -1;

	NCA_FOREACH(net, *all) {
		known = known && (!net->left || net->value[value] >= 0);
		if (net->left && net->value[value] > best)
			best = net->value[value];
	}
	NCA_FOREACH(net, *all)
		if (!known && net->left)
			net->value[value] = -1;
		else
			net->left = net->left && net->value[value] == best;
}

static struct nca_network *best_network(struct nca_step *step, nca_networks *all,
					const struct nca_network *but)
{
	const enum nca_rule *order = nca_network_order(step);
	struct nca_network *net, *best = NULL;

	NCA_FOREACH(net, *all)
		net->left = !net->broken && net != but;
	for (; *order != NCA_RULE_NONE; order++)
		keep_best(all, *order - NCA_RULE_FAMILY);
	NCA_FOREACH(net, *all)
		if (net->left && (!best || is_before(step, net, best)))
			best = net;
	return best;
}

/* Does `rule` stand behind SPEED in the order, so that a known speed could have decided? */
static bool is_behind_speed(const struct nca_step *step, enum nca_rule rule)
{
	const enum nca_rule *order = nca_network_order(step);

	for (; *order != NCA_RULE_SPEED; order++)
		if (*order == rule)
			return false;
	return rule != NCA_RULE_SPEED;
}

/* Does the kernel send to the second network's addresses over the first one's interface all the
 * same? */
static bool is_shared(const struct nca_step *step, const struct nca_network *won,
		      const struct nca_network *second)
{
	const struct nca_node_state *first = step->nodes.v;
	const char *dev;

	if (step->nodes.n < 2)
		return false;
	dev = nca_routes_device(first->routes, &second->member[1]->ip);
	return nca_same(dev, won->seed->state->link->name);
}

static bool is_unknown(const struct nca_network *net, enum nca_rule rule)
{
	return net->value[rule - NCA_RULE_FAMILY] < 0;
}

/* Of the first node's interface; -1 unknown. */
static int speed_of(const struct nca_step *step, const struct nca_network *net)
{
	return nca_topo_speed(step->nodes.v->node, net->seed->state->link);
}

/* Where no MTU is known and neither speed, nobody has looked at the devices, so nothing is missing.
 */
static bool is_looked_at(const struct nca_step *step, const struct nca_network *won,
			 const struct nca_network *second)
{
	return won->seed->state->link->mtu > 0 || speed_of(step, won) > 0 ||
	       speed_of(step, second) > 0;
}

/*
 * Is it known that the second is not the faster: by the speeds, which a third one of unknown speed
 * keeps from being compared, or by the MTUs? What a tunnel takes off a standard frame tells nothing
 * in a container: the other one may be a bridge of its host.
 */
static bool is_speed_known(const struct nca_step *step, const struct nca_network *won,
			   const struct nca_network *second, enum nca_rule rule)
{
	int mine = speed_of(step, won), theirs = speed_of(step, second);

	if (rule == NCA_RULE_MTU)
		return won->value[NCA_RULE_MTU - NCA_RULE_FAMILY] > STANDARD_MTU ||
		       step->nodes.v->node->in_container != 1;
	if (theirs > 0 && theirs <= SLOW_MBPS)
		return true;
	if (is_unknown(won, NCA_RULE_SPEED) && mine > 0 && theirs > 0)
		return mine >= theirs;
	return !is_unknown(won, NCA_RULE_SPEED) || !is_behind_speed(step, rule);
}

/*
 * TCP carries the data, two networks would do, and how fast they are is not known: a guess. A step
 * that is not started needs no guess.
 */
static void doubt(struct nca_step *step, const struct nca_network *won,
		  const struct nca_network *second, enum nca_rule rule)
{
	const char *a = won->seed->state->link->name, *b = second->seed->state->link->name;

	if (!streq(step->plan->net, "Socket") || streq(step->plan->verdict, "refuse") ||
	    second->seed->state == won->seed->state || is_speed_known(step, won, second, rule) ||
	    !is_looked_at(step, won, second) || is_shared(step, won, second))
		return;
	nca_step_unsure(
		step, "speed-unknown", NULL,
		nca_step_text(step,
			      "%s and %s both join all nodes, and which is the faster is not "
			      "known: %s is taken (%s). NCCL_SOCKET_IFNAME==%s, or "
			      "control-interface=%s in the site's file, pins the other",
			      a, b, a, nca_rules[rule].word, b, b));
}

/* What somebody set does not join the nodes: the other interfaces are judged again. False: nobody
 * set one. */
static bool reopen(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_link_state *link;
	bool any = false;

	NCA_FOREACH(node, step->nodes) {
		if (!node->user_ifname && !node->user_address)
			continue;
		any = true;
		node->user_ifname = node->user_address = false;
		nca_step_warn(
			step, "env-unreachable", "NCCL_SOCKET_IFNAME", node->node->name,
			nca_step_text(step,
				      "NCCL_SOCKET_IFNAME=%s (set by %s) leads to no interface "
				      "that joins all nodes; it is replaced. Unset it",
				      nca_step_set(node, "NCCL_SOCKET_IFNAME"),
				      nca_step_setter(node)));
		NCA_FOREACH(link, node->links)
			if (link->rule == NCA_RULE_USER_INTERFACE)
				link->rule = NCA_RULE_NONE;
	}
	return any;
}

static bool is_local(const struct nca_candidate *c)
{
	return c->ip.family == 4 && nca_ip_is_link_local(&c->ip);
}

static int find(struct nca_step *step, nca_networks *all, struct nca_network **won)
{
	int rc = nca_network_values(step);

	rc = rc ? rc : nca_network_build(step, all);
	if (rc)
		return rc;
	*won = best_network(step, all, NULL);
	return 0;
}

/* Link-local addresses, where nothing else joins the nodes. A state that has others too was not
 * rejected for them, and stays as it is. */
static void set_local(struct nca_step *step, bool open)
{
	struct nca_node_state *node;
	struct nca_candidate *c;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(c, node->candidates)
			if (c->duplicate)
				continue;
			else if (open && c->local && c->state->rule == NCA_RULE_LINK_LOCAL)
				nca_candidate_open_local(c);
			else if (!open && c->state->rule == NCA_RULE_NONE && is_local(c))
				nca_candidate_close_local(c);
}

static int find_local(struct nca_step *step, nca_networks *all, struct nca_network **won)
{
	nca_networks local = {0};
	int rc;

	set_local(step, true);
	rc = find(step, &local, won);
	if (*won)
		*all = local;
	else
		set_local(step, false);
	return rc;
}

/* Every wire has a 169.254.0.0/16 of its own: equal prefixes join nothing. */
static void doubt_local(struct nca_step *step, const struct nca_network *won)
{
	if (is_local(won->seed) && !step->nodes.v->user_ifname)
		nca_step_unsure(
			step, "link-local", NULL,
			nca_step_text(
				step,
				"%s has a link-local address: it joins the nodes if they are "
				"on one wire or switch. A connection settles it, as addresses "
				"of a subnet of their own do; NCCL_SOCKET_IFNAME pins another "
				"interface",
				won->seed->state->link->name));
}

int nca_network_agree(struct nca_step *step)
{
	enum nca_rule rule = NCA_RULE_ONLY_NETWORK;
	struct nca_network *won = NULL, *second;
	nca_networks all = {0};
	size_t i;
	int rc = find(step, &all, &won);

	if (!rc && !won && reopen(step)) {
		all = (nca_networks){0};
		rc = find(step, &all, &won);
	}
	if (!rc && !won)
		rc = find_local(step, &all, &won);
	if (rc)
		return rc;
	if (!won) {
		nca_network_fail(step, &all);
		return 0;
	}
	doubt_local(step, won);
	second = best_network(step, &all, won);
	if (second) {
		nca_network_compare(nca_network_order(step), won->value, second->value, &rule);
		doubt(step, won, second, rule);
	}
	nca_network_doubt_guess(step, &all, won, second);
	for (i = 0; i < step->nodes.n; i++)
		step->nodes.v[i].chosen = won->member[i];
	nca_network_rows(step, &all, won, second ? rule : NCA_RULE_ONLY_NETWORK);
	return 0;
}
