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
#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include <nca/plan.h>

#define RAILS 8
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

static void add(char *buf, size_t size, const char *fmt, ...) NCA_PRINTF(3, 4);

static void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}

static void add_link(char *buf, size_t size, const char *name, int rail, size_t i)
{
	add(buf, size,
	    "{\"name\": \"%s\", \"ifindex\": %d, \"kind\": \"ether\", \"mtu\": 9000, "
	    "\"flags\": [\"UP\", \"LOWER_UP\"], \"carrier\": 1, \"speed_mbps\": 400000, "
	    "\"pci\": \"0000:%02x:00.0\", \"addresses\": [{\"family\": \"inet\", "
	    "\"addr\": \"10.%d.%zu.%zu\", \"prefixlen\": 16, \"scope\": \"global\"}]}",
	    name, rail + 3, 0x10 + rail, rail + 1, i / 250, i % 250 + 1);
}

static void add_hca(char *buf, size_t size, bool roce, int rail, size_t i)
{
	add(buf, size,
	    "{\"name\": \"mlx5_%d\", \"pci\": \"0000:%02x:00.0\", \"driver\": \"mlx5_core\", "
	    "\"node_type\": \"1: CA\", \"uverbs_opens\": true, \"ports\": [{\"port\": 1, "
	    "\"state\": \"ACTIVE\", \"phys_state\": \"LinkUp\", \"link_layer\": \"%s\", "
	    "\"rate_gbps\": 400, \"active_mtu\": 4096, \"lid\": %zu, \"sm_lid\": 1, "
	    "\"netdev\": \"rail%d\", \"gids\": [{\"index\": 0, \"gid\": "
	    "\"fe80:0000:0000:0000:0000:0000:%04zx:%04x\", \"type\": \"RoCE v2\", "
	    "\"ndev\": \"rail%d\"}",
	    rail, 0x10 + rail, roce ? "Ethernet" : "InfiniBand", i + 2, rail, i, rail, rail);
	if (roce)
		add(buf, size,
		    ", {\"index\": 3, \"gid\": "
		    "\"0000:0000:0000:0000:0000:ffff:0a%02x:%02zx%02zx\", "
		    "\"type\": \"RoCE v2\", \"ndev\": \"rail%d\"}",
		    rail + 1, i / 250, i % 250 + 1, rail);
	add(buf, size, "]}]}");
}

static void write_node(char *buf, size_t size, bool roce, size_t i)
{
	int rail;

	buf[0] = 0;
	add(buf, size,
	    "{\"schema\": \"hwdesc/1\", \"name\": \"node%zu\", \"memlock_kb\": 67108864, "
	    "\"nccl_version\": \"2.27.3\", \"ip_local_port_range\": [32768, 60999], "
	    "\"interfaces\": [{\"name\": \"lo\", \"ifindex\": 1, \"kind\": \"loopback\", "
	    "\"addresses\": [{\"family\": \"inet\", \"addr\": \"127.0.0.1\", \"prefixlen\": 8, "
	    "\"scope\": \"host\"}]}, {\"name\": \"bond0\", \"ifindex\": 2, \"kind\": \"bond\", "
	    "\"mtu\": 1500, \"carrier\": 1, \"flags\": [\"UP\"], \"addresses\": [{\"family\": "
	    "\"inet\", \"addr\": \"10.200.%zu.%zu\", \"prefixlen\": 16, \"scope\": "
	    "\"global\"}]}",
	    i, i / 250, i % 250 + 1);
	for (rail = 0; rail < RAILS; rail++) {
		char name[16];

		snprintf(name, sizeof(name), "rail%d", rail);
		add(buf, size, ", ");
		add_link(buf, size, name, rail, i);
	}
	add(buf, size,
	    "], \"routes\": [{\"family\": \"inet\", \"dst\": \"default\", \"dev\": \"bond0\", "
	    "\"gateway\": \"10.200.255.254\"}, {\"family\": \"inet\", \"dst\": "
	    "\"10.200.0.0/16\", \"dev\": \"bond0\"}");
	for (rail = 0; rail < RAILS; rail++)
		add(buf, size,
		    ", {\"family\": \"inet\", \"dst\": \"10.%d.0.0/16\", \"dev\": \"rail%d\"}",
		    rail + 1, rail);
	add(buf, size, "], \"hcas\": [");
	for (rail = 0; rail < RAILS; rail++) {
		add(buf, size, "%s", rail ? ", " : "");
		add_hca(buf, size, roce, rail, i);
	}
	add(buf, size, "]}");
}

static struct nca_job *make_job(struct nca_pool *pool, bool roce, size_t nodes)
{
	struct nca_job *job = nca_schema_new(pool, &nca_job_shape);
	struct nca_error err = {"out of memory"};
	static char text[32768];
	size_t i;

	for (i = 0; job && i < nodes; i++) {
		struct nca_node *node = NCA_APPEND(pool, job->nodes);
		void *read;

		write_node(text, sizeof(text), roce, i);
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
	    plan->nodes.v->hcas.n != RAILS || plan->warnings.n) {
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

static const char *met(double value, double goal)
{
	return value <= goal ? "met" : "missed";
}

static void report(const char *name, bool roce, size_t nodes)
{
	struct cost all = measure(roce, nodes), part = measure(roce, nodes >> DOUBLINGS);
	double factor = all.seconds / part.seconds;
	int i;

	/* The DOUBLINGS-th root, without libm. */
	double root = 2;
	for (i = 0; i < 40; i++)
		root -= (root * root * root - factor) / (3 * root * root);
	printf("plan: %zu x %d %s, CPU\t%.3f\ts\t%.4f s (%zu nodes)\t%g s\t%s\n", nodes, RAILS,
	       name, all.seconds, part.seconds, nodes >> DOUBLINGS, SECONDS_MAX,
	       met(all.seconds, SECONDS_MAX));
	printf("plan: %zu x %d %s, memory\t%.1f\tMB\t%.1f MB (%zu nodes)\t%d MB\t%s\n", nodes,
	       RAILS, name, all.megabytes, part.megabytes, nodes >> DOUBLINGS, MEGABYTES_MAX,
	       met(all.megabytes, MEGABYTES_MAX));
	printf("plan: %s, per doubling\t%.2f\tx\t2 (linear)\t%g\t%s\n", name, root, DOUBLING_MAX,
	       met(root, DOUBLING_MAX));
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
