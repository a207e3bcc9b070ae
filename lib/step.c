/* SPDX-License-Identifier: Apache-2.0 */
/* A step while it is decided. */
#include <stdarg.h>
#include <stdio.h>

#include "step.h"

char *nca_step_text(struct nca_step *step, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : nca_pool_alloc(step->pool, (size_t)n + 1);
	if (!text) {
		step->no_memory = true;
		return NULL;
	}
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void nca_step_judge_link(struct nca_step *step, struct nca_link_state *link, enum nca_rule rule,
			 char *text)
{
	step->no_memory = step->no_memory || !text;
	if (link->rule != NCA_RULE_NONE)
		return;
	link->rule = rule;
	link->text = text;
}

void nca_step_judge_port(struct nca_step *step, struct nca_port_state *port, enum nca_rule rule,
			 char *text)
{
	step->no_memory = step->no_memory || !text;
	if (port->rule != NCA_RULE_NONE)
		return;
	port->rule = rule;
	port->text = text;
}

void nca_step_warn(struct nca_step *step, const char *code, const char *key, const char *node,
		   char *text)
{
	struct nca_cause *cause;

	NCA_FOREACH(cause, step->causes)
		if (streq(cause->code, code) && streq(cause->key, key)) {
			cause->nodes++;
			return;
		}
	cause = text ? NCA_APPEND(step->pool, step->causes) : NULL;
	if (!cause || nca_plan_warn(step->plan, step->pool, code, node, "%s", text)) {
		step->no_memory = true;
		return;
	}
	*cause = (struct nca_cause){code, key, step->plan->warnings.n - 1, 1};
}

void nca_step_count(struct nca_step *step)
{
	const struct nca_cause *cause;

	NCA_FOREACH(cause, step->causes) {
		struct nca_warning *w = &step->plan->warnings.v[cause->warning];

		if (cause->nodes > 1 && w->node)
			w->text = nca_step_text(step, "%s (also on %d other node%s)", w->text,
						cause->nodes - 1, cause->nodes > 2 ? "s" : "");
	}
}

void nca_step_verdict(struct nca_step *step, const char *verdict)
{
	if (!streq(step->plan->verdict, "refuse"))
		step->plan->verdict = (char *)verdict;
}

const char *nca_step_set(const struct nca_node_state *node, const char *variable)
{
	return nca_pairs_get(node->node->environment, variable);
}

const char *nca_step_setter(const struct nca_node_state *node)
{
	const char *origin = node->node->environment_origin;

	if (nca_same(origin, "nccl.conf"))
		return "nccl.conf";
	return nca_same(origin, "image") ? "the image" : "the user";
}

void nca_step_replace(struct nca_step *step, size_t node, const char *name, char *value)
{
	struct nca_pair *pair =
		value ? NCA_APPEND(step->pool, step->plan->nodes.v[node].env) : NULL;

	step->no_memory = step->no_memory || !pair;
	if (pair)
		*pair = (struct nca_pair){(char *)name, value};
}

void nca_step_setenv(struct nca_step *step, size_t node, const char *name, char *value)
{
	if (!nca_step_set(&step->nodes.v[node], name))
		nca_step_replace(step, node, name, value);
}
