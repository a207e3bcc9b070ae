/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What agreeing with a large step costs beside srun: the real hub, as the plugin starts it, and one
 * process that speaks for all agents over loopback.
 *
 * usage: bench_agree PROGRAM [NODES]
 *
 * Prints CPU time and memory of the hub for NODES nodes (10,000) of eight RoCE HCAs, and the factor
 * per doubling, which is taken from an eighth of the nodes; for tests/bench/run.
 */
#include <stdio.h>

#include "agents.h"
#include "node.h"

#define NODES 10000
#define DOUBLINGS 3

/* The budget: seconds and MB at 10,000 nodes, factor per doubling. */
#define SECONDS_MAX 1
#define MEGABYTES_MAX 256
#define DOUBLING_MAX 2.2

int main(int argc, char **argv)
{
	size_t nodes = argc > 2 ? strtoul(argv[2], NULL, 10) : NODES;
	struct bench_step step = {.words = "all,quiet,layout=task", .said = -1};
	struct bench_cost all, part;
	char what[64], small[64];

	if (argc < 2 || nodes < 16 || nodes > 60000) {
		fprintf(stderr, "usage: bench_agree PROGRAM [NODES], 16 to 60000\n");
		return 2;
	}
	step.program = argv[1];
	bench_raise_limit(nodes);
	step.nodes = nodes >> DOUBLINGS;
	part = bench_agree(&step);
	step.nodes = nodes;
	all = bench_agree(&step);
	snprintf(what, sizeof(what), "agree: %zu nodes, CPU of the hub", nodes);
	snprintf(small, sizeof(small), "%.3f s (%zu nodes), %zu bytes a report", part.seconds,
		 nodes >> DOUBLINGS, all.report_bytes);
	bench_print(what, all.seconds, "s", small, SECONDS_MAX);
	snprintf(what, sizeof(what), "agree: %zu nodes, memory of the hub", nodes);
	snprintf(small, sizeof(small), "%.1f MB (%zu nodes)", part.megabytes, nodes >> DOUBLINGS);
	bench_print(what, all.megabytes, "MB", small, MEGABYTES_MAX);
	bench_print("agree: per doubling",
		    bench_per_doubling(all.seconds / part.seconds, DOUBLINGS), "x", "2 (linear)",
		    DOUBLING_MAX);
	return 0;
}
