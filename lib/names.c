/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's lists of names. */
#include <nca/names.h>

static bool port_matches(const char *text, size_t n, int port)
{
	int value = 0;
	size_t i;

	for (i = 0; i < n && text[i] >= '0' && text[i] <= '9' && value < 100000; i++)
		value = value * 10 + (text[i] - '0');
	return port < 0 || value == port;
}

/* One entry, "name" or "name:port…". */
static bool entry_matches(const char *entry, size_t n, bool exact, const char *name, int port)
{
	const char *colon = memchr(entry, ':', n);
	size_t len = colon ? (size_t)(colon - entry) : n;

	if (strncmp(entry, name, len) || (exact && name[len]))
		return false;
	return !colon || port_matches(colon + 1, n - len - 1, port);
}

static bool is_exclusion(const char *list)
{
	return list[0] == '^';
}

bool nca_names_exact(const char *list)
{
	return list[is_exclusion(list)] == '=';
}

const char *nca_names_fault(const char *list)
{
	if (strpbrk(list, "\"'"))
		return "quotes are part of a name for NCCL. Write it without";
	if (strpbrk(list, "\r\n"))
		return "the line end is part of a name for NCCL: the file has CRLF. Convert it";
	if (strpbrk(list, " \t"))
		return "blanks are part of a name for NCCL. Write the list without";
	if (strstr(list, ",=") || strstr(list, ",^"))
		return "only at the beginning, for the whole list, \"=\" and \"^\" are not part of "
		       "a name. Write =a,b";
	if (nca_has_prefix(list, "=^"))
		return "\"^\" must come first: ^=a,b";
	return NULL;
}

const char *nca_names_next(const char *list, const char *at, size_t *n)
{
	at = at ? at + strcspn(at, ",") : list + is_exclusion(list) + nca_names_exact(list);
	at += strspn(at, ",");
	*n = strcspn(at, ",:");
	return *at ? at : NULL;
}

bool nca_names_match(const char *list, const char *name, int port)
{
	bool excludes = is_exclusion(list), exact = nca_names_exact(list), found = false;
	const char *entry = list + excludes + exact;
	size_t entries = 0;

	if (port < 0 && strlen(list) <= 1)
		return true;
	while (*entry) {
		size_t n = strcspn(entry, ",");
		bool counts = n && *entry != ':';

		entries += counts;
		found = found || (counts && entry_matches(entry, n, exact, name, port));
		entry += n + (entry[n] == ',');
	}
	return (found || !entries) != excludes;
}
