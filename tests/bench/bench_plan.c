/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What planning a large step costs, reading JSON not counted.
 *
 * usage: bench_plan [NODES]
 *
 * Prints CPU time and memory of the planner for NODES nodes (10,000) of eight HCAs, InfiniBand and
 * RoCE with one network per rail, and the factor per doubling, which is taken from an eighth of the
 * nodes; for tests/bench/run, fields divided by tabs: name, value, unit, baseline, goal, met.
 */
#include <malloc.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include <nca/plan.h>

#include "node.h"

#define NODES 10000
#define DOUBLINGS 3
#define ROUNDS 5

/* The budget: seconds and MB at 10,000 nodes, factor per doubling. */
#define SECONDS_MAX 0.5
#define MEGABYTES_MAX 150
#define DOUBLING_MAX 2.1

struct cost {
	double seconds;
	double megabytes;
};

static struct nca_job *make_job(struct nca_pool *pool, bool roce, size_t nodes)
{
	struct nca_job *job = nca_schema_new(pool, &nca_job_shape);
	struct nca_error err = {"out of memory"};
	static char text[BENCH_NODE_MAX];
	size_t i;

	for (i = 0; job && i < nodes; i++) {
		struct nca_node *node = NCA_APPEND(pool, job->nodes);
		void *read;

		bench_write_node(text, sizeof(text), roce, i);
		if (!node || nca_schema_parse(&nca_node_shape, text, strlen(text), "node", pool,
					      &read, &err)) {
			fprintf(stderr, "%s\n", err.text);
			exit(1);
		}
		*node = *(struct nca_node *)read;
	}
	if (job)
		job->nnodes = (int)nodes;
	return job;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double used(void)
{
	struct mallinfo2 m = mallinfo2();

	return (double)(m.uordblks + m.hblkhd) / 1e6;
}

static struct cost plan_once(const struct nca_job *job)
{
	struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {"out of memory"};
	double before = used(), start = now();
	struct nca_options opt;
	struct nca_plan *plan;

	nca_options_init(&opt);
	nca_options_finish(&opt);
	if (!pool || nca_plan_make(job, &opt, NULL, pool, &plan, &err) ||
	    plan->nodes.v->hcas.n != BENCH_RAILS || plan->warnings.n) {
		fprintf(stderr, "not planned: %s\n", err.text);
		exit(1);
	}
	return (struct cost){now() - start, used() - before};
}

/* In a process of its own, as in the hub: memory that an earlier plan has left would be cheaper. */
static struct cost plan_afresh(const struct nca_job *job)
{
	struct cost cost;
	int fds[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds) < 0 || (pid = fork()) < 0) {
		perror("fork");
		exit(1);
	}
	if (!pid) {
		cost = plan_once(job);
		_exit(write(fds[1], &cost, sizeof(cost)) != sizeof(cost));
	}
	close(fds[1]);
	if (read(fds[0], &cost, sizeof(cost)) != sizeof(cost) || waitpid(pid, &status, 0) != pid ||
	    status)
		exit(1);
	close(fds[0]);
	return cost;
}

/* The best of some: what the machine adds is not the planner's. */
static struct cost measure(bool roce, size_t nodes)
{
	nca_autopool struct nca_pool *from = nca_pool_new();
	const struct nca_job *job = make_job(from, roce, nodes);
	struct cost best = {1e9, 0};
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct cost cost = plan_afresh(job);

		if (cost.seconds < best.seconds)
			best = cost;
	}
	return best;
}

static void report(const char *name, bool roce, size_t nodes)
{
	struct cost all = measure(roce, nodes), part = measure(roce, nodes >> DOUBLINGS);
	double factor = bench_per_doubling(all.seconds / part.seconds, DOUBLINGS);
	char what[64], small[64];

	snprintf(what, sizeof(what), "plan: %zu x %d %s, CPU", nodes, BENCH_RAILS, name);
	snprintf(small, sizeof(small), "%.4f s (%zu nodes)", part.seconds, nodes >> DOUBLINGS);
	bench_print(what, all.seconds, "s", small, SECONDS_MAX);
	snprintf(what, sizeof(what), "plan: %zu x %d %s, memory", nodes, BENCH_RAILS, name);
	snprintf(small, sizeof(small), "%.1f MB (%zu nodes)", part.megabytes, nodes >> DOUBLINGS);
	bench_print(what, all.megabytes, "MB", small, MEGABYTES_MAX);
	snprintf(what, sizeof(what), "plan: %s, per doubling", name);
	bench_print(what, factor, "x", "2 (linear)", DOUBLING_MAX);
}

int main(int argc, char **argv)
{
	size_t nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : NODES;

	if (nodes < 16 || nodes > 60000) {
		fprintf(stderr, "usage: bench_plan [NODES], 16 to 60000\n");
		return 2;
	}
	report("InfiniBand", false, nodes);
	report("RoCE", true, nodes);
	return 0;
}
