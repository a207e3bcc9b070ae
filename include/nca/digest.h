/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot without what no rule reads: what a node sends. Pure. */
#ifndef NCA_DIGEST_H
#define NCA_DIGEST_H

#include <nca/inventory.h>

/*
 * Puts what rules read of the PCI tree where a digest carries it: distances between HCAs and GPUs,
 * vital product data. Encoding the node with NCA_DIGEST then leaves the tree out, and planning the
 * digest gives the plan of the snapshot. -ENOMEM.
 */
int nca_digest_prepare(struct nca_node *node, struct nca_pool *pool);

#endif
