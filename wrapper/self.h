/* SPDX-License-Identifier: Apache-2.0 */
/* This process and its machine. */
#ifndef NCA_SELF_H
#define NCA_SELF_H

#include <nca/inventory.h>

/* The memory lock limit as nca_source takes it: bytes, or "unlimited"; NULL where it cannot be
 * read or does not count. May point into buf. */
const char *nca_self_memlock(char *buf, size_t size);

/*
 * Probes this machine, or the recorded tree at sysroot (NULL: none), with this process's
 * environment and limits in the place of a task's. Changes HWLOC_ variables of the process. -errno
 * with the text.
 */
int nca_self_probe(const char *sysroot, struct nca_pool *pool, struct nca_node **ret,
		   struct nca_error *err);

#endif
