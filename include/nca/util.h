/* SPDX-License-Identifier: Apache-2.0 */
/* Small helpers that every file may use; header only, libc only. */
#ifndef NCA_UTIL_H
#define NCA_UTIL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define NCA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

static inline bool streq(const char *a, const char *b)
{
	return a == b || strcmp(a, b) == 0;
}

/* As streq(), for strings that may be unknown: NULL equals nothing, not even NULL. */
static inline bool nca_same(const char *a, const char *b)
{
	return a && b && streq(a, b);
}

static inline bool nca_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static inline void nca_free_cleanup(void *p)
{
	free(*(void **)p);
}

static inline void nca_close_cleanup(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Freed, or closed where not -1, at the end of the scope. */
#define nca_autofree __attribute__((cleanup(nca_free_cleanup)))
#define nca_autoclose __attribute__((cleanup(nca_close_cleanup)))

/* The value of the descriptor, which the scope then no longer closes. */
static inline int nca_steal_fd(int *fd)
{
	int ret = *fd;

	*fd = -1;
	return ret;
}

#endif
