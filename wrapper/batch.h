/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch script learns of its nodes. */
#ifndef NCA_BATCH_H
#define NCA_BATCH_H

#include <nca/plan.h>

/*
 * Lets all nodes of the allocation agree, by a short step of one task per node, and reads what was
 * agreed. words: as --nccl-autoconf= takes them. -ENOENT: not inside a job; -EIO: the nodes did not
 * agree, and what was said about it stands on standard error; -errno.
 */
int nca_batch_agree(const char *words, struct nca_pool *pool, struct nca_job **job,
		    struct nca_plan **plan, struct nca_error *err);

#endif
