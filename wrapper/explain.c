/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people. */
#include <nca/wrap.h>

#include "explain.h"

#define COLUMNS 100

/* Narrower than this a column of text cannot be read: the line gets longer instead. */
#define COLUMN_MIN 30

struct style {
	const char *chosen, *rejected, *warning, *name, *end;
};

static const struct style plain = {"", "", "", "", ""};
static const struct style colours = {"\033[32m", "\033[2m", "\033[33m", "\033[1m", "\033[0m"};

static const struct style *style_of(FILE *out)
{
	return isatty(fileno(out)) ? &colours : &plain;
}

char *nca_explain_warning(const struct nca_warning *w, struct nca_pool *pool)
{
	/* A text that begins with its node does not need it twice. */
	bool named = !w->node || nca_has_prefix(w->text, w->node);

	return nca_pool_printf(pool, "warning %s: %s%s%s", w->code, named ? "" : w->node,
			       named ? "" : " ", w->text);
}

void nca_explain_wrapped(FILE *out, const char *text, size_t at, size_t indent, size_t columns)
{
	while (*text) {
		size_t width = at + COLUMN_MIN > columns ? COLUMN_MIN : columns - at;
		size_t n = nca_wrap_fitting(text, width), shown = n;

		while (shown && text[n] && text[shown - 1] == ' ')
			shown--;
		fprintf(out, "%.*s\n", (int)shown, text);
		text += n;
		at = indent;
		if (*text)
			fprintf(out, "%*s", (int)indent, "");
	}
}

static void print_wrapped(FILE *out, const char *text, size_t at, size_t indent)
{
	nca_explain_wrapped(out, text, at, indent, COLUMNS);
}

struct widths {
	size_t subject, rule;
};

static struct widths measure(const struct nca_plan *plan)
{
	struct widths w = {0, 0};
	const struct nca_plan_node *node;
	const struct nca_decision *d;

	NCA_FOREACH(node, plan->nodes)
		NCA_FOREACH(d, node->decisions) {
			size_t subject = strlen(d->subject), rule = strlen(d->rule);

			w.subject = subject > w.subject ? subject : w.subject;
			w.rule = rule > w.rule ? rule : w.rule;
		}
	return w;
}

static void print_row(FILE *out, const struct nca_decision *d, const struct widths *w)
{
	const struct style *style = style_of(out);
	size_t at = 2 + w->subject + 2 + strlen("rejected") + 2 + w->rule + 2;

	fprintf(out, "  %-*s  %s%-8s%s  %-*s  ", (int)w->subject, d->subject,
		streq(d->outcome, "chosen") ? style->chosen : style->rejected, d->outcome,
		style->end, (int)w->rule, d->rule);
	print_wrapped(out, nca_decision_values(d), at, at);
}

static void print_variable(FILE *out, const struct nca_pair *p, const char *mark)
{
	size_t at = 2 + strlen(p->key) + 1 + strlen(mark);

	fprintf(out, "  %s=%s", p->key, mark);
	print_wrapped(out, p->value, at, 6);
}

/* What a line or two of the site's file would say to get the same without asking. */
static void print_pins(FILE *out, const struct nca_plan_node *node, struct nca_pool *pool)
{
	const struct nca_plan_hca *h;
	char *text = NULL;

	if (node->socket_ifname)
		text = nca_pool_printf(pool, "control-interface=%s", node->socket_ifname);
	NCA_FOREACH(h, node->hcas)
		text = nca_pool_printf(pool, "%s%s%s", text ? text : "",
				       h > node->hcas.v ? ","
				       : text		? " rail-hca="
							: "rail-hca=",
				       h->name);
	if (!text)
		return;
	fputs("  to pin: ", out);
	print_wrapped(out, text, strlen("  to pin: "), 6);
}

void nca_explain_nodes(FILE *out, const struct nca_plan *plan, struct nca_pool *pool)
{
	const struct style *style = style_of(out);
	const struct widths w = measure(plan);
	const struct nca_plan_node *node;
	const struct nca_decision *d;
	const struct nca_pair *p;

	NCA_FOREACH(node, plan->nodes) {
		fprintf(out, "%s%s%s\n", style->name, node->name, style->end);
		NCA_FOREACH(d, node->decisions)
			print_row(out, d, &w);
		NCA_FOREACH(p, node->env)
			print_variable(out, p, "");
		NCA_FOREACH(p, node->task_env)
			print_variable(out, p, "$");
		print_pins(out, node, pool);
	}
}

void nca_explain_warnings(FILE *out, const struct nca_plan *plan, bool wrap, struct nca_pool *pool)
{
	const struct style *style = style_of(out);
	const struct nca_warning *w;

	NCA_FOREACH(w, plan->warnings) {
		const char *line = nca_explain_warning(w, pool);

		fputs(style->warning, out);
		if (wrap)
			print_wrapped(out, line ? line : w->code, 0, 4);
		else
			fprintf(out, "%s\n", line ? line : w->code);
		fputs(style->end, out);
	}
}

void nca_explain_line(FILE *out, const char *line)
{
	print_wrapped(out, line, 0, 4);
}

void nca_explain_print(FILE *out, const struct nca_plan *plan, const struct nca_job *job, bool all,
		       struct nca_pool *pool)
{
	const char *summary = nca_plan_summary(plan, job, pool);
	const char *line =
		nca_pool_printf(pool, "%s%s%s: %s", plan->verdict, plan->confidence ? ", " : "",
				plan->confidence ? plan->confidence : "", summary ? summary : "");

	if (all)
		nca_explain_line(out, line ? line : plan->verdict);
	else
		fprintf(out, "%s\n", line ? line : plan->verdict);
	nca_explain_warnings(out, plan, all, pool);
	if (all)
		nca_explain_nodes(out, plan, pool);
}
