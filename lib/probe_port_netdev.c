/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of an HCA and the interfaces that belong to them. */
#include <errno.h>

#include <nca/topo.h>

#include "probe_parts.h"

#define HCA "sys/class/infiniband/%s/"

static bool has_gid_on(const struct nca_port *port, const char *ndev)
{
	const struct nca_gid *gid;

	NCA_FOREACH(gid, port->gids)
		if (nca_same(gid->ndev, ndev))
			return true;
	return false;
}

/* The interfaces of the same device. Several where it has representors; the kernel's "rdma link"
 * would name a slave of a bond. */
static char *device_netdev(const struct nca_probe *p, const struct nca_hca *h,
			   const struct nca_port *port, const nca_strs *devs)
{
	const struct nca_link *l, *first = NULL;
	char **dev;

	NCA_FOREACH(dev, *devs) {
		l = nca_node_link(p->node, *dev);
		if (l && has_gid_on(port, l->name))
			return l->name;
		if (l && (!first || l->ifindex < first->ifindex))
			first = l;
	}
	return first && h->ports.n == 1 ? first->name : NULL;
}

/* A software device (rxe) says on which interface it was made. */
static char *virtual_netdev(const struct nca_probe *p, const struct nca_hca *h,
			    const struct nca_port *port)
{
	char *parent = nca_sysroot_text(p->src->root_fd, p->pool, HCA "parent", h->name);

	if (parent)
		return parent;
	return port->gids.n ? port->gids.v[0].ndev : NULL;
}

static bool same_card(const char *a, const char *b)
{
	size_t n = a ? strcspn(a, ".") : 0;

	return a && b && strncmp(a, b, n) == 0 && b[n] == '.';
}

static bool has_hca(const struct nca_node *node, const char *pci)
{
	const struct nca_hca *h;

	NCA_FOREACH(h, node->hcas)
		if (nca_same(h->pci, pci))
			return true;
	return false;
}

/* RoCE LAG: all slaves of the bond are functions of this card, and the others have no HCA of their
 * own. Fills in the addresses of the slaves; false where it is no LAG. */
static bool is_lag(const struct nca_probe *p, const struct nca_hca *h, const struct nca_link *bond,
		   struct nca_lag *lag)
{
	char **name, **pci;

	NCA_FOREACH(name, bond->bond->slaves) {
		const struct nca_link *slave = nca_node_link(p->node, *name);

		if (!slave || !same_card(h->pci, slave->pci))
			return false;
		if (!streq(h->pci, slave->pci) && has_hca(p->node, slave->pci))
			return false;
		pci = NCA_APPEND(p->pool, lag->slaves);
		if (!pci)
			return false;
		*pci = slave->pci;
	}
	return lag->slaves.n > 1;
}

static int set_lag(const struct nca_probe *p, struct nca_hca *h, struct nca_port *port)
{
	const struct nca_link *own = nca_node_link(p->node, port->netdev);
	const struct nca_link *bond = own ? nca_node_link(p->node, own->master) : NULL;
	struct nca_lag *lag;

	if (!h->pci || !bond || !bond->bond || (port->gids.n && !has_gid_on(port, bond->name)))
		return 0;
	lag = nca_pool_alloc(p->pool, sizeof(*lag));
	if (!lag)
		return -ENOMEM;
	if (!is_lag(p, h, bond, lag))
		return 0;
	lag->bond = bond->name;
	h->lag = lag;
	port->netdev = bond->name;
	return 0;
}

/* Several drivers report at most 100 Gb/s, or 2.5 where they do not know: the larger one counts. */
static void set_ethernet(const struct nca_link *l, struct nca_port *port)
{
	if (port->active_mtu < 0 && l->mtu >= 0)
		port->active_mtu = nca_topo_roce_mtu(l->mtu);
	if (l->speed_mbps > 0 && l->speed_mbps / 1000.0 > port->rate_gbps)
		port->rate_gbps = l->speed_mbps / 1000.0;
}

int nca_probe_port_netdevs(const struct nca_probe *p, struct nca_hca *h)
{
	const struct nca_link *l;
	struct nca_port *port;
	nca_strs devs = {0};
	int rc = 0;

	if (nca_sysroot_list(p->src->root_fd, p->pool, &devs, HCA "device/net", h->name) == -ENOMEM)
		return -ENOMEM;
	NCA_FOREACH(port, h->ports) {
		port->netdev =
			h->pci ? device_netdev(p, h, port, &devs) : virtual_netdev(p, h, port);
		rc = rc ? rc : set_lag(p, h, port);
		l = nca_node_link(p->node, port->netdev);
		if (l && nca_same(port->link_layer, "Ethernet"))
			set_ethernet(l, port);
	}
	return rc;
}
