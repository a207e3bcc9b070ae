/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of which there are as many for each GPU, where no distance tells which are for computing.
 */
#include "fabric.h"

bool nca_port_any_near(const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (nca_port_is_open(p) && nca_port_is_near(node, p))
			return true;
	return false;
}

bool nca_port_has_ip(const struct nca_node_state *node, const struct nca_port_state *p)
{
	const struct nca_candidate *c;

	NCA_FOREACH(c, node->candidates)
		if (c->state->uses[p - node->ports.v])
			return true;
	return false;
}

static bool same_model(const struct nca_node_state *node, const struct nca_port_state *p,
		       const struct nca_port_state *other)
{
	(void)node;
	return p->hca->vendor_part_id >= 0 && other->hca->vendor_part_id == p->hca->vendor_part_id;
}

static bool both_without_ip(const struct nca_node_state *node, const struct nca_port_state *p,
			    const struct nca_port_state *other)
{
	return p->layer == NCA_LAYER_IB && !nca_port_has_ip(node, p) &&
	       !nca_port_has_ip(node, other);
}

/* Are there so many that are alike for each GPU, and a few others, which cannot be shared out? */
static bool is_per_gpu(const struct nca_node_state *node, const struct nca_port_state *p,
		       bool (*alike)(const struct nca_node_state *, const struct nca_port_state *,
				     const struct nca_port_state *))
{
	const struct nca_port_state *other;
	size_t open = 0, same = 0, gpus = node->node->gpus.n;

	if (!gpus || nca_port_any_near(node))
		return false;
	NCA_FOREACH(other, node->ports)
		if (nca_port_is_open(other)) {
			open++;
			same += alike(node, p, other);
		}
	return open % gpus && same % gpus == 0 && 2 * same > open;
}

bool nca_port_is_of_gpus_model(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return is_per_gpu(node, p, same_model);
}

bool nca_port_is_without_ip(const struct nca_node_state *node, const struct nca_port_state *p)
{
	return is_per_gpu(node, p, both_without_ip);
}
