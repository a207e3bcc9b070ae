/* SPDX-License-Identifier: Apache-2.0 */
/* Where a MASTER_ADDR that is a name leads. */
#ifndef NCA_MASTER_NAME_H
#define NCA_MASTER_NAME_H

#include <nca/inventory.h>

/*
 * Where somebody has set MASTER_ADDR to the name of the first node, as `scontrol show hostnames`
 * gives it: notes the address to which it leads as that node's hostname_resolves_to, as seen from
 * here, which is how the other nodes see it. What cannot be found within some two seconds stays
 * unknown. Changes RES_OPTIONS of this process.
 */
void nca_master_name_resolve(struct nca_job *job, struct nca_pool *pool);

#endif
