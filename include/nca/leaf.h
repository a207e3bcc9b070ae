/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf switch of a node, as Slurm's topology plugin names it. Pure. */
#ifndef NCA_LEAF_H
#define NCA_LEAF_H

#include <nca/pool.h>

/*
 * From what slurmstepd sets for tasks (22.05 and 24.11, topology/tree): SLURM_TOPOLOGY_ADDR, as
 * "s0.s1.node1", and SLURM_TOPOLOGY_ADDR_PATTERN, as "switch.switch.node". A node on several leaves
 * has them as one hostlist: "s[1-2]". NULL: not known, as without a topology, where the node's name
 * is all, or in one of blocks; or memory is short.
 */
char *nca_leaf_name(const char *addr, const char *pattern, struct nca_pool *pool);

#endif
