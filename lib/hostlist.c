/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's host lists. */
#include <errno.h>

#include <nca/hostlist.h>

#define DIGITS "0123456789"

/* Above what Slurm takes, below what a long holds. */
#define DIGITS_MAX 9

/* Up to the comma that ends a part, of a list or inside brackets. */
static size_t part_length(const char *s, const char *end)
{
	const char *p = s;
	int depth = 0;

	for (; p < end && (depth || *p != ','); p++)
		depth += (*p == '[') - (*p == ']');
	return (size_t)(p - s);
}

struct range {
	long first, last;
	size_t width;
};

/* "7" or "001-064". */
static bool read_range(const char *s, size_t len, struct range *ret)
{
	size_t n = strspn(s, DIGITS), m = 0;

	if (n < len && s[n] == '-')
		m = strspn(s + n + 1, DIGITS);
	if (!n || n > DIGITS_MAX || m > DIGITS_MAX || len != n + (m ? m + 1 : 0))
		return false;
	*ret = (struct range){strtol(s, NULL, 10), strtol(s + (m ? n + 1 : 0), NULL, 10), n};
	return ret->first <= ret->last;
}

static size_t width_of(long value)
{
	size_t n = 1;

	while (value /= 10)
		n++;
	return n;
}

/* Is the number in name[0..len) in one of the ranges, written as they write it? */
static bool ranges_have(const char *s, const char *end, const char *name, size_t len)
{
	char digits[DIGITS_MAX + 1];
	struct range r;
	long value;

	memcpy(digits, name, len);
	digits[len] = '\0';
	value = strtol(digits, NULL, 10);
	while (s < end) {
		size_t n = part_length(s, end), width = width_of(value);

		if (read_range(s, n, &r) && value >= r.first && value <= r.last &&
		    len == (width > r.width ? width : r.width))
			return true;
		s += n + 1;
	}
	return false;
}

/* One part of a list. Numbers can stand side by side, so every length is tried. */
static bool part_matches(const char *s, const char *end, const char *name)
{
	const char *close;
	size_t len, digits;

	for (; s < end && *s != '['; s++, name++)
		if (*s != *name)
			return false;
	if (s == end)
		return !*name;
	close = memchr(s, ']', (size_t)(end - s));
	digits = strspn(name, DIGITS);
	for (len = 1; close && len <= digits && len <= DIGITS_MAX; len++)
		if (ranges_have(s + 1, close, name, len) &&
		    part_matches(close + 1, end, name + len))
			return true;
	return false;
}

bool nca_hostlist_has(const char *list, const char *name)
{
	const char *end = list + strlen(list);

	if (streq(list, "ALL"))
		return true;
	while (list < end) {
		size_t n = part_length(list, end);

		if (n && part_matches(list, list + n, name))
			return true;
		list += n + 1;
	}
	return false;
}

static bool part_is_good(const char *s, const char *end)
{
	struct range r;

	if (s == end)
		return false;
	for (; s < end; s++) {
		const char *close = *s == '[' ? memchr(s, ']', (size_t)(end - s)) : NULL;

		if (*s == ']' || (*s == '[' && !close) || *s == ' ')
			return false;
		if (!close)
			continue;
		do {
			size_t n = part_length(++s, close);

			if (!read_range(s, n, &r))
				return false;
			s += n;
		} while (s < close);
	}
	return true;
}

int nca_hostlist_check(const char *list, struct nca_error *err)
{
	const char *end = list + strlen(list), *s = list;

	do {
		size_t n = part_length(s, end);

		if (!part_is_good(s, s + n))
			return nca_fail(err, -EINVAL,
					"\"%.*s\" is no host list, as node[1-4,7],login1", (int)n,
					s);
		s += n + 1;
	} while (s <= end && s[-1] == ',');
	return 0;
}

/* Splits "node017" into "node" and 17; returns where the number begins. */
static size_t split(const char *name, unsigned long *number)
{
	size_t n = strlen(name), at = n;

	while (at > 0 && n - at < 9 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	*number = at < n ? strtoul(name + at, NULL, 10) : 0;
	return at;
}

/* Is b the name after a: node9, node10; node09, node10? */
static bool follows(const char *a, const char *b)
{
	unsigned long x, y;
	size_t n = split(a, &x), m = split(b, &y);

	return n == m && a[n] && b[n] && y == x + 1 && !strncmp(a, b, n) &&
	       (strlen(a) == strlen(b) || (a[n] != '0' && b[n] != '0'));
}

/* How many names from the first on are one run. */
static size_t run(const char *const *names, size_t n)
{
	size_t i = 1;

	while (i < n && follows(names[i - 1], names[i]))
		i++;
	return i > 2 ? i : 1;
}

char *nca_hostlist_make(struct nca_pool *pool, const char *const *names, size_t n, size_t max)
{
	char *list = nca_pool_strdup(pool, "");
	size_t i, len, parts = 0;

	for (i = 0; list && i < n; i += len, parts++) {
		const char *first = names[i], *comma = i ? "," : "";
		unsigned long number;
		size_t at = split(first, &number);

		if (max && parts == max)
			return nca_pool_printf(pool, "%s and %zu more", list, n - i);
		len = run(names + i, n - i);
		if (len == 1)
			list = nca_pool_printf(pool, "%s%s%s", list, comma, first);
		else
			list = nca_pool_printf(pool, "%s%s%.*s[%s-%s]", list, comma, (int)at, first,
					       first + at, names[i + len - 1] + at);
	}
	return list;
}
