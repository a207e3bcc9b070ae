/* SPDX-License-Identifier: Apache-2.0 */
/* What makes two ports of two nodes the same rail. */
#ifndef NCA_RAIL_KEYS_H
#define NCA_RAIL_KEYS_H

#include "step.h"

enum nca_rail_key_kind {
	NCA_KEY_PLACE,	 /* the place in the site's rail-hca= */
	NCA_KEY_NETWORK, /* the IP network of the RoCE GID */
	NCA_KEY_SUBNET,	 /* the InfiniBand subnet prefix; the default fe80::/64 proves nothing */
	NCA_KEY_PCI,	 /* the PCI address: nodes of one model */
	NCA_KEY_NAME,	 /* the verbs name */
	NCA_KEY_ORDINAL, /* the place in the list: no key at all */
};

/* Equal in all: the same rail. */
struct nca_rail_key {
	struct nca_prefix net; /* of NETWORK and SUBNET */
	const char *text;      /* of PCI and NAME */
	int port;	       /* or the place */
};

/* False where the port has no key of that kind. */
bool nca_rail_key_read(const struct nca_step *step, const struct nca_port_state *port,
		       enum nca_rail_key_kind kind, struct nca_rail_key *ret);
bool nca_rail_key_same(const struct nca_rail_key *a, const struct nca_rail_key *b);

/* "10.1.0.0/16", "0000:18:00.0"; NULL where memory is short. */
const char *nca_rail_key_text(struct nca_step *step, const struct nca_rail_key *key);

/* NCCL's order since 2.29.7: by PCI path (NCCL_IB_DEVICE_PCI_ORDER); without one by name, numbers
 * as numbers. For qsort() over struct nca_port_state *. */
int nca_rail_compare(const void *a, const void *b);

/* The site's order where it pins one, else NCCL's. */
int nca_rail_compare_pinned(const void *a, const void *b);

/* One rail: the port of every node that has it. */
struct nca_rail {
	struct nca_rail_key key;
	struct nca_port_state **port; /* by node, NULL where it has none */
	size_t n;		      /* nodes that have it */
};

/* The rails of a step, those of the first node first, in its order. */
struct nca_rail_table {
	enum nca_rail_key_kind kind;
	NCA_LIST(struct nca_rail) rails;
};

/*
 * All rails of all nodes. False where a port has no key of that kind, where two of a node have the
 * same, or where there are so many that they are keys of nodes or racks, not of rails; short memory
 * is noted in the step.
 */
bool nca_rail_table_read(struct nca_step *step, enum nca_rail_key_kind kind,
			 struct nca_rail_table *ret);

/*
 * Do the keys tell which rail is which? If some are on all nodes. Networks also if there are no
 * more of them than one node has rails: then every rail is known and some are missing somewhere;
 * more than that are networks per node or per rack, which routes join.
 */
bool nca_rail_table_tells(const struct nca_step *step, const struct nca_rail_table *table);

/* The port of a node that has a key, whatever is decided of it; NULL: none. */
const struct nca_port_state *nca_rail_find(const struct nca_step *step,
					   const struct nca_node_state *node,
					   const struct nca_rail_key *key,
					   enum nca_rail_key_kind kind);

/* As many as the node with the most rails has. */
size_t nca_rails_most(const struct nca_step *step);

/* Have all nodes as many rails? */
bool nca_rails_equal(const struct nca_step *step);

/* The first node that lacks a rail, which some node does. */
size_t nca_rail_lacking(const struct nca_rail *rail);

/*
 * The kind of key by which the rails of the nodes are matched, and all rails by it. *sick: some
 * node lacks a rail that it should have, whether the keys tell which or not.
 */
enum nca_rail_key_kind nca_rail_choose_kind(struct nca_step *step, struct nca_rail_table *table,
					    bool *sick);

/* Names the nodes that lack a rail, and why, in one warning per cause. */
void nca_rail_warn(struct nca_step *step, const struct nca_rail *rail, enum nca_rail_key_kind kind);

/* Takes ports back that a preference left out: what is a front end here and a rail of most others;
 * and, where the rails of two nodes do not meet, those of networks that all nodes have, some as a
 * rail. True: some are open again. */
bool nca_rails_rejoin(struct nca_step *step);

#endif
