/* SPDX-License-Identifier: Apache-2.0 */
/* Which HCA ports can carry RDMA at all. */
#include <errno.h>

#include <nca/names.h>

#include "step.h"

bool nca_port_is_plugin(const struct nca_hca *hca, const struct nca_port *port)
{
	return nca_same(hca->driver, "efa") || (hca->node_type && hca->node_type[0] == '7') ||
	       nca_same(port->link_layer, "Unspecified");
}

/* An RNIC whose table holds RoCE v2 GIDs speaks RoCE: erdma in its compatible mode. */
static bool is_iwarp(const struct nca_hca *hca, const struct nca_port *port)
{
	const struct nca_gid *gid;

	if (!hca->node_type || hca->node_type[0] != '4')
		return false;
	NCA_FOREACH(gid, port->gids)
		if (gid->type && strstr(gid->type, "v2"))
			return false;
	return true;
}

bool nca_port_is_live(const struct nca_port_state *p)
{
	return !nca_port_is_plugin(p->hca, p->port) &&
	       (!p->port->state || streq(p->port->state, "ACTIVE"));
}

static bool is_ethernet(const struct nca_port_state *p)
{
	return p->layer == NCA_LAYER_ETHERNET;
}

void nca_port_reject(struct nca_step *step, struct nca_port_state *p, enum nca_rule rule,
		     const char *text)
{
	nca_step_judge_port(
		step, p, rule,
		text ? nca_step_text(step, "%s port %d: %s", p->hca->name, p->port->port, text)
		     : NULL);
}

static bool opens_known(const struct nca_node *node)
{
	const struct nca_hca *hca;

	NCA_FOREACH(hca, node->hcas)
		if (hca->uverbs_opens == 1)
			return true;
	return false;
}

/* Is the port's interface in another network namespace than the task, and its device with it? */
static bool is_elsewhere(const struct nca_node *node, const struct nca_port *port)
{
	return node->in_container == 1 && nca_same(node->rdma_netns_mode, "exclusive") &&
	       port->netdev && node->interfaces.n && !nca_node_link(node, port->netdev);
}

static void judge_open(struct nca_step *step, const struct nca_node *node, struct nca_port_state *p)
{
	if (nca_same(node->dev_infiniband, "absent"))
		nca_port_reject(
			step, p, NCA_RULE_NOT_OPENABLE,
			nca_step_text(
				step,
				"the task has no /dev/infiniband%s and cannot open the device",
				node->in_container ? " (its container hides it)" : ""));
	else if (p->hca->uverbs_opens == 0)
		nca_port_reject(
			step, p, NCA_RULE_NOT_OPENABLE,
			nca_step_text(step, "the task cannot open the device: %s",
				      p->hca->uverbs_error ? p->hca->uverbs_error : "refused"));
	else if (p->hca->uverbs_opens < 0 && opens_known(node))
		nca_port_reject(step, p, NCA_RULE_NOT_OPENABLE,
				"it is not among the devices that the task was seen to open");
	else if (p->hca->uverbs_opens < 0 && is_elsewhere(node, p->port))
		nca_port_reject(step, p, NCA_RULE_NOT_OPENABLE,
				nca_step_text(step,
					      "%s is in another network namespace, and RDMA "
					      "devices are too (rdma system: exclusive)",
					      p->port->netdev));
}

static bool has_link(const struct nca_port_state *p)
{
	return p->layer == NCA_LAYER_IB && nca_same(p->port->phys_state, "LinkUp");
}

bool nca_port_is_unmanaged(const struct nca_port_state *p)
{
	return p->rule == NCA_RULE_PORT_DOWN && has_link(p);
}

static void judge_state(struct nca_step *step, const struct nca_node_state *node,
			struct nca_port_state *p)
{
	const struct nca_port *port = p->port;
	const struct nca_link *link = nca_node_link(node->node, port->netdev);

	if (port->state && !streq(port->state, "ACTIVE"))
		nca_port_reject(
			step, p, NCA_RULE_PORT_DOWN,
			nca_step_text(step, "%s (%s)%s", port->state,
				      port->phys_state ? port->phys_state : "unknown",
				      has_link(p) ? ": no subnet manager has set it up" : ""));
	else if (!port->state && is_ethernet(p) && link && link->carrier == 0)
		nca_port_reject(step, p, NCA_RULE_PORT_DOWN,
				nca_step_text(step, "%s has no carrier", link->name));
	else if (p->layer == NCA_LAYER_IB &&
		 (port->lid == 0 || port->lid == 65535 || port->sm_lid == 0))
		nca_port_reject(step, p, NCA_RULE_NO_SUBNET_MANAGER,
				nca_step_text(step,
					      "LID %d, SM LID %d: no subnet manager has set it up",
					      port->lid, port->sm_lid));
}

