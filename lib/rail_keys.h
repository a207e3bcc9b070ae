/* SPDX-License-Identifier: Apache-2.0 */
/* What makes two ports of two nodes the same rail. */
#ifndef NCA_RAIL_KEYS_H
#define NCA_RAIL_KEYS_H

#include "step.h"

enum nca_rail_key {
	NCA_KEY_NETWORK, /* the IP network of the RoCE GID */
	NCA_KEY_SUBNET,	 /* the InfiniBand subnet prefix; the default fe80::/64 proves nothing */
	NCA_KEY_PCI,	 /* the PCI address: nodes of one model */
	NCA_KEY_NAME,	 /* the verbs name */
	NCA_KEY_ORDINAL, /* the place in the list */
};

/* The key as text; NULL where the port has none of that kind, or memory is short. */
const char *nca_rail_key(struct nca_step *step, const struct nca_node_state *node,
			 const struct nca_port_state *port, enum nca_rail_key kind);

/* NCCL's order since 2.29.7: by PCI path (NCCL_IB_DEVICE_PCI_ORDER); without one by name, numbers
 * as numbers. For qsort() over struct nca_port_state *. */
int nca_rail_compare(const void *a, const void *b);

/* A port that is a rail of its node, by its key. */
struct nca_rail_holder {
	const char *key;
	size_t node;
	struct nca_port_state *port;
};

/* Sorted by key, then by node. */
struct nca_rail_holders {
	struct nca_rail_holder *v;
	size_t n;
};

/* All rails of all nodes. False where one has no key of that kind, or two of a node have the same;
 * short memory is noted in the step. */
bool nca_rail_holders_read(struct nca_step *step, enum nca_rail_key kind,
			   struct nca_rail_holders *ret);

/* Past the last holder of the key at i. */
size_t nca_rail_holders_end(const struct nca_rail_holders *h, size_t i);

/* The first node that does not hold the key at [i, end); how many nodes there are, if all do. */
size_t nca_rail_holders_lacking(const struct nca_rail_holders *h, size_t i, size_t end);

/*
 * Do the keys tell which rail is which? If some are on all nodes. Networks also if there are no
 * more of them than one node has rails: then every rail is known and some are missing somewhere;
 * more than that are networks per node or per rack, which routes join.
 */
bool nca_rail_holders_tell(const struct nca_step *step, const struct nca_rail_holders *h,
			   enum nca_rail_key kind);

/* As many as the node with the most rails has. */
size_t nca_rails_most(const struct nca_step *step);

#endif
