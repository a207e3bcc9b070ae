/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's decision. */
#include <errno.h>

#include <nca/number.h>
#include <nca/rendezvous.h>

#include "decide.h"
#include "master_name.h"
#include "preflight.h"

/* A network that fails its test is left out, twice; a third that fails is not a matter of choice
 * any more. */
#define PLANS 3

/* Likewise of rails: each check takes some away, and rails that were paired anew are the exception.
 */
#define CHECKS 3

/* Above the second that agents give a connection. */
#define TEST_MS 5000
#define HOLD_MS 5000

static int make_job(struct nca_decide *d, struct nca_error *err)
{
	struct nca_job *job = nca_schema_new(d->pool, &nca_job_shape);
	size_t i;

	if (!job)
		return nca_fail_memory(err);
	job->id = d->order->step ? d->order->step : nca_hub_report(d->hub, 0)->step;
	job->nnodes = (int)nca_hub_nodes(d->hub);
	job->options.v = d->order->words.v;
	job->options.n = d->order->words.n;
	for (i = 0; i < nca_hub_nodes(d->hub); i++) {
		struct nca_node *node = NCA_APPEND(d->pool, job->nodes);

		if (!node)
			return nca_fail_memory(err);
		*node = *nca_hub_report(d->hub, i)->node;
		node->launcher = d->order->command;
		if (nca_conf_site(&d->order->conf, d->pool, node))
			return nca_fail_memory(err);
	}
	nca_master_name_resolve(job, d->pool);
	d->job = job;
	return 0;
}

char *nca_decide_print(const struct nca_shape *shape, const void *object, struct nca_pool *pool)
{
	nca_autofree char *text = nca_schema_print(shape, object, 0, 0);

	return text ? nca_pool_strdup(pool, text) : NULL;
}

/* A port that the user set is tested, not replaced. */
static void hold_range(const struct nca_decide *d, struct nca_hold *hold)
{
	const char *set = nca_pairs_get(d->job->nodes.v[0].environment, "MASTER_PORT");
	unsigned int port;

	*hold = (struct nca_hold){d->order->opt.port_first, d->order->opt.port_last, d->job->id};
	if (set && !nca_parse_u32(set, 1, 65535, &port))
		hold->first = hold->last = (int)port;
}

/* No layout, or only the network is wanted: nobody will listen. */
static bool needs_port(const struct nca_decide *d)
{
	const char *why;

	return d->order->opt.inject != NCA_INJECT_NET &&
	       nca_rendezvous_layout(d->job, &d->order->opt, d->pool, &why) != NCA_LAYOUT_NONE;
}

static int hold_port(struct nca_decide *d, struct nca_error *err)
{
	char **payloads = nca_pool_alloc(d->pool, nca_hub_nodes(d->hub) * sizeof(*payloads));
	struct nca_hold hold;
	const char *answer;
	void *held;
	int rc;

	if (!payloads || !needs_port(d))
		return payloads ? 0 : nca_fail_memory(err);
	hold_range(d, &hold);
	payloads[0] = nca_decide_print(&nca_hold_shape, &hold, d->pool);
	if (!payloads[0])
		return nca_fail_memory(err);
	rc = nca_hub_ask(d->hub, NCA_MSG_HOLD, payloads, NCA_MSG_HELD, HOLD_MS, err);
	if (rc)
		return rc;
	answer = nca_hub_answer(d->hub, 0);
	rc = nca_schema_parse(&nca_hold_shape, answer, strlen(answer), "answer", d->pool, &held,
			      err);
	if (!rc)
		d->job->nodes.v[0].rdzv_port = ((struct nca_hold *)held)->first;
	return rc;
}

static int add_target(struct nca_test *test, const struct nca_plan_node *to, int port,
		      struct nca_pool *pool)
{
	struct nca_target *t = NCA_APPEND(pool, test->targets);

	if (!t)
		return -ENOMEM;
	*t = (struct nca_target){to->name, to->socket_addr, port};
	return 0;
}

/* Every node reaches the first, where the workers meet, and the next in a ring, so that every node
 * is reached once. */
static char *make_test(const struct nca_decide *d, size_t i)
{
	const struct nca_plan_node *nodes = d->plan->nodes.v;
	size_t n = d->plan->nodes.n, next = (i + 1) % n;
	int held = d->job->nodes.v[0].rdzv_port;
	struct nca_test test = {.source = nodes[i].socket_addr};
	int rc = 0;

	if (i != 0)
		rc = add_target(&test, &nodes[0],
				held > 0 ? held : nca_hub_report(d->hub, 0)->listen_port, d->pool);
	if (!rc && next != i)
		rc = add_target(&test, &nodes[next], nca_hub_report(d->hub, next)->listen_port,
				d->pool);
	return rc ? NULL : nca_decide_print(&nca_test_shape, &test, d->pool);
}

