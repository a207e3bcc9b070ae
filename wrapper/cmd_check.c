/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf check: are the HCAs between the nodes of a job or a step fit for use? */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include <nca/file.h>
#include <nca/grid.h>

#include "batch.h"
#include "arguments.h"
#include "explain.h"
#include "inherited.h"

static const char help[] =
	"usage: nccl-autoconf check [--json] [--svg=FILE] [--nccl-autoconf=LIST]\n\n"
	"Sends RDMA messages between all nodes on every rail that NCCL would use, with its GID,\n"
	"partition key, service level and traffic class, and names the nodes and HCA ports that\n"
	"are not fit for use. In an sbatch script or under salloc: of the job. As the program of\n"
	"a step: of the step, however many tasks it has: srun -N16 nccl-autoconf check\n\n"
	"Prints a table and what was found, and, where nodes are to blame, a last line for srun "
	"or\n"
	"sbatch: --exclude=NODES\n\n"
	"  --json                the result as JSON (preflight/1)\n"
	"  --svg=FILE            a picture of it too\n"
	"  --nccl-autoconf=LIST  words, as of srun\n\n"
	"Exit status: 0 healthy; 1 something failed or is degraded; 2 bad usage; 3 nothing could "
	"be\n"
	"tested.\n";

enum { HEALTHY, UNFIT, USAGE, NOT_TESTED };

struct request {
	bool json;
	const char *svg, *list;
};

/* A step's words are read where it is started: a bad one would be said there, in our name. */
static int check_words(const char *list)
{
	struct nca_options opt;
	struct nca_error err;

	nca_options_init(&opt);
	if (!list || !nca_options_parse(&opt, list, NCA_FROM_USER, &err))
		return 0;
	nca_say("check: --nccl-autoconf: %s", err.text);
	return -EINVAL;
}

/* What the step said, for the case that it did not come to a result. */
static void repeat(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		if (write(STDERR_FILENO, buf, (size_t)n) < 0)
			return;
}

/* Why no message was sent over an HCA. */
static const char *untested(const struct nca_plan *plan)
{
	if (nca_same(plan->net, "plugin"))
		return "NCCL uses a network plug-in, which only NCCL can test";
	return nca_same(plan->net, "IB") || nca_same(plan->net, "RoCE")
		       ? "no message was sent over the HCAs of these nodes"
		       : "no RDMA is used between these nodes";
}

/* A plan without RDMA has no preflight: what was tested then is what every step tests. */
static const char *reason(const struct nca_batch *b)
{
	const char *line = nca_plan_summary(b->plan, b->job, b->pool);

	if (nca_same(b->plan->verdict, "refuse"))
		return "these nodes cannot work together";
	if (b->job->nnodes < 2)
		return "one node has no other to exchange messages with";
	return nca_pool_printf(b->pool,
			       "%s, so only their connections over the interface were tested: %s",
			       untested(b->plan), line ? line : "");
}

static int add_reason(struct nca_batch *b)
{
	const char *why = reason(b);
	char **hint;

	b->preflight = nca_schema_new(b->pool, &nca_preflight_shape);
	hint = b->preflight && why ? NCA_APPEND(b->pool, b->preflight->hints) : NULL;
	if (!hint)
		return -ENOMEM;
	*hint = (char *)why;
	b->preflight->verdict = "untested";
	b->preflight->ports.v = nca_pool_alloc(b->pool, 0);
	b->preflight->findings.v = nca_pool_alloc(b->pool, 0);
	return b->preflight->ports.v && b->preflight->findings.v ? 0 : -ENOMEM;
}

/* 0 with b->preflight, be it that nothing could be tested. */
static int test(const struct request *req, struct nca_batch *b, struct nca_error *err)
{
	nca_autoclose int said = memfd_create("nccl-autoconf-check", MFD_CLOEXEC);
	int rc = nca_batch_step(b, err);

	if (rc)
		return rc;
	b->say = said < 0 ? STDERR_FILENO : said;
	b->words = nca_pool_printf(b->pool, "check,layout=node%s%s", req->list ? "," : "",
				   req->list ? req->list : "");
	if (!b->words)
		return nca_fail_memory(err);
	rc = nca_batch_agree(b, err);
	if (b->plan)
		return b->preflight || !add_reason(b) ? 0 : nca_fail_memory(err);
	if (said >= 0)
		repeat(said);
	return rc;
}