static void judge_gid(struct nca_step *step, const struct nca_node_state *node,
		      struct nca_port_state *p)
{
	if (!is_ethernet(p))
		return;
	if (!p->port->gids.v) {
		nca_gids_guess(step, node, p);
		return;
	}
	nca_gids_read(node, p);
	step->any_v1 = step->any_v1 || p->v1;
	step->any_local = step->any_local || p->local;
	if (!p->gid[0] && !p->gid[1])
		nca_port_reject(
			step, p, NCA_RULE_NO_GID,
			!p->port->gids.n
				? nca_step_text(step, "its GID table is empty in this network "
						      "namespace")
				: nca_step_text(step,
						"none of %zu GIDs is RoCE v2 with a routable "
						"address that an interface of this network "
						"namespace holds",
						p->port->gids.n));
}

/* What ib_get_eth_speed() says of a netdev that tells no speed, in Gb/s: no RoCE device is so slow.
 */
#define RATE_UNKNOWN 2.5

/* For RoCE the driver's rate stops at 100 Gb/s on older kernels (linux-6.1 ib_get_eth_speed()): the
 * netdev may know more. */
static double port_rate(const struct nca_node *node, const struct nca_port_state *p)
{
	const struct nca_link *link = nca_node_link(node, p->port->netdev);
	double rate = p->port->rate_gbps;

	if (is_ethernet(p) && link && nca_same(link->kind, "ether") &&
	    link->speed_mbps / 1000.0 > rate)
		rate = link->speed_mbps / 1000.0;
	if (is_ethernet(p) && rate == RATE_UNKNOWN && !(link && link->speed_mbps > 0))
		return -1;
	return rate;
}

static enum nca_layer read_layer(const char *word)
{
	if (!word)
		return NCA_LAYER_UNKNOWN;
	if (streq(word, "InfiniBand"))
		return NCA_LAYER_IB;
	return streq(word, "Ethernet") ? NCA_LAYER_ETHERNET : NCA_LAYER_OTHER;
}

static void judge_port(struct nca_step *step, const struct nca_node_state *node,
		       struct nca_port_state *p)
{
	p->layer = read_layer(p->port->link_layer);
	p->software =
		nca_same(p->hca->driver, "rdma_rxe") || nca_same(p->hca->vendor_id, "0xffffff");
	if (nca_port_is_plugin(p->hca, p->port))
		nca_port_reject(step, p, NCA_RULE_PLUGIN_FABRIC, "not for NCCL's own transport");
	else if (is_iwarp(p->hca, p->port))
		nca_port_reject(step, p, NCA_RULE_IWARP,
				"iWARP, over which NCCL cannot connect; some cards can do RoCE v2 "
				"instead");
	else if (nca_same(nca_topo_vpd(node->node, p->hca, "SMDL"), "SW_MNG"))
		nca_port_reject(step, p, NCA_RULE_MANAGEMENT, "manages the NVLink switches");
	if (nca_topo_netdevs(p->hca, p->port, step->pool, &p->netdevs))
		step->no_memory = true;
	judge_open(step, node->node, p);
	judge_state(step, node, p);
	judge_gid(step, node, p);
	p->rate = port_rate(node->node, p);
	p->level = nca_topo_nearest(node->node, p->hca);
}

static void judge_shadowed(struct nca_step *step, struct nca_node_state *node)
{
	struct nca_port_state *p, *pf;

	NCA_FOREACH(p, node->ports)
		NCA_FOREACH(pf, node->ports)
			if (nca_port_is_open(pf) && nca_same(p->hca->physfn, pf->hca->pci))
				nca_port_reject(step, p, NCA_RULE_SHADOWED,
						nca_step_text(step, "a VF of %s", pf->hca->name));
}

static int judge_node(struct nca_step *step, struct nca_node_state *node)
{
	const struct nca_hca *hca;
	const struct nca_port *port;
	struct nca_port_state *p;
	size_t n = 0;

	NCA_FOREACH(hca, node->node->hcas)
		n += hca->ports.n;
	node->ports.v = nca_pool_alloc(step->pool, n * sizeof(*node->ports.v));
	if (!node->ports.v)
		return -ENOMEM;
	NCA_FOREACH(hca, node->node->hcas)
		NCA_FOREACH(port, hca->ports)
			node->ports.v[node->ports.n++] =
				(struct nca_port_state){.hca = hca, .port = port, .place = -1};
	NCA_FOREACH(p, node->ports)
		judge_port(step, node, p);
	judge_shadowed(step, node);
	return 0;
}

int nca_ports_judge_node(struct nca_step *step, struct nca_node_state *node)
{
	int rc;

	nca_pins_read_node(node);
	rc = judge_node(step, node);
	if (rc)
		return rc;
	nca_port_judge_user(step, node);
	if (!node->user_hcas)
		nca_pins_judge_ports(step, node);
	return 0;
}
