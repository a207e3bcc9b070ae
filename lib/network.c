/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of the step: on every node the interface over which it reaches all others and is
 * reached by them.
 *
 * Each candidate of the first node is the seed of one network; every other node joins it with its
 * best candidate that is reached from the seed and reaches it; then all pairs are checked at once,
 * by walking the route table over the sorted addresses. So the cost grows with nodes, not with
 * pairs.
 */
#include <errno.h>

#include "network.h"

/* A value that is not known of all networks compares none of them: the order would depend on who
 * meets whom. */
static void forget_unknown(nca_networks *all)
{
	struct nca_network *net, *other;
	size_t i;

	for (i = 0; i < NCA_VALUES; i++)
		NCA_FOREACH(net, *all)
			if (!net->broken && net->value[i] < 0)
				NCA_FOREACH(other, *all)
					other->value[i] = -1;
}

static const struct nca_ip *unreached_peer(const struct nca_node_state *node,
					   const struct nca_candidate *c, struct nca_ip *buf)
{
	const struct nca_peer *peer;
	size_t i;

	NCA_FOREACH(peer, node->node->peers) {
		bool known = false, reached = false;

		for (i = 0; i < peer->addresses.n; i++) {
			if (nca_ip_parse(peer->addresses.v[i], buf))
				continue;
			known = true;
			reached = reached ||
				  (buf->family == c->ip.family &&
				   nca_routes_via(&node->routes, c->state->link->name, buf));
		}
		if (known && !reached)
			return buf;
	}
	return NULL;
}

/* The step has nodes that the job does not hold: their names' addresses stand for them. */
static const char *check_peers(struct nca_step *step, const struct nca_node_state *node,
			       const struct nca_candidate *c)
{
	char text[NCA_ADDR_TEXT];
	struct nca_ip ip = {0};

	if ((size_t)step->job->nnodes <= step->nodes.n || !unreached_peer(node, c, &ip))
		return NULL;
	return nca_step_text(step, "the route to another node's %s does not lead over it",
			     nca_ip_text(&ip, text));
}

static bool joins(const struct nca_step *step, const struct nca_candidate *seed,
		  const struct nca_node_state *node, const struct nca_candidate *c)
{
	return nca_candidate_open(c) && c->ip.family == seed->ip.family &&
	       nca_routes_via(&step->nodes.v->routes, seed->state->link->name, &c->ip) &&
	       nca_routes_via(&node->routes, c->state->link->name, &seed->ip);
}

static struct nca_candidate *best_member(struct nca_step *step, const struct nca_network *net,
					 struct nca_node_state *node)
{
	const enum nca_rule *order = nca_network_order(step);
	struct nca_candidate *c, *best = NULL;
	enum nca_rule rule;

	NCA_FOREACH(c, node->candidates) {
		int better;

		if (!joins(step, net->seed, node, c))
			continue;
		c->value[NCA_RULE_SUBNET - NCA_RULE_FAMILY] =
			nca_prefix_same(&c->net, &net->seed->net);
		better = best ? nca_network_compare(order, c->value, best->value, &rule) : 1;
		if (better > 0 ||
		    (better == 0 && nca_link_is_before(c->state->link, best->state->link)))
			best = c;
	}
	return best;
}

static void add_member(struct nca_step *step, struct nca_network *net, size_t i,
		       struct nca_candidate *c)
{
	size_t k;

	net->member[i] = c;
	net->broken = check_peers(step, &step->nodes.v[i], c);
	for (k = 0; k < NCA_VALUES; k++)
		if (i == 0 || c->value[k] < net->value[k])
			net->value[k] = c->value[k];
}

static void find_members(struct nca_step *step, struct nca_network *net)
{
	char text[NCA_ADDR_TEXT];
	size_t i;

	net->seed->value[NCA_RULE_SUBNET - NCA_RULE_FAMILY] = 1;
	add_member(step, net, 0, net->seed);
	for (i = 1; !net->broken && i < step->nodes.n; i++) {
		struct nca_candidate *c = best_member(step, net, &step->nodes.v[i]);

		if (c)
			add_member(step, net, i, c);
		else
			net->broken = nca_step_text(
				step, "no address of %s is reached over it and leads back to %s",
				step->nodes.v[i].node->name, nca_ip_text(&net->seed->ip, text));
	}
}

