/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch script, or a task, learns of its nodes. */
#ifndef NCA_BATCH_H
#define NCA_BATCH_H

#include <nca/plan.h>
#include <nca/preflight.h>

struct nca_batch {
	const char *words;		 /* as --nccl-autoconf= takes them */
	const char *nodes;		 /* as srun's -w takes them */
	const char *nnodes;		 /* how many they are */
	int say;			 /* where the step's messages go: a descriptor */
	struct nca_pool *pool;		 /* of what comes back: */
	struct nca_job *job;		 /* NULL: the nodes did not agree */
	struct nca_plan *plan;		 /* likewise */
	struct nca_preflight *preflight; /* NULL: none was made */
};

/* All nodes of the job that this process is part of. -ENOENT: of none. */
int nca_batch_job(struct nca_batch *b, struct nca_error *err);

/* Those of the step that this process is a task of, else all of the job. -ENOENT: no job. */
int nca_batch_step(struct nca_batch *b, struct nca_error *err);

/*
 * Lets the nodes agree, by a short step of one task per node, and reads what was agreed. -EIO: they
 * did not agree, or agreed on something that the step was not started with, which is read then too;
 * what was said about it went to b->say. -errno. Changes this process's environment:
 * nca_inherited_forget().
 */
int nca_batch_agree(struct nca_batch *b, struct nca_error *err);

#endif
