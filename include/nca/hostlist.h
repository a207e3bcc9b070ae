/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's host lists. Pure. */
#ifndef NCA_HOSTLIST_H
#define NCA_HOSTLIST_H

#include <nca/error.h>
#include <nca/pool.h>

/*
 * Is the name one of the list, "gpu[001-064,070],login1" or "rack[0-3]n[1-8]"? Numbers match as
 * Slurm writes them: a range whose first number has leading zeros has numbers of that width
 * (slurm: src/common/hostlist.c). "ALL" holds every name. A list that nca_hostlist_check() refuses
 * holds none.
 */
bool nca_hostlist_has(const char *list, const char *name);

/* -EINVAL with a text that names the part which is not a host list: an empty part, a bracket that
 * does not close, a range that is none. */
int nca_hostlist_check(const char *list, struct nca_error *err);

/*
 * "node3,node7,node[9-11]": runs of three and more are one range, as Slurm reads it. Names and
 * ranges beyond max are counted ("and 5 more"); 0: no limit. NULL where memory is short.
 */
char *nca_hostlist_make(struct nca_pool *pool, const char *const *names, size_t n, size_t max);

#endif
