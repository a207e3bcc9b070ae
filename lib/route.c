/* SPDX-License-Identifier: Apache-2.0 */
/* Route look-ups in the recorded routes of a node. */
#include <errno.h>
#include <limits.h>

#include <nca/route.h>

/* There is room: see count_entries(). */
static void add_entry(struct nca_routes *routes, const struct nca_route_entry *entry)
{
	struct nca_route_entry *e;

	if (!entry->dev)
		return;
	e = &routes->entries.v[routes->entries.n++];
	*e = *entry;
	e->last = nca_prefix_last(&e->dst);
}

static void add_route(struct nca_routes *routes, const struct nca_route *route)
{
	struct nca_route_entry entry = {.metric = route->metric < 0 ? 0 : route->metric,
					.main = !route->table || streq(route->table, "main") ||
						streq(route->table, "254")};
	const struct nca_nexthop *hop;

	if (nca_prefix_parse(route->dst, streq(route->family, "inet6") ? 6 : 4, &entry.dst))
		return;
	NCA_FOREACH(hop, route->nexthops) {
		entry.dev = hop->dev;
		add_entry(routes, &entry);
	}
	entry.dev = route->nexthops.n ? NULL : route->dev;
	add_entry(routes, &entry);
}

/* The kernel adds a route for the prefix of each address of a device that is up. */
static void add_connected(struct nca_routes *routes, const struct nca_link *link)
{
	struct nca_route_entry entry = {.dev = link->name, .main = true, .index = link->ifindex};
	const struct nca_addr *addr;
	struct nca_ip ip;

	NCA_FOREACH(addr, link->addresses) {
		if (nca_ip_parse(addr->addr, &ip) || addr->prefixlen < 0)
			continue;
		entry.dst = nca_ip_prefix(&ip, addr->prefixlen);
		add_entry(routes, &entry);
	}
}

static size_t count_entries(const struct nca_node *node)
{
	const struct nca_route *route;
	const struct nca_link *link;
	size_t n = 0;

	NCA_FOREACH(route, node->routes)
		n += route->nexthops.n ? route->nexthops.n : 1;
	NCA_FOREACH(link, node->interfaces)
		n += node->routes.n ? 0 : link->addresses.n;
	return n;
}

static bool is_default(const struct nca_route_entry *e, int family)
{
	return e->main && !e->dst.len && e->dst.ip.family == family;
}

/* Marks the default routes of a family with the lowest metric. */
static void mark_default(struct nca_routes *routes, int family)
{
	struct nca_route_entry *e;
	int lowest = INT_MAX;

	NCA_FOREACH(e, routes->entries)
		if (is_default(e, family) && e->metric < lowest)
			lowest = e->metric;
	NCA_FOREACH(e, routes->entries)
		e->is_default = e->is_default || (is_default(e, family) && e->metric == lowest);
}

int nca_routes_read(const struct nca_node *node, struct nca_pool *pool, struct nca_routes *ret)
{
	struct nca_routes routes = {.known = node->routes.n > 0};
	const struct nca_route *route;
	const struct nca_link *link;

	routes.entries.v = nca_pool_alloc(pool, count_entries(node) * sizeof(*routes.entries.v));
	if (!routes.entries.v)
		return -ENOMEM;
	NCA_FOREACH(route, node->routes)
		add_route(&routes, route);
	NCA_FOREACH(link, node->interfaces)
		if (!routes.known)
			add_connected(&routes, link);
	mark_default(&routes, 4);
	mark_default(&routes, 6);
	*ret = routes;
	return 0;
}

