/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings: one per cause, with the names of its nodes. */
#include <nca/hostlist.h>

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

char *nca_step_names(struct nca_step *step, const char *const *names, size_t n)
{
	char *list = nca_hostlist_make(step->pool, names, n, NAMES_MAX);

	step->no_memory = step->no_memory || !list;
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
