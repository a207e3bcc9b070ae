/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed readers of small kernel files (sysfs, procfs) below one directory: "/" itself, or a
 * recorded tree that replays another machine.
 *
 * Paths are relative to that directory, without a leading slash. Symbolic links, absolute ones and
 * ".." included, are resolved as if the directory were the root (as in chroot), so that
 * sys/class/net/eth0 -> ../../devices/... is found and nothing outside a recorded tree is ever
 * read. Descriptors are close-on-exec.
 */
#ifndef NCA_SYSROOT_H
#define NCA_SYSROOT_H

#include <limits.h>
#include <sys/types.h>

#include <nca/inventory.h>

/* Opens a file; flags as open(2). The descriptor, or -errno. */
int nca_sysroot_open(int root_fd, const char *path, int flags);

/* The path without symbolic links, relative to the root. 0, or -errno: -ENAMETOOLONG, -ELOOP after
 * 40 links, -ENOENT. */
int nca_sysroot_realpath(int root_fd, const char *path, char ret[PATH_MAX]);

/* Reads at most size - 1 bytes and ends them with '\0'. The number of bytes, or -errno. */
ssize_t nca_sysroot_read(int root_fd, const char *path, char *buf, size_t size);

bool nca_sysroot_exists(int root_fd, const char *fmt, ...) NCA_PRINTF(2, 3);

/* The whole file, at most 4095 bytes, without blanks at its end. NULL with errno where it cannot be
 * read. */
char *nca_sysroot_text(int root_fd, struct nca_pool *pool, const char *fmt, ...) NCA_PRINTF(3, 4);

/* The number that the file holds, decimal or with 0x. -1 where it cannot be read, is none, is
 * negative or is above INT_MAX. */
int nca_sysroot_int(int root_fd, const char *fmt, ...) NCA_PRINTF(2, 3);

/* The last part of what a path resolves to (a driver's name, a device's address). NULL with errno
 * where it does not exist. */
char *nca_sysroot_target(int root_fd, struct nca_pool *pool, const char *fmt, ...) NCA_PRINTF(3, 4);

/* The names in a directory, without those that start with a dot, in version order (mlx5_2 before
 * mlx5_10). 0, or -errno with *ret as it was. */
int nca_sysroot_list(int root_fd, struct nca_pool *pool, nca_strs *ret, const char *fmt, ...)
	NCA_PRINTF(4, 5);

#endif
