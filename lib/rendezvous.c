/* SPDX-License-Identifier: Apache-2.0 */
/* Where the workers meet: address, port, and the variables of the layout. */
#include <errno.h>
#include <stdio.h>

#include <nca/number.h>
#include <nca/rendezvous.h>

/* One variable of a layout. Slurm's variable is copied by each task; a text is made per node by
 * fill(). */
struct variable {
	const char *name;
	enum { FROM_SLURM, ADDRESS, PORT, WORLD, LOCAL_WORLD, NODES, NODE_RANK, NPROC } value;
	const char *slurm;
};

/* What a torch `env://` worker reads, and its siblings (torch/distributed/rendezvous.py). */
static const struct variable task_variables[] = {
	{"RANK", FROM_SLURM, "SLURM_PROCID"}, {"LOCAL_RANK", FROM_SLURM, "SLURM_LOCALID"},
	{"WORLD_SIZE", WORLD, NULL},	      {"LOCAL_WORLD_SIZE", LOCAL_WORLD, NULL},
	{"MASTER_ADDR", ADDRESS, NULL},	      {"MASTER_PORT", PORT, NULL},
};

/*
 * What torchrun reads (torch/distributed/run.py: PET_ and the option's name) and what
 * LLaMA-Factory, ms-swift, composer and scripts that call a launcher read. RANK and its siblings
 * would make a launcher take itself for a started worker.
 */
static const struct variable node_variables[] = {
	{"PET_NNODES", NODES, NULL},	     {"PET_NODE_RANK", NODE_RANK, NULL},
	{"PET_NPROC_PER_NODE", NPROC, NULL}, {"PET_MASTER_ADDR", ADDRESS, NULL},
	{"PET_MASTER_PORT", PORT, NULL},     {"NNODES", NODES, NULL},
	{"NODE_RANK", NODE_RANK, NULL},	     {"NPROC_PER_NODE", NPROC, NULL},
	{"MASTER_ADDR", ADDRESS, NULL},	     {"MASTER_PORT", PORT, NULL},
};

struct context {
	const struct nca_job *job;
	const struct nca_options *opt;
	struct nca_plan *plan;
	struct nca_pool *pool;
};

static int world_size(const struct nca_job *job)
{
	const struct nca_node *node;
	int sum = 0;

	NCA_FOREACH(node, job->nodes) {
		if (node->tasks_per_node < 1)
			return -1;
		sum += node->tasks_per_node;
	}
	return sum;
}

static int nproc(const struct context *c, const struct nca_node *node)
{
	if (c->opt->nproc > 0)
		return c->opt->nproc;
	return node->gpus.n > 0 ? (int)node->gpus.n : 1;
}

/* -1: unknown, so not set. */
static int number_of(const struct context *c, const struct variable *v, size_t i)
{
	const struct nca_node *node = &c->job->nodes.v[i];

	switch (v->value) {
	case PORT:
		return c->plan->rendezvous->master_port;
	case WORLD:
		return world_size(c->job);
	case LOCAL_WORLD:
		return node->tasks_per_node;
	case NODES:
		return c->job->nnodes;
	case NODE_RANK:
		return (int)i;
	case NPROC:
		return nproc(c, node);
	default:
		return -1;
	}
}

static int add(const struct context *c, const struct variable *v, size_t i)
{
	struct nca_plan_node *node = &c->plan->nodes.v[i];
	const char *value = v->value == FROM_SLURM ? v->slurm : c->plan->rendezvous->master_addr;
	struct nca_pair *pair;

	if (v->value != FROM_SLURM && v->value != ADDRESS) {
		int number = number_of(c, v, i);

		if (number < 0)
			return 0;
		value = nca_pool_printf(c->pool, "%d", number);
	}
	if (nca_pairs_get(c->job->nodes.v[i].environment, v->name))
		return 0;
	pair = v->value == FROM_SLURM ? NCA_APPEND(c->pool, node->task_env)
				      : NCA_APPEND(c->pool, node->env);
	if (!pair || !value)
		return -ENOMEM;
	pair->key = nca_pool_strdup(c->pool, v->name);
	pair->value = nca_pool_strdup(c->pool, value);
	return pair->key && pair->value ? 0 : -ENOMEM;
}

static int add_all(const struct context *c, const struct variable *v, size_t n)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; i < c->plan->nodes.n; i++)
		for (k = 0; !rc && k < n; k++)
			rc = add(c, &v[k], i);
	return rc;
}

static int add_layout(const struct context *c)
{
	struct nca_rendezvous *r = c->plan->rendezvous;
	const char *why;
	int rc = 0;

	r->layout = "none";
	if (c->opt->inject == NCA_INJECT_NET || !r->master_addr || r->master_port < 0)
		return 0;
	switch (nca_rendezvous_layout(c->job, c->opt, c->pool, &why)) {
	case NCA_LAYOUT_TASK:
		r->layout = "task";
		return add_all(c, task_variables, ARRAY_SIZE(task_variables));
	case NCA_LAYOUT_NODE:
		r->layout = "node";
		return add_all(c, node_variables, ARRAY_SIZE(node_variables));
	default:
		if (why)
			rc = nca_plan_warn(
				c->plan, c->pool, "layout-unclear", NULL,
				"%s: no rendezvous variables are set; layout=task (one worker per "
				"task) or "
				"layout=node (a launcher per node) says which are wanted",
				why);
		return rc;
	}
}

static int choose_port(const struct context *c, const struct nca_node *first)
{
	const char *set = nca_pairs_get(first->environment, "MASTER_PORT");
	struct nca_rendezvous *r = c->plan->rendezvous;
	unsigned int port;

	if (set && !nca_parse_u32(set, 1, 65535, &port)) {
		r->master_port = (int)port;
		return 0;
	}
	if (set) {
		r->master_port = -1;
		return nca_plan_warn(
			c->plan, c->pool, "master-port-bad", first->name,
			"MASTER_PORT=%s is set and is no port; unset it, or set 1024 to 65535",
			set);
	}
	r->master_port = nca_rendezvous_port(first, c->opt, c->job->id);
	if (r->master_port >= 0)
		return 0;
	return nca_plan_warn(c->plan, c->pool, "no-port", first->name,
			     "no three free ports in a row for the rendezvous; widen rdzv-ports=");
}

int nca_rendezvous_plan(const struct nca_job *job, const struct nca_options *opt,
			struct nca_plan *plan, struct nca_pool *pool, struct nca_error *err)
{
	const struct context c = {job, opt, plan, pool};
	const struct nca_node *first = job->nodes.v;
	const char *set = nca_pairs_get(first->environment, "MASTER_ADDR");
	struct nca_rendezvous *r = nca_pool_alloc(pool, sizeof(*r));
	int rc;

	if (!r)
		return nca_fail(err, -ENOMEM, "out of memory");
	plan->rendezvous = r;
	r->master_addr = set ? (char *)set : plan->nodes.v[0].socket_addr;
	if (!r->master_addr && job->nnodes == 1)
		r->master_addr = "127.0.0.1";
	rc = choose_port(&c, first);
	if (!rc)
		rc = add_layout(&c);
	return rc ? nca_fail(err, rc, "out of memory") : 0;
}
