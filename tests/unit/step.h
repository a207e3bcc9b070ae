/* SPDX-License-Identifier: Apache-2.0 */
/* A step of two nodes on bond0, of which only the rendezvous is planned. */
#ifndef NCA_TEST_STEP_H
#define NCA_TEST_STEP_H

#include <nca/plan.h>
#include <nca/rendezvous.h>

struct step {
	const char *options; /* words */
	const char *command; /* NULL: not known */
	const char *env;     /* "A=1 B=2", of both nodes */
	int tasks, gpus;     /* per node; tasks 0: as many as its GPUs */
	bool uneven;	     /* the second node has a GPU less */
	bool alone;	     /* there is no second node */
};

static inline void step_set_env(struct nca_pool *pool, struct nca_node *node, const char *env)
{
	while (env && *env) {
		size_t len = strcspn(env, " "), key = strcspn(env, "=");
		struct nca_pair *p = NCA_APPEND(pool, node->environment);

		p->key = nca_pool_strndup(pool, env, key);
		p->value = nca_pool_strndup(pool, env + key + 1, len - key - 1);
		env += len + (env[len] == ' ');
	}
}

static inline void step_make_node(struct nca_pool *pool, const struct step *s, int i,
				  struct nca_node *node, struct nca_plan_node *plan)
{
	static struct nca_addr addresses[2][2] = {
		{{"inet", "192.168.0.11", 24, "global"}, {"inet", "10.0.0.1", 24, "global"}},
		{{"inet", "192.168.0.12", 24, "global"}, {"inet", "10.0.0.2", 24, "global"}}};
	struct nca_link *link;

	nca_schema_init(&nca_node_shape, node);
	node->name = i ? "node2" : "node1";
	node->launcher = (char *)s->command;
	node->rdzv_port = 29512;
	node->hostname_resolves_to = addresses[i][0].addr;
	node->gpus.n = (size_t)(s->gpus - (s->uneven ? i : 0));
	node->tasks_per_node = s->tasks ? s->tasks : (int)node->gpus.n;
	node->gpus.v = nca_pool_alloc(pool, node->gpus.n * sizeof(*node->gpus.v));
	node->interfaces.v = nca_pool_alloc(pool, 2 * sizeof(*node->interfaces.v));
	node->interfaces.n = 2;
	NCA_FOREACH(link, node->interfaces) {
		size_t k = (size_t)(link - node->interfaces.v);

		link->name = k ? "bond0" : "eth0";
		link->addresses.v = &addresses[i][k];
		link->addresses.n = 1;
	}
	step_set_env(pool, node, s->env);
	plan->name = node->name;
	plan->socket_ifname = s->alone ? NULL : "bond0";
	plan->socket_addr = s->alone ? NULL : addresses[i][1].addr;
}

static inline struct nca_plan *step_plan(struct nca_pool *pool, const struct step *s)
{
	static struct nca_node nodes[2];
	static struct nca_plan_node plans[2];
	static struct nca_job job;
	static struct nca_plan plan;
	struct nca_error err = {""};
	struct nca_options opt;
	size_t i, n = s->alone ? 1 : 2;

	job = (struct nca_job){.id = "7.0", .nnodes = (int)n, .nodes = {nodes, n}};
	memset(plans, 0, sizeof(plans));
	plan = (struct nca_plan){.nodes = {plans, n}};
	for (i = 0; i < n; i++)
		step_make_node(pool, s, (int)i, &nodes[i], &plans[i]);
	nca_options_init(&opt);
	if (nca_options_parse(&opt, s->options, NCA_FROM_USER, &err))
		fail_msg("%s", err.text);
	nca_options_finish(&opt);
	assert_int_equal(nca_rendezvous_plan(&job, &opt, &plan, pool, &err), 0);
	return &plan;
}

/* What a task of node i finds; of what differs from task to task, "$" and Slurm's name. NULL: it is
 * not set by us. */
static inline const char *step_get(struct nca_pool *pool, const struct nca_plan *plan, size_t i,
				   const char *name)
{
	const char *all = nca_pairs_get(plan->nodes.v[i].env, name);
	const char *task = nca_pairs_get(plan->nodes.v[i].task_env, name);

	return all || !task ? all : nca_pool_printf(pool, "$%s", task);
}

#endif
