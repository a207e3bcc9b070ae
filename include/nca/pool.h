/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool owns everything that belongs to one document (a snapshot, a job, a plan): pieces are taken
 * one by one and freed together, so that a half-built document needs no clean-up of its own.
 */
#ifndef NCA_POOL_H
#define NCA_POOL_H

#include <nca/util.h>

struct nca_pool;

/* NULL when memory is short. */
struct nca_pool *nca_pool_new(void);

/* Frees the pool and all that was taken from it; NULL is allowed. */
void nca_pool_free(struct nca_pool *pool);

/* Zeroed memory, aligned for any type; at least one byte, so that an empty list is not NULL. NULL
 * when memory is short.
 */
void *nca_pool_alloc(struct nca_pool *pool, size_t size);

/* Copies of strings; NULL in gives NULL out. */
char *nca_pool_strdup(struct nca_pool *pool, const char *s);
char *nca_pool_strndup(struct nca_pool *pool, const char *s, size_t n);

/* As nca_pool_strdup(), but a string that the pool was lately asked for is mostly given again, for
 * words that repeat: so a large job is small, and streq() need not look into it. Nobody may change
 * the string. */
char *nca_pool_share(struct nca_pool *pool, const char *s);

/* A formatted string, of any length. NULL when memory is short. */
char *nca_pool_printf(struct nca_pool *pool, const char *fmt, ...) NCA_PRINTF(2, 3);

/*
 * Makes room for one more element at the end of a list of *n elements of the given size and counts
 * it. The list may move; the new element is zeroed. Returns the element, or NULL when memory is
 * short, with list and *n as they were.
 */
void *nca_pool_append(struct nca_pool *pool, void *list, size_t *n, size_t size);

static inline void nca_pool_cleanup(struct nca_pool **pool)
{
	nca_pool_free(*pool);
}

#define nca_autopool __attribute__((cleanup(nca_pool_cleanup)))

#endif
