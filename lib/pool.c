/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include <nca/pool.h>

#define CHUNK_SIZE ((size_t)16384)

/*
 * A pool that has become so large grows in huge pages, where the kernel has them: the plan of
 * 10,000 nodes is 80 MB, and taking them page by page costs more than it should.
 */
#define BIG_FROM ((size_t)8 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define BIG_CHUNK (4 * HUGE_PAGE)

/* Strings to share: above the few hundred words that the nodes of a job have in common. */
#define WORDS 1024

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	max_align_t data[];
};

struct nca_pool {
	struct chunk *chunks;
	size_t total;
	char **words; /* WORDS of them by hash, NULL until the first is asked for */
};

struct nca_pool *nca_pool_new(void)
{
	return calloc(1, sizeof(struct nca_pool));
}

void nca_pool_free(struct nca_pool *pool)
{
	if (!pool)
		return;
	while (pool->chunks) {
		struct chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
	free(pool);
}

static struct chunk *make_big(void)
{
	struct chunk *c = aligned_alloc(HUGE_PAGE, BIG_CHUNK);

	if (!c)
		return NULL;
	madvise(c, BIG_CHUNK, MADV_HUGEPAGE);
	return memset(c, 0, BIG_CHUNK);
}

static struct chunk *add_chunk(struct nca_pool *pool, size_t size)
{
	bool big = pool->total >= BIG_FROM && size == CHUNK_SIZE;
	struct chunk *c = big ? make_big() : calloc(1, sizeof(*c) + size);

	if (!c)
		return NULL;
	c->size = big ? BIG_CHUNK - sizeof(*c) : size;
	pool->total += c->size;
	c->next = pool->chunks;
	pool->chunks = c;
	return c;
}

void *nca_pool_alloc(struct nca_pool *pool, size_t size)
{
	struct chunk *c = pool->chunks;
	char *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + !size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!c || c->size - c->used < size)
		c = add_chunk(pool, size > CHUNK_SIZE ? size : CHUNK_SIZE);
	if (!c)
		return NULL;
	p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

char *nca_pool_strndup(struct nca_pool *pool, const char *s, size_t n)
{
	char *p;

	if (!s)
		return NULL;
	n = strnlen(s, n);
	p = nca_pool_alloc(pool, n + 1);
	if (p)
		memcpy(p, s, n);
	return p;
}

char *nca_pool_strdup(struct nca_pool *pool, const char *s)
{
	return s ? nca_pool_strndup(pool, s, strlen(s)) : NULL;
}

static size_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return (h ^ h >> 16) % WORDS;
}

char *nca_pool_share(struct nca_pool *pool, const char *s)
{
	char **word;

	if (!s)
		return NULL;
	if (!pool->words)
		pool->words = nca_pool_alloc(pool, WORDS * sizeof(*pool->words));
	if (!pool->words)
		return NULL;
	word = &pool->words[hash(s)];
	if (!*word || !streq(*word, s))
		*word = nca_pool_strdup(pool, s);
	return *word;
}

char *nca_pool_printf(struct nca_pool *pool, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = n < 0 ? NULL : nca_pool_alloc(pool, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

/* A list of n elements has room for the next power of two, at least four: n alone tells when it is
 * full. */
static bool is_full(size_t n)
{
	return n == 0 || (n >= 4 && (n & (n - 1)) == 0);
}

void *nca_pool_append(struct nca_pool *pool, void *list, size_t *n, size_t size)
{
	char *base;

	memcpy(&base, list, sizeof(base));
	if (is_full(*n)) {
		char *bigger = nca_pool_alloc(pool, (*n < 4 ? 4 : *n * 2) * size);

		if (!bigger)
			return NULL;
		if (*n)
			memcpy(bigger, base, *n * size);
		base = bigger;
		memcpy(list, &base, sizeof(base));
	}
	return base + (*n)++ * size;
}
