/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf trainers: the contract of every trainer. */
#include <stdio.h>

#include <jansson.h>

#include <nca/contract.h>

#include "arguments.h"
#include "explain.h"

#define INDENT 8

/* As the manual page shows it. */
#define COLUMNS 68

static const char help[] =
	"usage: nccl-autoconf trainers [--json] [NAME...]\n\n"
	"The values of trainer=: how a step of each trainer is known without it, and what is set "
	"with\n"
	"one task per worker (task) and with one launcher per node (node).\n\n"
	"  --json  the same as JSON, with where each value comes from\n";

/* Where a value comes from, for people. */
static const char *const values[] = {
	[NCA_VALUE_SLURM] = "the task's ",
	[NCA_VALUE_TEXT] = "",
	[NCA_VALUE_ADDRESS] = "address of the node of task 0",
	[NCA_VALUE_PORT] = "free port there",
	[NCA_VALUE_ENDPOINT] = "address and port of the node of task 0",
	[NCA_VALUE_OWN_ADDRESS] = "address of this node",
	[NCA_VALUE_INTERFACE] = "interface of this node",
	[NCA_VALUE_TASKS] = "tasks of the step",
	[NCA_VALUE_LOCAL_TASKS] = "tasks on this node",
	[NCA_VALUE_NODES] = "nodes of the step",
	[NCA_VALUE_NODE_RANK] = "place of this node in the step",
	[NCA_VALUE_NPROC] = "workers on this node",
	[NCA_VALUE_WORKERS] = "workers of the step",
	[NCA_VALUE_FIRST] = "workers on the nodes before this one",
	[NCA_VALUE_DEVICES] = "a number per worker of this node, from 0",
	[NCA_VALUE_JOB] = "job and step",
	[NCA_VALUE_IS_HOST] = "is_host=1 on the node of task 0, is_host=0 elsewhere",
};

static const char *const states[] = {
	[NCA_CELL_NO] = "no",
	[NCA_CELL_NETWORK] = "network",
	[NCA_CELL_YES] = "yes",
};

/* What is set, where it is not the cell's list. */
static const char *const nothing[] = {
	[NCA_CELL_NO] = "is not supported",
	[NCA_CELL_NETWORK] = "only the network's variables",
	[NCA_CELL_YES] = NULL,
};

static char *value_text(const struct nca_setting *s, struct nca_pool *pool)
{
	return nca_pool_printf(pool, "%s%s", values[s->value], s->text ? s->text : "");
}

static char *list_names(const struct nca_cell *cell, struct nca_pool *pool)
{
	const struct nca_setting *s;
	char *list = nca_pool_strdup(pool, "");
	size_t i;

	for (i = 0; list && (s = nca_cell_setting(cell, i)); i++)
		list = nca_pool_printf(pool, "%s%s%s", list, i ? " " : "", s->name);
	return list;
}

static void print_line(const char *label, const char *text, struct nca_pool *pool)
{
	const char *line = text ? nca_pool_printf(pool, "%s%s", label, text) : NULL;

	if (!line)
		return;
	printf("%*s", INDENT, "");
	nca_explain_wrapped(stdout, line, INDENT, INDENT + 2, COLUMNS);
}

static void print_cell(const char *layout, const struct nca_cell *cell, struct nca_pool *pool)
{
	const char *what = nothing[cell->state] ? nothing[cell->state] : list_names(cell, pool);

	printf("  %-*s", INDENT - 2, layout);
	nca_explain_wrapped(stdout, what ? what : "", INDENT, INDENT + 2, COLUMNS);
	print_line("never: ", cell->never, pool);
	print_line("start: ", cell->start, pool);
	print_line(cell->state == NCA_CELL_NO ? "instead: " : "note: ", cell->note, pool);
	print_line("read by: ", cell->source, pool);
}

static void print_row(const struct nca_contract *c, struct nca_pool *pool)
{
	printf("%s: %s\n", c->name, c->title);
	printf("  known by %s\n", c->known ? c->known : "nothing: it needs trainer=");
	if (c->copies)
		puts("  copies one node's environment to all: trainer= means broadcast too");
	print_cell("task", &c->task, pool);
	print_cell("node", &c->node, pool);
}

static json_t *cell_json(const struct nca_cell *cell, struct nca_pool *pool)
{
	const struct nca_setting *s;
	json_t *settings = json_object();
	size_t i;

	for (i = 0; (s = nca_cell_setting(cell, i)); i++)
		json_object_set_new(settings, s->name, json_string(value_text(s, pool)));
	return json_pack("{s:s, s:o, s:s*, s:s*, s:s*, s:s*}", "supported", states[cell->state],
			 "set", settings, "never", cell->never, "start", cell->start, "note",
			 cell->note, "source", cell->source);
}

static json_t *row_json(const struct nca_contract *c, struct nca_pool *pool)
{
	return json_pack("{s:s, s:s, s:s*, s:s*, s:b, s:o, s:o}", "name", c->name, "title",
			 c->title, "known", c->known, "programs", c->programs, "copies", c->copies,
			 "task", cell_json(&c->task, pool), "node", cell_json(&c->node, pool));
}

static bool is_asked(const struct nca_contract *c, char **names)
{
	char **name;

	for (name = names; *name; name++)
		if (streq(*name, c->name))
			return true;
	return !*names;
}

static int check_names(char **names)
{
	for (; *names; names++)
		if (!nca_contract_find(*names)) {
			nca_say("trainers: there is no \"%.64s\"; nccl-autoconf trainers lists all",
				*names);
			return 2;
		}
	return 0;
}

static int print(char **names, bool json)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	json_t *all = json_array();
	size_t i, n = 0;
	int rc = 0;

	if (!pool || !all)
		return nca_say("trainers: out of memory"), 1;
	for (i = 0; i < nca_contract_count; i++) {
		const struct nca_contract *c = &nca_contracts[i];

		if (!is_asked(c, names))
			continue;
		if (json) {
			json_array_append_new(all, row_json(c, pool));
			continue;
		}
		if (n++)
			putchar('\n');
		print_row(c, pool);
	}
	if (json)
		rc = json_dumpf(all, stdout, JSON_INDENT(1)) || putchar('\n') < 0;
	json_decref(all);
	return rc || fflush(stdout) ? 1 : 0;
}

int cmd_trainers(int argc, char **argv)
{
	bool json = false;
	const struct nca_argument arguments[] = {{"json", &json, NULL}};
	char **names;
	int rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), &names);

	if (rc >= 0)
		return rc;
	rc = check_names(names);
	return rc ? rc : print(names, json);
}
