/* SPDX-License-Identifier: Apache-2.0 */
/* The site's configuration file, where it lies. */
#ifndef NCA_CONF_FILE_H
#define NCA_CONF_FILE_H

#include <nca/conf.h>

/*
 * Reads the file, and says a warning for each bad line. path NULL: /etc/nccl-autoconf.conf below
 * the directory sysroot (NULL: this machine's), which need not exist; one that was named must, or a
 * warning says that it is ignored. -ENOMEM.
 */
int nca_conf_read(const char *path, const char *sysroot, struct nca_pool *pool,
		  struct nca_conf *ret, struct nca_error *err);

#endif