/* As streq(), and unknown equals unknown. */
static bool is_equal(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static bool are_equal(const struct nca_route *a, const struct nca_route *b)
{
	size_t i;

	if (a->metric != b->metric || a->nexthops.n != b->nexthops.n || !is_equal(a->dst, b->dst) ||
	    !is_equal(a->dev, b->dev) || !is_equal(a->family, b->family) ||
	    !is_equal(a->table, b->table))
		return false;
	for (i = 0; i < a->nexthops.n; i++)
		if (!is_equal(a->nexthops.v[i].dev, b->nexthops.v[i].dev))
			return false;
	return true;
}

bool nca_routes_equal(const struct nca_node *a, const struct nca_node *b)
{
	size_t i;

	if (a->routes.n != b->routes.n || !a->routes.n)
		return false;
	for (i = 0; i < a->routes.n; i++)
		if (!are_equal(&a->routes.v[i], &b->routes.v[i]))
			return false;
	return true;
}

int nca_routes_longest(const struct nca_routes *routes, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;
	int len = -1;

	NCA_FOREACH(e, routes->entries)
		if (e->main && e->dst.len > len && nca_prefix_has(&e->dst, ip))
			len = e->dst.len;
	return len;
}

/* NULL is any device. */
static bool is_dev(const struct nca_route_entry *e, const char *dev)
{
	return !dev || streq(e->dev, dev);
}

bool nca_routes_via(const struct nca_routes *routes, const char *dev, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;
	bool via = false;
	int len = -1;

	NCA_FOREACH(e, routes->entries) {
		if (!e->main || e->dst.len < len || !nca_prefix_has(&e->dst, ip))
			continue;
		via = (via && e->dst.len == len) || is_dev(e, dev);
		len = e->dst.len;
	}
	return len < 0 ? !routes->known : via;
}

const struct nca_route_entry *nca_routes_next(const struct nca_routes *routes,
					      const struct nca_ip *ip, int len,
					      const struct nca_route_entry *after)
{
	const struct nca_route_entry *e = after ? after + 1 : routes->entries.v;

	for (; e && e < routes->entries.v + routes->entries.n; e++)
		if (e->main && e->dst.len == len && nca_prefix_has(&e->dst, ip))
			return e;
	return NULL;
}

bool nca_routes_any_via(const struct nca_routes *routes, const char *dev, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;

	NCA_FOREACH(e, routes->entries)
		if (nca_same(e->dev, dev) && nca_prefix_has(&e->dst, ip))
			return true;
	return !routes->known;
}

static bool is_before(const struct nca_route_entry *a, const struct nca_route_entry *b)
{
	return a->metric != b->metric ? a->metric < b->metric : a->index < b->index;
}

const char *nca_routes_device(const struct nca_routes *routes, const struct nca_ip *ip)
{
	const struct nca_route_entry *e, *best = NULL;
	int len = nca_routes_longest(routes, ip);

	NCA_FOREACH(e, routes->entries)
		if (e->main && e->dst.len == len && nca_prefix_has(&e->dst, ip) &&
		    (!best || is_before(e, best)))
			best = e;
	return best ? best->dev : NULL;
}

bool nca_routes_any(const struct nca_routes *routes, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;

	NCA_FOREACH(e, routes->entries)
		if (nca_prefix_has(&e->dst, ip))
			return true;
	return !routes->known;
}

/* Index of the first of n sorted addresses from `from` on that is not below ip, or, with `above`,
 * not below or equal. */
static size_t bound(const struct nca_ip *ips, size_t from, size_t n, const struct nca_ip *ip,
		    bool above)
{
	while (from < n) {
		size_t mid = from + (n - from) / 2;
		int c = nca_ip_compare(&ips[mid], ip);

		if (c < 0 || (above && c == 0))
			from = mid + 1;
		else
			n = mid;
	}
	return from;
}

/* How far from ips[at] on the same routes hold: up to the next first or last address of a prefix.
 */
static size_t same_answer(const struct nca_routes *routes, const struct nca_ip *ips, size_t at,
			  size_t n)
{
	const struct nca_route_entry *e;

	NCA_FOREACH(e, routes->entries) {

		if (e->dst.ip.family != ips[at].family)
			continue;
		if (nca_ip_compare(&e->dst.ip, &ips[at]) > 0)
			n = bound(ips, at, n, &e->dst.ip, false);
		else if (nca_ip_compare(&e->last, &ips[at]) >= 0)
			n = bound(ips, at, n, &e->last, true);
	}
	return n;
}

bool nca_routes_cover(const struct nca_routes *routes, const char *dev, const struct nca_ip *first,
		      const struct nca_ip *last)
{
	const struct nca_route_entry *e, *best = NULL;

	NCA_FOREACH(e, routes->entries)
		if (e->main && (!best || e->dst.len > best->dst.len) &&
		    nca_prefix_has(&e->dst, first) && nca_prefix_has(&e->dst, last) &&
		    is_dev(e, dev))
			best = e;
	if (!best)
		return false;
	NCA_FOREACH(e, routes->entries)
		if (e->main && e->dst.len > best->dst.len &&
		    nca_ip_compare(&e->dst.ip, last) <= 0 && nca_ip_compare(first, &e->last) <= 0 &&
		    !streq(e->dev, dev))
			return false;
	return true;
}

const struct nca_ip *nca_routes_unreached(const struct nca_routes *routes, const char *dev,
					  const struct nca_ip *ips, size_t n)
{
	size_t at = n && nca_routes_cover(routes, dev, &ips[0], &ips[n - 1]) ? n : 0;

	while (at < n) {
		if (!nca_routes_via(routes, dev, &ips[at]))
			return &ips[at];
		at = same_answer(routes, ips, at, n);
	}
	return NULL;
}

bool nca_routes_default(const struct nca_routes *routes, const char *dev, int family)
{
	const struct nca_route_entry *e;

	NCA_FOREACH(e, routes->entries)
		if (e->is_default && e->dst.ip.family == family && (!dev || nca_same(e->dev, dev)))
			return true;
	return false;
}
