/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are joined by direct cables. */
#ifndef NCA_MESH_H
#define NCA_MESH_H

#include "rail_keys.h"

/* Is every network of the rails on exactly two of three or more nodes, and has every pair one, or
 * no route to do without? */
bool nca_mesh_is(const struct nca_step *step, const struct nca_rail_table *table);

/* Warns where NCCL may be too old for a mesh, or a pair has no cable; false where RDMA cannot be
 * used. Else notes the length of the subnets for the variables. */
bool nca_mesh_use(struct nca_step *step, const struct nca_rail_table *table);

#endif
