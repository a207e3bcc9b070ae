/* SPDX-License-Identifier: Apache-2.0 */
/* The real hub, as the plugin starts it, and all agents of a step. */
#ifndef BENCH_AGENTS_H
#define BENCH_AGENTS_H

#include <nca/channel.h>
#include <nca/message.h>

struct bench_step {
	const char *program;
	size_t nodes;	   /* of eight RoCE HCAs: bench_write_node() */
	const char *words; /* of the user */
	int said;	   /* where the hub's messages go; -1: standard error */
	/* Answers what is asked beyond the agreement, by bench_say(); false: it knows no answer.
	 * NULL: nothing is asked. */
	bool (*reply)(struct nca_channel *ch, size_t node, uint32_t type, const char *payload);
};

struct bench_cost {
	double seconds, megabytes; /* CPU and memory of the hub */
	size_t report_bytes;	   /* of a node */
};

/* Agrees, or ends the process with the reason. */
struct bench_cost bench_agree(const struct bench_step *s);

void bench_say(struct nca_channel *ch, enum nca_message type, const char *text);

/* Room for a descriptor per node, or ends the process. */
void bench_raise_limit(size_t nodes);

#endif
