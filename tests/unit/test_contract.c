/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdio.h>

#include <nca/contract.h>
#include <nca/variable.h>

#include "step.h"

/* What must be set on the second of two nodes with 4 and 3 GPUs. */
struct value {
	const char *name;    /* of the test: trainer and layout */
	const char *trainer; /* NULL: not named */
	enum nca_layout layout;
	const char *env;
	const char *want; /* all that is set; NULL: nothing */
};

#define WORKER                                                                                     \
	"RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=7 LOCAL_WORLD_SIZE=3 "            \
	"MASTER_ADDR=10.0.0.1 MASTER_PORT=29512"
#define MASTER " MASTER_ADDR=10.0.0.1 MASTER_PORT=29512"
#define NODES "NNODES=2 NODE_RANK=1 NPROC_PER_NODE=3" MASTER
#define PET                                                                                        \
	"PET_NNODES=2 PET_NODE_RANK=1 PET_NPROC_PER_NODE=3 PET_MASTER_ADDR=10.0.0.1 "              \
	"PET_MASTER_PORT=29512"

static const struct value values[] = {
	{"auto, task", NULL, NCA_LAYOUT_TASK, NULL,
	 WORKER " JAX_COORDINATOR_ADDRESS=10.0.0.1:29512"},
	{"auto, node", NULL, NCA_LAYOUT_NODE, NULL,
	 PET " " NODES " FORCE_TORCHRUN=1 JAX_COORDINATOR_ADDRESS=10.0.0.1:29512 "
	     "JAX_LOCAL_DEVICE_IDS=0,1,2"},
	{"torch, task", "torch", NCA_LAYOUT_TASK, NULL, WORKER},
	{"torch, node", "torch", NCA_LAYOUT_NODE, NULL, NULL},
	{"torchrun, task", "torchrun", NCA_LAYOUT_TASK, NULL, NULL},
	{"torchrun, node", "torchrun", NCA_LAYOUT_NODE, NULL, PET},
	{"c10d, node", "torchrun-c10d", NCA_LAYOUT_NODE, NULL,
	 "PET_NNODES=2 PET_NPROC_PER_NODE=3 PET_RDZV_BACKEND=c10d "
	 "PET_RDZV_ENDPOINT=10.0.0.1:29512 PET_RDZV_ID=7.0 PET_RDZV_CONF=is_host=0 "
	 "PET_LOCAL_ADDR=10.0.0.2"},
	{"c10d, node, with settings of the user's", "torchrun-c10d", NCA_LAYOUT_NODE,
	 "PET_RDZV_CONF=timeout=90",
	 "PET_NNODES=2 PET_NPROC_PER_NODE=3 PET_RDZV_BACKEND=c10d "
	 "PET_RDZV_ENDPOINT=10.0.0.1:29512 PET_RDZV_ID=7.0 PET_RDZV_CONF=timeout=90,is_host=0 "
	 "PET_LOCAL_ADDR=10.0.0.2"},
	{"c10d, node, with the user's endpoint", "torchrun-c10d", NCA_LAYOUT_NODE,
	 "PET_RDZV_ENDPOINT=x:1",
	 "PET_NNODES=2 PET_NPROC_PER_NODE=3 PET_RDZV_BACKEND=c10d PET_RDZV_ID=7.0 "
	 "PET_LOCAL_ADDR=10.0.0.2"},
	{"lightning, task", "lightning", NCA_LAYOUT_TASK, NULL,
	 "MASTER_ADDR=10.0.0.1 MASTER_PORT=29512"},
	{"lightning, node", "lightning", NCA_LAYOUT_NODE, NULL, "NODE_RANK=1" MASTER},
	{"accelerate, task", "accelerate", NCA_LAYOUT_TASK, NULL, WORKER},
	{"accelerate, node", "accelerate", NCA_LAYOUT_NODE, NULL, NODES},
	{"deepspeed, task", "deepspeed", NCA_LAYOUT_TASK, NULL, WORKER},
	{"deepspeed, node", "deepspeed", NCA_LAYOUT_NODE, NULL, NODES},
	{"deepspeed-pdsh, task", "deepspeed-pdsh", NCA_LAYOUT_TASK, NULL, NULL},
	{"deepspeed-pdsh, node", "deepspeed-pdsh", NCA_LAYOUT_NODE, NULL, NULL},
	{"llamafactory, task", "llamafactory", NCA_LAYOUT_TASK, NULL, WORKER},
	{"llamafactory, node", "llamafactory", NCA_LAYOUT_NODE, NULL, NODES " FORCE_TORCHRUN=1"},
	{"llamafactory 0.9.0, task", "llamafactory-0.9.0", NCA_LAYOUT_TASK, NULL, WORKER},
	{"llamafactory 0.9.0, node", "llamafactory-0.9.0", NCA_LAYOUT_NODE, NULL,
	 "NNODES=2 RANK=1 NPROC_PER_NODE=3" MASTER " FORCE_TORCHRUN=1"},
	{"swift, task", "swift", NCA_LAYOUT_TASK, NULL, WORKER},
	{"swift, node", "swift", NCA_LAYOUT_NODE, NULL, NODES},
	{"megatron, task", "megatron", NCA_LAYOUT_TASK, NULL, WORKER},
	{"megatron, node", "megatron", NCA_LAYOUT_NODE, NULL, PET},
	{"jax, task", "jax", NCA_LAYOUT_TASK, NULL, "JAX_COORDINATOR_ADDRESS=10.0.0.1:29512"},
	{"jax, node", "jax", NCA_LAYOUT_NODE, NULL,
	 "JAX_COORDINATOR_ADDRESS=10.0.0.1:29512 JAX_LOCAL_DEVICE_IDS=0,1,2"},
	{"horovod, task", "horovod", NCA_LAYOUT_TASK, NULL, "HOROVOD_GLOO_IFACE=bond0"},
	{"horovod, node", "horovod", NCA_LAYOUT_NODE, NULL, NULL},
	{"submitit, task", "submitit", NCA_LAYOUT_TASK, NULL, NULL},
	{"submitit, node", "submitit", NCA_LAYOUT_NODE, NULL, NULL},
	{"composer, task", "composer", NCA_LAYOUT_TASK, NULL, WORKER},
	{"composer, node", "composer", NCA_LAYOUT_NODE, NULL,
	 "WORLD_SIZE=7 LOCAL_WORLD_SIZE=3 NODE_RANK=1 BASE_RANK=4" MASTER},
	{"mpirun, task", "mpirun", NCA_LAYOUT_TASK, NULL, NULL},
	{"mpirun, node", "mpirun", NCA_LAYOUT_NODE, NULL, NULL},
	{"ray, task", "ray", NCA_LAYOUT_TASK, NULL, NULL},
	{"ray, node", "ray", NCA_LAYOUT_NODE, NULL, "NNODES=2" MASTER},
	{"ignite, task", "ignite", NCA_LAYOUT_TASK, NULL, WORKER},
	{"ignite, node", "ignite", NCA_LAYOUT_NODE, NULL, NULL},
	{"torchrun-c10d, task", "torchrun-c10d", NCA_LAYOUT_TASK, NULL, NULL},
	{"what the user sets stays", "swift", NCA_LAYOUT_NODE, "NPROC_PER_NODE=1 MASTER_PORT=4000",
	 "NNODES=2 NODE_RANK=1 MASTER_ADDR=10.0.0.1"},
};

