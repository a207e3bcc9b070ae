/* SPDX-License-Identifier: Apache-2.0 */
/* The step's environment: a list of a process's own, as slurmstepd has it. */
#include <stdio.h>

#include "host.h"

char **host_env;

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static char **find(char **list, const char *name, size_t len)
{
	for (; list && *list; list++)
		if (strncmp(*list, name, len) == 0 && (*list)[len] == '=')
			return list;
	return NULL;
}

void host_env_copy(const char *const *from)
{
	size_t n = count((char *const *)from), i;

	host_env = calloc(n + 1, sizeof(*host_env));
	for (i = 0; i < n; i++)
		host_env[i] = strdup(from[i]);
}

const char *host_env_get(const char *name)
{
	char **at = find(host_env, name, strlen(name));

	return at ? *at + strlen(name) + 1 : NULL;
}

void host_env_set(const char *name, const char *value)
{
	size_t n = count(host_env);
	char *text;

	host_env_unset(name);
	n = count(host_env);
	if (asprintf(&text, "%s=%s", name, value) < 0)
		abort();
	host_env = realloc(host_env, (n + 2) * sizeof(*host_env));
	host_env[n] = text;
	host_env[n + 1] = NULL;
}

void host_env_unset(const char *name)
{
	char **at;

	while ((at = find(host_env, name, strlen(name)))) {
		free(*at);
		for (; *at; at++)
			at[0] = at[1];
	}
}

static void add(char *buf, size_t size, const char *sign, const char *text, size_t len)
{
	size_t n = strlen(buf);

	snprintf(buf + n, size - n, "%s%s%.*s", n ? " " : "", sign, (int)len, text);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void host_env_diff(const char *const *from, char *buf, size_t size)
{
	const char *const *f;
	char **e, **old;

	buf[0] = '\0';
	qsort(host_env, count(host_env), sizeof(*host_env), compare);
	for (e = host_env; *e; e++) {
		old = find((char **)from, *e, strcspn(*e, "="));
		if (!old || !streq(*old, *e))
			add(buf, size, "+", *e, strlen(*e));
	}
	for (f = from; f && *f; f++)
		if (!find(host_env, *f, strcspn(*f, "=")))
			add(buf, size, "-", *f, strcspn(*f, "="));
}
