/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a probe, in the order in which nca_probe() calls them. Each fills its own fields of
 * the node and returns 0, or -ENOMEM; what cannot be read is left unknown with a note.
 */
#ifndef NCA_PROBE_PARTS_H
#define NCA_PROBE_PARTS_H

#include <nca/probe.h>
#include <nca/sysroot.h>

struct nlattr;

struct nca_probe {
	const struct nca_source *src;
	struct nca_pool *pool;
	struct nca_node *node;
};

/* Bytes of a netlink dump: messages one after the other. */
struct nca_dump {
	void *data;
	size_t len;
};

/* host, sysctl, software and the limits. */
int nca_probe_host(const struct nca_probe *p);

/* Of this process, by files below the root: 1 in a container, 0 surely not, -1 unknown, as where it
 * has namespaces of its own. */
int nca_probe_container(int root_fd);

/* environment and its origin: "user" as soon as one variable is the task's own. */
int nca_probe_environment(const struct nca_probe *p);

/* interfaces[] and routes[]: asks the kernel, or reads the recorded answers. */
int nca_probe_network(const struct nca_probe *p);

/* RTM_NEWLINK, RTM_NEWADDR and RTM_NEWROUTE messages into interfaces[], their addresses[], and
 * routes[] of one family (AF_INET, AF_INET6). In this order: the later ones need the names.
 * Messages of other types are passed over. Pure. */
int nca_links_parse(const struct nca_probe *p, const struct nca_dump *links);
int nca_addrs_parse(const struct nca_probe *p, const struct nca_dump *addrs);
int nca_routes_parse(const struct nca_probe *p, const struct nca_dump *routes, int family);

/* What only sysfs knows of interfaces[]: speed, PCI device, driver, function. */
int nca_probe_netdevs(const struct nca_probe *p);

/* hcas[]; needs interfaces[]. */
int nca_probe_hcas(const struct nca_probe *p);

/* sysctl "arp_ignore/NAME" of the interfaces of RoCE ports where it is not zero; needs hcas[]. */
int nca_probe_arp(const struct nca_probe *p);

/* ports[] of one HCA without their GIDs. */
int nca_probe_ports(const struct nca_probe *p, struct nca_hca *hca);

/* The GID tables that are still unknown, one file for each entry: slow, so verbs go first. */
int nca_probe_gids(const struct nca_probe *p, struct nca_hca *hca);

/* What follows from interfaces[] and hcas[] together: a port's netdev, MTU and rate, and LAG. */
int nca_probe_port_netdevs(const struct nca_probe *p, struct nca_hca *hca);

/* gpus[] and pci[]; needs hcas[]. */
int nca_probe_gpus(const struct nca_probe *p);
int nca_probe_pci(const struct nca_probe *p);

/* Notes why something is unknown; the path is printed. 0 or -ENOMEM. */
int nca_probe_note(const struct nca_probe *p, const char *why, const char *fmt, ...)
	NCA_PRINTF(3, 4);

/* The interface of that number, NULL where there is none. */
struct nca_link *nca_probe_link(const struct nca_probe *p, int ifindex);

/* An address as text; NULL where the attribute is missing or too short. */
char *nca_addr_text(struct nca_pool *pool, int family, const struct nlattr *a);

/* The PCI address dddd:bb:dd.f of the innermost PCI device in a path below sys/devices: of a
 * virtio, auxiliary (sub-function) or USB device its parent's. NULL where there is none, or when
 * memory is short. */
char *nca_pci_of_path(struct nca_pool *pool, const char *path);

/* As nca_pci_of_path(), of a device link such as sys/class/net/eth0/device. */
char *nca_probe_pci_of(const struct nca_probe *p, const char *fmt, ...) NCA_PRINTF(2, 3);

#endif
