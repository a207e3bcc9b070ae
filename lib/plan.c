/* SPDX-License-Identifier: Apache-2.0 */
/* The decision, stage by stage. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include <nca/broadcast.h>
#include <nca/rendezvous.h>

#include "step.h"

int nca_plan_warn(struct nca_plan *plan, struct nca_pool *pool, const char *code, const char *node,
		  const char *fmt, ...)
{
	struct nca_warning *w = NCA_APPEND(pool, plan->warnings);
	va_list ap;
	char *text;
	int n;

	if (!w)
		return -ENOMEM;
	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : nca_pool_alloc(pool, (size_t)n + 1);
	*w = (struct nca_warning){(char *)code, (char *)node, text ? text : ""};
	if (!text)
		return -ENOMEM;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	/* One line on a terminal, whatever somebody has set. */
	for (; *text; text++)
		*text = (unsigned char)*text < ' ' || *text == 127 ? '?' : *text;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return nca_name_compare(*(char *const *)a, *(char *const *)b);
}

/* Slurm's node lists are sorted, numbers as numbers. */
static void sort_names(char **names, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (nca_name_compare(names[i - 1], names[i]) > 0) {
			qsort(names, n, sizeof(*names), compare_names);
			return;
		}
}

static int check_job(const struct nca_job *job, struct nca_pool *pool, struct nca_error *err)
{
	char **names = nca_pool_alloc(pool, job->nodes.n * sizeof(*names));
	size_t i;

	if (!names)
		return nca_fail_memory(err);
	if (!job->nodes.n)
		return nca_fail(err, -EINVAL, "the job has no nodes");
	for (i = 0; i < job->nodes.n; i++)
		names[i] = job->nodes.v[i].name;
	sort_names(names, job->nodes.n);
	for (i = 1; i < job->nodes.n; i++)
		if (streq(names[i - 1], names[i]))
			return nca_fail(err, -EINVAL, "two nodes are named %s", names[i]);
	return 0;
}

/* RDMA is switched off by somebody. */
static bool is_refused(const struct nca_node_state *node)
{
	const char *net = nca_step_set(node, "NCCL_NET");
	const char *off = nca_step_set(node, "NCCL_IB_DISABLE");

	if (nca_same(nca_step_set(node, "NCCL_NET_PLUGIN"), "none") &&
	    nca_node_has_plugin_fabric(node->node))
		return true;
	return (net && strcasecmp(net, "Socket") == 0) || (off && *off && !streq(off, "0"));
}

/*
 * Does NCCL_NET name a plug-in that owns the data path: gIB, FasTrak, Libfabric, UCX? IBext is a
 * copy of NCCL's own transport in HPC-X and reads the same variables.
 */
static bool is_foreign(const struct nca_node_state *node)
{
	const char *net = nca_step_set(node, "NCCL_NET");

	return net && *net && strcasecmp(net, "Socket") && strcasecmp(net, "IB") &&
	       strncasecmp(net, "IBext", 5);
}

static bool asks_ipv6(const struct nca_node_state *node)
{
	return nca_same(nca_step_set(node, "NCCL_SOCKET_FAMILY"), "AF_INET6");
}

static int begin(struct nca_step *step)
{
	const struct nca_job *job = step->job;
	const struct nca_node *node;
	struct nca_plan *plan = nca_pool_alloc(step->pool, sizeof(*plan));
	int rc = 0;

	step->nodes.v = nca_pool_alloc(step->pool, job->nodes.n * sizeof(*step->nodes.v));
	step->plan = plan;
	if (!plan || !step->nodes.v)
		return -ENOMEM;
	step->family = 4;
	plan->verdict = "choose";
	plan->confidence = "sure";
	plan->net = "none";
	plan->nodes.v = nca_pool_alloc(step->pool, job->nodes.n * sizeof(*plan->nodes.v));
	plan->nodes.n = plan->nodes.v ? job->nodes.n : 0;
	plan->warnings.v = nca_pool_alloc(step->pool, 4 * sizeof(*plan->warnings.v));
	if (!plan->nodes.v || !plan->warnings.v)
		return -ENOMEM;
	NCA_FOREACH(node, job->nodes) {
		struct nca_pair *empty = nca_pool_alloc(step->pool, 0);
		struct nca_node_state *state = &step->nodes.v[step->nodes.n++];

		plan->nodes.v[step->nodes.n - 1].env.v = empty;
		rc = rc || empty ? rc : -ENOMEM;

		state->node = node;
		step->rdma_refused = step->rdma_refused || is_refused(state);
		step->family = asks_ipv6(state) ? 6 : step->family;
		step->foreign = (step->foreign || step->nodes.n == 1) && is_foreign(state);
	}
	return rc;
}

