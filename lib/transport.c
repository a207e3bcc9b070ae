/* SPDX-License-Identifier: Apache-2.0 */
/* What carries the data of the step: InfiniBand, RoCE, a vendor's plug-in or TCP; and what is said
 * when RDMA that is there stays unused. */
#include "step.h"

/* Below an Ethernet device that is no bond, which holds the address: the VF of Hyper-V's netvsc. */
static bool is_twin(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_link *link = nca_node_link(node->node, p->port->netdev);
	const struct nca_link *master = link ? nca_node_link(node->node, link->master) : NULL;

	return master && nca_same(master->kind, "ether");
}

/* An empty GID table: in a container of a real machine the entries are those of another network
 * namespace (NVIDIA/nccl#925); else the port is the twin of a virtual machine's Ethernet (Azure's
 * accelerated networking), or nobody has configured it. */
static bool is_hidden(const struct nca_node *node, const struct nca_port_state *p)
{
	return p->rule == NCA_RULE_NO_GID && p->port->gids.v && !p->port->gids.n &&
	       node->in_container == 1 && !(node->host && node->host->virtual_machine > 0);
}

#define HIDDEN_CURE ". Give the container the port's interface or the host's network"

/* Was this port meant for RDMA and is only kept from it? */
static bool is_lost(const struct nca_node_state *node, const struct nca_port_state *p)
{
	if (nca_port_is_unmanaged(p))
		return true;
	if (!nca_port_is_live(p))
		return false;
	/* It may be in its mode that speaks RoCE. */
	if (p->rule == NCA_RULE_IWARP && nca_same(p->hca->driver, "erdma") && !p->port->gids.v)
		return true;
	return p->rule == NCA_RULE_TCP || p->rule == NCA_RULE_NONE ||
	       p->rule == NCA_RULE_NOT_OPENABLE || p->rule == NCA_RULE_LINK_LAYER ||
	       p->rule == NCA_RULE_ROCE_V1 || p->rule == NCA_RULE_IB_SUBNET ||
	       p->rule == NCA_RULE_NO_SUBNET_MANAGER || p->rule == NCA_RULE_MESH ||
	       p->rule == NCA_RULE_MISSING_RAIL || p->rule == NCA_RULE_PING_FAILED ||
	       (p->rule == NCA_RULE_NO_GID && !is_twin(node, p) &&
		(p->port->gids.n || !p->port->gids.v || is_hidden(node->node, p)));
}

static bool any_lost(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (is_lost(node, p))
				return true;
	return false;
}

/* Slingshot has no verbs device: its Ethernet driver tells (HPE, cxi_ss1). */
static bool has_slingshot(const struct nca_node *node)
{
	const struct nca_link *link;

	NCA_FOREACH(link, node->interfaces)
		if (link->driver && nca_has_prefix(link->driver, "cxi"))
			return true;
	return false;
}

bool nca_node_has_plugin_fabric(const struct nca_node *node)
{
	const struct nca_hca *hca;
	const struct nca_port *port;

	if (has_slingshot(node))
		return true;
	NCA_FOREACH(hca, node->hcas)
		NCA_FOREACH(port, hca->ports)
			if (nca_port_is_plugin(hca, port))
				return true;
	return false;
}

static size_t count_plugin(const struct nca_step *step)
{
	const struct nca_node_state *node;
	size_t n = 0;

	NCA_FOREACH(node, step->nodes)
		n += nca_node_has_plugin_fabric(node->node);
	return n;
}

/* The plug-in of some nodes does not talk to the sockets of the others. */
static void lose_plugin(struct nca_step *step)
{
	const struct nca_node_state *node;

	step->rdma_lost = true;
	NCA_FOREACH(node, step->nodes)
		if (!nca_node_has_plugin_fabric(node->node))
			nca_step_warn(step, "no-rdma", "plug-in", node->node->name,
				      nca_step_text(step,
						    "%s has no device of the vendor's fabric, "
						    "which other nodes have, so the whole step "
						    "uses TCP. Leave it out with "
						    "--exclude={nodes}",
						    node->node->name));
	nca_step_verdict(step, step->opt->fallback_fail > 0 ? "refuse" : "fallback");
}

/* The port that explains best why a node has no RDMA. */
static const struct nca_port_state *reason(const struct nca_node_state *node)
{
	const struct nca_port_state *p, *best = NULL;

	NCA_FOREACH(p, node->ports)
		if (!best || (is_lost(node, p) && !is_lost(node, best)))
			best = p;
	return best;
}

/* What becomes of the step: fallback=fail does not start it. */
static const char *uses(const struct nca_step *step)
{
	return step->opt->fallback_fail > 0 ? "would use" : "uses";
}

/* A port that only the agreement of the nodes rules out. */
static const struct nca_port_state *usable(const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (p->rule == NCA_RULE_TCP)
			return p;
	return NULL;
}

static const char *layer(const struct nca_port_state *p)
{
	return p && p->port->link_layer ? p->port->link_layer : "unknown";
}

/* An Ethernet port that lacks an address would not meet InfiniBand with one; "" where it would. */
static const char *other_layer(struct nca_step *step, const struct nca_port_state *p)
{
	const struct nca_port_state *other = NULL;
	const struct nca_node_state *node;

	if (p->rule != NCA_RULE_NO_GID)
		return "";
	NCA_FOREACH(node, step->nodes) {
		other = usable(node);
		if (other)
			break;
	}
	if (!other || other->layer != NCA_LAYER_IB)
		return "";
	return nca_step_text(step,
			     ". %s has InfiniBand, which no address will meet: a card that can do "
			     "both is set with mlxconfig LINK_TYPE_P1",
			     node->node->name);
}