static const char *words(struct nca_pool *pool, const char *trainer, enum nca_layout layout)
{
	return nca_pool_printf(pool, "layout=%s%s%s", layout == NCA_LAYOUT_TASK ? "task" : "node",
			       trainer ? ",trainer=" : "", trainer ? trainer : "");
}

/* The variables of the second node as one text, those of the tasks where they belong. */
static void check_set(struct nca_pool *pool, const struct nca_plan *plan, const char *want)
{
	const struct nca_plan_node *node = &plan->nodes.v[1];
	size_t n = 0;

	while (want && *want) {
		size_t len = strcspn(want, " "), key = strcspn(want, "=");
		const char *got = step_get(pool, plan, 1, nca_pool_strndup(pool, want, key));

		assert_non_null(got);
		assert_string_equal(got, nca_pool_strndup(pool, want + key + 1, len - key - 1));
		want += len + (want[len] == ' ');
		n++;
	}
	assert_int_equal(node->env.n + node->task_env.n, n);
}

static void check_values(void **state)
{
	const struct value *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	bool task = r->layout == NCA_LAYOUT_TASK;
	struct step s = {.tasks = 1, .gpus = 4, .uneven = true, .env = r->env};
	struct nca_plan *plan;

	s.options = words(pool, r->trainer, r->layout);
	if (task) /* 4 and 3 tasks: the step's tasks are its workers */
		s.tasks = 0;
	plan = step_plan(pool, &s);
	check_set(pool, plan, r->want);
	assert_string_equal(plan->rendezvous->layout, !r->want ? "none" : task ? "task" : "node");
}

