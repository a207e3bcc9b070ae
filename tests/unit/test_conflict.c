/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdio.h>

#include <nca/conflict.h>
#include <nca/variable.h>

#include "step.h"

struct row {
	const char *name;
	struct step step;
	const char *code; /* NULL: no warning at all */
	const char *text; /* part of it */
	const char *node; /* whom it names; NULL: the whole step */
};

#define TASKS .tasks = 8, .gpus = 8, .command = "python3 x.py"
#define NODE .tasks = 1, .gpus = 8

static const struct row rows[] = {
	{"a task per GPU", {TASKS}, NULL, NULL, NULL},
	{"a launcher per node", {NODE, .command = "torchrun x.py"}, NULL, NULL, NULL},
	{"one node", {NODE, .alone = true, .command = "torchrun x.py"}, NULL, NULL, NULL},

	/* with several tasks per node */
	{"NNODES", {TASKS, .env = "NNODES=2"}, "env-launcher", "NNODES=2 makes", NULL},
	{"NNODES with one task", {.tasks = 1, .gpus = 1, .env = "NNODES=2"}, NULL, NULL, NULL},
	{"NPROC_PER_NODE", {TASKS, .env = "NPROC_PER_NODE=8"}, "env-launcher", "every task", NULL},
	{"FORCE_TORCHRUN", {TASKS, .env = "FORCE_TORCHRUN=1"}, "env-launcher", NULL, NULL},
	{"FORCE_TORCHRUN=0", {TASKS, .env = "FORCE_TORCHRUN=0"}, NULL, NULL, NULL},
	{"USE_MCA, LLaMA-Factory",
	 {TASKS, .env = "USE_MCA=1", .options = "trainer=llamafactory"},
	 "env-launcher",
	 "USE_MCA",
	 NULL},
	{"USE_MCA, others", {TASKS, .env = "USE_MCA=1"}, NULL, NULL, NULL},
	{"torchrun in every task",
	 {.tasks = 8, .gpus = 8, .command = "torchrun x.py"},
	 "launcher-per-task",
	 "--ntasks-per-node=1",
	 NULL},
	{"llamafactory-cli in every task",
	 {.tasks = 8, .gpus = 8, .command = "llamafactory-cli train x.yaml"},
	 NULL,
	 NULL,
	 NULL},
	{"torchrun in every task of one node",
	 {.tasks = 8, .gpus = 8, .alone = true, .command = "torchrun x.py"},
	 "launcher-per-task",
	 NULL,
	 NULL},
	{"RANK of the batch script", {TASKS, .env = "RANK=0"}, "env-same-rank", "same", NULL},
	{"RANK, one task per node",
	 {.tasks = 1, .gpus = 1, .env = "RANK=0"},
	 "env-same-rank",
	 NULL,
	 NULL},
	{"RANK, one task",
	 {.tasks = 1, .gpus = 1, .alone = true, .env = "RANK=0", .options = "layout=task"},
	 NULL,
	 NULL,
	 NULL},
	{"LOCAL_RANK", {TASKS, .env = "LOCAL_RANK=0"}, "env-same-rank", NULL, NULL},
	{"LOCAL_RANK, one task per node",
	 {.tasks = 1, .gpus = 1, .env = "LOCAL_RANK=0"},
	 NULL,
	 NULL,
	 NULL},
	{"WORLD_SIZE", {TASKS, .env = "WORLD_SIZE=8"}, "env-size", "WORLD_SIZE=8 says", NULL},
	{"WORLD_SIZE that is right", {TASKS, .env = "WORLD_SIZE=16"}, NULL, NULL, NULL},
	{"LOCAL_WORLD_SIZE", {TASKS, .env = "LOCAL_WORLD_SIZE=1"}, "env-size", NULL, NULL},
	{"agent's store",
	 {TASKS, .env = "TORCHELASTIC_USE_AGENT_STORE=True"},
	 "env-elastic",
	 NULL,
	 NULL},
	{"no agent's store",
	 {TASKS, .env = "TORCHELASTIC_USE_AGENT_STORE=False"},
	 NULL,
	 NULL,
	 NULL},
	{"Lightning below torchrun's variables",
	 {TASKS, .env = "TORCHELASTIC_RUN_ID=x", .options = "trainer=lightning"},
	 "env-elastic",
	 NULL,
	 NULL},
	{"Lightning in an interactive job",
	 {TASKS, .env = "SLURM_JOB_NAME=interactive", .options = "trainer=lightning"},
	 "env-slurm-job",
	 "--job-name",
	 NULL},
	{"others in an interactive job",
	 {TASKS, .env = "SLURM_JOB_NAME=interactive"},
	 NULL,
	 NULL,
	 NULL},
	{"devices of JAX", {TASKS, .env = "JAX_LOCAL_DEVICE_IDS=0"}, "env-jax", NULL, NULL},
	{"JAX and Open MPI",
	 {TASKS, .env = "OMPI_MCA_orte_hnp_uri=x", .options = "trainer=jax"},
	 "env-jax",
	 NULL,
	 NULL},
	{"submitit, all", {TASKS, .env = "SUBMITIT_EXECUTOR=slurm"}, "env-submitit", "net", NULL},
	{"submitit, net",
	 {TASKS, .env = "SUBMITIT_EXECUTOR=slurm", .options = "net"},
	 NULL,
	 NULL,
	 NULL},

	/* with a launcher per node */
	{"LOCAL_RANK under torchrun",
	 {NODE, .command = "torchrun x.py", .env = "LOCAL_RANK=0"},
	 "env-worker",
	 "LOCAL_RANK=0",
	 NULL},
	{"RANK under LLaMA-Factory",
	 {NODE, .command = "llamafactory-cli train", .env = "RANK=0"},
	 "env-worker",
	 NULL,
	 NULL},
	{"RANK under an old LLaMA-Factory",
	 {NODE, .options = "trainer=llamafactory-0.9.0", .env = "RANK=0"},
	 "env-size",
	 "RANK=0",
	 "node2"},
	{"WORLD_SIZE under composer",
	 {NODE, .command = "composer x.py", .env = "WORLD_SIZE=16"},
	 NULL,
	 NULL,
	 NULL},
	{"WORLD_SIZE of another step under composer",
	 {NODE, .command = "composer x.py", .env = "WORLD_SIZE=8"},
	 "env-size",
	 NULL,
	 NULL},
	{"NODE_RANK of the batch script",
	 {NODE, .env = "NODE_RANK=0"},
	 "env-size",
	 "NODE_RANK=0",
	 "node2"},
	{"NNODES=1 on two nodes", {NODE, .env = "NNODES=1"}, "env-size", NULL, NULL},
	{"NNODES=2 on two nodes", {NODE, .env = "NNODES=2"}, NULL, NULL, NULL},
	{"elastic PET_NNODES", {NODE, .env = "PET_NNODES=1:2"}, NULL, NULL, NULL},
	{"PET_STANDALONE", {NODE, .env = "PET_STANDALONE=1"}, "env-standalone", NULL, NULL},
	{"PET_STANDALONE on one node",
	 {NODE, .alone = true, .env = "PET_STANDALONE=1"},
	 NULL,
	 NULL,
	 NULL},
	{"c10d where static is named",
	 {NODE, .options = "trainer=torchrun", .env = "PET_RDZV_BACKEND=c10d"},
	 "env-rdzv",
	 "trainer=torchrun-c10d",
	 NULL},
	{"c10d is recognized",
	 {NODE, .command = "torchrun x.py", .env = "PET_RDZV_BACKEND=c10d"},
	 NULL,
	 NULL,
	 NULL},
	{"c10d in a script is recognized",
	 {NODE, .command = "bash x.sh", .env = "PET_RDZV_BACKEND=c10d"},
	 NULL,
	 NULL,
	 NULL},
	{"c10d under LLaMA-Factory",
	 {NODE, .command = "llamafactory-cli train", .env = "PET_RDZV_BACKEND=c10d"},
	 "env-rdzv",
	 NULL,
	 NULL},
	{"static by name",
	 {NODE, .command = "torchrun x.py", .env = "PET_RDZV_BACKEND=static"},
	 NULL,
	 NULL,
	 NULL},
	{"another endpoint",
	 {NODE, .command = "torchrun x.py", .env = "PET_RDZV_ENDPOINT=x:1"},
	 "env-rdzv",
	 NULL,
	 NULL},
	{"RDZV_ID under LLaMA-Factory",
	 {NODE, .command = "llamafactory-cli train", .env = "RDZV_ID=x"},
	 "env-rdzv",
	 NULL,
	 NULL},
	{"FORCE_TORCHRUN=0 with one GPU per node",
	 {.tasks = 1, .gpus = 1, .command = "llamafactory-cli train", .env = "FORCE_TORCHRUN=0"},
	 "env-no-torchrun",
	 "alone",
	 NULL},
	{"layout=node with eight tasks",
	 {TASKS, .options = "layout=node"},
	 "launcher-per-task",
	 "--ntasks-per-node=1",
	 NULL},
	{"deepspeed on every node",
	 {NODE, .command = "deepspeed x.py"},
	 "launcher-args",
	 "--no_ssh",
	 NULL},
	{"deepspeed --no_ssh", {NODE, .command = "deepspeed --no_ssh x.py"}, NULL, NULL, NULL},
	{"deepspeed on one node",
	 {NODE, .alone = true, .command = "deepspeed x.py"},
	 NULL,
	 NULL,
	 NULL},
	{"accelerate launch on every node",
	 {NODE, .command = "accelerate launch x.py"},
	 "launcher-args",
	 "--machine_rank",
	 NULL},
	{"PET_RDZV_CONF under accelerate launch",
	 {NODE, .command = "accelerate launch --machine_rank 0", .env = "PET_RDZV_CONF=x=1"},
	 "env-rdzv",
	 NULL,
	 NULL},
	{"Lightning in layout node",
	 {NODE, .options = "trainer=lightning,layout=node"},
	 "env-slurm-job",
	 "follows Slurm",
	 NULL},
	{"a trainer without this layout",
	 {TASKS, .options = "trainer=torchrun,layout=task"},
	 "trainer-layout",
	 "--ntasks-per-node=1",
	 NULL},
	{"a trainer with but one layout",
	 {TASKS, .options = "trainer=torchrun"},
	 "launcher-per-task",
	 NULL,
	 NULL},

	/* MASTER_ADDR */
	{"the address of another network",
	 {TASKS, .env = "MASTER_ADDR=192.168.0.11"},
	 "env-master-addr",
	 "is on eth0 of node1; the nodes meet at 10.0.0.1 (bond0)",
	 NULL},
	{"the name, which leads there",
	 {NODE, .env = "MASTER_ADDR=node1"},
	 "env-master-addr",
	 "is on eth0",
	 NULL},
	{"a name that nobody knows", {NODE, .env = "MASTER_ADDR=node"}, NULL, NULL, NULL},
	{"the right address", {TASKS, .env = "MASTER_ADDR=10.0.0.1"}, NULL, NULL, NULL},
	{"another node's",
	 {TASKS, .env = "MASTER_ADDR=10.0.0.2"},
	 "env-master-addr",
	 "no address",
	 NULL},
	{"another node's name",
	 {TASKS, .env = "MASTER_ADDR=node2"},
	 "env-master-addr",
	 "is not node1",
	 NULL},
	{"an address with a port",
	 {TASKS, .env = "MASTER_ADDR=10.0.0.1:29500"},
	 "env-master-addr",
	 "neither",
	 NULL},
	{"nothing, as a command has left it", {TASKS, .env = "MASTER_ADDR="}, NULL, NULL, NULL},
	{"loopback", {TASKS, .env = "MASTER_ADDR=127.0.0.1"}, "env-master-addr", "itself", NULL},
	{"loopback on one node",
	 {TASKS, .alone = true, .env = "MASTER_ADDR=127.0.0.1"},
	 NULL,
	 NULL,
	 NULL},
};

