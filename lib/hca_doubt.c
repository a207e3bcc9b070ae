/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is it clear which HCA ports are for computing? Distance, speed, link layer and default route back
 * each other up; where the distance to the GPUs is not known and another sign is missing or says
 * that the ports are not alike, the choice is a guess.
 */
#include "step.h"

/* Nobody chose the HCAs, and the PCI tree is the machine's. */
static bool is_open(const struct nca_node_state *node)
{
	const struct nca_host *host = node->node->host;

	return node->rails.n > 1 && !node->fixed_hcas && !nca_step_set(node, "NCCL_TOPO_FILE") &&
	       !(host && host->virtual_machine == 1);
}

/* Rails that share a PCIe switch with a GPU, and those whose distance is not known. */
static size_t count_levels(const struct nca_node_state *node, size_t *unknown)
{
	size_t i, near = 0;

	*unknown = 0;
	for (i = 0; i < node->rails.n; i++) {
		near += node->rails.v[i]->level >= NCA_LEVEL_PXB;
		*unknown += node->rails.v[i]->level == NCA_LEVEL_UNKNOWN;
	}
	return near;
}

/* Was a faster port left out as the minority? */
static bool any_faster(const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (p->rule == NCA_RULE_SLOWER && p->rate > node->rails.v[0]->rate)
			return true;
	return false;
}

static const char *reason(const struct nca_node_state *node)
{
	size_t i, rates = 0, addresses = 0, n = node->rails.n, gpus = node->node->gpus.n, unknown;
	size_t near = count_levels(node, &unknown);

	if (near)
		return unknown ? "the distance of some is not known" : NULL;
	for (i = 0; i < n; i++)
		rates += node->rails.v[i]->rate >= 0;
	if (gpus && n > gpus && n % gpus)
		return "none shares a PCIe switch with a GPU, and there are more of them than GPUs";
	if (any_faster(node))
		return "there are faster ones, but fewer, and none shares a PCIe switch with a GPU";
	if (rates && rates < n)
		return "their distance and the speed of some are not known";
	for (i = 0; unknown == n && i < n && node->rails.v[i]->layer == NCA_LAYER_IB; i++)
		addresses += nca_port_has_ip(node, node->rails.v[i]);
	if (addresses && addresses < n)
		return "their distance is not known, and some carry IP, the others do not";
	return NULL;
}

/* Every wire has a 169.254.0.0/16 of its own: equal prefixes join nothing. */
static void doubt_local(struct nca_step *step)
{
	const struct nca_node_state *first = step->nodes.v;

	if (first->rails.n && first->rails.v[0]->local)
		nca_step_unsure(
			step, "link-local", NULL,
			nca_step_text(step,
				      "the RoCE ports have link-local addresses only: they connect "
				      "on one wire or switch, and no further. "
				      "--nccl-autoconf=check tests it, addresses of a subnet of "
				      "their own settle it, NCCL_NET=Socket pins TCP"));
}

void nca_ports_doubt(struct nca_step *step)
{
	const struct nca_node_state *node;

	doubt_local(step);
	NCA_FOREACH(node, step->nodes) {
		const char *why = is_open(node) ? reason(node) : NULL;

		if (why)
			nca_step_unsure(
				step, "hcas-unclear", node->node->name,
				nca_step_text(step,
					      "which of %zu HCA ports are for computing is not "
					      "clear: %s. NCCL_IB_HCA, or rail-hca= in the "
					      "site's file, pins them",
					      node->rails.n, why));
	}
}
