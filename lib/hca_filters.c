/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the usable HCA ports are for computing. No single sign is right: link layer, default
 * route, distance and speed back each other up, and each gives up rather than leave nothing.
 */
#include <nca/pin.h>

#include "fabric.h"

static const char *why(enum nca_rule rule)
{
	switch (rule) {
	case NCA_RULE_NO_GID:
		return "its address is link-local, other ports have routable ones";
	case NCA_RULE_UNSEEN:
		return "the container has no interface of it, but of other ports";
	case NCA_RULE_VIRTUAL:
		return "a software device beside real HCAs";
	case NCA_RULE_FRONT_END:
		return "the default route leaves by it";
	case NCA_RULE_LINK_LAYER:
		return "the step uses another link layer";
	case NCA_RULE_LOCALITY:
		return "no PCIe switch in common with a GPU, other ports have one";
	case NCA_RULE_SHADOWED:
		return "a VF beside PFs of its speed";
	case NCA_RULE_MODEL:
		return "of another model than those of which each GPU has as many";
	case NCA_RULE_STORAGE:
		return "IP runs over it, and of those without IP each GPU has as many";
	default:
		return "slower than other ports of the node";
	}
}

static char *values_text(struct nca_step *step, const struct nca_port_state *p, enum nca_rule rule)
{
	const char *level = nca_level_word(p->level);
	const char *rate = p->rate >= 0 ? nca_step_text(step, "%g Gb/s", p->rate) : "unknown speed";

	return nca_step_text(step, "%s port %d: %s (%s, %s, netdev %s, nearest GPU %s)",
			     p->hca->name, p->port->port, why(rule),
			     p->port->link_layer ? p->port->link_layer : "unknown link layer", rate,
			     p->port->netdev ? p->port->netdev : "unknown",
			     level ? level : "unknown");
}

void nca_ports_keep(struct nca_step *step, struct nca_node_state *node, enum nca_rule rule,
		    nca_keep_fn keep)
{
	size_t kept = 0, rest = 0;
	struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (nca_port_is_open(p)) {
			p->keep = keep(node, p);
			kept += p->keep;
			rest += !p->keep;
		}
	if (!kept || !rest)
		return;
	NCA_FOREACH(p, node->ports)
		if (nca_port_is_open(p) && !p->keep)
			nca_step_judge_port(step, p, rule, values_text(step, p, rule));
}

static bool is_hardware(const struct nca_node_state *node, const struct nca_port_state *p)
{
	(void)node;
	return !p->software;
}

static bool is_routable(const struct nca_node_state *node, const struct nca_port_state *p)
{
	(void)node;
	return !p->local;
}

/* Has a RoCE port, as the container sees it, a GID or an address? Without GIDs that could be read
 * its interface tells. */
static bool is_seen(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return node->node->in_container != 1 || p->layer != NCA_LAYER_ETHERNET || p->gid[0] ||
	       p->gid[1] || nca_port_has_ip(node, p);
}

/* With a topology file of the site the PCI tree is not what NCCL will see. */
bool nca_port_is_near(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return p->level >= NCA_LEVEL_PXB && !nca_step_set(node, "NCCL_TOPO_FILE");
}

static bool is_near(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_port_state *other;

	if (nca_step_set(node, "NCCL_TOPO_FILE"))
		return true;
	if (p->level != NCA_LEVEL_UNKNOWN)
		return p->level >= NCA_LEVEL_PXB;
	NCA_FOREACH(other, node->ports)
		if (nca_port_is_open(other) && other->level >= NCA_LEVEL_PXB)
			return true;
	return false;
}

/* Are the PCI addresses of all PFs known, so that a VF whose PF is not among them is another's? */
static bool pfs_known(const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (nca_port_is_open(p) && p->hca->is_vf == 0 && !p->hca->pci)
			return false;
	return true;
}

/* A VF whose PF is not known is taken for one of those that are as fast; a virtual machine's are
 * its own. */
static bool is_no_stray_vf(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_host *host = node->node->host;
	const struct nca_port_state *other;

	if (p->hca->is_vf != 1 || (p->hca->physfn && pfs_known(node)) ||
	    (host && host->virtual_machine == 1))
		return true;
	NCA_FOREACH(other, node->ports)
		if (nca_port_is_open(other) && other->hca->is_vf == 0 && other->rate == p->rate)
			return false;
	return true;
}

/* What the candidates of one speed carry together. */
static double sum_rates(const struct nca_node_state *node, double rate)
{
	const struct nca_port_state *p;
	double sum = 0;

	NCA_FOREACH(p, node->ports)
		sum += nca_port_is_open(p) && p->rate == rate ? rate : 0;
	return sum;
}

/* The fastest ports; where no distance tells, those that carry most together, so that one fast port
 * of the storage does not stand against many for computing. */
static bool is_fastest(const struct nca_node_state *node, const struct nca_port_state *p)
{
	bool near = nca_port_any_near(node);
	double sum = near ? 0 : sum_rates(node, p->rate);
	const struct nca_port_state *other;

	NCA_FOREACH(other, node->ports) {
		double theirs;

		if (!nca_port_is_open(other) || p->rate < 0 || other->rate < 0 ||
		    other->rate == p->rate)
			continue;
		theirs = near ? 0 : sum_rates(node, other->rate);
		if (theirs > sum || (theirs == sum && other->rate > p->rate))
			return false;
	}
	return true;
}

/* Applies a rule on every node, but not where somebody chose the HCAs. */
static void filter_all(struct nca_step *step, enum nca_rule rule, nca_keep_fn keep)
{
	struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (!node->fixed_hcas)
			nca_ports_keep(step, node, rule, keep);
}

void nca_ports_filter_node(struct nca_step *step, struct nca_node_state *node)
{
	if (node->fixed_hcas)
		return;
	nca_ports_keep(step, node, NCA_RULE_NO_GID, is_routable);
	nca_ports_keep(step, node, NCA_RULE_UNSEEN, is_seen);
	if (!nca_pin_is(node->node, "allow-virtual", "yes"))
		nca_ports_keep(step, node, NCA_RULE_VIRTUAL, is_hardware);
	if (!nca_pin_is(node->node, "frontend-rule", "off"))
		nca_ports_keep(step, node, NCA_RULE_FRONT_END, nca_port_is_no_front_end);
}

void nca_ports_filter(struct nca_step *step)
{
	nca_front_end_settle(step);
	nca_fabric_choose_layer(step);
	nca_fabric_choose_version(step);
	nca_fabric_choose_routable(step);
	nca_fabric_choose_subnets(step);
	filter_all(step, NCA_RULE_LOCALITY, is_near);
	filter_all(step, NCA_RULE_SHADOWED, is_no_stray_vf);
	filter_all(step, NCA_RULE_SLOWER, is_fastest);
	filter_all(step, NCA_RULE_MODEL, nca_port_is_of_gpus_model);
	filter_all(step, NCA_RULE_STORAGE, nca_port_is_without_ip);
	nca_fabric_choose_largest(step);
}
