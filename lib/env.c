/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that say what was agreed. */
#include "step.h"

/* Below, one index for all HCAs is the only way to choose a GID (NVIDIA/nccl#890). */
#define VERSION_AUTO_GID 22100

/* Below, the automatic choice fails on tables with holes, as containers see them
 * (NVIDIA/nccl#1573). */
#define VERSION_SPARSE_GID 22602

/* Is what somebody set a list of interfaces that exist and are up? Gloo and TensorPipe take whole
 * names, without "=" and "^". */
static bool names_work(const struct nca_node_state *node, const char *list)
{
	const struct nca_link_state *state;
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		bool found = false;

		n = strcspn(list, ",");
		NCA_FOREACH(state, node->links)
			found = found || (strlen(state->link->name) == n &&
					  !memcmp(state->link->name, list, n) &&
					  state->rule != NCA_RULE_LOOPBACK &&
					  state->rule != NCA_RULE_NO_CARRIER &&
					  state->rule != NCA_RULE_NO_ADDRESS);
		if (!found)
			return false;
	}
	return true;
}

static void set_plain(struct nca_step *step, size_t i, const char *variable)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	char *name = node->chosen->state->link->name;
	const char *set = nca_step_set(node, variable);

	if (!set || names_work(node, set)) {
		nca_step_setenv(step, i, variable, name);
		return;
	}
	nca_step_warn(step, "env-no-interface", variable, node->node->name,
		      nca_step_text(step,
				    "%s=%s (set by %s) names no interface of the node that could "
				    "work; it is replaced by %s. Unset it, or name one that exists "
				    "in the task's network namespace",
				    variable, set, nca_step_setter(node), name));
	nca_step_replace(step, i, variable, name);
}

static bool any_needs_family6(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_candidate *c;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(c, node->candidates)
			if (node->chosen && node->chosen->ip.family == 6 &&
			    c->state == node->chosen->state && c->ip.family == 4)
				return true;
	return false;
}

static void set_sockets(struct nca_step *step)
{
	bool family6 = any_needs_family6(step);
	size_t i;

	for (i = 0; i < step->nodes.n; i++) {
		const struct nca_node_state *node = &step->nodes.v[i];
		char *name;

		if (!node->chosen)
			continue;
		name = node->chosen->state->link->name;
		if (!node->user_ifname)
			nca_step_replace(step, i, "NCCL_SOCKET_IFNAME",
					 nca_step_join(step, "=", name));
		set_plain(step, i, "GLOO_SOCKET_IFNAME");
		set_plain(step, i, "TP_SOCKET_IFNAME");
		/* PyTorch copies NCCL_SOCKET_IFNAME with its "=" where this is unset
		 * (NVSHMEMSymmetricMemory.cu). */
		nca_step_setenv(step, i, "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", name);
		if (family6)
			nca_step_setenv(step, i, "NCCL_SOCKET_FAMILY", "AF_INET6");
	}
}

/* "mlx5_0:1,mlx5_1:1" */
static char *rail_list(struct nca_step *step, const struct nca_node_state *node)
{
	const char *parts[4 * NCA_RAILS_MAX + 1] = {NULL};
	char ports[NCA_RAILS_MAX][NCA_INT_TEXT];
	size_t i, n = 0;

	for (i = 0; i < node->rails.n && i < NCA_RAILS_MAX; i++) {
		parts[n++] = i ? "," : "";
		parts[n++] = node->rails.v[i]->hca->name;
		parts[n++] = ":";
		parts[n++] = nca_step_int(node->rails.v[i]->port->port, ports[i]);
	}
	return nca_step_join_list(step, parts);
}

static void set_hcas(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	char *list = rail_list(step, node);

	if (!list || node->user_hcas)
		return;
	nca_step_replace(step, i, "NCCL_IB_HCA", nca_step_join(step, "=", list));
	nca_step_setenv(step, i, "NVSHMEM_HCA_LIST", list);
}

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

static bool auto_agrees(const struct nca_step *step, const struct nca_node_state *node,
			const struct nca_prefix *range)
{
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		const struct nca_port *port = node->rails.v[i]->port;

		if (nca_gid_auto(port, step->gid_family, range) !=
		    nca_rail_gid(step, node->rails.v[i]))
			return false;
	}
	return true;
}

