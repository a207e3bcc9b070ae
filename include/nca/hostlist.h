/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's host lists. Pure. */
#ifndef NCA_HOSTLIST_H
#define NCA_HOSTLIST_H

#include <nca/error.h>

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

#endif
