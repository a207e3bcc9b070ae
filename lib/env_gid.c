/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that make NCCL take the wanted GIDs. */
#include "step.h"

/* Below, one index for all HCAs is the only way to choose a GID (NVIDIA/nccl#890). */
#define VERSION_AUTO_GID 22100

/* Below, the automatic choice fails on tables with holes, as containers see them
 * (NVIDIA/nccl#1573). */
#define VERSION_SPARSE_GID 22602

/* With NCCL_IB_ROCE_VERSION_NUM=1 this one dumps core (NVIDIA/nccl#1538). */
#define VERSION_V1_CRASH 22203

/* The index that all rails of a node share, -1: they differ, or a table is unknown. */
static int common_index(const struct nca_step *step, const struct nca_node_state *node)
{
	int index = -1;
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		const struct nca_gid *gid = nca_rail_gid(step, node->rails.v[i]);

		if (!gid || (i && gid->index != index))
			return -1;
		index = gid->index;
	}
	return index;
}

/* Does NCCL's automatic choice in a range (NULL: any) take the wanted GID of every rail? */
static bool auto_agrees(const struct nca_step *step, const struct nca_node_state *node,
			const struct nca_prefix *range)
{
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		const struct nca_port_state *p = node->rails.v[i];
		const struct nca_gid *gid = range ? nca_gid_auto(p->port, step->gid_family, range)
						  : p->automatic[step->gid_family == 6];

		if (gid != nca_rail_gid(step, p))
			return false;
	}
	return true;
}

/* The longest prefix that holds the wanted addresses of all rails. */
static struct nca_prefix covering_range(const struct nca_step *step,
					const struct nca_node_state *node)
{
	struct nca_prefix range = {0};
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		const struct nca_ip *ip = nca_rail_ip(step, node->rails.v[i]);

		if (!ip)
			continue;
		if (!range.ip.family)
			range = nca_ip_prefix(ip, -1);
		while (range.len > 0 && !nca_prefix_has(&range, ip))
			range = nca_ip_prefix(&range.ip, range.len - 1);
	}
	return range;
}

/* False: no range does it, and a warning says so. */
static bool set_range(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	struct nca_prefix range = covering_range(step, node);
	char text[NCA_ADDR_TEXT];

	if (auto_agrees(step, node, &range)) {
		nca_step_setenv(
			step, i, "NCCL_IB_ADDR_RANGE",
			nca_step_text(step, "%s/%d", nca_ip_text(&range.ip, text), range.len));
		return true;
	}
	nca_step_warn(step, "gid-ambiguous", "", node->node->name,
		      nca_step_text(step,
				    "the wanted GIDs stand at different indexes and NCCL's own "
				    "choice takes another one on some HCA: no variable can say "
				    "which, for no version. Remove the second address, or make "
				    "the tables equal"));
	return false;
}

/* Are the indexes of the wanted GIDs known, and different? */
static bool indexes_differ(const struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_gid *first = nca_rail_gid(step, node->rails.v[0]);
	bool differ = false;
	size_t i;

	for (i = 0; first && i < node->rails.n; i++) {
		const struct nca_gid *gid = nca_rail_gid(step, node->rails.v[i]);

		if (!gid)
			return false;
		differ = differ || gid->index != first->index;
	}
	return differ;
}

/* What somebody has set is replaced where not every rail has a GID of it (nca_env_check()). */
static void set_family(struct nca_step *step, size_t i)
{
	const char *set = nca_step_set(&step->nodes.v[i], "NCCL_IB_ADDR_FAMILY");

	if (step->gid_family == 6 && nca_same(set, "AF_INET"))
		nca_step_replace(step, i, "NCCL_IB_ADDR_FAMILY", "AF_INET6");
	else if (step->gid_family == 6)
		nca_step_setenv(step, i, "NCCL_IB_ADDR_FAMILY", "AF_INET6");
	else if (nca_same(set, "AF_INET6"))
		nca_step_replace(step, i, "NCCL_IB_ADDR_FAMILY", "AF_INET");
}

void nca_env_gid(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	int index = common_index(step, node), version = nca_version_nccl(node->node);
	bool agrees = auto_agrees(step, node, NULL);

	set_family(step, i);
	if (node->rails.v[0]->v1 && version / 100 != VERSION_V1_CRASH / 100)
		nca_step_setenv(step, i, "NCCL_IB_ROCE_VERSION_NUM", "1");
	if (version >= VERSION_AUTO_GID && agrees &&
	    (version >= VERSION_SPARSE_GID || node->node->in_container != 1))
		return;
	if (index >= 0)
		nca_step_setenv(step, i, "NCCL_IB_GID_INDEX", nca_step_text(step, "%d", index));
	else if (!agrees && !set_range(step, i))
		return;
	if (version < VERSION_AUTO_GID && indexes_differ(step, node))
		nca_step_warn(step, "gid-old-nccl", "", node->node->name,
			      nca_step_text(step,
					    "the wanted GIDs stand at different indexes: NCCL "
					    "before 2.21 has one index for all HCAs and takes a "
					    "wrong one on some. Use 2.21 or newer"));
}