static int compare_ips(const void *a, const void *b)
{
	return nca_ip_compare(a, b);
}

/* The first address of the network that node i does not reach; its own is no peer. */
static const struct nca_ip *first_unreached(struct nca_step *step, const struct nca_network *net,
					    size_t i, const struct nca_ip *ips)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	const char *dev = net->member[i]->state->link->name;
	const struct nca_ip *own =
		bsearch(&net->member[i]->ip, ips, step->nodes.n, sizeof(*ips), compare_ips);
	size_t below = (size_t)(own - ips);
	const struct nca_ip *ip = nca_routes_unreached(&node->routes, dev, ips, below);

	return ip ? ip
		  : nca_routes_unreached(&node->routes, dev, own + 1, step->nodes.n - below - 1);
}

static int check_pairs(struct nca_step *step, struct nca_network *net)
{
	struct nca_ip *ips = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*ips));
	char text[NCA_ADDR_TEXT];
	size_t i;

	if (!ips)
		return -ENOMEM;
	for (i = 0; i < step->nodes.n; i++)
		ips[i] = net->member[i]->ip;
	qsort(ips, step->nodes.n, sizeof(*ips), compare_ips);
	for (i = 0; !net->broken && i < step->nodes.n; i++) {
		const struct nca_ip *ip = first_unreached(step, net, i, ips);

		if (ip)
			net->broken =
				nca_step_text(step, "%s reaches %s over another interface",
					      step->nodes.v[i].node->name, nca_ip_text(ip, text));
	}
	return 0;
}

static int build(struct nca_step *step, nca_networks *all)
{
	struct nca_candidate *seed;
	struct nca_network *net;
	int rc = 0;

	NCA_FOREACH(seed, step->nodes.v->candidates) {
		if (rc || !nca_candidate_open(seed))
			continue;
		net = NCA_APPEND(step->pool, *all);
		if (!net)
			return -ENOMEM;
		net->seed = seed;
		net->member = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*net->member));
		if (!net->member)
			return -ENOMEM;
		find_members(step, net);
		rc = net->broken ? 0 : check_pairs(step, net);
	}
	return rc;
}

static struct nca_network *best_network(struct nca_step *step, const nca_networks *all,
					const struct nca_network *but, enum nca_rule *rule)
{
	const enum nca_rule *order = nca_network_order(step);
	struct nca_network *net, *best = NULL;

	NCA_FOREACH(net, *all) {
		int c;

		if (net->broken || net == but)
			continue;
		c = best ? nca_network_compare(order, net->value, best->value, rule) : 1;
		if (c > 0 ||
		    (c == 0 && nca_link_is_before(net->seed->state->link, best->seed->state->link)))
			best = net;
	}
	return best;
}

/* What somebody set does not join the nodes: the other interfaces are judged again. False: nobody
 * set one. */
static bool reopen(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_link_state *link;
	bool any = false;

	NCA_FOREACH(node, step->nodes) {
		if (!node->user_ifname)
			continue;
		any = true;
		node->user_ifname = false;
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

static int find(struct nca_step *step, nca_networks *all, struct nca_network **won)
{
	enum nca_rule rule;
	int rc = nca_network_values(step);

	rc = rc ? rc : build(step, all);
	if (rc)
		return rc;
	forget_unknown(all);
	*won = best_network(step, all, NULL, &rule);
	return 0;
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
	if (rc)
		return rc;
	if (!won) {
		nca_network_fail(step, &all);
		return 0;
	}
	second = best_network(step, &all, won, &rule);
	if (second)
		nca_network_compare(nca_network_order(step), won->value, second->value, &rule);
	for (i = 0; i < step->nodes.n; i++)
		step->nodes.v[i].chosen = won->member[i];
	nca_network_rows(step, &all, won, second ? rule : NCA_RULE_ONLY_NETWORK);
	return 0;
}