static void check(void **state)
{
	const struct row *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_plan *plan = step_plan(pool, &r->step);
	const struct nca_warning *w = plan->warnings.v;

	if (!r->code) {
		if (plan->warnings.n)
			fail_msg("%s: %s", w->code, w->text);
		return;
	}
	assert_int_equal(plan->warnings.n, 1);
	assert_string_equal(w->code, r->code);
	if (r->text && !strstr(w->text, r->text))
		fail_msg("%s", w->text);
	if (r->node)
		assert_string_equal(w->node, r->node);
	else
		assert_null(w->node);
}

/* Every conflict has a case above, with its variable where it has one, and is seen by the probe. */
static void check_complete(void **state)
{
	const struct nca_conflict *c;
	size_t i;

	(void)state;
	for (c = nca_conflicts; c < nca_conflicts + nca_conflict_count; c++) {
		bool found = false;

		for (i = 0; i < ARRAY_SIZE(rows); i++)
			found = found || nca_same(rows[i].code, c->code);
		if (!found)
			fail_msg("%s", c->code);
	}
}

static void check_recorded(void **state)
{
	const struct nca_conflict *c;
	char text[80];

	(void)state;
	for (c = nca_conflicts; c < nca_conflicts + nca_conflict_count; c++) {
		snprintf(text, sizeof(text), "%s=bash", c->variable ? c->variable : "RANK");
		if (c->when != NCA_WHEN_LACKS && !nca_variable_is_recorded(text))
			fail_msg("%s", c->variable);
	}
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_complete);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_recorded);
	return _cmocka_run_group_tests("conflict", tests, n, NULL, NULL);
}
