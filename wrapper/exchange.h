/* SPDX-License-Identifier: Apache-2.0 */
/* One node's whole part: probe, report, answer the hub, and the records for the tasks of the node.
 */
#ifndef NCA_EXCHANGE_H
#define NCA_EXCHANGE_H

#include "agent.h"
#include "agent_input.h"

/*
 * Runs the exchange with the hub and writes what the tasks must do as records (nca/launch.h) to
 * out; where it failed that is one NCA_TASK_SAY with the reason. The ports that were tested are
 * free when it returns. The agent must be closed with nca_exchange_end().
 *
 * Changes HWLOC_ variables of the process: not for one that becomes the user's program.
 */
void nca_exchange_run(const struct nca_agent_input *in, struct nca_agent *a, char *out,
		      size_t size);

/* Does this node hold the step's rendezvous port, or a file that ends with the step, so that the
 * agent must stay until the hub ends, or SIGTERM ends it? */
bool nca_exchange_stays(const struct nca_agent *a);

void nca_exchange_end(struct nca_agent *a);

#endif
