/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read of one node (document hwdesc/1) and of all nodes of a step (document job/1): plain
 * data.
 *
 * Unknown is NULL, or -1 for numbers and truth values, and never means zero, down or absent. A
 * document and all its parts belong to one pool.
 */
#ifndef NCA_INVENTORY_H
#define NCA_INVENTORY_H

#include <nca/addr.h>
#include <nca/schema.h>

typedef NCA_LIST(char *) nca_strs;
typedef NCA_LIST(int) nca_ints;

struct nca_host {
	char *vendor, *product, *arch;
	int virtual_machine;
};

struct nca_pci {
	char *addr;   /* dddd:bb:dd.f, or hostbridge:dddd:bb */
	char *parent; /* addr of the next bridge, NULL for a host bridge */
	char *kind;   /* hostbridge rootport upstream downstream switch endpoint */
	char *class;  /* 4 hex digits */
	char *vendor, *device, *driver, *physfn;
	int numa;
	double link_gts; /* GT/s per lane */
	int link_width;	 /* lanes */
	double link_gbytes;
	NCA_LIST(struct nca_pair) vpd;
};

struct nca_gpu {
	int index;
	char *pci, *vendor, *device, *model;
	int numa;
};

struct nca_addr {
	char *family; /* inet or inet6 */
	char *addr;
	int prefixlen;
	char *scope; /* global link host */
};

struct nca_bond {
	char *mode;
	int miimon;
	char *xmit_hash_policy, *lacp_rate, *active_slave, *mii_status;
	nca_strs slaves;
};

struct nca_bridge {
	nca_strs ports;
};

struct nca_vlan {
	int id;
};

struct nca_vf {
	int index;
	char *pf;
};

struct nca_link {
	char *name;
	int ifindex;
	char *kind; /* loopback ether bond bridge vlan vxlan veth macvlan infiniband tun dummy */
	int arphrd;
	char *mac; /* of a bond's slave: the permanent one */
	int mtu;
	nca_strs flags;	 /* as `ip link` prints them */
	char *operstate; /* lower case */
	int carrier;
	int speed_mbps;
	char *pci, *driver;
	char *master; /* bond or bridge above */
	char *link;   /* lower device of a VLAN, VXLAN or macvlan */
	NCA_LIST(struct nca_addr) addresses;
	struct nca_bond *bond;
	struct nca_bridge *bridge;
	struct nca_vlan *vlan;
	struct nca_vf *vf;
	nca_strs altnames;
	int bmc_usb;	/* USB network device of the BMC */
	int wireless;	/* a radio: cfg80211 has it */
	int netns_peer; /* veth whose other end is in another namespace */
};

struct nca_gid {
	int index;
	char *gid;  /* 8 groups of 4 hex digits */
	char *type; /* "IB/RoCE v1" or "RoCE v2" */
	char *ndev;
};

struct nca_port {
	int port;
	char *state;	  /* ACTIVE DOWN INIT ARMED */
	char *phys_state; /* LinkUp Polling Disabled */
	char *link_layer; /* InfiniBand Ethernet Unspecified */
	double rate_gbps;
	char *rate; /* sysfs text */
	int max_mtu, active_mtu;
	int lid, sm_lid;
	char *netdev;
	NCA_LIST(struct nca_gid) gids;	    /* populated entries only; unknown: no table was read */
	NCA_LIST(struct nca_pair) counters; /* sysfs ports/N/counters: link_downed */
};

struct nca_lag {
	char *bond;
	nca_strs slaves; /* PCI addresses */
};

struct nca_hca {
	char *name;
	char *pci;
	int numa;
	char *driver;
	char *node_type; /* "1: CA", "4: RNIC", "7: unspecified" */
	char *transport;
	char *vendor_id;
	int vendor_part_id;
	char *hca_type, *board_id, *fw_ver;
	char *node_guid, *sys_image_guid;
	int is_vf;
	char *physfn;
	struct nca_lag *lag;
	int phys_port;
	char *altname;
	NCA_LIST(struct nca_pair) vpd;
	int uverbs_opens;   /* 0: the task cannot open the device node */
	char *uverbs_error; /* why not */
	NCA_LIST(struct nca_port) ports;
};

