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
				   nca_routes_via(node->routes, nca_candidate_device(c), buf));
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

static bool is_known(const struct nca_lookup *last, const struct nca_routes *routes,
		     const char *dev)
{
	return last->routes == routes &&
	       (dev && last->dev ? streq(dev, last->dev) : dev == last->dev);
}

static bool leads_back(struct nca_network *net, const struct nca_node_state *node,
		       const struct nca_candidate *c)
{
	const char *dev = nca_candidate_device(c);

	if (!is_known(&net->back, node->routes, dev))
		net->back = (struct nca_lookup){node->routes, dev,
						nca_routes_via(node->routes, dev, &net->seed->ip)};
	return net->back.yes;
}

/* Then no pair needs a look. */
static bool covers_all(struct nca_network *net, const struct nca_node_state *node, const char *dev,
		       size_t n)
{
	if (!is_known(&net->cover, node->routes, dev))
		net->cover = (struct nca_lookup){
			node->routes, dev,
			nca_routes_cover(node->routes, dev, &net->ips[0], &net->ips[n - 1])};
	return net->cover.yes;
}

/* No router passes link-local addresses, whatever the default route says (RFC 3927, 2.6.2). */
static bool shares_wire(const struct nca_candidate *a, const struct nca_candidate *b)
{
	return (!nca_ip_is_link_local(&a->ip) && !nca_ip_is_link_local(&b->ip)) ||
	       nca_prefix_same(&a->net, &b->net);
}

/* c, which the seed reaches, becomes the network's member of its node if it leads back and is the
 * best. */
static void offer(struct nca_step *step, struct nca_network *net, size_t i, struct nca_candidate *c)
{
	struct nca_candidate *best = net->member[i];
	enum nca_rule rule;
	int better = 1;

	if (net->broken || c->ip.family != net->seed->ip.family || !shares_wire(net->seed, c) ||
	    !leads_back(net, &step->nodes.v[i], c))
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
	const struct nca_routes *routes = step->nodes.v->routes;
	const struct nca_route_entry *e = NULL;
	int len = nca_routes_longest(routes, &c->ip);
	struct nca_network *net;

	if (len < 0 && !routes->known)
		NCA_FOREACH(net, *all)
			offer(step, net, i, c);
	while ((e = nca_routes_next(routes, &c->ip, len, e)))
		NCA_FOREACH(net, *all)
			if (net->leads[e - routes->entries.v])
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
static const struct nca_ip *first_unreached(struct nca_step *step, struct nca_network *net,
					    size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	const char *dev = nca_candidate_device(net->member[i]);
	const struct nca_ip *ip, *own;
	size_t below;

	if (covers_all(net, node, dev, step->nodes.n))
		return NULL;
	own = bsearch(&net->member[i]->ip, net->ips, step->nodes.n, sizeof(*net->ips), compare_ips);
	below = (size_t)(own - net->ips);
	ip = nca_routes_unreached(node->routes, dev, net->ips, below);
	return ip ? ip
		  : nca_routes_unreached(node->routes, dev, own + 1, step->nodes.n - below - 1);
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

static int seed_network(struct nca_step *step, struct nca_network *net, struct nca_candidate *c)
{
	const struct nca_routes *routes = step->nodes.v->routes;
	const char *dev = nca_candidate_device(c);
	size_t i;

	net->seed = c;
	net->member = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*net->member));
	net->leads = nca_pool_alloc(step->pool, routes->entries.n * sizeof(*net->leads));
	if (!net->member || !net->leads)
		return -ENOMEM;
	for (i = 0; i < routes->entries.n; i++)
		net->leads[i] = !dev || streq(dev, routes->entries.v[i].dev);
	add_member(step, net, 0, c);
	return 0;
}

static int seed(struct nca_step *step, nca_networks *all)
{
	struct nca_candidate *c;
	struct nca_network *net;

	NCA_FOREACH(c, step->nodes.v->candidates) {
		if (!nca_candidate_open(c))
			continue;
		net = NCA_APPEND(step->pool, *all);
		if (!net || seed_network(step, net, c))
			return -ENOMEM;
	}
	return 0;
}

int nca_network_build(struct nca_step *step, nca_networks *all)
{
	size_t i;
	int rc = seed(step, all);

	for (i = 1; !rc && i < step->nodes.n; i++)
		find_members(step, all, i);
	rc = rc ? rc : check_pairs(step, all);
	if (!rc)
		nca_network_drop_guesses(step, all);
	return rc;
}
