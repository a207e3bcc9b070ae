/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several fabrics the step uses, and how a choice among the ports of a node is made. */
#ifndef NCA_FABRIC_H
#define NCA_FABRIC_H

#include "step.h"

typedef bool (*nca_keep_fn)(const struct nca_node_state *node, const struct nca_port_state *p);

/* Rejects the candidates of a node that are not to be kept, unless that leaves none. */
void nca_ports_keep(struct nca_step *step, struct nca_node_state *node, enum nca_rule rule,
		    nca_keep_fn keep);

/*
 * One link layer for the step, if all nodes have it: InfiniBand, unless Ethernet is next to the
 * GPUs and InfiniBand is not, or has both more and faster ports. Warns where the better one is
 * missing on a minority of the nodes.
 */
void nca_fabric_choose_layer(struct nca_step *step);

/* RoCE v1 ports where all nodes have nothing else, in one network; else the others. */
void nca_fabric_choose_version(struct nca_step *step);

/* RoCE ports whose addresses are link-local only where no node has others: then one wire or switch
 * may join them. */
void nca_fabric_choose_routable(struct nca_step *step);

/* InfiniBand subnets (the upper half of GID 0) that all nodes have; none: no port is left. Nothing
 * is done where a port's is not known, or where a FLID shows that routers join them
 * (src/transport/net_ib/connect.cc, since 2.22.3). */
void nca_fabric_choose_subnets(struct nca_step *step);

/* Of several that all nodes have, the one with the most ports, where no distance to the GPUs tells
 * and one has more than each other. Where the prefixes are equal or not known, subnets are told by
 * their SM LIDs. */
void nca_fabric_choose_largest(struct nca_step *step);

/* Is it no front end: the default route does not leave over it, or a GPU would have no HCA without
 * it? */
bool nca_port_is_no_front_end(const struct nca_node_state *node, const struct nca_port_state *p);

/*
 * What is the front end of most nodes may be all that one node has. Where that meets the front end
 * of another node and none of its other ports, these two have no other rail: it is one again.
 */
void nca_front_end_settle(struct nca_step *step);

/* Is a port of the model, or of InfiniBand without IP, of which there are equally many for each
 * GPU, where the others are few and cannot be shared out? False for all where a port is next to a
 * GPU, which tells more. */
bool nca_port_is_of_gpus_model(const struct nca_node_state *node, const struct nca_port_state *p);
bool nca_port_is_without_ip(const struct nca_node_state *node, const struct nca_port_state *p);

#endif
