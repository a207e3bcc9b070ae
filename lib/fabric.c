/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several fabrics the step uses: link layer, RoCE version. Ports of different ones do not
 * connect. */
#include "fabric.h"

static bool is_infiniband(const struct nca_node_state *node, const struct nca_port_state *p)
{
	(void)node;
	return p->layer == NCA_LAYER_IB;
}

static bool is_other(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return !is_infiniband(node, p);
}

static bool has(const struct nca_node_state *node, nca_keep_fn keep)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (nca_port_is_open(p) && keep(node, p))
			return true;
	return false;
}

static size_t count_nodes(const struct nca_step *step, nca_keep_fn keep)
{
	const struct nca_node_state *node;
	size_t n = 0;

	NCA_FOREACH(node, step->nodes)
		n += has(node, keep);
	return n;
}

/* What a link layer has in all nodes together. */
struct strength {
	size_t near, ports;
	double rate; /* of the fastest port */
};

/* One walk for both: a large step does not fit into a cache. */
static void measure(const struct nca_step *step, struct strength *ib, struct strength *other)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	*ib = *other = (struct strength){0, 0, -1};
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports) {
			struct strength *s = is_infiniband(node, p) ? ib : other;

			if (!nca_port_is_open(p))
				continue;
			s->ports++;
			s->near += nca_port_is_near(node, p);
			s->rate = p->rate > s->rate ? p->rate : s->rate;
		}
}

/*
 * Is Ethernet the compute fabric, though InfiniBand is there? More of its ports share a PCIe switch
 * with a GPU; where none tells, it has both more ports and faster ones. Then the InfiniBand is the
 * storage's.
 */
static bool ethernet_wins(const struct strength *ib, const struct strength *other)
{
	if (ib->near != other->near)
		return other->near > ib->near;
	return other->ports > ib->ports && ib->rate > 0 && other->rate > ib->rate;
}

/* Why the node cannot use the fabric that most nodes have. */
static const char *sick_text(const struct nca_node_state *node, nca_keep_fn keep)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (!nca_port_is_open(p) && keep(node, p) && p->text)
			return p->text;
	return "it has none";
}

static void warn_lost(struct nca_step *step, nca_keep_fn better)
{
	const char *name = better == is_infiniband ? "InfiniBand" : "RoCE";
	const char *other = better == is_infiniband ? "RoCE" : "InfiniBand";
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (!has(node, better))
			nca_step_warn(step, "fabric-lost", name, node->node->name,
				      nca_step_text(step,
						    "no usable %s port (%s), which other nodes "
						    "have: the step uses %s. Repair it, or leave "
						    "it out with --exclude={nodes}",
						    name, sick_text(node, better), other));
}

void nca_fabric_choose_layer(struct nca_step *step)
{
	nca_keep_fn better, second, keep = NULL;
	struct nca_node_state *node;
	struct strength ib, other;
	size_t have, n = step->nodes.n;

	measure(step, &ib, &other);
	if (!ib.ports || !other.ports)
		return;
	better = ethernet_wins(&ib, &other) ? is_other : is_infiniband;
	second = better == is_other ? is_infiniband : is_other;
	have = count_nodes(step, better);
	if (have == n)
		keep = better;
	else if (count_nodes(step, second) == n)
		keep = second;
	if (keep == second && have && 2 * have >= n)
		warn_lost(step, better);
	NCA_FOREACH(node, step->nodes)
		if (keep)
			nca_ports_keep(step, node, NCA_RULE_LINK_LAYER, keep);
}

static bool is_v1(const struct nca_node_state *node, const struct nca_port_state *p)
{
	(void)node;
	return p->v1;
}

static bool is_v2(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return !is_v1(node, p);
}

/* RoCE v1 does not cross routers: is its network on every node? */
static bool is_joined(const struct nca_step *step, const struct nca_port_state *p)
{
	const struct nca_prefix *net = &p->net[!p->gid[0]];
	const struct nca_node_state *node;
	const struct nca_port_state *o;

	NCA_FOREACH(node, step->nodes) {
		bool found = !net->ip.family;

		NCA_FOREACH(o, node->ports)
			found = found || (o->v1 && nca_port_is_open(o) &&
					  nca_prefix_same(&o->net[!o->gid[0]], net));
		if (!found)
			return false;
	}
	return true;
}

void nca_fabric_choose_version(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_port_state *p;
	size_t v1, v2, n = step->nodes.n;

	if (!step->any_v1)
		return;
	v1 = count_nodes(step, is_v1);
	v2 = count_nodes(step, is_v2);
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_open(p))
				p->keep = v2 == n || v1 < n ? !p->v1 : p->v1 && is_joined(step, p);
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_open(p) && !p->keep)
				nca_step_judge_port(
					step, p, NCA_RULE_ROCE_V1,
					nca_step_text(step,
						      "%s port %d: RoCE v1 and v2 do not connect, "
						      "and v1 does not cross routers",
						      p->hca->name, p->port->port));
}

static bool is_local(const struct nca_node_state *node, const struct nca_port_state *p)
{
	(void)node;
	return p->local;
}

void nca_fabric_choose_routable(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_port_state *p;

	if (!step->any_local || count_nodes(step, is_local) == step->nodes.n)
		return;
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (p->local)
				nca_port_reject(step, p, NCA_RULE_NO_GID,
						"its address is link-local and leads no further "
						"than its wire; other nodes have others");
}
