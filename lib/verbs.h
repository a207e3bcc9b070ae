/* SPDX-License-Identifier: Apache-2.0 */
/* What only an open HCA tells. */
#ifndef NCA_VERBS_H
#define NCA_VERBS_H

#include "probe_parts.h"

/*
 * Fills max_mtu, active_mtu and the GID table of every HCA whose device node opens. Where none
 * does, libibverbs is not called: its first call loads every provider. A device node that does not
 * open must not reach ibv_open_device(), which then waits 5.2 s for udev (rdma-core,
 * util/open_cdev.c). 0 or -ENOMEM.
 */
int nca_verbs_fill(const struct nca_probe *p);

#endif
