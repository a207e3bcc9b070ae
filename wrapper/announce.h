/* SPDX-License-Identifier: Apache-2.0 */
/* What the hub says of its decision. */
#ifndef NCA_ANNOUNCE_H
#define NCA_ANNOUNCE_H

#include "decide.h"

/* What becomes of the step: it gets its variables, runs as without us, or is not started. */
enum nca_ending { NCA_ENDING_INJECT, NCA_ENDING_LEAVE, NCA_ENDING_STOP };

/* The summary, the warnings, what a preflight saw besides, and the ending where it is not the
 * usual one; on standard error. */
void nca_announce(const struct nca_decide *d, enum nca_ending ending);

#endif
