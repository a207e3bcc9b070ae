/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is it clear which HCA ports are for computing? Distance, speed, link layer and default route back
 * each other up; where the distance to the GPUs is not known and another sign is missing or says
 * that the ports are not alike, the choice is a guess. And do faster ones lie idle?
 */
#include "step.h"

/* So many HCAs and fewer may be a part of what the machine has, and say nothing of its GPUs. */
#define FEW 4

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

/* Do so many go with the GPUs: as many for each, or each for as many? Boards whose GPUs are not
 * known have a power of two. */
static bool fits(size_t n, size_t gpus)
{
	return gpus ? n % gpus == 0 || gpus % n == 0 : !(n & (n - 1));
}

/* As many as the node with the most would have with the rails that some other lacks; all nodes have
 * as many rails. */
static size_t count_whole(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;
	size_t most = 0;

	NCA_FOREACH(node, step->nodes) {
		size_t n = node->rails.n;

		NCA_FOREACH(p, node->ports)
			n += p->rule == NCA_RULE_MISSING_RAIL;
		most = n > most ? n : most;
	}
	return most;
}

/* Are there neither so few that they tell nothing, nor as many as go with the GPUs, missing ones
 * or not? */
static bool is_odd(const struct nca_node_state *node, size_t whole)
{
	size_t n = node->rails.n, gpus = node->node->gpus.n;

	if (n <= FEW && (!gpus || n < gpus))
		return false;
	while (n <= whole && !fits(n, gpus))
		n++;
	return n > whole;
}

/* Would they go with the GPUs together with a front end that is as fast? */
static bool may_lack_front_end(const struct nca_node_state *node)
{
	size_t n = node->rails.n, gpus = node->node->gpus.n, front = 0;
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		front += p->rule == NCA_RULE_FRONT_END && p->layer == node->rails.v[0]->layer &&
			 p->rate == node->rails.v[0]->rate;
	return front && n > 1 && !fits(n, gpus) && fits(n + front, gpus);
}

/* Runs all that joins the nodes over the rails, and nobody knows the default route? Then one of
 * them may be the front end. */
static bool may_hold_front_end(const struct nca_node_state *node)
{
	const struct nca_candidate *c;
	size_t i;

	if (node->routes->known || node->rails.v[0]->layer != NCA_LAYER_ETHERNET)
		return false;
	NCA_FOREACH(c, node->candidates) {
		bool used = false;

		for (i = 0; i < node->rails.n; i++)
			used = used || c->state->uses[node->rails.v[i] - node->ports.v];
		if (!used)
			return false;
	}
	return node->candidates.n > 0;
}

static size_t count_gids(const struct nca_node_state *node)
{
	size_t i, n = 0;

	for (i = 0; i < node->rails.n; i++)
		n += node->rails.v[i]->gid[0] || node->rails.v[i]->gid[1];
	return n;
}

static const char *reason(const struct nca_node_state *node, size_t whole)
{
	size_t i, rates = 0, addresses = 0, n = node->rails.n, unknown;
	size_t near = count_levels(node, &unknown);

	if (near)
		return unknown ? "the distance of some is not known" : NULL;
	for (i = 0; i < n; i++)
		rates += node->rails.v[i]->rate >= 0;
	if (is_odd(node, whole))
		return "none is known to share a PCIe switch with a GPU, and so many do not go "
		       "with the GPUs";
	if (may_lack_front_end(node))
		return "none is known to share a PCIe switch with a GPU, and only with the one "
		       "that the default route leaves by would they go with the GPUs";
	if (unknown == n && may_hold_front_end(node))
		return "their distance is not known, nor over which of them the default route "
		       "leaves";
	if (unknown == n && count_gids(node) && count_gids(node) < n)
		return "their distance and the addresses of some are not known";
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

/* Is it up and faster than what the step uses, and lacks only an address? A VF's is its guest's. */
static bool is_idle(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_port_state *rail = node->rails.v[0];

	return p->rule == NCA_RULE_NO_GID && nca_port_is_live(p) && p->port->gids.n &&
	       p->hca->is_vf != 1 && p->layer == rail->layer && rail->rate >= 0 &&
	       p->rate > rail->rate;
}

static void warn_idle(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_port_state *p, *first = NULL;
	const char *more = "";
	size_t n = 0;

	if (!node->rails.n || node->fixed_hcas)
		return;
	NCA_FOREACH(p, node->ports)
		if (is_idle(node, p)) {
			first = first ? first : p;
			n++;
		}
	if (n > 1)
		more = nca_step_text(step, " and %zu more", n - 1);
	if (n)
		nca_step_warn(
			step, "hcas-unaddressed", "", node->node->name,
			nca_step_text(step,
				      "faster HCA ports are up, but have no routable address: %s "
				      "port %d (%g Gb/s)%s; the step uses those of %g Gb/s. Give "
				      "their interfaces addresses to use them",
				      first->hca->name, first->port->port, first->rate, more,
				      node->rails.v[0]->rate));
}

void nca_ports_doubt(struct nca_step *step)
{
	const struct nca_node_state *node;
	size_t whole = count_whole(step);

	doubt_local(step);
	NCA_FOREACH(node, step->nodes)
		warn_idle(step, node);
	NCA_FOREACH(node, step->nodes) {
		const char *why = is_open(node) ? reason(node, whole) : NULL;

		if (!node->fixed_hcas)
			nca_gids_doubt(step, node);
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
