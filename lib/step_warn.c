/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings: one per cause, with the names of its nodes. */
#include "step.h"

/* Names and ranges beyond this are counted. */
#define NAMES_MAX 12

static struct nca_cause *find_cause(struct nca_step *step, const char *code, const char *key)
{
	struct nca_cause *cause;

	NCA_FOREACH(cause, step->causes)
		if (streq(cause->code, code) && streq(cause->key, key))
			return cause;
	return NULL;
}

static struct nca_cause *add_cause(struct nca_step *step, const char *code, const char *key,
				   const char *node, const char *text)
{
	struct nca_cause *cause = text ? NCA_APPEND(step->pool, step->causes) : NULL;

	if (!cause || nca_plan_warn(step->plan, step->pool, code, node, "%s", text))
		return NULL;
	*cause =
		(struct nca_cause){.code = code, .key = key, .warning = step->plan->warnings.n - 1};
	return cause;
}

void nca_step_warn(struct nca_step *step, const char *code, const char *key, const char *node,
		   char *text)
{
	struct nca_cause *cause = find_cause(step, code, key);
	const char **name;

	cause = cause ? cause : add_cause(step, code, key, node, text);
	if (cause && (!node || (cause->nodes.n && cause->nodes.v[cause->nodes.n - 1] == node)))
		return;
	name = cause ? NCA_APPEND(step->pool, cause->nodes) : NULL;
	step->no_memory = step->no_memory || !name;
	if (name)
		*name = node;
}

void nca_step_unsure(struct nca_step *step, const char *code, const char *node, char *text)
{
	nca_step_warn(step, code, "", node, text);
	step->plan->confidence = "unsure";
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

char *nca_step_names(struct nca_step *step, const char *const *names, size_t n)
{
	char *list = nca_step_text(step, "%s", "");
	size_t i, len, parts = 0;

	for (i = 0; list && i < n; i += len, parts++) {
		const char *first = names[i], *comma = i ? "," : "";
		unsigned long number;
		size_t at = split(first, &number);

		if (parts == NAMES_MAX)
			return nca_step_text(step, "%s and %zu more", list, n - i);
		len = run(names + i, n - i);
		if (len == 1)
			list = nca_step_text(step, "%s%s%s", list, comma, first);
		else
			list = nca_step_text(step, "%s%s%.*s[%s-%s]", list, comma, (int)at, first,
					     first + at, names[i + len - 1] + at);
	}
	return list;
}

/* The text with the names in the place of the first "{nodes}". */
static char *fill_in(struct nca_step *step, char *text, const char *names)
{
	static const char mark[] = "{nodes}";
	const char *at = text ? strstr(text, mark) : NULL;

	if (!at || !names)
		return text;
	return nca_step_text(step, "%.*s%s%s", (int)(at - text), text, names,
			     at + sizeof(mark) - 1);
}

void nca_step_count(struct nca_step *step)
{
	const struct nca_cause *cause;

	NCA_FOREACH(cause, step->causes) {
		struct nca_warning *w = &step->plan->warnings.v[cause->warning];
		const char *names = nca_step_names(step, cause->nodes.v, cause->nodes.n);

		w->text = fill_in(step, w->text, names);
		if (cause->nodes.n > 1)
			w->text = nca_step_text(step, "%s (%zu of %zu): %s", names, cause->nodes.n,
						step->nodes.n, w->text);
	}
}