/* Every cell of the table is tested above. */
static void check_complete(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 1; i < nca_contract_count; i++) {
		int layouts = 0;

		for (k = 0; k < ARRAY_SIZE(values); k++)
			if (nca_same(values[k].trainer, nca_contracts[i].name))
				layouts |= values[k].layout == NCA_LAYOUT_TASK ? 1 : 2;
		if (layouts != 3)
			fail_msg("%s", nca_contracts[i].name);
	}
}

/* A cell is whole: what it sets may be set and is not what it forbids; who reads it is named. */
static void check_cell(const struct nca_contract *c, const struct nca_cell *cell)
{
	const struct nca_setting *s;
	size_t i;

	assert_non_null(cell->source);
	assert_int_equal(cell->state == NCA_CELL_YES, nca_cell_setting(cell, 0) != NULL);
	if (cell->state == NCA_CELL_NO)
		assert_non_null(cell->note);
	for (i = 0; (s = nca_cell_setting(cell, i)); i++)
		if (!nca_variable_may_set(s->name) ||
		    nca_variable_is_listed(s->name, strlen(s->name), cell->never))
			fail_msg("%s: %s", c->name, s->name);
}

static void check_cells(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < nca_contract_count; i++) {
		assert_true(strlen(nca_contracts[i].name) <
			    sizeof(((struct nca_options *)0)->trainer));
		assert_ptr_equal(nca_contract_find(nca_contracts[i].name), &nca_contracts[i]);
		check_cell(&nca_contracts[i], &nca_contracts[i].task);
		check_cell(&nca_contracts[i], &nca_contracts[i].node);
	}
	assert_null(nca_contract_find("torch "));
	assert_null(nca_contract_find("torchru"));
	assert_ptr_equal(nca_contract_find(""), nca_contracts);
}

