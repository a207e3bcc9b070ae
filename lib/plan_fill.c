/* SPDX-License-Identifier: Apache-2.0 */
/* The plan from the step: what was chosen, and one row per interface and HCA port. */
#include <errno.h>

#include "step.h"

static int fill_rails(struct nca_step *step, const struct nca_node_state *state,
		      struct nca_plan_node *node)
{
	size_t i;

	node->hcas.v = nca_pool_alloc(step->pool, state->rails.n * sizeof(*node->hcas.v));
	if (!node->hcas.v)
		return -ENOMEM;
	for (i = 0; i < state->rails.n; i++) {
		struct nca_port_state *p = state->rails.v[i];
		const struct nca_gid *gid = nca_rail_gid(step, p);

		node->hcas.v[node->hcas.n++] = (struct nca_plan_hca){p->hca->name, p->port->port,
								     gid ? gid->index : -1, (int)i};
		nca_step_judge_port(step, p, NCA_RULE_RAIL,
				    nca_step_text(step, "%s port %d: rail %zu, GID %s",
						  p->hca->name, p->port->port, i,
						  gid ? gid->gid : "by LID or unknown"));
	}
	return 0;
}

static int add_row(struct nca_step *step, struct nca_plan_node *node, char *subject,
		   enum nca_rule rule, const char *text, bool chosen)
{
	struct nca_decision *row = NCA_APPEND(step->pool, node->decisions);

	if (!row || !subject)
		return -ENOMEM;
	row->subject = subject;
	row->outcome = chosen ? "chosen" : "rejected";
	row->rule = (char *)nca_rules[rule].word;
	row->text = (char *)text;
	return 0;
}

static int fill_rows(struct nca_step *step, const struct nca_node_state *state,
		     struct nca_plan_node *node)
{
	const struct nca_link_state *link;
	const struct nca_port_state *p;
	int rc = 0;

	node->decisions.v = nca_pool_alloc(step->pool, 0);
	if (!node->decisions.v)
		return -ENOMEM;
	NCA_FOREACH(link, state->links)
		rc = rc ? rc
			: add_row(step, node, link->link->name, link->rule, link->text,
				  state->chosen && state->chosen->state == link);
	NCA_FOREACH(p, state->ports)
		rc = rc ? rc
			: add_row(step, node,
				  nca_step_text(step, "%s:%d", p->hca->name, p->port->port),
				  p->rule, p->text, p->rule == NCA_RULE_RAIL);
	return rc;
}

int nca_plan_fill(struct nca_step *step)
{
	char text[NCA_ADDR_TEXT];
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < step->nodes.n; i++) {
		const struct nca_node_state *state = &step->nodes.v[i];
		struct nca_plan_node *node = &step->plan->nodes.v[i];

		node->name = state->node->name;
		if (state->chosen) {
			node->socket_ifname = state->chosen->state->link->name;
			node->socket_addr =
				nca_step_text(step, "%s", nca_ip_text(&state->chosen->ip, text));
		}
		rc = fill_rails(step, state, node);
		rc = rc ? rc : fill_rows(step, state, node);
	}
	return rc;
}
