/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf show: what a step on nodes like this one would get, and why. */
#include <errno.h>
#include <stdio.h>

#include <nca/file.h>
#include <nca/picture.h>

#include "arguments.h"
#include "conf_file.h"
#include "explain.h"
#include "self.h"

static const char help[] =
	"usage: nccl-autoconf show [--json] [--svg=FILE] [--conf=FILE] [--sysroot=DIR]\n\n"
	"Shows every network interface and HCA port of this node: chosen, or why not, and the\n"
	"variables that would be set. The other nodes of a step are taken to be like this one;\n"
	"what they really have is compared when the step starts.\n\n"
	"  --json          the same as JSON (plan/1)\n"
	"  --svg=FILE      a picture of it too\n"
	"  --conf=FILE     the site's configuration file, instead of /etc/nccl-autoconf.conf\n"
	"  --sysroot=DIR   a recorded tree instead of this machine: sys, proc, etc, netlink\n\n"
	"Exit status: 0 shown; 1 it failed; 2 bad usage.\n";

struct request {
	const char *sysroot, *conf, *svg;
	bool json;
};

/* A job of one snapshot and two nodes stands for nodes like this one. */
static int plan(struct nca_node *node, const struct nca_conf *conf, struct nca_pool *pool,
		struct nca_plan **ret, struct nca_job **job, struct nca_error *err)
{
	struct nca_options opt;

	*job = nca_schema_new(pool, &nca_job_shape);
	if (!*job || nca_conf_site(conf, pool, node))
		return nca_fail_memory(err);
	(*job)->nnodes = 2;
	(*job)->nodes.v = node;
	(*job)->nodes.n = 1;
	nca_options_init(&opt);
	nca_conf_words(conf, &node->name, 1, &opt);
	nca_options_finish(&opt);
	return nca_plan_make(*job, &opt, NULL, pool, ret, err);
}

static const char *headline(struct nca_plan *p, const struct nca_job *job, struct nca_pool *pool)
{
	const char *summary, *name = job->nodes.v->name;

	/* Where workers meet is a matter of a step. */
	p->rendezvous = NULL;
	summary = nca_plan_summary(p, job, pool);
	if (!summary)
		return NULL;
	if (nca_has_prefix(summary, "2 nodes "))
		summary += strlen("2 nodes ");
	return nca_pool_printf(pool, "%s, with others like it (%s, %s): %s", name, p->verdict,
			       p->confidence, summary);
}

static int draw(const char *path, const struct nca_job *job, const struct nca_plan *p,
		const char *line, struct nca_pool *pool, struct nca_error *err)
{
	const char *text = nca_picture_node(job, p, 0, line, pool);

	return text ? nca_file_write(path, text, err) : nca_fail_memory(err);
}

static int show(const struct request *req, struct nca_pool *pool, struct nca_error *err)
{
	nca_autofree char *text = NULL;
	struct nca_node *node;
	struct nca_conf conf;
	struct nca_plan *p;
	struct nca_job *job;
	const char *line;
	int rc = nca_self_probe(req->sysroot, pool, &node, err);

	rc = rc ? rc : nca_conf_read(req->conf, req->sysroot, pool, &conf, err);
	rc = rc ? rc : plan(node, &conf, pool, &p, &job, err);
	if (rc)
		return rc;
	line = headline(p, job, pool);
	text = req->json ? nca_schema_print(&nca_plan_shape, p, 0, 1) : NULL;
	if (!line || (req->json && !text))
		return nca_fail_memory(err);
	if (req->json) {
		puts(text);
	} else {
		nca_explain_line(stdout, line);
		nca_explain_warnings(stdout, p, true, pool);
		nca_explain_nodes(stdout, p, pool);
	}
	if (fflush(stdout))
		return nca_fail(err, -errno, "standard output: %s", strerror(errno));
	return req->svg ? draw(req->svg, job, p, line, pool, err) : 0;
}

int cmd_show(int argc, char **argv)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {.text = "out of memory"};
	struct request req = {0};
	const struct nca_argument arguments[] = {{"json", &req.json, NULL},
						 {"svg", NULL, &req.svg},
						 {"conf", NULL, &req.conf},
						 {"sysroot", NULL, &req.sysroot}};
	int rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), NULL);

	if (rc >= 0)
		return rc;
	rc = pool ? show(&req, pool, &err) : -ENOMEM;
	if (rc)
		nca_say("show: %s", err.text);
	return rc != 0;
}