struct nca_nexthop {
	char *via, *dev;
};

struct nca_route {
	char *family; /* inet or inet6 */
	char *dst;    /* "default" or a prefix */
	char *dev;
	char *table; /* "main", or a number */
	char *gateway;
	int metric;
	char *prefsrc, *scope, *protocol;
	NCA_LIST(struct nca_nexthop) nexthops;
};

struct nca_peer {
	char *name;
	nca_strs addresses;
};

struct nca_firewall_rule {
	char *proto;
	nca_ints ports;
};

struct nca_firewall {
	char *input; /* accept or drop */
	NCA_LIST(struct nca_firewall_rule) accept;
};

struct nca_node {
	char *name;
	struct nca_host *host;
	NCA_LIST(struct nca_pci) pci;
	NCA_LIST(struct nca_gpu) gpus;
	NCA_LIST(struct nca_link) interfaces;
	NCA_LIST(struct nca_hca) hcas;
	NCA_LIST(struct nca_route) routes;
	NCA_LIST(struct nca_peer) peers;
	NCA_LIST(struct nca_row)
	distances; /* device -> PIX PXB PHB NODE SYS (or NULL) per GPU, instead of pci */
	NCA_LIST(struct nca_pair) environment;
	char *environment_origin; /* user, image or nccl.conf */
	int in_container;
	int memlock_kb; /* soft limit of the task; unknown: also without limit */
	NCA_LIST(struct nca_pair) sysctl;
	nca_ints ip_local_port_range; /* first, last */
	char *dev_infiniband;	      /* "absent" */
	char *rdma_netns_mode;
	int tasks_per_node;
	char *nccl_version, *nccl_net_plugin;
	char *hostname_resolves_to;
	nca_ints ports_in_use; /* TCP ports that cannot be bound */
	int rdzv_port;	       /* first of three consecutive TCP ports that were bound just now */
	char *launcher;	       /* command line of the task, where it is a launcher */
	struct nca_firewall *firewall;
	NCA_LIST(struct nca_pair) software;
	char *conf_dir;			   /* where every user may write what all of a job see */
	NCA_LIST(struct nca_pair) site;	   /* pins and variables of the site's file: <nca/pin.h> */
	NCA_LIST(struct nca_pair) unknown; /* what could not be read -> why */
};

struct nca_job {
	char *id;
	int nnodes; /* of the step; more than nodes.n when the job is a sample of it */
	NCA_LIST(struct nca_node)
	nodes; /* in the order of the step's node list; the first runs task 0 */
	NCA_LIST(struct nca_pair) options;
};

extern const struct nca_shape nca_node_shape; /* hwdesc/1 */
extern const struct nca_shape nca_job_shape;  /* job/1 */

extern const struct nca_shape nca_link_shape, nca_addr_shape, nca_bond_shape, nca_bridge_shape,
	nca_vlan_shape, nca_hca_shape, nca_port_shape, nca_gid_shape, nca_pci_shape, nca_gpu_shape,
	nca_route_shape, nca_host_shape;

/* NULL where the node has no such interface or HCA. */
const struct nca_link *nca_node_link(const struct nca_node *node, const char *name);
const struct nca_hca *nca_node_hca(const struct nca_node *node, const char *name);

/* The interface that holds an address, NULL where none does. */
const struct nca_link *nca_node_holder(const struct nca_node *node, const struct nca_ip *ip);

/* Is it known that a TCP port of the node cannot be bound? */
bool nca_node_port_is_taken(const struct nca_node *node, int port);

/* Is text the node's name, with or without a domain? */
bool nca_node_is_named(const struct nca_node *node, const char *text);

/* The value of a key in a list of pairs, NULL where it is not there. */
#define nca_pairs_get(list, key) nca_pairs_find((list).v, (list).n, key)
const char *nca_pairs_find(const struct nca_pair *v, size_t n, const char *key);

#endif
