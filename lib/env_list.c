/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names that somebody has set: what NCCL reads otherwise than it seems. */
#include <nca/names.h>

#include "step.h"

/* The list works, but not all of it: an entry holds a character that NCCL takes for a part of the
 * name. */
static void check_syntax(struct nca_step *step, const struct nca_node_state *node,
			 const char *variable, const char *list)
{
	const char *fault = nca_names_fault(list);

	if (fault)
		nca_step_warn(step, "env-syntax", variable, node->node->name,
			      nca_step_text(step, "%s=%s (set by %s): %s", variable, list,
					    nca_step_setter(node), fault));
}

static bool any_port(const struct nca_node_state *node, const char *entry, size_t n, bool exact)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (!strncmp(p->hca->name, entry, n) && (!exact || !p->hca->name[n]))
			return true;
	return false;
}

/* One list for all nodes may hold the names of each. */
static bool any_node(const struct nca_step *step, const char *entry, size_t n, bool exact)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (any_port(node, entry, n, exact))
			return true;
	return false;
}

/* A longer name that a whole name takes too: mlx5_1 and mlx5_10. */
static const char *longer_name(const struct nca_node_state *node, const char *entry, size_t n)
{
	const struct nca_port_state *p;

	if (!any_port(node, entry, n, true))
		return NULL;
	NCA_FOREACH(p, node->ports)
		if (p->rule != NCA_RULE_USER_HCA && !strncmp(p->hca->name, entry, n) &&
		    p->hca->name[n])
			return p->hca->name;
	return NULL;
}

static void check_entry(struct nca_step *step, const struct nca_node_state *node, const char *list,
			const char *entry, size_t n)
{
	bool exact = nca_names_exact(list);
	const char *longer = exact ? NULL : longer_name(node, entry, n);

	if (!any_node(step, entry, n, exact))
		nca_step_warn(step, "env-no-hca", "some", node->node->name,
			      nca_step_text(step,
					    "NCCL_IB_HCA=%s (set by %s) names %.*s, which no node "
					    "has; the rest of the list is used. Name "
					    "devices that exist, or unset it",
					    list, nca_step_setter(node), (int)n, entry));
	else if (longer)
		nca_step_warn(step, "env-prefix", "NCCL_IB_HCA", node->node->name,
			      nca_step_text(step,
					    "NCCL_IB_HCA=%s (set by %s) takes %s too: without "
					    "\"=\" it holds beginnings of names. Write =%s",
					    list, nca_step_setter(node), longer, list));
}

/* A name that an exclusion takes out with a shorter one that is meant. */
static void check_excluded(struct nca_step *step, const struct nca_node_state *node,
			   const char *list, const char *entry, size_t n)
{
	const struct nca_port_state *p;

	if (nca_names_exact(list) || !any_port(node, entry, n, true))
		return;
	NCA_FOREACH(p, node->ports)
		if (!strncmp(p->hca->name, entry, n) && p->hca->name[n])
			nca_step_warn(step, "env-prefix", "NCCL_IB_HCA", node->node->name,
				      nca_step_text(step,
						    "NCCL_IB_HCA=%s (set by %s) leaves %s out "
						    "too: without \"=\" it holds beginnings of "
						    "names. Write ^=%s",
						    list, nca_step_setter(node), p->hca->name,
						    list + 1));
}

static void check_hcas(struct nca_step *step, const struct nca_node_state *node)
{
	const char *list = nca_step_set(node, "NCCL_IB_HCA"), *entry = NULL;
	size_t n;

	if (!list || !node->user_hcas)
		return;
	if (nca_names_fault(list)) {
		check_syntax(step, node, "NCCL_IB_HCA", list);
		return;
	}
	while ((entry = nca_names_next(list, entry, &n)))
		if (list[0] == '^')
			check_excluded(step, node, list, entry, n);
		else
			check_entry(step, node, list, entry, n);
}

void nca_env_check_lists(struct nca_step *step, const struct nca_node_state *node)
{
	const char *list = nca_step_set(node, "NCCL_SOCKET_IFNAME");

	if (list && node->user_ifname)
		check_syntax(step, node, "NCCL_SOCKET_IFNAME", list);
	check_hcas(step, node);
}
