/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's preflight: lets the nodes test RDMA over the rails of the plan. */
#ifndef NCA_WRAPPER_PREFLIGHT_H
#define NCA_WRAPPER_PREFLIGHT_H

#include "decide.h"

/*
 * Tests the plan, whose nodes can meet, and adds the result to d->preflight and what is dead to
 * d->bans. A plan without rails that we can test leaves both as they are. -errno, as nca_hub_ask().
 */
int nca_preflight_run(struct nca_decide *d, struct nca_error *err);

/* What was found as warnings of the final plan. -ENOMEM. */
int nca_preflight_tell(struct nca_decide *d, struct nca_error *err);

#endif
