/* SPDX-License-Identifier: Apache-2.0 */
/* HCA ports that somebody has set, and those that a test has proved useless. */
#include <nca/names.h>

#include "step.h"

static size_t matches(const struct nca_node_state *node, const char *list)
{
	const struct nca_port_state *p;
	size_t n = 0;

	NCA_FOREACH(p, node->ports)
		n += nca_port_is_open(p) && nca_names_match(list, p->hca->name, p->port->port);
	return n;
}

void nca_port_judge_user(struct nca_step *step, struct nca_node_state *node)
{
	const char *list = nca_step_set(node, "NCCL_IB_HCA");
	const char *fault = list ? nca_names_fault(list) : NULL;
	struct nca_port_state *p;

	if (!list || !*list)
		return;
	if (!matches(node, list)) {
		nca_step_warn(
			step, "env-no-hca", "NCCL_IB_HCA", node->node->name,
			nca_step_text(step,
				      "NCCL_IB_HCA=%s (set by %s) matches no usable HCA of "
				      "the node: NCCL would silently use TCP there, so it is "
				      "replaced. %s",
				      list, nca_step_setter(node),
				      fault ? fault : "Unset it, or name devices that exist"));
		return;
	}
	node->user_hcas = node->fixed_hcas = true;
	NCA_FOREACH(p, node->ports)
		if (!nca_names_match(list, p->hca->name, p->port->port))
			nca_port_reject(step, p, NCA_RULE_USER_HCA,
					nca_step_text(step, "NCCL_IB_HCA is set to %s", list));
}

/* Is there a node on which what somebody set takes no port? */
static bool is_useless_somewhere(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes) {
		const char *list = nca_step_set(node, "NCCL_IB_HCA");

		if (list && *list && !node->user_hcas)
			return true;
	}
	return false;
}

/* Other ports of the node, as if nothing were set. */
static void forget_user(struct nca_step *step, struct nca_node_state *node)
{
	struct nca_port_state *p;

	node->user_hcas = node->fixed_hcas = false;
	NCA_FOREACH(p, node->ports)
		if (p->rule == NCA_RULE_USER_HCA) {
			p->rule = NCA_RULE_NONE;
			p->text = NULL;
		}
	nca_pins_judge_ports(step, node);
	nca_ports_filter_node(step, node);
}

void nca_ports_settle_user(struct nca_step *step)
{
	struct nca_node_state *node;

	if (is_useless_somewhere(step))
		NCA_FOREACH(node, step->nodes)
			if (node->user_hcas)
				forget_user(step, node);
}

static bool is_port(const struct nca_port_state *p, const char *subject)
{
	const char *colon = strrchr(subject, ':');
	size_t n = colon ? (size_t)(colon - subject) : 0;
	char port[NCA_INT_TEXT];

	return n && !strncmp(p->hca->name, subject, n) && !p->hca->name[n] &&
	       streq(nca_step_int(p->port->port, port), colon + 1);
}

/* What somebody set takes a port that is dead: the rails that are left take its place. */
static void replace_user(struct nca_step *step)
{
	struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes) {
		if (node->user_hcas)
			nca_step_warn(step, "env-more-hcas", "ping-failed", node->node->name,
				      nca_step_text(step,
						    "NCCL_IB_HCA=%s (set by %s) takes a rail over "
						    "which RDMA failed the check; it is replaced. "
						    "Unset it",
						    nca_step_set(node, "NCCL_IB_HCA"),
						    nca_step_setter(node)));
		node->user_hcas = false;
	}
}

/* True: a port that would have been used. */
static bool judge_ban(struct nca_step *step, struct nca_node_state *node, const struct nca_ban *ban)
{
	struct nca_port_state *p;
	bool used = false;

	NCA_FOREACH(p, node->ports)
		if (is_port(p, ban->subject)) {
			used = used || nca_port_is_open(p);
			nca_port_reject(step, p, NCA_RULE_PING_FAILED,
					ban->why ? ban->why : "no reason given");
		}
	return used;
}

/*
 * After the filters: a port that would have been used and is dead must not make a storage port the
 * best that is left.
 */
void nca_ports_judge_bans(struct nca_step *step)
{
	struct nca_node_state *node;
	const struct nca_ban *ban;
	bool used = false;

	if (!step->bans)
		return;
	NCA_FOREACH(ban, *step->bans)
		NCA_FOREACH(node, step->nodes)
			if (nca_same(ban->node, node->node->name))
				used = judge_ban(step, node, ban) || used;
	if (used)
		replace_user(step);
}
