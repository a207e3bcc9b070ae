/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf hub: one per step, beside srun, started by the plugin there. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include <nca/broadcast.h>
#include <nca/hub.h>

#include "announce.h"
#include "commands.h"
#include "missing.h"
#include "save.h"

#define ACK_MS 5000

/* How long srun may take to end by itself after all tasks have refused to start. */
#define STOP_MS 5000

/* How long srun may take to end when its step is cancelled. */
#define ENDING_MS 10000

struct session {
	struct nca_order order;
	struct nca_decide d;
};

/* What the submit side could not know: how many GPUs the nodes were given. */
static bool is_wanted(const struct session *s)
{
	const struct nca_options *opt = &s->order.opt;
	const struct nca_node *node;
	size_t gpus = 0;

	NCA_FOREACH(node, s->d.job->nodes)
		gpus += node->gpus.n;
	if (nca_options_by_site(opt))
		return gpus > 0;
	if (nca_hub_nodes(s->d.hub) == 1 && opt->inject == NCA_INJECT_NET)
		return false;
	return nca_hub_nodes(s->d.hub) > 1 || gpus > 1 || s->d.job->nodes.v->tasks_per_node > 1 ||
	       opt->layout != NCA_LAYOUT_AUTO || opt->trainer[0];
}

/* Under a site default we never refuse, and what we are not sure of is not given to somebody who
 * did not ask. */
static enum nca_ending ending_of(const struct session *s)
{
	const struct nca_options *opt = &s->order.opt;
	const struct nca_plan *plan = s->d.plan;
	bool refused = nca_same(plan->verdict, "refuse");

	if (nca_options_by_site(opt))
		return refused || nca_same(plan->confidence, "unsure") ? NCA_ENDING_LEAVE
								       : NCA_ENDING_INJECT;
	return refused || (opt->strict && plan->warnings.n) ? NCA_ENDING_STOP : NCA_ENDING_INJECT;
}

static int add_record(struct nca_part *part, struct nca_pool *pool, char op,
		      const struct nca_pair *p)
{
	char **record = NCA_APPEND(pool, part->records);

	if (!record)
		return -ENOMEM;
	*record = p ? nca_pool_printf(pool, "%c%s=%s", op, p->key, p->value)
		    : nca_pool_printf(pool, "%c", op);
	return *record ? 0 : -ENOMEM;
}

static int add_conf(const struct session *s, const struct nca_plan_node *node,
		    struct nca_part *part)
{
	const struct nca_pair *p;

	part->conf_keep = nca_broadcast_wanted(&s->order.opt) == NCA_BROADCAST_JOB;
	part->conf_path = (char *)nca_pairs_get(node->env, "NCCL_CONF_FILE");
	NCA_FOREACH(p, node->conf) {
		char **line = NCA_APPEND(s->d.pool, part->conf);

		if (!line)
			return -ENOMEM;
		*line = nca_pool_printf(s->d.pool, "%s=%s", p->key, p->value);
		if (!*line)
			return -ENOMEM;
	}
	return 0;
}

static char *make_part(const struct session *s, size_t i, bool stop)
{
	const struct nca_plan_node *node = &s->d.plan->nodes.v[i];
	struct nca_part part = {.records = {nca_pool_alloc(s->d.pool, 0), 0}};
	/* Of who did not ask, what an image sets holds too. */
	char op = nca_options_by_site(&s->order.opt) ? NCA_TASK_SET : NCA_TASK_TOP;
	const struct nca_pair *p;
	int rc = stop ? add_record(&part, s->d.pool, NCA_TASK_STOP, NULL) : 0;

	NCA_FOREACH(p, node->env) {
		bool is_set = nca_pairs_get(s->d.job->nodes.v[i].environment, p->key);

		rc = rc ? rc : add_record(&part, s->d.pool, is_set ? NCA_TASK_REPLACE : op, p);
	}
	NCA_FOREACH(p, node->task_env)
		rc = rc ? rc : add_record(&part, s->d.pool, NCA_TASK_COPY, p);
	if (!rc && !stop && node->conf.n)
		rc = add_conf(s, node, &part);
	return rc ? NULL : nca_decide_print(&nca_part_shape, &part, s->d.pool);
}

/* All or nothing: the commit goes out only when every node has its part. */
static int distribute(struct session *s, bool stop, struct nca_error *err)
{
	size_t i, n = nca_hub_nodes(s->d.hub);
	char **parts = nca_pool_alloc(s->d.pool, n * sizeof(*parts));
	int rc = 0;

	for (i = 0; parts && i < n; i++) {
		parts[i] = make_part(s, i, stop);
		if (!parts[i])
			rc = -ENOMEM;
	}
	if (!parts || rc)
		return nca_fail_memory(err);
	return nca_hub_ask(s->d.hub, NCA_MSG_PART, parts, NCA_MSG_ACK, ACK_MS, err);
}

/*
 * A node that is lost in this very moment may have its part or not: half a step that is configured
 * hangs, and we would be the cause.
 */
static void commit(struct session *s)
{
	struct nca_error err;
	int rc = nca_hub_ask(s->d.hub, NCA_MSG_COMMIT, NULL, NCA_MSG_DONE, ACK_MS, &err);

	if (!rc || rc == -ECANCELED)
		return;
	nca_say("warning half-set: %s; other nodes have their variables, so the step is stopped: "
		"start it again",
		err.text);
	kill(s->order.srun, SIGTERM);
}

