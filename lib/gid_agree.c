/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GIDs of a port, seen with the other nodes: what is best on one node alone may be an address
 * that two nodes have, or of a network that no other node is in while a second one joins them.
 */
#include "step.h"

/* Are all addresses over a port, of which its GIDs would be made, other nodes' too? Then the
 * first; NULL: no. */
static const struct nca_candidate *find_used_duplicate(const struct nca_node_state *node,
						       const struct nca_port_state *p)
{
	const struct nca_candidate *c, *found = NULL;

	NCA_FOREACH(c, node->candidates)
		if (c->state->uses[p - node->ports.v]) {
			if (!c->duplicate)
				return NULL;
			found = found ? found : c;
		}
	return found;
}

/* Chooses again without the addresses that other nodes have too. */
static void drop_duplicates(struct nca_step *step, const struct nca_node_state *node,
			    struct nca_port_state *p)
{
	const struct nca_candidate *c = NULL;
	int i;

	for (i = 0; i < 2; i++)
		if (!c && p->gid[i])
			c = nca_node_duplicate(node, &p->ip[i]);
	if (p->layer == NCA_LAYER_ETHERNET && !p->port->gids.v)
		c = find_used_duplicate(node, p);
	if (!c)
		return;
	p->gid[0] = p->gid[1] = NULL;
	nca_gids_read(node, p);
	step->any_local = step->any_local || p->local;
	if (!p->gid[0] && !p->gid[1])
		nca_port_reject(step, p, NCA_RULE_NO_GID,
				nca_step_text(step, "another node has the address of %s too",
					      c->state->link->name));
}

/* Do routes lead from p to o and back? Where no node's are known, a network that both are in is
 * the better guess. */
static bool are_routed(const struct nca_node_state *node, const struct nca_port_state *p,
		       const struct nca_node_state *other, const struct nca_port_state *o, int i)
{
	if (!node->routes->known && !other->routes->known)
		return nca_prefix_has(&p->net[i], &o->ip[i]) ||
		       nca_prefix_has(&o->net[i], &p->ip[i]);
	return nca_routes_any_via(node->routes, p->gid[i]->ndev, &o->ip[i]) &&
	       nca_routes_any_via(other->routes, o->gid[i]->ndev, &p->ip[i]);
}

/* Is the port's network one of the other node's ports, or do routes lead there and back? What is
 * not known is no reason to choose another. */
static bool meets(const struct nca_node_state *node, const struct nca_port_state *p, int i,
		  const struct nca_node_state *other)
{
	const struct nca_port_state *o;
	bool any = false;

	NCA_FOREACH(o, other->ports) {
		if (!o->gid[i])
			continue;
		if (!p->net[i].ip.family || !o->net[i].ip.family ||
		    nca_prefix_same(&p->net[i], &o->net[i]) || are_routed(node, p, other, o, i))
			return true;
		any = true;
	}
	return !any;
}

/* Takes the port's first GID of a network. */
static bool take(const struct nca_node_state *node, struct nca_port_state *p,
		 const struct nca_prefix *net)
{
	const struct nca_gid *gid;
	struct nca_prefix own;
	struct nca_ip ip;

	NCA_FOREACH(gid, p->port->gids)
		if (nca_gid_read(node, p, gid, &ip, &own) && nca_prefix_same(&own, net)) {
			nca_gid_take(p, gid, &ip, &own);
			return true;
		}
	return false;
}

/* Takes the first network that the other node's ports have taken and in which the port has a GID
 * too. */
static bool join_taken(const struct nca_node_state *node, struct nca_port_state *p, int i,
		       const struct nca_node_state *other)
{
	const struct nca_port_state *o;

	NCA_FOREACH(o, other->ports)
		if (o->net[i].ip.family && nca_prefix_same(&o->net[i], &p->net[i]))
			return false;
	NCA_FOREACH(o, other->ports)
		if (o->net[i].ip.family && take(node, p, &o->net[i]))
			return true;
	return false;
}

/* That, or the first network of any of their GIDs. */
static bool join(const struct nca_node_state *node, struct nca_port_state *p, int i,
		 const struct nca_node_state *other)
{
	const struct nca_port_state *o;
	const struct nca_gid *gid;
	struct nca_prefix net;
	struct nca_ip ip;

	if (join_taken(node, p, i, other))
		return true;
	NCA_FOREACH(o, other->ports)
		NCA_FOREACH(gid, o->port->gids)
			if (nca_gid_read(other, o, gid, &ip, &net) &&
			    net.ip.family == (i ? 6 : 4) && take(node, p, &net))
				return true;
	return false;
}

/* The ports of each node follow those of the next one, and the last node's the first one's, from
 * the last node to the first. True: some network is another now. */
static bool follow(struct nca_step *step, bool all)
{
	bool any = false;
	size_t k;
	int i;

	for (k = step->nodes.n; k > 0; k--) {
		const struct nca_node_state *node = &step->nodes.v[k - 1];
		const struct nca_node_state *next = &step->nodes.v[k % step->nodes.n];
		struct nca_port_state *p;

		if (node == next || node->rail_subnet.ip.family)
			continue;
		NCA_FOREACH(p, node->ports)
			for (i = 0; p->several && i < 2; i++)
				if (p->gid[i] && all)
					any = join_taken(node, p, i, next) || any;
				else if (p->gid[i] && !meets(node, p, i, next))
					any = join(node, p, i, next) || any;
	}
	return any;
}

/* Where two neighbours do not meet, one network for all is looked for, because what is beside a
 * neighbour's network need not reach the others: two rounds carry it to every node. */
void nca_gids_agree(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (node->duplicates && nca_port_is_open(p))
				drop_duplicates(step, node, p);
	if (follow(step, false) && follow(step, true))
		follow(step, true);
}
