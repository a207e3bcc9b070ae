/* SPDX-License-Identifier: Apache-2.0 */
/* The file that NCCL_CONF_FILE names on a node. */
#ifndef NCA_NCCL_CONF_H
#define NCA_NCCL_CONF_H

#include <nca/inventory.h>

/*
 * Writes the lines to path, and behind them what the user's own file holds (NULL: there is none;
 * NCCL takes the first line that names a variable), in a directory of the user's that is made for
 * it. A file of the same name is replaced as a whole, since a process may be reading it. -EPERM:
 * the directory is somebody else's; -errno.
 */
int nca_nccl_conf_write(const char *path, const nca_strs *lines, const char *user,
			struct nca_error *err);

/* Removes file and directory, silently. */
void nca_nccl_conf_remove(const char *path);

#endif
