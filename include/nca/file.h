/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files. */
#ifndef NCA_FILE_H
#define NCA_FILE_H

#include <stddef.h>

#include <nca/error.h>

/*
 * The whole of a file, with a NUL behind it that len does not count, which the caller frees; "-" is
 * standard input. -errno, -EFBIG above 256 MiB.
 */
int nca_file_read(const char *path, char **ret, size_t *len, struct nca_error *err);

/* Makes or replaces a file that holds a text. -errno with the path in the error's text. */
int nca_file_write(const char *path, const char *text, struct nca_error *err);

#endif
