/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a failure. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <nca/error.h>

int nca_fail(struct nca_error *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}

int nca_fail_memory(struct nca_error *err)
{
	return nca_fail(err, -ENOMEM, "out of memory");
}

int nca_fail_in(struct nca_error *err, int rc, const char *fmt, ...)
{
	char where[NCA_ERROR_MAX / 2];
	size_t n, keep;
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	vsnprintf(where, sizeof(where) - 2, fmt, ap);
	va_end(ap);
	strcat(where, ": ");
	n = strlen(where);
	keep = strnlen(err->text, sizeof(err->text) - 1 - n);
	memmove(err->text + n, err->text, keep);
	memcpy(err->text, where, n);
	err->text[n + keep] = '\0';
	return rc;
}
