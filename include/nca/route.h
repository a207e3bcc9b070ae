/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route look-ups in the recorded routes of a node. Pure.
 *
 * What the kernel does: the longest prefix of the table `main` wins (fib_table_lookup()); among
 * equal prefixes the lowest metric, then the route that was added first. Rules (`ip rule`) are not
 * recorded, so a route of another table only tells that a source rule may exist.
 */
#ifndef NCA_ROUTE_H
#define NCA_ROUTE_H

#include <nca/addr.h>
#include <nca/inventory.h>

struct nca_route_entry {
	struct nca_prefix dst;
	struct nca_ip last; /* address of dst */
	const char *dev;
	int metric; /* 0 where it is not recorded */
	int index;  /* of the interface that stands for it: a lower one was mostly up first; 0 where
		     * the route is recorded */
	bool main;
	bool is_default; /* of `main`, with the lowest metric of its family */
};

/* The routes of one node in the order of the document; those that cannot be read are left out. */
struct nca_routes {
	NCA_LIST(struct nca_route_entry) entries;
	bool known; /* false: no route was recorded, the entries stand for the interfaces' prefixes
		     */
};

/* -ENOMEM. Points into the node. */
int nca_routes_read(const struct nca_node *node, struct nca_pool *pool, struct nca_routes *ret);

/* Do two nodes record the same routes, so that one nca_routes serves both? Not where they record
 * none. */
bool nca_routes_equal(const struct nca_node *a, const struct nca_node *b);

/*
 * Does the longest prefix of `main` that holds ip lead out of dev? Several devices can hold the
 * same prefix (two ports in one subnet): each of them counts, because a socket bound to its address
 * and RoCE with its GID's device can use it. dev NULL: does it lead anywhere? Where no route is
 * known at all: true.
 */
bool nca_routes_via(const struct nca_routes *routes, const char *dev, const struct nca_ip *ip);

/* Length of the longest prefix of `main` that holds ip, -1 where there is none. */
int nca_routes_longest(const struct nca_routes *routes, const struct nca_ip *ip);

/* The routes of that prefix, one after the other: NULL begins and ends. Each leads to ip in the
 * sense of nca_routes_via(). */
const struct nca_route_entry *nca_routes_next(const struct nca_routes *routes,
					      const struct nca_ip *ip, int len,
					      const struct nca_route_entry *after);

/* Does any route of dev in any table hold ip? RoCE looks up with the GID's device as oif
 * (linux-6.1 core/addr.c, addr4_resolve). */
bool nca_routes_any_via(const struct nca_routes *routes, const char *dev, const struct nca_ip *ip);

/* The device that an unbound socket would use: lowest metric, then lowest index, then first; NULL
 * where there is no route. */
const char *nca_routes_device(const struct nca_routes *routes, const struct nca_ip *ip);

/* Does any table hold any route to ip? */
bool nca_routes_any(const struct nca_routes *routes, const struct nca_ip *ip);

/* Does one route of dev (NULL: of any) hold all addresses from first to last, with none of another
 * device inside it? The usual case of nca_routes_unreached(), whose answer is then NULL. */
bool nca_routes_cover(const struct nca_routes *routes, const char *dev, const struct nca_ip *first,
		      const struct nca_ip *last);

/*
 * Are all of n sorted addresses (nca_ip_compare) reached by dev in the sense of nca_routes_via()?
 * Returns the first that is not, or NULL. Costs as many look-ups as the table has boundaries, not
 * as there are addresses.
 */
const struct nca_ip *nca_routes_unreached(const struct nca_routes *routes, const char *dev,
					  const struct nca_ip *ips, size_t n);

/* Is dev (NULL: any) the device of the default route of that family with the lowest metric? */
bool nca_routes_default(const struct nca_routes *routes, const char *dev, int family);

#endif
