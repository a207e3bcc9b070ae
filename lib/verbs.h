/* SPDX-License-Identifier: Apache-2.0 */
/* What only an open HCA tells. */
#ifndef NCA_VERBS_H
#define NCA_VERBS_H

#include <infiniband/verbs.h>

#include "probe_parts.h"

/* In bytes; -1: unknown, which is 0. */
static inline int nca_verbs_mtu(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : -1;
}

/*
 * Opens the device node of an HCA below the root and closes it again. 0, or -errno with the path
 * and the reason in *why, which is NULL only where memory is short.
 */
int nca_uverbs_try(int root_fd, struct nca_pool *pool, const char *hca, char **why);

/*
 * Fills max_mtu, active_mtu and the GID table of every HCA whose device node opens. Where none
 * does, libibverbs is not called: its first call loads every provider. A device node that does not
 * open must not reach ibv_open_device(), which then waits 5.2 s for udev (rdma-core,
 * util/open_cdev.c). 0 or -ENOMEM.
 */
int nca_verbs_fill(const struct nca_probe *p);

#endif
