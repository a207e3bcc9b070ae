/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoCE ports whose GID table is not known: the addresses of the node tell what it would hold, or
 * that it is not clear.
 */
#include "step.h"

/* Has a link ports, and is no bond: a bridge, Hyper-V's netvsc? */
static bool is_master(const struct nca_node *node, const struct nca_link *link)
{
	const struct nca_link *l;

	if (link->bond || nca_same(link->kind, "bond"))
		return false;
	NCA_FOREACH(l, node->interfaces)
		if (nca_same(l->master, link->name))
			return true;
	return nca_same(link->kind, "bridge");
}

/* Does a link lie over one of the port's netdevs? The addresses of a master that is no bond, and of
 * what lies over it, are no GIDs of its ports. */
static bool gives_gids(const struct nca_node *node, const struct nca_port_state *p,
		       const struct nca_link *link)
{
	const struct nca_link *l;
	size_t i;

	for (i = 0; i < p->netdevs.n; i++) {
		bool over = nca_topo_over(node, link, p->netdevs.v[i]);

		NCA_FOREACH(l, node->interfaces)
			if (over && nca_topo_over(node, link, l->name) &&
			    nca_topo_over(node, l, p->netdevs.v[i]) && is_master(node, l))
				over = false;
		if (over)
			return true;
	}
	return false;
}

/*
 * The kernel makes GIDs of the addresses of the port's netdev and of what lies over it (linux-6.1
 * core/roce_gid_mgmt.c): where the table is not known, these tell whether it has a usable one.
 */
void nca_gids_guess(struct nca_step *step, const struct nca_node_state *node,
		    struct nca_port_state *p)
{
	const struct nca_link *link;
	const struct nca_addr *a;
	bool any = false, local = false;
	struct nca_ip ip;

	if (!nca_node_link(node->node, p->port->netdev))
		return;
	NCA_FOREACH(link, node->node->interfaces) {
		if (!gives_gids(node->node, p, link))
			continue;
		any = any || !link->addresses.v;
		NCA_FOREACH(a, link->addresses) {
			if (nca_ip_parse(a->addr, &ip) || nca_ip_is_loopback(&ip))
				continue;
			any = any || !nca_ip_is_link_local(&ip);
			local = local || ip.family == 4;
		}
	}
	if (!any && local)
		p->local = step->any_local = true;
	else if (!any)
		nca_port_reject(
			step, p, NCA_RULE_NO_GID,
			nca_step_text(
				step,
				"no interface over %s has an address, of which a GID would be made",
				p->port->netdev));
}

/* Drivers of cards that speak iWARP or RoCE, as they are set up (linux drivers/infiniband/hw). */
static bool is_either(const struct nca_port_state *p)
{
	static const char *const drivers[] = {"irdma", "i40iw", "iw_cxgb4", "qedr", "erdma"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (nca_same(p->hca->driver, drivers[i]))
			return true;
	return false;
}

/* Neither the type of the device nor a RoCE v2 GID says which of them it is. */
static void doubt_iwarp(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_port_state *p;
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		p = node->rails.v[i];
		if (p->hca->node_type || p->gid[0] || p->gid[1] || !is_either(p))
			continue;
		nca_step_unsure(
			step, "hcas-unclear", node->node->name,
			nca_step_text(step,
				      "%s may speak iWARP, over which NCCL cannot connect: neither "
				      "its node type nor its GIDs are known. NCCL_NET=Socket pins "
				      "TCP",
				      p->hca->name));
		return;
	}
}

/* The netdev of a port is in another network namespace, and with it the addresses of its GIDs, of
 * which none is known. */
static void doubt_namespace(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_port_state *p;
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		p = node->rails.v[i];
		if (node->node->in_container != 1 || p->layer != NCA_LAYER_ETHERNET ||
		    p->port->gids.v || !p->port->netdev || !node->node->interfaces.n ||
		    nca_node_link(node->node, p->port->netdev) || nca_port_has_ip(node, p))
			continue;
		nca_step_unsure(
			step, "hcas-unclear", node->node->name,
			nca_step_text(step,
				      "%s of %s is in another network namespace than the task, and "
				      "whether the device has an address in this one is not known. "
				      "Its GID table settles it, NCCL_NET=Socket pins TCP",
				      p->port->netdev, p->hca->name));
		return;
	}
}

/* An address of which the kernel would make a GID of the port; NULL: none is known. */
static const struct nca_candidate *find_address(const struct nca_node_state *node,
						const struct nca_port_state *p)
{
	const struct nca_candidate *c;

	NCA_FOREACH(c, node->candidates)
		if (c->ip.family == 4 && c->state->uses[p - node->ports.v])
			return c;
	return NULL;
}

/* The GIDs of a rail are not known, and by the addresses it does not reach the next node's. */
static void doubt_apart(struct nca_step *step, const struct nca_node_state *node)
{
	size_t at = (size_t)(node - step->nodes.v + 1) % step->nodes.n;
	const struct nca_node_state *next = &step->nodes.v[at];
	const struct nca_candidate *c, *d;
	const struct nca_port_state *p;
	size_t i;

	for (i = 0; i < node->rails.n && node != next; i++) {
		p = node->rails.v[i];
		if (p->layer != NCA_LAYER_ETHERNET || p->port->gids.v ||
		    next->rails.v[i]->port->gids.v)
			continue;
		c = find_address(node, p);
		d = find_address(next, next->rails.v[i]);
		if (!c || !d || nca_prefix_same(&c->net, &d->net) ||
		    nca_routes_any_via(node->routes, c->state->link->name, &d->ip))
			continue;
		nca_step_unsure(
			step, "hcas-unclear", node->node->name,
			nca_step_text(step,
				      "the GIDs of %s are not known, and no route leads over %s to "
				      "the same rail of %s. Their GID tables settle it, "
				      "NCCL_NET=Socket pins TCP",
				      p->hca->name, c->state->link->name, next->node->name));
		return;
	}
}

void nca_gids_doubt(struct nca_step *step, const struct nca_node_state *node)
{
	doubt_iwarp(step, node);
	doubt_namespace(step, node);
	doubt_apart(step, node);
}