/* Tasks on nodes without our plugin would run on: srun ends them. */
static void stop_step(const struct session *s)
{
	if (nca_hub_linger(s->d.hub, false, STOP_MS) == -ETIMEDOUT)
		kill(s->order.srun, SIGTERM);
}

static char *stop_part(struct session *s)
{
	struct nca_part part = {.records = {nca_pool_alloc(s->d.pool, 0), 0}};

	if (add_record(&part, s->d.pool, NCA_TASK_STOP, NULL))
		return NULL;
	return nca_schema_print(&nca_part_shape, &part, 0, 0);
}

/*
 * A node that is lost without a word: its watcher, which would say why, has ended too, as when the
 * step is cancelled and srun is about to end, and then nobody wants to hear from us. 0: that was
 * it.
 */
static int await_reason(struct session *s, struct nca_error *err)
{
	struct nca_error why;
	int rc = nca_hub_dismiss(s->d.hub, NULL, ENDING_MS, &why);

	if (rc == -EHOSTDOWN)
		*err = why;
	return rc;
}

/* The word by which the user asked to be stopped rather than run without an answer; NULL: none. */
static const char *demand_of(const struct nca_options *opt)
{
	if (nca_options_by_site(opt))
		return NULL;
	return opt->strict ? "strict" : opt->check != NCA_CHECK_OFF ? "check" : NULL;
}

/*
 * Something of ours went wrong, so nobody gets anything, those that come late included. Stopping
 * needs both: a task that waits would start its program when srun ends us, one without our plugin
 * runs already.
 */
static int abandon(struct session *s, int rc, struct nca_error *err)
{
	const char *demand = demand_of(&s->order.opt);
	nca_autofree char *stop = demand ? stop_part(s) : NULL;

	if (rc == -ECANCELED || (rc == -ECONNRESET && !demand && await_reason(s, err) == 0))
		return 0;
	nca_say("warning not-agreed: %s; %s%s%s", err->text,
		demand ? "the step is stopped ("
		       : "nothing is set on any node, the step runs as without us",
		demand ? demand : "", demand ? ")" : "");
	nca_hub_dismiss(s->d.hub, stop, 0, NULL);
	if (demand)
		kill(s->order.srun, SIGTERM);
	while (nca_hub_dismiss(s->d.hub, stop, -1, NULL))
		continue;
	return 1;
}

/* Until srun ends. The program runs already: a warning is all that is left, also under strict. */
static void attend(struct session *s)
{
	bool all = nca_broadcast_wanted(&s->order.opt) == NCA_BROADCAST_STEP;

	while (nca_hub_linger(s->d.hub, all, -1) == 1) {
		nca_autofree char *found = nca_hub_found(s->d.hub);

		nca_say("warning overridden: %s", found);
	}
}

/* What the site says of these nodes. */
static int read_scopes(struct session *s, struct nca_error *err)
{
	size_t i, n = nca_hub_nodes(s->d.hub);
	char **names = nca_pool_alloc(s->d.pool, n * sizeof(*names));

	if (!names)
		return nca_fail_memory(err);
	for (i = 0; i < n; i++)
		names[i] = nca_hub_report(s->d.hub, i)->node->name;
	return nca_order_scope(&s->order, names, n, err);
}

static int agree(struct session *s, struct nca_error *err)
{
	enum nca_ending ending;
	int rc = nca_hub_gather(s->d.hub, s->order.opt.timeout * 1000, err);

	if (rc == -ETIMEDOUT)
		nca_missing_name(s->d.hub, s->order.opt.timeout, err);
	rc = rc ? rc : read_scopes(s, err);
	rc = rc ? rc : nca_decide_run(&s->d, err);
	if (rc)
		return rc;
	if (!is_wanted(s))
		return nca_hub_ask(s->d.hub, NCA_MSG_DROP, NULL, 0, ACK_MS, err);
	rc = nca_decide_check(&s->d, err);
	if (rc)
		return rc;
	ending = ending_of(s);
	nca_announce(&s->d, ending);
	if (s->order.opt.save[0] &&
	    nca_save_write(s->order.opt.save, s->d.job, s->d.plan, s->d.preflight, err))
		nca_say("warning save: %s", err->text);
	if (ending == NCA_ENDING_LEAVE)
		return nca_hub_ask(s->d.hub, NCA_MSG_DROP, NULL, 0, ACK_MS, err);
	rc = distribute(s, ending == NCA_ENDING_STOP, err);
	if (rc)
		return rc;
	commit(s);
	if (ending == NCA_ENDING_STOP)
		stop_step(s);
	return 0;
}

int cmd_hub(int argc, char **argv)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct session s = {.d = {.pool = pool, .order = &s.order}};
	struct nca_error err = {"out of memory"};
	int rc;

	(void)argc, (void)argv;
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	rc = pool ? nca_order_read(NCA_HUB_LIFE_FD, pool, &s.order, &err) : -ENOMEM;
	if (!rc)
		rc = nca_hub_open(NCA_HUB_LISTEN_FD, NCA_HUB_LIFE_FD, s.order.key, s.order.nnodes,
				  &s.d.hub, &err);
	if (rc) {
		nca_say("%s; the step runs as without us", err.text);
		return 1;
	}
	nca_hub_set_excuse(s.d.hub, s.order.excuse);
	rc = agree(&s, &err);
	if (rc)
		rc = abandon(&s, rc, &err);
	else
		attend(&s);
	nca_hub_close(s.d.hub);
	return rc;
}