static void warn_node(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_port_state *p = reason(node);
	const char *name = node->node->name;

	/* The fabrics are compared where they are chosen, and who asked for the test says what
	 * failed. */
	if (p && (p->rule == NCA_RULE_IB_SUBNET || p->rule == NCA_RULE_MESH ||
		  p->rule == NCA_RULE_PING_FAILED))
		return;

	if (!p)
		nca_step_warn(step, "no-rdma", "none", name,
			      nca_step_text(step,
					    "%s has no HCA, so the whole step %s TCP. Leave it "
					    "out with --exclude=%s to use RDMA",
					    name, uses(step), name));
	else if (p->rule == NCA_RULE_NOT_OPENABLE)
		nca_step_warn(step, "hca-not-openable", "", name,
			      nca_step_text(step,
					    "%s, so the whole step %s TCP. Give the task "
					    "/dev/infiniband/uverbs* (container mounts, device "
					    "cgroup) on %s",
					    p->text, uses(step), name));
	else
		nca_step_warn(step, "no-rdma", nca_rules[p->rule].word, name,
			      nca_step_text(step,
					    "%s has no HCA port that this step can use (%s), so "
					    "the whole step %s TCP%s",
					    name, p->text ? p->text : p->hca->name, uses(step),
					    is_hidden(node->node, p) ? HIDDEN_CURE
								     : other_layer(step, p)));
}

/* Why a node has no port of a link layer, in brackets; "" where it has none at all. */
static const char *sick(struct nca_step *step, const struct nca_node_state *node,
			enum nca_layer wanted)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (p->layer == wanted && p->rule != NCA_RULE_TCP && p->text)
			return nca_step_text(step, " (%s)", p->text);
	return "";
}

/* Every node has usable ports, but not all have those of one fabric. */
static void warn_fabrics(struct nca_step *step)
{
	const struct nca_node_state *node, *first = step->nodes.v, *other = first;

	NCA_FOREACH(node, step->nodes)
		if (other == first && !streq(layer(usable(node)), layer(usable(first))))
			other = node;
	nca_step_warn(
		step, "no-common-rail", "", other->node->name,
		nca_step_text(step,
			      "no fabric is usable on all nodes: %s has %s, %s has %s%s; so the "
			      "whole step %s TCP",
			      first->node->name, layer(usable(first)), other->node->name,
			      layer(usable(other)), sick(step, other, usable(first)->layer),
			      uses(step)));
}

static bool any_missing(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (p->rule == NCA_RULE_MISSING_RAIL)
				return true;
	return false;
}

/* A port whose repair would give a rail back; "" where none is seen. */
static const char *repair_text(struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (p->rule == NCA_RULE_PORT_DOWN || p->rule == NCA_RULE_NO_GID ||
			    p->rule == NCA_RULE_NOT_OPENABLE)
				return nca_step_text(step, ". Repair them; on %s %s",
						     node->node->name, p->text);
	return "";
}

static void lose(struct nca_step *step)
{
	const struct nca_node_state *node;
	bool all = true, missing = any_missing(step);

	step->rdma_lost = true;
	NCA_FOREACH(node, step->nodes)
		if (!usable(node)) {
			all = false;
			if (!missing)
				warn_node(step, node);
		}
	if (missing)
		nca_step_warn(step, "no-common-rail", "", NULL,
			      nca_step_text(step,
					    "every rail is missing on some node, so the "
					    "whole step %s TCP%s",
					    uses(step), repair_text(step)));
	else if (all)
		warn_fabrics(step);
	nca_step_verdict(step, step->opt->fallback_fail > 0 ? "refuse" : "fallback");
}

/* Has somebody set NCCL_IB_ADDR_FAMILY=AF_INET6? */
static bool asks_gid6(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (nca_same(nca_step_set(node, "NCCL_IB_ADDR_FAMILY"), "AF_INET6"))
			return true;
	return false;
}

/* IPv4 if every rail of every node has such a GID: one NCCL_IB_ADDR_FAMILY holds for a process. */
static int common_family(struct nca_step *step)
{
	const struct nca_node_state *node;
	bool all4 = true, all6 = true, any = false;
	int pinned;
	size_t i;

	NCA_FOREACH(node, step->nodes)
		for (i = 0; i < node->rails.n; i++) {
			const struct nca_port_state *p = node->rails.v[i];

			any = any || p->gid[0] || p->gid[1];
			all4 = all4 && (p->gid[0] || !p->gid[1]);
			all6 = all6 && (p->gid[1] || !p->gid[0]);
		}
	if (!any)
		return 0;
	pinned = nca_pins_family(step);
	if (pinned)
		return pinned;
	return all4 && !(all6 && asks_gid6(step)) ? 4 : 6;
}

void nca_transport_choose(struct nca_step *step)
{
	const struct nca_node_state *first = step->nodes.v;
	size_t plugin;

	if (first->rails.n) {
		step->gid_family = common_family(step);
		step->plan->net = first->rails.v[0]->layer == NCA_LAYER_IB ? "IB" : "RoCE";
		return;
	}
	step->plan->net = "Socket";
	if (step->rdma_refused)
		return;
	plugin = count_plugin(step);
	if (step->foreign || plugin == step->nodes.n) {
		step->plan->net = "plugin";
		step->fast_sockets = has_slingshot(first->node);
	} else if (any_lost(step)) {
		lose(step);
	} else if (plugin) {
		lose_plugin(step);
	}
}