/* Nodes of one model and rack have the same routes. */
static int read_routes(struct nca_step *step, struct nca_node_state *node)
{
	struct nca_routes *routes;

	if (node > step->nodes.v && nca_routes_equal(node[-1].node, node->node)) {
		node->routes = node[-1].routes;
		return 0;
	}
	node->routes = routes = nca_pool_alloc(step->pool, sizeof(*routes));
	return routes ? nca_routes_read(node->node, step->pool, routes) : -ENOMEM;
}

static int judge_node(struct nca_step *step, struct nca_node_state *node)
{
	int rc = read_routes(step, node);

	rc = rc ? rc : nca_links_judge_node(step, node);
	rc = rc ? rc : nca_ports_judge_node(step, node);
	rc = rc ? rc : nca_network_values_node(step, node);
	if (!rc)
		nca_ports_filter_node(step, node);
	return rc;
}

static int judge_nodes(struct nca_step *step)
{
	struct nca_node_state *node;
	int rc = 0;

	NCA_FOREACH(node, step->nodes)
		rc = rc ? rc : judge_node(step, node);
	return rc ? rc : nca_links_judge(step);
}

static int decide(struct nca_step *step)
{
	int rc = judge_nodes(step);

	if (rc)
		return rc;
	nca_gids_agree(step);
	nca_ports_settle_user(step);
	nca_ports_filter(step);
	nca_ports_judge_bans(step);
	rc = nca_rails_agree(step);
	if (rc)
		return rc;
	nca_transport_choose(step);
	nca_ports_doubt(step);
	rc = nca_network_agree(step);
	if (rc)
		return rc;
	nca_env_check(step);
	nca_checks_run(step);
	nca_step_check_versions(step);
	nca_env_prepare(step);
	return 0;
}

static int fill(struct nca_step *step, bool variables)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < step->nodes.n; i++) {
		if (variables)
			nca_env_node(step, i);
		rc = nca_plan_fill_node(step, i);
	}
	nca_step_count(step);
	return rc;
}

/* A step on one node: nothing is chosen, every row says so. */
static int decide_alone(struct nca_step *step)
{
	struct nca_node_state *node = step->nodes.v;
	struct nca_link_state *link;
	struct nca_port_state *port;
	int rc = judge_nodes(step);

	if (rc)
		return rc;
	NCA_FOREACH(link, node->links)
		nca_step_judge_link(
			step, link, NCA_RULE_ONE_NODE,
			nca_step_text(step, "%s: the step runs on one node", link->link->name));
	NCA_FOREACH(port, node->ports)
		nca_step_judge_port(
			step, port, NCA_RULE_ONE_NODE,
			nca_step_text(step, "%s: the step runs on one node", port->hca->name));
	step->plan->warnings.n = 0;
	return 0;
}

int nca_plan_make(const struct nca_job *job, const struct nca_options *opt, const nca_bans *bans,
		  struct nca_pool *pool, struct nca_plan **ret, struct nca_error *err)
{
	struct nca_step step = {.job = job, .opt = opt, .bans = bans, .pool = pool};
	bool alone = job->nnodes <= 1 && job->nodes.n == 1;
	int rc = check_job(job, pool, err);

	if (rc)
		return rc;
	rc = begin(&step);
	if (!rc)
		rc = alone ? decide_alone(&step) : decide(&step);
	rc = rc ? rc : fill(&step, !alone && opt->inject != NCA_INJECT_RDZV);
	if (rc || step.no_memory)
		return nca_fail_memory(err);
	rc = nca_rendezvous_plan(job, opt, step.plan, pool, err);
	if (rc)
		return rc;
	if (nca_broadcast_wanted(opt) && nca_broadcast_apply(job, opt, step.plan, pool))
		return nca_fail_memory(err);
	*ret = step.plan;
	return 0;
}