static bool is_finding(const struct nca_preflight *result, const char *code)
{
	const struct nca_finding *f;

	NCA_FOREACH(f, result->findings)
		if (nca_same(f->code, code))
			return true;
	return false;
}

/* What the plan warns of is not the preflight's, but whoever checks nodes wants to know. */
static void print_warnings(const struct nca_batch *b)
{
	const struct nca_warning *w;

	NCA_FOREACH(w, b->plan->warnings) {
		const char *line =
			is_finding(b->preflight, w->code) ? NULL : nca_explain_warning(w, b->pool);

		if (line)
			nca_explain_line(stdout, line);
	}
}

static int print(const struct nca_batch *b, const struct nca_grid *grid)
{
	const char *headline = nca_grid_headline(b->preflight, grid, b->pool);
	const struct nca_finding *f;
	nca_strs lines;
	char **line;

	if (!headline || nca_grid_table(grid, b->pool, &lines))
		return -ENOMEM;
	NCA_FOREACH(line, lines)
		puts(*line);
	NCA_FOREACH(f, b->preflight->findings) {
		const char *text = nca_grid_finding(f, b->pool);

		if (!text)
			return -ENOMEM;
		nca_explain_line(stdout, text);
	}
	print_warnings(b);
	NCA_FOREACH(line, b->preflight->hints) {
		printf("hint: ");
		nca_explain_wrapped(stdout, *line ? *line : "", strlen("hint: "), 4, 100);
	}
	puts(headline);
	if (b->preflight->exclude)
		printf("--exclude=%s\n", b->preflight->exclude);
	return 0;
}

static int report(const struct request *req, const struct nca_batch *b, struct nca_error *err)
{
	nca_autofree char *text = NULL;
	const char *picture;
	struct nca_grid grid;

	if (nca_grid_make(b->preflight, b->pool, &grid))
		return nca_fail_memory(err);
	text = req->json ? nca_schema_print(&nca_preflight_shape, b->preflight, 0, 1) : NULL;
	if (req->json ? !text || puts(text) < 0 : print(b, &grid))
		return nca_fail_memory(err);
	if (fflush(stdout))
		return nca_fail(err, -errno, "standard output: %s", strerror(errno));
	if (!req->svg)
		return 0;
	picture = nca_grid_picture(b->preflight, &grid, b->pool);
	return picture ? nca_file_write(req->svg, picture, err) : nca_fail_memory(err);
}

static int status(const struct nca_preflight *result)
{
	if (nca_same(result->verdict, "healthy"))
		return HEALTHY;
	return nca_same(result->verdict, "untested") ? NOT_TESTED : UNFIT;
}

static bool is_other_task(void)
{
	const char *rank = getenv("SLURM_PROCID");

	return nca_inherited_is_task() && rank && !streq(rank, "0");
}

int cmd_check(int argc, char **argv)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {"out of memory"};
	struct nca_batch b = {.pool = pool};
	struct request req = {0};
	const struct nca_argument arguments[] = {{"json", &req.json, NULL},
						 {"svg", NULL, &req.svg},
						 {"nccl-autoconf", NULL, &req.list}};
	int rc;

	/* One speaks for all, of bad usage too. */
	if (is_other_task())
		return 0;
	rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), NULL);
	if (rc >= 0)
		return rc;
	if (check_words(req.list))
		return USAGE;
	rc = pool ? test(&req, &b, &err) : -ENOMEM;
	rc = rc ? rc : report(&req, &b, &err);
	if (rc)
		nca_say("check: %s", err.text);
	return rc ? NOT_TESTED : status(b.preflight);
}
