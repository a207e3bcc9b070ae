/* SPDX-License-Identifier: Apache-2.0 */
#include <nca/leaf.h>
#include <nca/util.h>

/* The end of the word before the last; NULL: there is one word at most. */
static const char *cut_last(const char *words)
{
	return words ? strrchr(words, '.') : NULL;
}

/* From there back to the dot before, or to the beginning. */
static const char *begin_of(const char *words, const char *end)
{
	while (end > words && end[-1] != '.')
		end--;
	return end;
}

static size_t count(const char *words)
{
	size_t n = 1;

	for (; *words; words++)
		n += *words == '.';
	return n;
}

char *nca_leaf_name(const char *addr, const char *pattern, struct nca_pool *pool)
{
	const char *end = cut_last(addr), *kind_end = cut_last(pattern), *name, *kind;

	/* A dot in a name would shift what follows. */
	if (!end || !kind_end || count(addr) != count(pattern))
		return NULL;
	name = begin_of(addr, end);
	kind = begin_of(pattern, kind_end);
	if (name == end || !nca_has_prefix(kind, "switch."))
		return NULL;
	return nca_pool_strndup(pool, name, (size_t)(end - name));
}
