/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes have not reported. */
#ifndef NCA_MISSING_H
#define NCA_MISSING_H

#include <nca/hub.h>

/*
 * Writes the text for a gathering that ran out of time: how many nodes reported, and the names of
 * the others, as far as `scontrol show hostnames` expands the node list that a report carries.
 */
void nca_missing_name(const struct nca_hub *hub, int seconds, struct nca_error *err);

#endif
