/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people. */
#include "explain.h"

char *nca_explain_warning(const struct nca_warning *w, struct nca_pool *pool)
{
	/* A text that begins with its node does not need it twice. */
	bool named = !w->node || nca_has_prefix(w->text, w->node);

	return nca_pool_printf(pool, "warning %s: %s%s%s", w->code, named ? "" : w->node,
			       named ? "" : " ", w->text);
}

static int width(const struct nca_plan *plan, bool rule)
{
	const struct nca_plan_node *node;
	const struct nca_decision *d;
	size_t max = 0;

	NCA_FOREACH(node, plan->nodes)
		NCA_FOREACH(d, node->decisions) {
			size_t n = strlen(rule ? d->rule : d->subject);

			max = n > max ? n : max;
		}
	return (int)max;
}

static void print_nodes(FILE *out, const struct nca_plan *plan)
{
	int subject = width(plan, false), rule = width(plan, true);
	const struct nca_plan_node *node;
	const struct nca_decision *d;
	const struct nca_pair *p;

	NCA_FOREACH(node, plan->nodes) {
		fprintf(out, "%s\n", node->name);
		NCA_FOREACH(d, node->decisions)
			fprintf(out, "  %-*s  %-8s  %-*s  %s\n", subject, d->subject, d->outcome,
				rule, d->rule, d->text);
		NCA_FOREACH(p, node->env)
			fprintf(out, "  %s=%s\n", p->key, p->value);
		NCA_FOREACH(p, node->task_env)
			fprintf(out, "  %s=$%s\n", p->key, p->value);
	}
}

void nca_explain_print(FILE *out, const struct nca_plan *plan, const struct nca_job *job, bool all,
		       struct nca_pool *pool)
{
	const char *summary = nca_plan_summary(plan, job, pool);
	const struct nca_warning *w;

	fprintf(out, "%s%s%s: %s\n", plan->verdict, plan->confidence ? ", " : "",
		plan->confidence ? plan->confidence : "", summary ? summary : "");
	NCA_FOREACH(w, plan->warnings) {
		const char *line = nca_explain_warning(w, pool);

		fprintf(out, "%s\n", line ? line : w->code);
	}
	if (all)
		print_nodes(out, plan);
}
