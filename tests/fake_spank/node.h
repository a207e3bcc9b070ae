/* SPDX-License-Identifier: Apache-2.0 */
/* One step on one node as a row of a table: what it is given, what must come of it. */
#ifndef NCA_TEST_NODE_H
#define NCA_TEST_NODE_H

#include "../unit/table.h"

#include "host.h"

#define SECRET "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LAUNCH "1:40000:" SECRET ":1"
#define NO_LAUNCH "none"
#define FAST 200

/* What every task has lost, and nothing else changed. */
#define NOTHING "-SLURM_NCCL_AUTOCONF"
#define LIST(names) "+NCCL_AUTOCONF_VARS=" names
#define RUNS "; the task runs as without us\n"

#define VARS                                                                                       \
	"+MASTER_PORT=29500 " LIST(                                                                \
		"NCCL_SOCKET_IFNAME,NCCL_IB_HCA,MASTER_PORT,RANK") " +NCCL_IB_HCA==mlx5_0 "        \
								   "+NCCL_SOCKET_IFNAME==eth0 "    \
								   "+RANK=* -SLURM_NCCL_AUTOCONF"

struct row {
	const char *name;
	const char *helper; /* what the agent does */
	const char *log;    /* everything that is said; fnmatch(3) */
	const char *diff;   /* of every task's environment; fnmatch(3) */
	const char *launch; /* NULL: as srun makes it */
	const char *env[4];
	uint32_t step, nodeid, ntasks;
	int status; /* exit status of the tasks */
	int listed, speed, jumps;
	bool contained, lingers;
	const char *words[2];
	const char *imports[2]; /* see host.h */
	spank_item_t no_item;
	bool has_no_item;
};

/* Scripts the host from the row; env is the room for the step's variables. */
void node_script(const struct row *r, const char *env[16]);

/* Of every task: exit status and what changed in its environment. */
void node_check_tasks(const struct row *r);

/* A test of a table of rows: script, walk, all checks. */
void node_check(void **state);

/* Set-up and tear-down of a group. */
int node_begin(void **state);
int node_end(void **state);

#endif
