/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's decision: plan, let the nodes test it, plan again without what failed. */
#ifndef NCA_DECIDE_H
#define NCA_DECIDE_H

#include <nca/hub.h>
#include <nca/preflight.h>

#include "order.h"

struct nca_decide {
	struct nca_hub *hub;
	const struct nca_order *order;
	struct nca_pool *pool;
	struct nca_job *job;		 /* set by nca_decide_run() */
	struct nca_plan *plan;		 /* likewise */
	struct nca_preflight *preflight; /* by nca_decide_check(); NULL: nobody asked, no RDMA */
	nca_bans bans;
};

/*
 * Needs one report of every node. 0 with job and plan; a plan whose test failed to the last is a
 * warning "unreachable" and has verdict refuse. -errno: a node is lost (the text names it), srun
 * has ended, or memory is short.
 */
int nca_decide_run(struct nca_decide *d, struct nca_error *err);

/* After it, where the order asks for a check: tests RDMA, makes the plan anew without what failed,
 * and adds what was found to its warnings. Errors likewise. */
int nca_decide_check(struct nca_decide *d, struct nca_error *err);

/* A message's payload, in the pool. NULL when memory is short. */
char *nca_decide_print(const struct nca_shape *shape, const void *object, struct nca_pool *pool);

#endif