/* Of what tells a worker that it is one, all or none; but by the profile of one launcher. */
static void check_all_or_none(void **state)
{
	static const char *const four[] = {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"};
	size_t i, k, n;

	(void)state;
	for (i = 0; i < nca_contract_count; i++) {
		const struct nca_contract *c = &nca_contracts[i];

		for (k = n = 0; k < ARRAY_SIZE(four); k++)
			n += nca_cell_find(&c->task, four[k]) != NULL;
		assert_true(n == 0 || n == 4);
		for (k = n = 0; k < ARRAY_SIZE(four); k++)
			n += nca_cell_find(&c->node, four[k]) != NULL;
		assert_true(n == 0 || streq(c->name, "composer") ||
			    streq(c->name, "llamafactory-0.9.0"));
	}
}

/* Without trainer=, a row that can be told apart finds all that it needs and nothing that it must
 * not find. */
static void check_auto_cell(const struct nca_contract *c, enum nca_layout layout)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_cell *cell = nca_contract_cell(c, layout);
	bool task = layout == NCA_LAYOUT_TASK;
	struct step s = {.tasks = task ? 4 : 1, .gpus = 4};
	const struct nca_setting *want;
	const struct nca_plan *plan;
	const struct nca_pair *p;
	size_t i;

	if (c->programs)
		s.command = nca_pool_printf(pool, "/opt/bin/%.*s%s", (int)strcspn(c->programs, " "),
					    c->programs, " x.py");
	if (task) /* the launcher of most is none of this layout */
		s.command = "python3 x.py";
	if (c->setting)
		s.env = nca_pool_printf(pool, "%s=%s", c->setting, c->value);
	plan = step_plan(pool, &s);
	for (i = 0; (want = nca_cell_setting(cell, i)); i++)
		if (!step_get(pool, plan, 1, want->name) && !nca_same(c->setting, want->name))
			fail_msg("%s: no %s", c->name, want->name);
	NCA_FOREACH(p, plan->nodes.v[1].env)
		if (nca_variable_is_listed(p->key, strlen(p->key), cell->never))
			fail_msg("%s: %s", c->name, p->key);
	NCA_FOREACH(p, plan->nodes.v[1].task_env)
		if (nca_variable_is_listed(p->key, strlen(p->key), cell->never))
			fail_msg("%s: %s", c->name, p->key);
}

static void check_auto(void **state)
{
	const struct nca_contract *c = *state;

	if (c->task.state == NCA_CELL_YES)
		check_auto_cell(c, NCA_LAYOUT_TASK);
	if (c->node.state == NCA_CELL_YES)
		check_auto_cell(c, NCA_LAYOUT_NODE);
}

struct kept {
	const char *name; /* "NAME=VALUE" */
	bool set, recorded, passed;
};

static const struct kept kept[] = {
	{"NCCL_DEBUG=INFO", true, true, true},
	{"NCCL_AUTOCONF=on", false, false, false},
	{"NCCL_AUTOCONF_VARS=RANK", false, false, false},
	{"NCCL=1", false, false, false},
	{"RANK=0", true, true, true},
	{"RANKS=0", false, false, false},
	{"PET_=", true, true, true},
	{"FORCE_TORCHRUN=1", true, true, true},
	{"USE_MCA=1", false, true, true},
	{"SUBMITIT_EXECUTOR=slurm", false, true, true},
	{"SLURM_JOB_ID=7", false, false, true},
	{"SLURM_STEP_GPUS=0", false, false, true},
	{"SLURM_JOB_NAME=bash", false, true, true},
	{"SLURM_JOB_NAME=interactive", false, true, true},
	{"SLURM_JOB_NAME=bash2", false, false, false},
	{"SLURM_JOB_NAME=", false, false, false},
	{"LD_PRELOAD=x.so", false, false, false},
	{"=", false, false, false},
	{"", false, false, false},
};

static void check_kept(void **state)
{
	const struct kept *r = *state;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(r->name, "="), r->name);
	assert_int_equal(nca_variable_may_set(name), r->set);
	assert_int_equal(nca_variable_is_recorded(r->name), r->recorded);
	assert_int_equal(nca_variable_is_passed(r->name), r->passed);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0, i;

	TABLE_ADD(tests, n, values, check_values);
	TABLE_ADD(tests, n, kept, check_kept);
	for (i = 1; i < nca_contract_count; i++)
		if (nca_contracts[i].known)
			tests[n++] =
				(struct CMUnitTest){.name = nca_contracts[i].name,
						    .test_func = check_auto,
						    .initial_state = (void *)&nca_contracts[i]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_complete);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_cells);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_all_or_none);
	return _cmocka_run_group_tests("contract", tests, n, NULL, NULL);
}
