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

static void add_member(struct nca_step *step, struct nca_network *net, size_t i,
		       struct nca_candidate *c)
{
	size_t k;

	net->member[i] = c;
	nca_network_see(net, c);
	net->broken = check_peers(step, &step->nodes.v[i], c);
	for (k = 0; k < NCA_VALUES; k++)
		if (i == 0 || c->value[k] < net->value[k])
			net->value[k] = c->value[k];
}

/* c, which the seed reaches, becomes the network's member of its node if it leads back and is the
 * best. */
static void offer(struct nca_step *step, struct nca_network *net, size_t i, struct nca_candidate *c)
{
	struct nca_candidate *best = net->member[i];
	enum nca_rule rule;
	int better = 1;

	if (net->broken || c->ip.family != net->seed->ip.family ||
	    !nca_routes_via(&step->nodes.v[i].routes, c->state->link->name, &net->seed->ip))
		return;
	nca_network_see(net, c);
	if (best) {
		nca_network_see(net, best);
		better = nca_network_compare(nca_network_order(step), c->value, best->value, &rule);
	}
	if (better > 0 || (better == 0 && nca_link_is_before(c->state->link, best->state->link)))
		net->member[i] = c;
}

/* Offers c to the networks whose seed reaches it: one look-up in the first node's routes for all
 * of them. */
static void offer_all(struct nca_step *step, nca_networks *all, size_t i, struct nca_candidate *c)
{
	const struct nca_routes *routes = &step->nodes.v->routes;
	const struct nca_route_entry *e = NULL;
	int len = nca_routes_longest(routes, &c->ip);
	struct nca_network *net;

	if (len < 0 && !routes->known)
		NCA_FOREACH(net, *all)
			offer(step, net, i, c);
	while ((e = nca_routes_next(routes, &c->ip, len, e)))
		NCA_FOREACH(net, *all)
			if (streq(net->seed->state->link->name, e->dev))
				offer(step, net, i, c);
}

static void find_members(struct nca_step *step, nca_networks *all, size_t i)
{
	struct nca_node_state *node = &step->nodes.v[i];
	struct nca_candidate *c;
	struct nca_network *net;
	char text[NCA_ADDR_TEXT];

	NCA_FOREACH(c, node->candidates)
		if (nca_candidate_open(c))
			offer_all(step, all, i, c);
	NCA_FOREACH(net, *all)
		if (net->member[i] && !net->broken)
			add_member(step, net, i, net->member[i]);
		else if (!net->broken)
			net->broken = nca_step_text(
				step, "no address of %s is reached over it and leads back to %s",
				node->node->name, nca_ip_text(&net->seed->ip, text));
}

static int compare_ips(const void *a, const void *b)
{
	return nca_ip_compare(a, b);
}

/* The first address of the network that node i does not reach; its own is no peer. */
static const struct nca_ip *first_unreached(struct nca_step *step, const struct nca_network *net,
					    size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	const char *dev = net->member[i]->state->link->name;
	const struct nca_ip *ip, *own = bsearch(&net->member[i]->ip, net->ips, step->nodes.n,
						sizeof(*net->ips), compare_ips);
	size_t below = (size_t)(own - net->ips);

	ip = nca_routes_unreached(&node->routes, dev, net->ips, below);
	return ip ? ip
		  : nca_routes_unreached(&node->routes, dev, own + 1, step->nodes.n - below - 1);
}

static int sort_ips(struct nca_step *step, struct nca_network *net)
{
	bool sorted = true;
	size_t i;

	net->ips = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*net->ips));
	if (!net->ips)
		return -ENOMEM;
	for (i = 0; i < step->nodes.n; i++) {
		net->ips[i] = net->member[i]->ip;
		sorted = sorted && (!i || compare_ips(&net->ips[i - 1], &net->ips[i]) <= 0);
	}
	if (!sorted)
		qsort(net->ips, step->nodes.n, sizeof(*net->ips), compare_ips);
	return 0;
}

static int check_pairs(struct nca_step *step, nca_networks *all)
{
	struct nca_network *net;
	char text[NCA_ADDR_TEXT];
	size_t i;
	int rc = 0;

	NCA_FOREACH(net, *all)
		rc = rc || net->broken ? rc : sort_ips(step, net);
	for (i = 0; !rc && i < step->nodes.n; i++)
		NCA_FOREACH(net, *all) {
			const struct nca_ip *ip =
				net->broken ? NULL : first_unreached(step, net, i);

			if (ip)
				net->broken = nca_step_text(
					step, "%s reaches %s over another interface",
					step->nodes.v[i].node->name, nca_ip_text(ip, text));
		}
	return rc;
}

static int seed(struct nca_step *step, nca_networks *all)
{
	struct nca_candidate *c;
	struct nca_network *net;

	NCA_FOREACH(c, step->nodes.v->candidates) {
		if (!nca_candidate_open(c))
			continue;
		net = NCA_APPEND(step->pool, *all);
		if (!net)
			return -ENOMEM;
		net->seed = c;
		net->member = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*net->member));
		if (!net->member)
			return -ENOMEM;
		add_member(step, net, 0, c);
	}
	return 0;
}

static int build(struct nca_step *step, nca_networks *all)
{
	size_t i;
	int rc = seed(step, all);

	for (i = 1; !rc && i < step->nodes.n; i++)
		find_members(step, all, i);
	return rc ? rc : check_pairs(step, all);
}

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
		if (c > 0 || (c == 0 && is_before(step, net, best)))
			best = net;
	}
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

static bool is_unknown(const struct nca_network *net, enum nca_rule rule)
{
	return net->value[rule - NCA_RULE_FAMILY] < 0;
}

/*
 * TCP carries the data, two networks would do, and how fast they are is not known: a guess. A
 * device whose MTU is not known either was not looked at, so nothing is missing.
 */
static void doubt(struct nca_step *step, const struct nca_network *won,
		  const struct nca_network *second, enum nca_rule rule)
{
	const char *a = won->seed->state->link->name, *b = second->seed->state->link->name;

	if (!streq(step->plan->net, "Socket") || second->seed->state == won->seed->state ||
	    !is_unknown(won, NCA_RULE_SPEED) || is_unknown(won, NCA_RULE_MTU) ||
	    rule == NCA_RULE_MTU || !is_behind_speed(step, rule))
		return;
	nca_step_unsure(
		step, "speed-unknown", NULL,
		nca_step_text(step,
			      "%s and %s both join all nodes, and which is the faster is not "
			      "known: %s is taken (%s). NCCL_SOCKET_IFNAME==%s pins the "
			      "other",
			      a, b, a, nca_rules[rule].word, b));
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
	if (second) {
		nca_network_compare(nca_network_order(step), won->value, second->value, &rule);
		doubt(step, won, second, rule);
	}
	for (i = 0; i < step->nodes.n; i++)
		step->nodes.v[i].chosen = won->member[i];
	nca_network_rows(step, &all, won, second ? rule : NCA_RULE_ONLY_NETWORK);
	return 0;
}