/* The longest prefix that holds the wanted addresses of all rails. */
static struct nca_prefix covering_range(const struct nca_step *step,
					const struct nca_node_state *node)
{
	struct nca_prefix range = {0};
	struct nca_ip ip;
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		const struct nca_gid *gid = nca_rail_gid(step, node->rails.v[i]);

		if (!gid || nca_ip_parse_gid(gid->gid, &ip))
			continue;
		if (!range.ip.family)
			range = nca_ip_prefix(&ip, -1);
		while (range.len > 0 && !nca_prefix_has(&range, &ip))
			range = nca_ip_prefix(&range.ip, range.len - 1);
	}
	return range;
}

static void set_range(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	struct nca_prefix range = covering_range(step, node);
	char text[NCA_ADDR_TEXT];

	if (auto_agrees(step, node, &range)) {
		nca_step_setenv(
			step, i, "NCCL_IB_ADDR_RANGE",
			nca_step_text(step, "%s/%d", nca_ip_text(&range.ip, text), range.len));
		return;
	}
	nca_step_warn(step, "gid-ambiguous", "", node->node->name,
		      nca_step_text(step,
				    "the wanted GIDs stand at different indexes and NCCL's own "
				    "choice takes another one on some HCA: no variable can say "
				    "which. Remove the second address, or make the tables equal"));
}

static void set_gid(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	int index = common_index(step, node), version = nca_version_nccl(node->node);
	bool agrees = auto_agrees(step, node, NULL);

	if (step->gid_family == 6)
		nca_step_setenv(step, i, "NCCL_IB_ADDR_FAMILY", "AF_INET6");
	if (version >= VERSION_AUTO_GID && agrees &&
	    (version >= VERSION_SPARSE_GID || node->node->in_container != 1))
		return;
	if (index >= 0)
		nca_step_setenv(step, i, "NCCL_IB_GID_INDEX", nca_step_text(step, "%d", index));
	else if (!agrees)
		set_range(step, i);
}

static bool is_lag(const struct nca_node_state *node, const struct nca_port_state *rail)
{
	const struct nca_link *link = nca_node_link(node->node, rail->port->netdev);

	return rail->hca->lag || (link && nca_same(link->kind, "bond"));
}

/* One queue pair uses one port of a LAG (NVIDIA/nccl#1015). Both ends count with their own value,
 * so all nodes get it or none. */
static bool all_lag(const struct nca_step *step)
{
	const struct nca_node_state *node;
	size_t i;

	NCA_FOREACH(node, step->nodes)
		for (i = 0; i < node->rails.n; i++)
			if (!is_lag(node, node->rails.v[i]))
				return false;
	return true;
}

/* Can no rail of a node reach another rail of the next? Own networks stand for a node that is not
 * in the job: it is like this one. */
static bool rails_apart(const struct nca_step *step, size_t at)
{
	const struct nca_node_state *node = &step->nodes.v[at];
	const struct nca_node_state *next = &step->nodes.v[(at + 1) % step->nodes.n];
	size_t i, k;

	for (i = 0; i < node->rails.n; i++)
		for (k = 0; k < next->rails.n; k++) {
			const struct nca_prefix *to = nca_rail_network(step, next->rails.v[k]);

			if (i == k)
				continue;
			if (!to || !nca_rail_network(step, node->rails.v[i]) ||
			    nca_routes_any_via(&node->routes,
					       nca_rail_gid(step, node->rails.v[i])->ndev, &to->ip))
				return false;
		}
	return node->rails.n > 1;
}

static bool any_apart(const struct nca_step *step)
{
	size_t i;

	for (i = 0; i < step->nodes.n; i++)
		if (rails_apart(step, i))
			return true;
	return false;
}

static void set_rdma(struct nca_step *step)
{
	bool apart = step->gid_family && any_apart(step), lag = all_lag(step);
	size_t i;

	for (i = 0; i < step->nodes.n; i++) {
		set_hcas(step, i);
		if (step->gid_family)
			set_gid(step, i);
		if (apart)
			nca_step_setenv(step, i, "NCCL_CROSS_NIC", "0");
		if (lag)
			nca_step_setenv(step, i, "NCCL_IB_QPS_PER_CONNECTION", "2");
	}
}

/* Could NCCL try anything but TCP? A plug-in ignores NCCL_IB_DISABLE (NVIDIA/nccl#676). */
static bool may_try_rdma(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes) {
		if (node->node->nccl_net_plugin)
			return true;
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_live(p))
				return true;
	}
	return false;
}

void nca_env_net(struct nca_step *step)
{
	size_t i;

	set_sockets(step);
	if (step->nodes.v->rails.n)
		set_rdma(step);
	else if (streq(step->plan->net, "Socket") && may_try_rdma(step))
		for (i = 0; i < step->nodes.n; i++)
			nca_step_setenv(step, i, "NCCL_NET", "Socket");
}
