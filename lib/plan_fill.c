/* SPDX-License-Identifier: Apache-2.0 */
/* The plan from the step: what was chosen, and one row per interface and HCA port. */
#include <errno.h>

#include "step.h"

/* "GID 3 10.1.0.5 on rail0, ", or nothing on InfiniBand, which goes by LID. */
static const char *gid_text(struct nca_step *step, const struct nca_port_state *p,
			    const struct nca_gid *gid)
{
	char index[NCA_INT_TEXT], text[NCA_ADDR_TEXT];

	if (!gid)
		return "";
	return nca_step_join(step, ", GID ", nca_step_int(gid->index, index), " ",
			     nca_ip_text(nca_rail_ip(step, p), text), " on ",
			     gid->ndev ? gid->ndev : "unknown");
}

static char *rail_text(struct nca_step *step, const struct nca_port_state *p, int rail,
		       const struct nca_gid *gid)
{
	const char *layer = p->port->link_layer, *level = nca_level_word(p->level);
	char port[NCA_INT_TEXT], place[NCA_INT_TEXT], rate[NCA_INT_TEXT];
	const char *address = gid_text(step, p, gid);

	if (!address)
		return NULL;
	return nca_step_join(step, p->hca->name, " port ", nca_step_int(p->port->port, port),
			     ": rail ", nca_step_int(rail, place), ", ",
			     layer ? layer : "unknown link layer", " ",
			     p->rate >= 0 ? nca_step_int((int)p->rate, rate) : "?", " Gb/s",
			     address, ", nearest GPU ", level ? level : "unknown");
}

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
		nca_step_judge_port(step, p, NCA_RULE_RAIL, rail_text(step, p, (int)i, gid));
	}
	return 0;
}

/* There is room for one row per interface and port. */
static int add_row(struct nca_plan_node *node, char *subject, enum nca_rule rule, const char *text,
		   bool chosen)
{
	struct nca_decision *row = &node->decisions.v[node->decisions.n++];

	if (!subject)
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
	char port[NCA_INT_TEXT];
	int rc = 0;

	node->decisions.v = nca_pool_alloc(step->pool, (state->links.n + state->ports.n) *
							       sizeof(*node->decisions.v));
	if (!node->decisions.v)
		return -ENOMEM;
	NCA_FOREACH(link, state->links)
		rc = rc ? rc
			: add_row(node, link->link->name, link->rule, link->text,
				  state->chosen && state->chosen->state == link);
	NCA_FOREACH(p, state->ports)
		rc = rc ? rc
			: add_row(node,
				  nca_step_join(step, p->hca->name, ":",
						nca_step_int(p->port->port, port)),
				  p->rule, p->text, p->rule == NCA_RULE_RAIL);
	return rc;
}

int nca_plan_fill_node(struct nca_step *step, size_t i)
{
	const struct nca_node_state *state = &step->nodes.v[i];
	struct nca_plan_node *node = &step->plan->nodes.v[i];
	char text[NCA_ADDR_TEXT];
	int rc;

	node->name = state->node->name;
	if (state->chosen) {
		node->socket_ifname = state->chosen->state->link->name;
		node->socket_addr = nca_step_join(step, nca_ip_text(&state->chosen->ip, text));
	}
	rc = fill_rails(step, state, node);
	return rc ? rc : fill_rows(step, state, node);
}

const char *nca_decision_values(const struct nca_decision *d)
{
	size_t n = strcspn(d->subject, ":");
	const char *text = d->text + n;

	if (strncmp(d->text, d->subject, n) || (*text != ' ' && *text != ':'))
		return d->text;
	if (nca_has_prefix(text, " port ") && strchr(text, ':'))
		text = strchr(text, ':');
	return text + strspn(text, ": ");
}
