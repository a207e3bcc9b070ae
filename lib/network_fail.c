/* SPDX-License-Identifier: Apache-2.0 */
/* No network joins all nodes. */
#include "network.h"

static struct nca_candidate *best_candidate(struct nca_step *step, struct nca_node_state *node)
{
	struct nca_candidate *c, *best = NULL;
	enum nca_rule rule;

	NCA_FOREACH(c, node->candidates) {
		int better;

		if (!nca_candidate_open(c))
			continue;
		better = best ? nca_network_compare(nca_network_order(step), c->value, best->value,
						    &rule)
			      : 1;
		if (better > 0 ||
		    (better == 0 && nca_link_is_before(c->state->link, best->state->link)))
			best = c;
	}
	return best;
}

/* A routable address of the loopback device, which no variable can select; NULL: none. */
static const struct nca_addr *loopback_address(const struct nca_node_state *node)
{
	const struct nca_link_state *state;
	const struct nca_addr *a;
	struct nca_ip ip;

	NCA_FOREACH(state, node->links)
		if (state->rule == NCA_RULE_LOOPBACK)
			NCA_FOREACH(a, state->link->addresses)
				if (!nca_ip_parse(a->addr, &ip) && !nca_ip_is_loopback(&ip) &&
				    !nca_ip_is_link_local(&ip))
					return a;
	return NULL;
}

/* The node's address is on the loopback device, and what else it has leads nowhere: bridges and
 * veths of containers. */
static bool is_stranded(const struct nca_node_state *node)
{
	const struct nca_candidate *c;

	NCA_FOREACH(c, node->candidates)
		if (nca_candidate_open(c) && nca_topo_physical(node->node, c->state->link))
			return false;
	return loopback_address(node) != NULL;
}

/* The first interface that has an address, to say why not even that one; NULL: none has. */
static const struct nca_link_state *nearest(const struct nca_node_state *node)
{
	const struct nca_link_state *state;

	NCA_FOREACH(state, node->links)
		if (state->text && state->link->addresses.n && state->rule != NCA_RULE_LOOPBACK)
			return state;
	return NULL;
}

/* Were the node's addresses read? Every node has lo, and every list of addresses has one: names of
 * interfaces alone are what a list of HCAs gives (ibdev2netdev). */
static bool knows_addresses(const struct nca_node_state *node)
{
	const struct nca_link_state *state;

	NCA_FOREACH(state, node->links)
		if (state->link->addresses.n || state->rule == NCA_RULE_LOOPBACK)
			return true;
	return false;
}

/* A bridge of the container's host gives every host's containers the same addresses. */
static const char *cure(const struct nca_node_state *node, const struct nca_link_state *state)
{
	if (state && state->rule == NCA_RULE_DUPLICATE_ADDRESS && node->node->in_container == 1)
		return "Give the container the host's network (--network=host)";
	return state ? "Give the node an address of a network that joins all"
		     : "`nccl-autoconf show` there says why each is left out";
}

static void doubt_node(struct nca_step *step, const char *name)
{
	nca_step_warn(step, "no-interface", "unknown", name,
		      nca_step_text(step,
				    "no address of %s is known, so NCCL takes an interface by "
				    "itself. `nccl-autoconf snapshot` there tells them; "
				    "NCCL_SOCKET_IFNAME pins one",
				    name));
	step->plan->confidence = "unsure";
}

static void fail_node(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_addr *a = loopback_address(node);
	const struct nca_link_state *state = nearest(node);
	const char *name = node->node->name;

	if (!knows_addresses(node)) {
		doubt_node(step, name);
		return;
	}
	if (a)
		nca_step_warn(step, "address-on-loopback", "", name,
			      nca_step_text(step,
					    "the node's address %s is on lo: NCCL takes the first "
					    "address of a named interface, on lo 127.0.0.1, and no "
					    "other interface has an address that the other nodes "
					    "reach. Put the address on a dummy interface",
					    a->addr));
	else
		nca_step_warn(step, "no-interface", "", name,
			      nca_step_text(step,
					    "no interface of %s has an address that other nodes "
					    "can reach%s%s%s. %s",
					    name, state ? " (" : "", state ? state->text : "",
					    state ? ")" : "", cure(node, state)));
	nca_step_verdict(step, "refuse");
}

/* Could a packet go from a to b, by any route of any table? */
static bool may_reach(const struct nca_node_state *from, const struct nca_node_state *to)
{
	const struct nca_candidate *c;

	NCA_FOREACH(c, to->candidates)
		if (nca_candidate_open(c) && nca_routes_any(from->routes, &c->ip))
			return true;
	return false;
}

/* The first node that the first node of the step can not talk to whatever is chosen; NULL: none is
 * proven. */
static const struct nca_node_state *find_island(const struct nca_step *step)
{
	const struct nca_node_state *first = step->nodes.v, *node;

	NCA_FOREACH(node, step->nodes)
		if (node != first && (!may_reach(first, node) || !may_reach(node, first)))
			return node;
	return NULL;
}

static void take_likeliest(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_candidate *c;

	NCA_FOREACH(node, step->nodes) {
		node->chosen = is_stranded(node) ? NULL : best_candidate(step, node);
		NCA_FOREACH(c, node->candidates)
			nca_step_judge_link(step, c->state, NCA_RULE_UNREACHABLE,
					    nca_step_text(step, "%s: no network joins all nodes",
							  c->state->link->name));
	}
}

void nca_network_fail(struct nca_step *step, const nca_networks *all)
{
	const struct nca_node_state *island = find_island(step);
	struct nca_node_state *node;
	const struct nca_network *net = all->n ? all->v : NULL;
	bool empty = false;

	NCA_FOREACH(node, step->nodes)
		if (!best_candidate(step, node) || is_stranded(node)) {
			fail_node(step, node);
			empty = true;
		}
	if (!empty) {
		nca_step_warn(step, "no-common-network", "", island ? island->node->name : NULL,
			      nca_step_text(step, "no interface joins all nodes (%s: %s). %s",
					    net ? net->seed->state->link->name : "",
					    net ? net->broken : "",
					    island ? "Give them a network, and addresses of one "
						     "family, in common"
						   : "Compare the routes of the nodes; "
						     "NCCL_SOCKET_IFNAME pins an interface that is "
						     "right all the same"));
		if (island)
			nca_step_verdict(step, "refuse");
		else
			step->plan->confidence = "unsure";
	}
	take_likeliest(step);
}
