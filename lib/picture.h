/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn of a node, and where. */
#ifndef NCA_PICTURE_ITEMS_H
#define NCA_PICTURE_ITEMS_H

#include <nca/plan.h>

struct nca_item {
	const char *name, *value, *note; /* bold; at the right; below, small */
	const char *tip;		 /* the whole decision */
	bool chosen, down;
	int numa, y, indent;
	/* One of these. */
	size_t gpu; /* place in the node's list */
	const struct nca_hca *hca;
	const struct nca_port *port;
	nca_strs netdevs; /* behind which the port stands */
	const struct nca_link *link;
};

typedef NCA_LIST(struct nca_item) nca_items;

/* The devices of one NUMA node: a band over both columns. */
struct nca_band {
	int numa, y, height;
};

struct nca_items_of {
	nca_items gpus, ports, links;
	NCA_LIST(struct nca_band) bands;
	int bottom;
};

/* Height of a row, and of the box in it. */
#define NCA_ROW 42
#define NCA_BOX 34

/* All devices of a node with their places, the first at y = top. -ENOMEM. */
int nca_items_place(const struct nca_node *node, const struct nca_plan_node *plan, int top,
		    struct nca_pool *pool, struct nca_items_of *ret);

#endif
