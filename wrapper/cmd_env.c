/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf env: what was agreed, for launchers that a batch script starts itself and for
 * containers that a task starts. */
#include <errno.h>
#include <stdio.h>

#include <jansson.h>

#include <nca/contract.h>
#include <nca/launch.h>
#include <nca/variable.h>

#include "batch.h"
#include "arguments.h"

static const char help[] =
	"usage: nccl-autoconf env [--format=shell|docker|json] [--nccl-autoconf=LIST]\n\n"
	"In an sbatch script or under salloc: lets all nodes of the job agree and prints "
	"variables\n"
	"that are right on all of them, for a launcher that takes the script's environment to the\n"
	"other nodes (mpirun, deepspeed, ray). What differs between nodes is NCCL_CONF_FILE's: a\n"
	"file at one path that each node has written for itself.\n\n"
	"In a task that has been given its variables: prints those, for a container that it "
	"starts.\n\n"
	"  --format=shell        export NAME='VALUE' (default), for eval \"$(nccl-autoconf env)\"\n"
	"  --format=docker       NAME=VALUE, for docker run --env-file and .deepspeed_env\n"
	"  --format=json         one object\n"
	"  --nccl-autoconf=LIST  words, as of srun; with layout= or trainer= all their "
	"variables\n\n"
	"Exit status: 0 printed; 1 the nodes did not agree; 2 bad usage.\n";

extern char **environ;

enum format { SHELL, DOCKER, JSON };

struct request {
	enum format format;
	const char *list; /* NULL: none given */
};

typedef NCA_LIST(struct nca_pair) variables;

static int read_format(const char *word, enum format *ret)
{
	static const char *const words[] = {"shell", "docker", "json"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (streq(word, words[i])) {
			*ret = (enum format)i;
			return 0;
		}
	nca_say("env: --format=%s: takes shell, docker or json", word);
	return -EINVAL;
}

/*
 * What any launcher may have. The rest of a layout only where it was asked for: in a script it
 * would break the other steps.
 */
static bool is_wanted(const struct request *req, const char *name)
{
	return req->list || nca_has_prefix(name, "MASTER_") ||
	       !nca_cell_find(&nca_contracts->node, name);
}

static void print_shell(const char *name, const char *value)
{
	printf("export %s='", name);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	puts("'");
}

static int print_json(const variables *vars)
{
	json_t *object = json_object();
	const struct nca_pair *p;
	nca_autofree char *text = NULL;

	NCA_FOREACH(p, *vars)
		json_object_set_new(object, p->key, json_string(p->value));
	text = json_dumps(object, JSON_INDENT(1));
	json_decref(object);
	return text && puts(text) >= 0 ? 0 : -ENOMEM;
}

static void print_line(const struct nca_pair *p)
{
	if (strchr(p->value, '\n'))
		nca_say("env: %s is left out: docker takes no value of more than one line", p->key);
	else
		printf("%s=%s\n", p->key, p->value);
}

static int print(const variables *vars, enum format format)
{
	const struct nca_pair *p;

	if (format == JSON)
		return print_json(vars);
	NCA_FOREACH(p, *vars)
		if (format == DOCKER)
			print_line(p);
		else
			print_shell(p->key, p->value);
	return 0;
}

static int add(variables *vars, struct nca_pool *pool, char *key, char *value)
{
	struct nca_pair *p = key ? NCA_APPEND(pool, *vars) : NULL;

	if (!p)
		return -ENOMEM;
	*p = (struct nca_pair){key, value};
	return 0;
}

/* What this process has of what a task may be given, whoever has set it, unless it is there. */
static int add_own(struct nca_pool *pool, variables *vars, struct nca_error *err)
{
	char **e;

	for (e = environ; *e; e++) {
		size_t len = strcspn(*e, "=");
		char *key = nca_pool_strndup(pool, *e, len);

		if (key && (!nca_variable_may_set(key) || nca_pairs_get(*vars, key)))
			continue;
		if (add(vars, pool, key, *e + len + ((*e)[len] == '=')))
			return nca_fail_memory(err);
	}
	return 0;
}

/* Not marked as ours: they are right for every step of the job, and a plain srun keeps them. */
static int agree(const struct request *req, struct nca_pool *pool, variables *vars,
		 struct nca_error *err)
{
	struct nca_batch b = {.pool = pool, .say = STDERR_FILENO};
	const struct nca_pair *p;
	int rc;

	b.words = nca_pool_printf(pool, "broadcast=job,layout=node%s%s", req->list ? "," : "",
				  req->list ? req->list : "");
	if (!b.words)
		return nca_fail_memory(err);
	rc = nca_batch_job(&b, err);
	rc = rc ? rc : nca_batch_agree(&b, err);
	if (rc)
		return rc;
	NCA_FOREACH(p, b.plan->nodes.v->env)
		if (is_wanted(req, p->key) && add(vars, pool, p->key, p->value))
			return nca_fail_memory(err);
	/* A shell has it; a container or a file is to have what the user set, and what an earlier
	 * call did. */
	return req->format == SHELL ? 0 : add_own(pool, vars, err);
}

int cmd_env(int argc, char **argv)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {"out of memory"};
	struct request req = {SHELL, NULL};
	const char *format = "shell";
	const struct nca_argument arguments[] = {{"format", NULL, &format},
						 {"nccl-autoconf", NULL, &req.list}};
	int rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), NULL);
	variables vars = {NULL, 0};

	if (rc >= 0)
		return rc;
	if (read_format(format, &req.format))
		return 2;
	if (!pool)
		rc = -ENOMEM;
	else if (getenv(NCA_MARKER_VARIABLE) && !req.list)
		rc = add_own(pool, &vars, &err);
	else
		rc = agree(&req, pool, &vars, &err);
	rc = rc ? rc : print(&vars, req.format);
	if (!rc && fflush(stdout))
		rc = nca_fail(&err, -errno, "standard output: %s", strerror(errno));
	if (rc)
		nca_say("env: %s", err.text);
	return rc != 0;
}
