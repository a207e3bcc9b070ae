/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct cables: every network is on two nodes alone. Which HCA leads to a peer depends on the
 * peer, so there are no rails; NCCL 2.30.7 finds the HCA by the peer's subnet
 * (NCCL_IB_SUBNET_AWARE_ROUTING, src/transport/net_ib/connect.cc), older ones cannot. Where two
 * nodes have no cable, as in a ring of four, NCCL's trees fail all the same.
 */
#include "mesh.h"

#define VERSION_SUBNETS 23007

/* More are joined by switches. */
#define MESH_NODES_MAX 32

static bool is_joined(const struct nca_rail_table *t, size_t a, size_t b)
{
	const struct nca_rail *rail;

	NCA_FOREACH(rail, t->rails)
		if (rail->port[a] && rail->port[b])
			return true;
	return false;
}

/* The first two nodes without a cable; false: there are none. */
static bool find_gap(const struct nca_step *step, const struct nca_rail_table *t, size_t *a,
		     size_t *b)
{
	for (*a = 0; *a < step->nodes.n; ++*a)
		for (*b = *a + 1; *b < step->nodes.n; ++*b)
			if (!is_joined(t, *a, *b))
				return true;
	return false;
}

/* Does one cable after the other lead from the first node to every other one? */
static bool is_connected(const struct nca_step *step, const struct nca_rail_table *t)
{
	bool seen[MESH_NODES_MAX] = {true}, more = true;
	size_t a, b, count = 1, n = step->nodes.n;

	while (more) {
		more = false;
		for (a = 0; a < n; a++)
			for (b = 0; seen[a] && b < n; b++)
				if (!seen[b] && is_joined(t, a, b)) {
					seen[b] = more = true;
					count++;
				}
	}
	return count == n;
}

/* Has a network no room for a router beside the two nodes that are in it? */
static bool is_cable(const struct nca_prefix *net)
{
	return net->len + 2 >= nca_ip_bits(&net->ip);
}

/* Has the node a route over one of its rails to one of the other's, or is that not known? */
static bool is_routed(const struct nca_step *step, const struct nca_node_state *node,
		      const struct nca_node_state *other)
{
	size_t i, k;

	for (i = 0; i < node->rails.n; i++)
		for (k = 0; k < other->rails.n; k++) {
			const struct nca_port_state *p = node->rails.v[i];
			const struct nca_prefix *net = nca_rail_network(step, p);

			if ((node->routes->known || !is_cable(net)) &&
			    nca_rail_reaches(step, node, p,
					     &nca_rail_network(step, other->rails.v[k])->ip))
				return true;
		}
	return false;
}

/* Has a third node a port in one of the networks, which is out of order? Then it is no cable. */
static bool any_third(const struct nca_step *step, const struct nca_rail_table *t)
{
	const struct nca_rail *rail;
	size_t i;

	NCA_FOREACH(rail, t->rails)
		for (i = 0; i < step->nodes.n; i++)
			if (!rail->port[i] &&
			    nca_rail_find(step, &step->nodes.v[i], &rail->key, t->kind))
				return true;
	return false;
}

bool nca_mesh_is(const struct nca_step *step, const struct nca_rail_table *t)
{
	const struct nca_rail *rail;
	size_t a, b, n = step->nodes.n;

	if (t->kind != NCA_KEY_NETWORK || n < 3 || n > MESH_NODES_MAX)
		return false;
	NCA_FOREACH(rail, t->rails)
		if (rail->n != 2)
			return false;
	return !find_gap(step, t, &a, &b) ||
	       (is_connected(step, t) && !any_third(step, t) &&
		!is_routed(step, &step->nodes.v[a], &step->nodes.v[b]));
}

static bool is_old(const struct nca_node_state *node)
{
	int version = nca_version_nccl(node->node);

	return version >= 0 && version < VERSION_SUBNETS;
}

/* Who sets this himself has what NCCL needs beside it. */
static bool is_asked(const struct nca_step *step)
{
	return nca_same(nca_step_set(step->nodes.v, "NCCL_IB_SUBNET_AWARE_ROUTING"), "1");
}

/* False: the step cannot use RDMA. */
static bool check_gap(struct nca_step *step, const struct nca_rail_table *t)
{
	size_t a, b;

	if (!find_gap(step, t, &a, &b) || is_asked(step))
		return true;
	nca_step_warn(step, "mesh-gap", "", NULL,
		      nca_step_text(step,
				    "the nodes are joined by direct cables, but none leads from "
				    "%s to %s, and NCCL connects such nodes too: the step uses "
				    "TCP. Add a cable, or use a switch",
				    step->nodes.v[a].node->name, step->nodes.v[b].node->name));
	return false;
}

bool nca_mesh_use(struct nca_step *step, const struct nca_rail_table *t)
{
	const struct nca_node_state *node;
	bool old = false, unknown = false;
	char *text;

	NCA_FOREACH(node, step->nodes) {
		old = old || is_old(node);
		unknown = unknown || nca_version_nccl(node->node) < 0;
	}
	step->env.mesh_len = t->rails.v->key.net.len;
	if (!check_gap(step, t))
		return false;
	if (!old && !unknown)
		return true;
	text = nca_step_text(step,
			     "the nodes are a mesh of direct cables, one subnet per cable: only "
			     "NCCL 2.30.7 and newer find the HCA that leads to a peer%s",
			     old ? "; the step uses TCP. Use a newer NCCL, or a switch"
				 : ". Use such a version, or set NCCL_NET=Socket");
	if (old)
		nca_step_warn(step, "mesh-old-nccl", "", NULL, text);
	else
		nca_step_unsure(step, "mesh-old-nccl", NULL, text);
	return !old;
}
