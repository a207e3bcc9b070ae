/* SPDX-License-Identifier: Apache-2.0 */
/* Where the workers meet: address, port, and whose variables say so. */

#include <nca/variable.h>

#include "rendezvous_parts.h"

/* A script may start what a variable is for. */
static const struct nca_contract *recognize(const struct nca_node *node)
{
	const struct nca_contract *c, *program = nca_launcher_find(node->launcher);

	for (c = nca_contracts; c < nca_contracts + nca_contract_count; c++)
		if (c->setting &&
		    nca_same(nca_pairs_get(node->environment, c->setting), c->value) &&
		    (!program || streq(c->programs, program->programs)))
			return c;
	return program ? program : nca_contracts;
}

static bool is_named(const struct nca_options *opt)
{
	return opt->trainer[0] && !streq(opt->trainer, nca_contracts->name);
}

static int say_unclear(const struct nca_meeting *m, const char *why)
{
	if (!why)
		return 0;
	return nca_plan_warn(m->plan, m->pool, "layout-unclear", NULL,
			     "%s: no rendezvous variables are set; layout=task (one worker per "
			     "task) or layout=node (a launcher per node) says which are wanted",
			     why);
}

static int say_unsupported(const struct nca_meeting *m)
{
	return nca_plan_warn(
		m->plan, m->pool, "trainer-layout", NULL,
		"trainer=%s takes no rendezvous from %s: none is set; %s", m->contract->name,
		m->layout == NCA_LAYOUT_TASK ? "one task per worker" : "one task per node",
		m->cell->note);
}

static int fill_layout(struct nca_meeting *m)
{
	int rc;

	m->contract = m->named ? nca_contract_find(m->opt->trainer) : NULL;
	m->contract = m->contract ? m->contract : recognize(m->job->nodes.v);
	m->cell = nca_contract_cell(m->contract, m->layout);
	if (m->named && m->cell->state != NCA_CELL_YES)
		return m->cell->state == NCA_CELL_NO ? say_unsupported(m) : 0;
	m->plan->rendezvous->layout = m->layout == NCA_LAYOUT_TASK ? "task" : "node";
	nca_meeting_list(m);
	rc = nca_meeting_count(m);
	rc = rc ? rc : nca_meeting_fill(m);
	return rc ? rc : nca_conflicts_warn(m);
}

static int add_layout(struct nca_meeting *m)
{
	struct nca_rendezvous *r = m->plan->rendezvous;
	const char *why;

	r->layout = "none";
	if (m->opt->inject == NCA_INJECT_NET || !r->master_addr || r->master_port < 0)
		return 0;
	m->layout = nca_rendezvous_layout(m->job, m->opt, m->pool, &why);
	return m->layout == NCA_LAYOUT_NONE ? say_unclear(m, why) : fill_layout(m);
}

static int choose_port(const struct nca_meeting *m, const struct nca_node *first)
{
	const char *set = nca_pairs_get(first->environment, "MASTER_PORT");
	struct nca_rendezvous *r = m->plan->rendezvous;

	if (set && *set)
		return nca_master_port(m, set, &r->master_port);
	r->master_port = nca_rendezvous_port(first, m->opt, m->job->id);
	if (r->master_port >= 0)
		return 0;
	return nca_plan_warn(m->plan, m->pool, "no-port", first->name,
			     "no three ports in a row are free for the rendezvous and let in by "
			     "the firewall; %s",
			     m->opt->port_first > 0 ? "widen rdzv-ports=" : "open some");
}

int nca_rendezvous_plan(const struct nca_job *job, const struct nca_options *opt,
			struct nca_plan *plan, struct nca_pool *pool, struct nca_error *err)
{
	struct nca_meeting m = {
		.job = job, .opt = opt, .plan = plan, .pool = pool, .named = is_named(opt)};
	const struct nca_node *first = job->nodes.v;
	const char *set = nca_pairs_get(first->environment, "MASTER_ADDR");
	struct nca_rendezvous *r = nca_pool_alloc(pool, sizeof(*r));
	int rc;

	if (!r)
		return nca_fail_memory(err);
	plan->rendezvous = r;
	r->master_addr = set && *set ? (char *)set : plan->nodes.v[0].socket_addr;
	if (!r->master_addr && job->nnodes == 1)
		r->master_addr = "127.0.0.1";
	rc = choose_port(&m, first);
	if (!rc)
		rc = add_layout(&m);
	if (!rc && job->nnodes > 1)
		rc = nca_master_check(&m);
	return rc ? nca_fail_memory(err) : 0;
}
