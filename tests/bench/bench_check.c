/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What checking RDMA between the nodes of a large step takes: the real hub and simulated agents,
 * healthy and with an HCA port that is dead for all its partners.
 *
 * usage: bench_check PROGRAM [NODES]
 *
 * Prints for NODES nodes (1,000) of eight RoCE HCAs the CPU time of the hub beyond that of an
 * agreement without a check, which is the baseline, and the time that the HCAs would take, which is
 * a number here and not waited for. For tests/bench/run.
 */
#include <stdio.h>
#include <sys/mman.h>

#include <nca/blame.h>

#include "agents.h"
#include "node.h"

#define NODES 1000

/* The budget: seconds. */
#define HEALTHY_MAX 1.5
#define DEAD_MAX 4

/* Of the HCAs of a node, which work at a time: opened, and queue pairs connected and used; more
 * where an address does not answer ARP, and where all answers are lost. Measured with soft-RoCE. */
#define HEALTHY_SECONDS 0.1
#define SILENT_SECONDS 1.0
#define RETRY_SECONDS 1.3
#define WC_RETRY_EXC 12

/* Whose first HCA is dead. */
#define BAD 7

static size_t nodes, answer_bytes, ask_bytes;
static bool broken;

static int number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? atoi(at + strlen(key)) : 0;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Each answer is written into memory that grows. */
static char *finish(FILE *f, char **text)
{
	fclose(f);
	return *text;
}

static void say_opened(struct nca_channel *ch, size_t node, const char *asked)
{
	int qps = number(asked, "\"sets\":") * number(asked, "\"qps\":"), rail, i;
	nca_autofree char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f, "{\"ends\":[");
	for (rail = 0; rail < BENCH_RAILS; rail++) {
		fprintf(f,
			"%s{\"lid\":0,\"mtu\":4096,\"gid\":\"0000:0000:0000:0000:0000:ffff:0a%02x:"
			"%02zx%02zx\",\"mac\":\"02:00:00:%02x:%02zx:%02zx\",\"qpns\":[",
			rail ? "," : "", rail + 1, node / 250, node % 250 + 1, rail, node / 256,
			node % 256);
		for (i = 0; i < qps; i++)
			fprintf(f, "%s%d", i ? "," : "", 100000 + 1000 * rail + i);
		fprintf(f, "]}");
	}
	fprintf(f, "]}");
	bench_say(ch, NCA_MSG_OPENED, finish(f, &text));
	answer_bytes = len > answer_bytes ? len : answer_bytes;
}

/* MACs are compared only where a test fails. */
static void say_linked(struct nca_channel *ch, const char *asked)
{
	size_t n = count(asked, "\"set\":"), i, len;
	nca_autofree char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	fprintf(f, "{\"partners\":[");
	for (i = 0; i < n; i++)
		fprintf(f, "%s{\"mac\":\"02:00:00:00:00:01\"}", i ? "," : "");
	fprintf(f, "]}");
	bench_say(ch, NCA_MSG_LINKED, finish(f, &text));
	ask_bytes = strlen(asked) > ask_bytes ? strlen(asked) : ask_bytes;
}

/* The number of nodes is even, so every round has a partner: test i of a rail is round i. */
static void say_pinged(struct nca_channel *ch, size_t node)
{
	size_t rounds = nca_schedule_rounds(nodes), round, len, n = 0;
	nca_autofree char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	int rail;

	fprintf(f, "{\"partners\":[");
	for (round = 0; broken && round < rounds; round++)
		if (node == BAD || nca_schedule_partner(nodes, 0, round, node) == BAD)
			fprintf(f,
				"%s{\"partner\":%zu,\"status\":%d,\"vendor\":129,\"failed\":2,"
				"\"received\":0}",
				n++ ? "," : "", round, WC_RETRY_EXC);
	fprintf(f, "],\"risen\":[],\"facts\":{");
	for (rail = 0; rail < BENCH_RAILS; rail++)
		fprintf(f, "%s\"mlx5_%d:1\":[\"traffic_class 106\",\"roce_tos 106\",\"pfc 8\"]",
			rail ? "," : "", rail);
	fprintf(f, "}}");
	bench_say(ch, NCA_MSG_PINGED, finish(f, &text));
}

static bool reply(struct nca_channel *ch, size_t node, uint32_t type, const char *payload)
{
	switch (type) {
	case NCA_MSG_OPEN:
		say_opened(ch, node, payload);
		return true;
	case NCA_MSG_LINK:
		say_linked(ch, payload);
		return true;
	case NCA_MSG_PING:
		say_pinged(ch, node);
		return true;
	default:
		return false;
	}
}

/* Has the hub said so? */
static bool was_said(int fd, const char *what)
{
	char text[8192];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (strstr(text, what))
		return true;
	fprintf(stderr, "the hub does not say \"%s\", but: %s\n", what, text);
	return false;
}

static double measure(struct bench_step *s, bool is_broken, const char *what)
{
	struct bench_cost cost;

	broken = is_broken;
	if (ftruncate(s->said, 0) < 0 || lseek(s->said, 0, SEEK_SET) < 0) {
		perror("said");
		exit(1);
	}
	cost = bench_agree(s);
	if (!was_said(s->said, what))
		exit(1);
	return cost.seconds;
}

int main(int argc, char **argv)
{
	struct bench_step step = {.said = memfd_create("said", MFD_CLOEXEC), .reply = reply};
	double plain, healthy, dead;
	char name[64], baseline[128];

	nodes = argc > 2 ? strtoul(argv[2], NULL, 10) : NODES;
	if (argc < 2 || nodes < 16 || nodes > 60000 || nodes % 2) {
		fprintf(stderr, "usage: bench_check PROGRAM [NODES], even, 16 to 60000\n");
		return 2;
	}
	step.program = argv[1];
	step.nodes = nodes;
	bench_raise_limit(nodes);
	step.words = "all,layout=task";
	plain = measure(&step, false, "nodes on bond0");
	step.words = "all,layout=task,check";
	healthy = measure(&step, false, "RDMA tested");
	dead = measure(&step, true, "warning rdma-dead: node7 mlx5_0:1: nothing passes");
	snprintf(baseline, sizeof(baseline), "%.3f s without check, %zu and %zu bytes a node",
		 plain, ask_bytes, answer_bytes);
	snprintf(name, sizeof(name), "check: %zu nodes, healthy", nodes);
	bench_print(name, healthy - plain + HEALTHY_SECONDS, "s", baseline, HEALTHY_MAX);
	snprintf(name, sizeof(name), "check: %zu nodes, a dead HCA port", nodes);
	snprintf(baseline, sizeof(baseline), "%.1f s of them the HCAs'",
		 HEALTHY_SECONDS + SILENT_SECONDS + RETRY_SECONDS);
	bench_print(name, dead - plain + HEALTHY_SECONDS + SILENT_SECONDS + RETRY_SECONDS, "s",
		    baseline, DEAD_MAX);
	return 0;
}
