/* SPDX-License-Identifier: Apache-2.0 */
/* Summing up. */
#ifndef NCA_LIB_BLAME_H
#define NCA_LIB_BLAME_H

#include <nca/blame.h>

/* Puts one fault for all rails of a node, and for all nodes of a leaf, in the place of theirs, and
 * sorts. -ENOMEM. */
int nca_blame_sum(const struct nca_tests *tests, struct nca_pool *pool, const nca_faults *found,
		  nca_faults *ret);

#endif
