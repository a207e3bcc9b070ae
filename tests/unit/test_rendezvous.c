/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <nca/contract.h>
#include <nca/rendezvous.h>

struct command {
	const char *name;
	const char *launcher; /* its row */
};

static const struct command commands[] = {
	{"torchrun train.py", "torchrun"},
	{"/opt/venv/bin/torchrun --nnodes 2 train.py", "torchrun"},
	{"accelerate launch train.py", "accelerate"},
	{"deepspeed train.py", "deepspeed"},
	{"llamafactory-cli train x.yaml", "llamafactory"},
	{"python -m torch.distributed.run train.py", "torchrun"},
	{"python3 -u -m torch.distributed.launch train.py", "torchrun"},
	{"python -m accelerate.commands.launch train.py", "accelerate"},
	{"composer train.py", "composer"},
	{"python3 /usr/bin/torchrun train.py", "torchrun"},
	{"env A=1 torchrun train.py", "torchrun"},
	{"python train.py", NULL},
	{"python train.py torchrun", NULL},
	{"python -m train torchrun", NULL},
	{"./train --note torchrun", "torchrun"},
	{"./mytorchrun", NULL},
	{"./torchrun2", NULL},
	{"", NULL},
	{" ", NULL},
};

static void check_command(void **state)
{
	const struct command *r = *state;
	const struct nca_contract *got = nca_launcher_find(r->name);

	if (r->launcher)
		assert_string_equal(got->name, r->launcher);
	else
		assert_null(got);
}

struct shape {
	const char *name;
	int tasks[2], gpus[2]; /* -1 unknown */
	const char *command;
	int want;
	bool says_why;
};

static const struct shape shapes[] = {
	{"a task per GPU", {8, 8}, {8, 8}, "./train", NCA_LAYOUT_TASK, false},
	{"one task, eight GPUs", {1, 1}, {8, 8}, "./train", NCA_LAYOUT_NODE, false},
	{"one task, one GPU", {1, 1}, {1, 1}, "./train", NCA_LAYOUT_TASK, false},
	{"one launcher, one GPU", {1, 1}, {1, 1}, "torchrun x.py", NCA_LAYOUT_NODE, false},
	{"one launcher, no GPU", {1, 1}, {0, 0}, "torchrun x.py", NCA_LAYOUT_NODE, false},
	{"one task, no GPU", {1, 1}, {0, 0}, "./train", NCA_LAYOUT_TASK, false},
	{"tasks without GPUs", {2, 2}, {0, 0}, "./train", NCA_LAYOUT_TASK, false},
	{"different numbers of tasks", {1, 3}, {0, 0}, "./train", NCA_LAYOUT_TASK, false},
	{"fewer tasks than GPUs", {2, 2}, {8, 8}, "./train", NCA_LAYOUT_NONE, true},
	{"more tasks than GPUs", {8, 8}, {2, 2}, "./train", NCA_LAYOUT_NONE, true},
	{"nodes differ", {8, 1}, {8, 8}, "./train", NCA_LAYOUT_NONE, true},
	{"unknown tasks", {-1, 1}, {8, 8}, "./train", NCA_LAYOUT_NONE, false},
	{"unknown GPUs", {2, 2}, {-1, 2}, "./train", NCA_LAYOUT_NONE, false},
};

static struct nca_node *make_node(struct nca_pool *pool, struct nca_node *node, int tasks, int gpus,
				  const char *cmd)
{
	nca_schema_init(&nca_node_shape, node);
	node->name = "n";
	node->tasks_per_node = tasks;
	node->launcher = (char *)cmd;
	if (gpus >= 0) {
		node->gpus.v = nca_pool_alloc(pool, (size_t)gpus * sizeof(*node->gpus.v));
		node->gpus.n = (size_t)gpus;
	}
	return node;
}

static void check_shape(void **state)
{
	const struct shape *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_node nodes[2];
	struct nca_job job = {.nnodes = 2, .nodes = {nodes, 2}};
	struct nca_options opt;
	const char *why;
	int i;

	for (i = 0; i < 2; i++)
		make_node(pool, &nodes[i], r->tasks[i], r->gpus[i], r->command);
	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_rendezvous_layout(&job, &opt, pool, &why), r->want);
	assert_int_equal(why != NULL, r->says_why);
}

struct range {
	const char *name;
	int eph[2]; /* -1: unknown */
	int asked[2];
	int tested;
	int busy;
	int low, high; /* where the port must lie; -1: there is none */
};

static const struct range ranges[] = {
	{"nothing known", {-1, -1}, {-1, -1}, -1, -1, 1024, 32767},
	{"Linux's default", {32768, 60999}, {-1, -1}, -1, -1, 1024, 32767},
	{"wide ephemeral range", {9000, 65000}, {-1, -1}, -1, -1, 65001, 65533},
	{"low ephemeral range", {1024, 32767}, {-1, -1}, -1, -1, 61000, 65535},
	{"everything ephemeral", {1024, 65535}, {-1, -1}, -1, 1024, 1025, 65533},
	{"asked", {32768, 60999}, {40000, 40010}, -1, -1, 40000, 40008},
	{"asked, room for three", {32768, 60999}, {40000, 40002}, -1, -1, 40000, 40000},
	{"asked, room for two", {32768, 60999}, {40000, 40001}, -1, -1, -1, -1},
	{"asked and busy", {32768, 60999}, {40000, 40002}, -1, 40001, -1, -1},
	{"tested", {32768, 60999}, {-1, -1}, 12345, -1, 12345, 12345},
};

static void check_port(void **state)
{
	const struct range *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	int busy = r->busy, eph[2] = {r->eph[0], r->eph[1]}, port;
	struct nca_options opt;
	struct nca_node node;

	make_node(pool, &node, 1, 0, NULL);
	node.rdzv_port = r->tested;
	node.ports_in_use.v = &busy;
	node.ports_in_use.n = r->busy > 0;
	node.ip_local_port_range.v = eph;
	node.ip_local_port_range.n = eph[0] > 0 ? 2 : 0;
	nca_options_init(&opt);
	nca_options_finish(&opt);
	opt.port_first = r->asked[0];
	opt.port_last = r->asked[1];
	port = nca_rendezvous_port(&node, &opt, "1.0");
	assert_in_range(port + 1, r->low + 1, r->high + 1);
}

/* Steps of one job begin their search at different places. */
static void check_seed(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_options opt;
	struct nca_node node;

	(void)state;
	make_node(pool, &node, 1, 0, NULL);
	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_not_equal(nca_rendezvous_port(&node, &opt, "1.0"),
			     nca_rendezvous_port(&node, &opt, "1.1"));
	assert_int_equal(nca_rendezvous_port(&node, &opt, "1.0"),
			 nca_rendezvous_port(&node, &opt, "1.0"));
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, commands, check_command);
	TABLE_ADD(tests, n, shapes, check_shape);
	TABLE_ADD(tests, n, ranges, check_port);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_seed);
	return _cmocka_run_group_tests("rendezvous", tests, n, NULL, NULL);
}
