/* SPDX-License-Identifier: Apache-2.0 */
/* An agent's part in the preflight. */
#ifndef NCA_AGENT_PING_H
#define NCA_AGENT_PING_H

#include "agent.h"

/* Is it a message of the preflight: OPEN, LINK or PING? */
bool nca_agent_pings(uint32_t type);

/* Does what it says and answers. What is opened is a->pinger, the caller's to close with the next
 * other message. */
int nca_agent_ping(struct nca_agent *a, const struct nca_frame *f, struct nca_error *err);

#endif
