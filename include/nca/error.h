/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One text for each failure, written by the first function that knows what went wrong.
 *
 * Functions return 0 or -errno and take a struct nca_error, owned by the caller, that may be NULL.
 * Callers add where it happened with nca_fail_in() and never write a second text.
 */
#ifndef NCA_ERROR_H
#define NCA_ERROR_H

#include <nca/util.h>

#define NCA_ERROR_MAX 1024

struct nca_error {
	char text[NCA_ERROR_MAX];
};

/* Writes the text, cut at NCA_ERROR_MAX - 1 bytes, and returns rc, so that a failure is one
 * statement. */
int nca_fail(struct nca_error *err, int rc, const char *fmt, ...) NCA_PRINTF(3, 4);

/* The one text for memory that is short; returns -ENOMEM. */
int nca_fail_memory(struct nca_error *err);

/* Puts "context: " before the text that is there, and returns rc. */
int nca_fail_in(struct nca_error *err, int rc, const char *fmt, ...) NCA_PRINTF(3, 4);

#endif
