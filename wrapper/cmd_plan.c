/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf plan: decide offline. */
#include <errno.h>
#include <stdio.h>

#include <jansson.h>

#include <nca/file.h>
#include <nca/plan.h>

#include "arguments.h"
#include "conf_file.h"
#include "explain.h"

static const char help[] =
	"usage: nccl-autoconf plan [--json | --explain] [--options=LIST] [--conf=FILE] JOB.json\n"
	"       nccl-autoconf plan [...] NODE.json [NODE.json...]\n\n"
	"Decides from one job/1 document, or from one hwdesc/1 document per node (\"-\" is "
	"standard\n"
	"input), what a step on these nodes would get.\n\n"
	"  --json          the plan as JSON (plan/1)\n"
	"  --explain       every interface and HCA port with the rule that decided\n"
	"  --options=LIST  words as --nccl-autoconf takes them\n"
	"  --conf=FILE     a site's configuration file; without it, what the job was saved with\n\n"
	"Exit status: 0 planned, also where the plan is to refuse the step; 2 bad usage or "
	"input.\n";

struct request {
	bool json, explain;
	const char *list, *conf;
	struct nca_options opt;
};

static bool is_job(const char *text, size_t len)
{
	json_t *json = json_loadb(text, len, 0, NULL);
	bool job = nca_same(json_string_value(json_object_get(json, "schema")), "job/1") ||
		   json_object_get(json, "nodes");

	json_decref(json);
	return job;
}

static int read_one(const char *path, struct nca_pool *pool, struct nca_job **job,
		    struct nca_error *err)
{
	nca_autofree char *text = NULL;
	struct nca_node *node;
	void *object;
	size_t len;
	int rc = nca_file_read(path, &text, &len, err);

	if (rc)
		return rc;
	if (!(*job)->nodes.n && is_job(text, len)) {
		rc = nca_schema_parse(&nca_job_shape, text, len, path, pool, &object, err);
		if (!rc)
			*job = object;
		return rc;
	}
	rc = nca_schema_parse(&nca_node_shape, text, len, path, pool, &object, err);
	if (rc)
		return rc;
	node = NCA_APPEND(pool, (*job)->nodes);
	if (!node)
		return nca_fail_memory(err);
	*node = *(struct nca_node *)object;
	(*job)->nnodes = (int)(*job)->nodes.n;
	return 0;
}

/* Words that the job brings (what was asked for when it was saved) come first: the command line
 * replaces them. */
static int read_options(const struct nca_job *job, struct nca_options *opt, const char *list,
			struct nca_error *err)
{
	const struct nca_pair *p;
	int rc = 0;

	NCA_FOREACH(p, job->options) {
		rc = nca_option_set_pair(opt, p->key, p->value[0] ? p->value : NULL, NCA_FROM_USER,
					 err);
		if (rc)
			return nca_fail_in(err, rc, "options");
	}
	rc = nca_options_parse(opt, list, NCA_FROM_USER, err);
	nca_options_finish(opt);
	return rc;
}

/* The file says what the job's own site said before. */
static int read_site(struct nca_job *job, struct request *req, struct nca_pool *pool,
		     struct nca_error *err)
{
	char **names = nca_pool_alloc(pool, job->nodes.n * sizeof(*names));
	struct nca_conf conf;
	size_t i;
	int rc = names ? nca_conf_read(req->conf, NULL, pool, &conf, err) : -ENOMEM;

	for (i = 0; !rc && i < job->nodes.n; i++) {
		names[i] = job->nodes.v[i].name;
		rc = nca_conf_site(&conf, pool, &job->nodes.v[i]);
	}
	if (!rc)
		nca_conf_words(&conf, names, job->nodes.n, &req->opt);
	return rc;
}

static int show(const struct nca_plan *plan, const struct nca_job *job, const struct request *req,
		struct nca_pool *pool)
{
	nca_autofree char *text = NULL;

	if (!req->json) {
		nca_explain_print(stdout, plan, job, req->explain, pool);
		return 0;
	}
	text = nca_schema_print(&nca_plan_shape, plan, 0, 1);
	if (!text || puts(text) < 0 || fflush(stdout)) {
		nca_say("plan: %s", text ? strerror(errno) : "out of memory");
		return 1;
	}
	return 0;
}

static int run(char **files, struct request *req)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_job *job = pool ? nca_schema_new(pool, &nca_job_shape) : NULL;
	struct nca_plan *plan;
	struct nca_error err = {"out of memory"};
	int rc = job ? 0 : -ENOMEM;

	for (; !rc && *files; files++)
		rc = read_one(*files, pool, &job, &err);
	if (!rc && req->conf)
		rc = read_site(job, req, pool, &err);
	rc = rc ? rc : read_options(job, &req->opt, req->list, &err);
	rc = rc ? rc : nca_plan_make(job, &req->opt, NULL, pool, &plan, &err);
	if (rc) {
		nca_say("%s", err.text);
		return 2;
	}
	return show(plan, job, req, pool);
}

int cmd_plan(int argc, char **argv)
{
	struct request req = {0};
	const struct nca_argument arguments[] = {{"json", &req.json, NULL},
						 {"explain", &req.explain, NULL},
						 {"options", NULL, &req.list},
						 {"conf", NULL, &req.conf}};
	char **files;
	int rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), &files);

	if (rc >= 0)
		return rc;
	if (!*files) {
		nca_say("plan: name a job/1 file or hwdesc/1 files; plan --help says more");
		return 2;
	}
	nca_options_init(&req.opt);
	return run(files, &req);
}
