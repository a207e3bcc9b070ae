/* SPDX-License-Identifier: Apache-2.0 */
/* Which GID of a RoCE port: by content, never by a number. */
#include <stdio.h>

#include "step.h"

/* Without types, as an old ibv_devinfo prints them: the kernel enters an address as v1 before it
 * enters it as v2 (linux-6.1 core/roce_gid_mgmt.c, update_gid()). */
static bool is_v2(const struct nca_port *port, const struct nca_gid *gid)
{
	const struct nca_gid *other;

	if (gid->type)
		return strstr(gid->type, "v2");
	NCA_FOREACH(other, port->gids)
		if (!other->type && other->index > gid->index && nca_same(other->gid, gid->gid) &&
		    (!gid->ndev || !other->ndev || streq(gid->ndev, other->ndev)))
			return false;
	return true;
}

bool nca_gid_only_v1(const struct nca_port *port)
{
	const struct nca_gid *gid;

	NCA_FOREACH(gid, port->gids)
		if (is_v2(port, gid))
			return false;
	return port->gids.n > 0;
}

static bool is_routable(const struct nca_ip *ip)
{
	return !nca_ip_is_zero(ip) && !nca_ip_is_loopback(ip) && !nca_ip_is_link_local(ip);
}

/* What NCCL takes for usable: fe80::/64 is not, but 169.254.0.0/16 is (validGid()). */
static bool is_usable(const struct nca_ip *ip)
{
	return !nca_ip_is_zero(ip) && !(ip->family == 6 && nca_ip_is_link_local(ip));
}

/* Does NCCL take it rather than the first one so far? */
static bool is_first(const struct nca_gid *gid, const struct nca_ip *ip,
		     const struct nca_gid *first)
{
	return is_usable(ip) && (!first || gid->index < first->index);
}

/*
 * GIDs are collected from all network namespaces (linux-6.1 core/roce_gid_mgmt.c, for_each_net):
 * one whose netdev is not here, or does not hold the address, belongs to another namespace or is
 * stale. *net: the address's network on the netdev, family 0 where it is not known.
 */
static bool is_here(const struct nca_node *node, const struct nca_gid *gid, const struct nca_ip *ip,
		    struct nca_prefix *net)
{
	const struct nca_link *link = nca_node_link(node, gid->ndev);
	const struct nca_addr *a;
	struct nca_ip have;

	*net = (struct nca_prefix){0};
	if (!gid->ndev)
		return true;
	if (!link || link->carrier == 0)
		return false;
	NCA_FOREACH(a, link->addresses)
		if (!nca_ip_parse(a->addr, &have) && !nca_ip_compare(&have, ip)) {
			if (a->prefixlen > 0)
				*net = nca_ip_prefix(ip, a->prefixlen);
			return true;
		}
	return !link->addresses.v;
}

/*
 * Among several: the port's own netdev before what is stacked on it, a physical one before an
 * overlay, one that does not carry the default route, the larger MTU. What the site names comes
 * first.
 */
static int rank(const struct nca_node_state *node, const struct nca_port *port,
		const struct nca_gid *gid, const struct nca_ip *ip)
{
	const struct nca_link *link = nca_node_link(node->node, gid->ndev);
	int own = nca_same(gid->ndev, port->netdev);
	int physical = link && nca_topo_physical(node->node, link);
	int inner = gid->ndev && !nca_routes_default(node->routes, gid->ndev, ip->family);
	int named = node->rail_subnet.ip.family && nca_prefix_has(&node->rail_subnet, ip);
	int mtu = link && link->mtu > 0 ? link->mtu : 0;

	return named << 30 | own << 29 | physical << 28 | inner << 27 | (mtu & 0x7ffffff);
}

/* The best so far of its family? */
static bool is_best(const struct nca_node_state *node, const struct nca_port_state *p,
		    const struct nca_gid *gid, const struct nca_ip *ip)
{
	int i = ip->family == 6, mine, best;

	if (!p->gid[i])
		return true;
	mine = rank(node, p->port, gid, ip);
	best = rank(node, p->port, p->gid[i], &p->ip[i]);
	return mine > best || (mine == best && gid->index < p->gid[i]->index);
}

const struct nca_candidate *nca_node_duplicate(const struct nca_node_state *node,
					       const struct nca_ip *ip)
{
	const struct nca_candidate *c;

	if (!node->duplicates)
		return NULL;
	NCA_FOREACH(c, node->candidates)
		if (c->duplicate && !nca_ip_compare(&c->ip, ip))
			return c;
	return NULL;
}

static bool is_choice(const struct nca_node_state *node, const struct nca_gid *gid,
		      const struct nca_ip *ip, struct nca_prefix *net)
{
	return is_here(node->node, gid, ip, net) && !nca_node_duplicate(node, ip);
}

