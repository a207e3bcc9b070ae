/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Direct cables: every two nodes share a network that no other node has. Which HCA leads to a peer
 * depends on the peer, so there are no rails; NCCL 2.30.7 finds the HCA by the peer's subnet
 * (NCCL_IB_SUBNET_AWARE_ROUTING, src/transport/net_ib/connect.cc), older ones cannot.
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

bool nca_mesh_is(const struct nca_step *step, const struct nca_rail_table *t)
{
	const struct nca_rail *rail;
	size_t a, b, n = step->nodes.n;

	if (t->kind != NCA_KEY_NETWORK || n < 3 || n > MESH_NODES_MAX)
		return false;
	NCA_FOREACH(rail, t->rails)
		if (rail->n != 2)
			return false;
	for (a = 0; a < n; a++)
		for (b = a + 1; b < n; b++)
			if (!is_joined(t, a, b))
				return false;
	return true;
}

static bool is_old(const struct nca_node_state *node)
{
	int version = nca_version_nccl(node->node);

	return version >= 0 && version < VERSION_SUBNETS;
}

bool nca_mesh_use(struct nca_step *step, const struct nca_rail_table *t)
{
	const struct nca_node_state *node;
	bool old = false, unknown = false;

	NCA_FOREACH(node, step->nodes) {
		old = old || is_old(node);
		unknown = unknown || nca_version_nccl(node->node) < 0;
	}
	step->env.mesh_len = t->rails.v->key.net.len;
	if (!old && !unknown)
		return true;
	nca_step_warn(step, "mesh-old-nccl", "", NULL,
		      nca_step_text(step,
				    "the nodes are a mesh of direct cables, one subnet per cable: "
				    "only NCCL 2.30.7 and newer find the HCA that leads to a peer"
				    "%s",
				    old ? "; the step uses TCP. Use a newer NCCL, or a switch"
					: ". Use such a version, or set NCCL_NET=Socket"));
	return !old;
}
