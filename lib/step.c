/* SPDX-License-Identifier: Apache-2.0 */
/* A step while it is decided. */
#include <stdarg.h>
#include <stdio.h>

#include "step.h"

char *nca_step_text(struct nca_step *step, const char *fmt, ...)
{
	char buf[256], *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : nca_pool_alloc(step->pool, (size_t)n + 1);
	if (!text) {
		step->no_memory = true;
		return NULL;
	}
	if ((size_t)n < sizeof(buf))
		return memcpy(text, buf, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

char *nca_step_join_list(struct nca_step *step, const char *const *parts)
{
	size_t len[NCA_JOIN_MAX], n = 1, i;
	char *text, *to;

	for (i = 0; i < NCA_JOIN_MAX && parts[i]; i++)
		n += len[i] = strlen(parts[i]);
	text = to = nca_pool_alloc(step->pool, n);
	step->no_memory = step->no_memory || !text;
	for (i = 0; text && i < NCA_JOIN_MAX && parts[i]; to += len[i++])
		memcpy(to, parts[i], len[i]);
	return text;
}

const char *nca_step_int(int value, char *buf)
{
	unsigned int rest = value < 0 ? 0u - (unsigned int)value : (unsigned int)value;
	char *to = buf + NCA_INT_TEXT - 1;

	*to = '\0';
	do
		*--to = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--to = '-';
	return to;
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

bool nca_step_is_user(const struct nca_node_state *node)
{
	const char *origin = node->node->environment_origin;

	return !nca_same(origin, "nccl.conf") && !nca_same(origin, "image");
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
	const struct nca_node_state *state = &step->nodes.v[node];

	/* The site's profile came first. */
	if (state->node->site.n && nca_pairs_get(step->plan->nodes.v[node].env, name))
		return;
	if (!nca_step_set(state, name))
		nca_step_replace(step, node, name, value);
}