bool nca_gid_read(const struct nca_node_state *node, const struct nca_port_state *p,
		  const struct nca_gid *gid, struct nca_ip *ip, struct nca_prefix *net)
{
	return (p->v1 || is_v2(p->port, gid)) && !nca_ip_parse_gid(gid->gid, ip) &&
	       is_routable(ip) && is_choice(node, gid, ip, net);
}

static void offer(const struct nca_node_state *node, struct nca_port_state *p,
		  const struct nca_gid *gid, const struct nca_ip *ip)
{
	struct nca_prefix net;
	int i = ip->family == 6;

	if (!is_choice(node, gid, ip, &net))
		return;
	p->several = p->several || (p->gid[i] && !nca_prefix_same(&p->net[i], &net));
	if (is_best(node, p, gid, ip))
		nca_gid_take(p, gid, ip, &net);
}

void nca_gid_take(struct nca_port_state *p, const struct nca_gid *gid, const struct nca_ip *ip,
		  const struct nca_prefix *net)
{
	int i = ip->family == 6;

	p->gid[i] = gid;
	p->ip[i] = *ip;
	p->net[i] = *net;
}

/* Two machines on one cable often have no other addresses (RFC 3927; NVIDIA's recipe for two DGX
 * Spark). */
static void offer_local(const struct nca_node_state *node, struct nca_port_state *p)
{
	const struct nca_gid *gid;
	struct nca_ip ip;

	NCA_FOREACH(gid, p->port->gids)
		if (is_v2(p->port, gid) && !nca_ip_parse_gid(gid->gid, &ip) && ip.family == 4 &&
		    nca_ip_is_link_local(&ip))
			offer(node, p, gid, &ip);
	p->local = p->gid[0];
}

void nca_gids_read(const struct nca_node_state *node, struct nca_port_state *p)
{
	const struct nca_gid *gid;
	struct nca_ip ip;

	p->v1 = nca_gid_only_v1(p->port);
	NCA_FOREACH(gid, p->port->gids) {
		const struct nca_gid **first;

		if ((!p->v1 && !is_v2(p->port, gid)) || nca_ip_parse_gid(gid->gid, &ip))
			continue;
		first = &p->automatic[ip.family == 6];
		if (is_first(gid, &ip, *first))
			*first = gid;
		if (is_routable(&ip))
			offer(node, p, gid, &ip);
	}
	if (!p->gid[0] && !p->gid[1])
		offer_local(node, p);
}

const struct nca_gid *nca_gid_auto(const struct nca_port *port, int family,
				   const struct nca_prefix *range)
{
	const struct nca_gid *gid, *first = NULL;
	bool v1 = nca_gid_only_v1(port);
	struct nca_ip ip;

	/* Index 0 is where NCCL begins: one that is good there stays, in the range or not. */
	NCA_FOREACH(gid, port->gids)
		if ((v1 || is_v2(port, gid)) && !nca_ip_parse_gid(gid->gid, &ip) &&
		    is_first(gid, &ip, first) && ip.family == family &&
		    (!range || gid->index == 0 || nca_prefix_has(range, &ip)))
			first = gid;
	return first;
}

/* Which of a rail's two GIDs is meant: the agreed family's, else the other. */
static int which(const struct nca_step *step, const struct nca_port_state *rail)
{
	int i = step->gid_family == 6;

	return rail->gid[i] ? i : !i;
}

const struct nca_gid *nca_rail_gid(const struct nca_step *step, const struct nca_port_state *rail)
{
	if (!step->gid_family || rail->layer != NCA_LAYER_ETHERNET)
		return NULL;
	return rail->gid[which(step, rail)];
}

const struct nca_ip *nca_rail_ip(const struct nca_step *step, const struct nca_port_state *rail)
{
	return nca_rail_gid(step, rail) ? &rail->ip[which(step, rail)] : NULL;
}

const struct nca_prefix *nca_rail_network(const struct nca_step *step,
					  const struct nca_port_state *rail)
{
	const struct nca_prefix *net = &rail->net[which(step, rail)];

	return net->ip.family ? net : NULL;
}

bool nca_rail_reaches(const struct nca_step *step, const struct nca_node_state *node,
		      const struct nca_port_state *rail, const struct nca_ip *ip)
{
	return nca_routes_any_via(node->routes, rail->gid[which(step, rail)]->ndev, ip);
}

int nca_version_nccl(const struct nca_node *node)
{
	const char *text =
		node->nccl_version ? node->nccl_version : nca_pairs_get(node->software, "nccl");
	unsigned int major, minor, patch = 0;

	if (!text || sscanf(text, "%2u.%2u.%2u", &major, &minor, &patch) < 2)
		return -1;
	return (int)(10000 * major + 100 * minor + patch);
}