/* The first failure that a node reports, NULL for none. */
static int first_failure(const struct nca_decide *d, size_t i, char **why, struct nca_error *err)
{
	const char *answer = nca_hub_answer(d->hub, i);
	const struct nca_outcome *o;
	void *object;
	int rc = nca_schema_parse(&nca_result_shape, answer, strlen(answer), "answer", d->pool,
				  &object, err);

	*why = NULL;
	if (rc)
		return rc;
	NCA_FOREACH(o, ((struct nca_result *)object)->outcomes)
		if (o->why && !*why)
			*why = nca_pool_printf(d->pool, "%s cannot connect to %s",
					       d->plan->nodes.v[i].name, o->why);
	return 0;
}

/* One network for the step: where one pair does not meet, it is the wrong one for all. */
static int ban(struct nca_decide *d, char *why)
{
	const struct nca_plan_node *node;

	NCA_FOREACH(node, d->plan->nodes) {
		struct nca_ban *b = NCA_APPEND(d->pool, d->bans);

		if (!b)
			return -ENOMEM;
		*b = (struct nca_ban){node->name, node->socket_ifname, why};
	}
	return 0;
}

static bool is_testable(const struct nca_plan *plan)
{
	const struct nca_plan_node *node;

	NCA_FOREACH(node, plan->nodes)
		if (!node->socket_addr)
			return false;
	return plan->nodes.n > 1 && !nca_same(plan->verdict, "refuse");
}

/* *why is what failed first, NULL when all nodes meet. */
static int test(struct nca_decide *d, char **why, struct nca_error *err)
{
	char **payloads = nca_pool_alloc(d->pool, d->plan->nodes.n * sizeof(*payloads));
	size_t i;
	int rc;

	*why = NULL;
	for (i = 0; payloads && i < d->plan->nodes.n; i++) {
		payloads[i] = make_test(d, i);
		if (!payloads[i])
			return nca_fail_memory(err);
	}
	if (!payloads)
		return nca_fail_memory(err);
	rc = nca_hub_ask(d->hub, NCA_MSG_TEST, payloads, NCA_MSG_RESULT, TEST_MS, err);
	for (i = 0; !rc && !*why && i < d->plan->nodes.n; i++)
		rc = first_failure(d, i, why, err);
	return rc;
}

static int give_up(struct nca_decide *d, const char *why, struct nca_error *err)
{
	d->plan->verdict = "refuse";
	if (nca_plan_warn(d->plan, d->pool, "unreachable", NULL,
			  "%s; no interface that all nodes have joins them: check cabling, VLANs "
			  "and firewalls "
			  "between the compute nodes, or --exclude the node",
			  why))
		return nca_fail_memory(err);
	return 0;
}

/* Plans until all nodes meet. */
static int meet(struct nca_decide *d, struct nca_error *err)
{
	char *why = NULL;
	int rc = 0, i;

	for (i = 0; !rc && i < PLANS; i++) {
		struct nca_plan *plan;

		rc = nca_plan_make(d->job, &d->order->opt, &d->bans, d->pool, &plan, err);
		if (rc)
			break;
		/* Without the network that failed there is none left: what failed is the better
		 * answer. */
		if (why && !is_testable(plan))
			return give_up(d, why, err);
		d->plan = plan;
		if (!is_testable(plan))
			return 0;
		rc = test(d, &why, err);
		if (!rc && !why)
			return 0;
		if (!rc && ban(d, why))
			rc = nca_fail_memory(err);
	}
	return rc ? rc : give_up(d, why, err);
}

int nca_decide_run(struct nca_decide *d, struct nca_error *err)
{
	int rc = make_job(d, err);

	rc = rc ? rc : hold_port(d, err);
	return rc ? rc : meet(d, err);
}

/* Without what the check found dead there is another plan, which may have other rails. */
int nca_decide_check(struct nca_decide *d, struct nca_error *err)
{
	int rc = 0, i;

	if (d->order->opt.check == NCA_CHECK_OFF)
		return 0;
	for (i = 0; !rc && i < CHECKS && is_testable(d->plan); i++) {
		const struct nca_plan *tested = d->plan;
		size_t bans = d->bans.n;

		rc = nca_preflight_run(d, err);
		if (rc || d->bans.n == bans)
			break;
		rc = meet(d, err);
		if (!rc && nca_preflight_covers(tested, d->plan))
			break;
	}
	return rc ? rc : nca_preflight_tell(d, err);
}
