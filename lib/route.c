/* SPDX-License-Identifier: Apache-2.0 */
/* Route look-ups in the recorded routes of a node. */
#include <errno.h>

#include <nca/route.h>

static int add_entry(struct nca_pool *pool, struct nca_routes *routes,
		     const struct nca_route_entry *entry)
{
	struct nca_route_entry *e = entry->dev ? NCA_APPEND(pool, routes->entries) : NULL;

	if (e) {
		*e = *entry;
		e->last = nca_prefix_last(&e->dst);
	}
	return entry->dev && !e ? -ENOMEM : 0;
}

static int add_route(struct nca_pool *pool, struct nca_routes *routes,
		     const struct nca_route *route)
{
	struct nca_route_entry entry = {.metric = route->metric < 0 ? 0 : route->metric,
					.main = !route->table || streq(route->table, "main") ||
						streq(route->table, "254")};
	const struct nca_nexthop *hop;
	int rc = 0;

	if (nca_prefix_parse(route->dst, streq(route->family, "inet6") ? 6 : 4, &entry.dst))
		return 0;
	NCA_FOREACH(hop, route->nexthops) {
		entry.dev = hop->dev;
		rc = rc ? rc : add_entry(pool, routes, &entry);
	}
	entry.dev = route->nexthops.n ? NULL : route->dev;
	return rc ? rc : add_entry(pool, routes, &entry);
}

/* The kernel adds a route for the prefix of each address of a device that is up. */
static int add_connected(struct nca_pool *pool, struct nca_routes *routes,
			 const struct nca_link *link)
{
	struct nca_route_entry entry = {.dev = link->name, .main = true};
	const struct nca_addr *addr;
	struct nca_ip ip;
	int rc = 0;

	NCA_FOREACH(addr, link->addresses) {
		if (rc || nca_ip_parse(addr->addr, &ip) || addr->prefixlen < 0)
			continue;
		entry.dst = nca_ip_prefix(&ip, addr->prefixlen);
		rc = add_entry(pool, routes, &entry);
	}
	return rc;
}

int nca_routes_read(const struct nca_node *node, struct nca_pool *pool, struct nca_routes *ret)
{
	struct nca_routes routes = {.known = node->routes.n > 0};
	const struct nca_route *route;
	const struct nca_link *link;
	int rc = 0;

	NCA_FOREACH(route, node->routes)
		rc = rc ? rc : add_route(pool, &routes, route);
	NCA_FOREACH(link, node->interfaces)
		rc = rc || routes.known ? rc : add_connected(pool, &routes, link);
	if (!rc)
		*ret = routes;
	return rc;
}

/* Length of the longest prefix of `main` that holds ip, -1 where there is none. */
static int longest(const struct nca_routes *routes, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;
	int len = -1;

	NCA_FOREACH(e, routes->entries)
		if (e->main && e->dst.len > len && nca_prefix_has(&e->dst, ip))
			len = e->dst.len;
	return len;
}

bool nca_routes_via(const struct nca_routes *routes, const char *dev, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;
	bool via = false;
	int len = -1;

	NCA_FOREACH(e, routes->entries) {
		if (!e->main || e->dst.len < len || !nca_prefix_has(&e->dst, ip))
			continue;
		via = (via && e->dst.len == len) || streq(e->dev, dev);
		len = e->dst.len;
	}
	return len < 0 ? !routes->known : via;
}

bool nca_routes_any_via(const struct nca_routes *routes, const char *dev, const struct nca_ip *ip)
{
	const struct nca_route_entry *e;

	NCA_FOREACH(e, routes->entries)
		if (nca_same(e->dev, dev) && nca_prefix_has(&e->dst, ip))
			return true;
	return !routes->known;
}

const char *nca_routes_device(const struct nca_routes *routes, const struct nca_ip *ip)
{
	const struct nca_route_entry *e, *best = NULL;
	int len = longest(routes, ip);

	NCA_FOREACH(e, routes->entries)
		if (e->main && e->dst.len == len && nca_prefix_has(&e->dst, ip) &&
		    (!best || e->metric < best->metric))
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

const struct nca_ip *nca_routes_unreached(const struct nca_routes *routes, const char *dev,
					  const struct nca_ip *ips, size_t n)
{
	size_t at = 0;

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
	int metric = -1;
	bool via = false;

	NCA_FOREACH(e, routes->entries) {
		if (!e->main || e->dst.len || e->dst.ip.family != family)
			continue;
		if (metric < 0 || e->metric < metric)
			via = false;
		if (metric < 0 || e->metric <= metric) {
			via = via || nca_same(e->dev, dev);
			metric = e->metric;
		}
	}
	return via;
}
