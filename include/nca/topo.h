/* SPDX-License-Identifier: Apache-2.0 */
/* How the devices of one node belong together: links over links, links over HCAs, HCAs beside
 * GPUs. Pure. */
#ifndef NCA_TOPO_H
#define NCA_TOPO_H

#include <nca/inventory.h>

/* As nvidia-smi's topology matrix, farthest first. */
enum nca_level {
	NCA_LEVEL_UNKNOWN,
	NCA_LEVEL_SYS,	/* other NUMA node */
	NCA_LEVEL_NODE, /* same NUMA node */
	NCA_LEVEL_PHB,	/* same host bridge */
	NCA_LEVEL_PXB,	/* several PCIe bridges, no host bridge */
	NCA_LEVEL_PIX,	/* one PCIe switch */
};

/* "PIX" and so on; NULL for unknown. */
const char *nca_level_word(enum nca_level level);

/*
 * Distance from an HCA to the i-th GPU of the list. From node->distances where it has a row of the
 * HCA, else from the PCI tree and the NUMA nodes. Unknown in a virtual machine, whose tree is not
 * the machine's.
 */
enum nca_level nca_topo_level(const struct nca_node *node, const struct nca_hca *hca, size_t i);

/* The nearest GPU's level, unknown where no GPU's is known. */
enum nca_level nca_topo_nearest(const struct nca_node *node, const struct nca_hca *hca);

/* Is upper the link of that name, or stacked over it (VLAN, bond, bridge, macvlan)? */
bool nca_topo_over(const struct nca_node *node, const struct nca_link *upper, const char *name);

/* Has link nothing below it? */
bool nca_topo_lowest(const struct nca_node *node, const struct nca_link *link);

/* The interfaces that a port stands behind, each once: its netdev, its RoCE LAG and the netdevs of
 * its GIDs. -ENOMEM. Points into the node. */
int nca_topo_netdevs(const struct nca_hca *hca, const struct nca_port *port, struct nca_pool *pool,
		     nca_strs *ret);

/* Does what is sent on link leave through a port of this HCA that stands behind netdevs: by one of
 * these or by its PCI function? lowest is nca_topo_lowest(link), which many questions share. */
bool nca_topo_uses(const struct nca_node *node, const struct nca_link *link, bool lowest,
		   const struct nca_hca *hca, const nca_strs *netdevs);

/* Speed in Mb/s, looked up in the lower devices where the link itself has none, then in the HCA
 * whose netdev it is (of IPoIB and RoCE often only the port's rate is known); -1 unknown. */
int nca_topo_speed(const struct nca_node *node, const struct nca_link *link);

/* How many ports of the bond that a link is, or stands over by VLANs, have a carrier: of one that
 * sends over all of them; -1: there is no such bond, or it is not known. */
int nca_topo_bond_legs(const struct nca_node *node, const struct nca_link *link);

/* The largest RDMA MTU that a netdev's MTU leaves room for. */
int nca_topo_roce_mtu(int mtu);

/* Has the link a port to the outside: not only veth, tunnels and other software below it? */
bool nca_topo_physical(const struct nca_node *node, const struct nca_link *link);

/* The bond, bridge or netvsc device that link is a port of; NULL where it stands for itself (a VRF
 * is no such master). */
const char *nca_topo_master(const struct nca_node *node, const struct nca_link *link);

/* A value of the vital product data, of the HCA or of its PCI function; NULL unknown. */
const char *nca_topo_vpd(const struct nca_node *node, const struct nca_hca *hca, const char *key);

#endif
