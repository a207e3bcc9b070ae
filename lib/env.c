/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that say what was agreed. */
#include <nca/pin.h>

#include "step.h"

/* NCCL_IB_SUBNET_PREFIX_LEN's default (src/transport/net_ib/connect.cc, 2.30.7). */
#define MESH_LEN_DEFAULT 24

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
					  state->rule >= NCA_RULE_USER_INTERFACE &&
					  state->rule != NCA_RULE_UNREACHABLE);
		if (!found)
			return false;
	}
	return true;
}

/* Is it an address of the chosen network? Then the interface is meant. */
static bool is_meant(const struct nca_node_state *node, const char *set)
{
	struct nca_ip ip;

	return !nca_ip_parse(set, &ip) && nca_prefix_has(&node->chosen->net, &ip);
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
	if (!is_meant(node, set))
		nca_step_warn(
			step, "env-no-interface", variable, node->node->name,
			nca_step_text(step,
				      "%s=%s (set by %s) names no interface of the node that "
				      "could work; it is replaced by %s. %s",
				      variable, set, nca_step_setter(node), name,
				      strpbrk(set, "=^")
					      ? "It takes whole names: \"=\" and \"^\" are of "
						"NCCL's lists alone"
					      : "Unset it, or name one that exists in the task's "
						"network namespace and joins the nodes"));
	else if (nca_step_is_user(node))
		nca_step_warn(
			step, "env-no-interface", variable, node->node->name,
			nca_step_text(step,
				      "%s=%s (set by the user) is an address, not the name of "
				      "an interface; it is replaced by %s. Write that",
				      variable, set, name));
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

/* What somebody set stays, unless the chosen address is of the other family. */
static void set_family(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	const char *set = nca_step_set(node, "NCCL_SOCKET_FAMILY");
	char *want = node->chosen->ip.family == 6 ? "AF_INET6" : "AF_INET";

	if (!set && step->env.family6)
		nca_step_setenv(step, i, "NCCL_SOCKET_FAMILY", "AF_INET6");
	if (!set || streq(set, want) || (!streq(set, "AF_INET") && !streq(set, "AF_INET6")))
		return;
	nca_step_warn(step, "env-bad-value", "NCCL_SOCKET_FAMILY", node->node->name,
		      nca_step_text(step,
				    "NCCL_SOCKET_FAMILY=%s (set by %s), but no address of that "
				    "family joins the nodes; it is replaced by %s. Unset it",
				    set, nca_step_setter(node), want));
	nca_step_replace(step, i, "NCCL_SOCKET_FAMILY", want);
}

static void set_sockets(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	char *name;

	if (!node->chosen)
		return;
	name = node->chosen->state->link->name;
	if (!node->user_ifname)
		nca_step_replace(step, i, "NCCL_SOCKET_IFNAME", nca_step_join(step, "=", name));
	set_plain(step, i, "GLOO_SOCKET_IFNAME");
	set_plain(step, i, "TP_SOCKET_IFNAME");
	/* PyTorch copies NCCL_SOCKET_IFNAME with its "=" where this is unset
	 * (NVSHMEMSymmetricMemory.cu). */
	nca_step_setenv(step, i, "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", name);
	set_family(step, i);
}

/* "mlx5_0:1,mlx5_1:1" */
static char *rail_list(struct nca_step *step, const struct nca_node_state *node)
{
	const char *parts[NCA_JOIN_MAX + 1] = {NULL};
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
			    nca_routes_any_via(node->routes,
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

static void set_mesh(struct nca_step *step, size_t i)
{
	nca_step_setenv(step, i, "NCCL_IB_SUBNET_AWARE_ROUTING", "1");
	if (step->env.mesh_len != MESH_LEN_DEFAULT)
		nca_step_setenv(step, i, "NCCL_IB_SUBNET_PREFIX_LEN",
				nca_step_text(step, "%d", step->env.mesh_len));
}

/* Unset it is 2: NCCL joins different rails where it finds that better (NVIDIA/nccl#2013). */
static void set_apart(struct nca_step *step, size_t i)
{
	const struct nca_node_state *node = &step->nodes.v[i];
	const char *set = nca_step_set(node, "NCCL_CROSS_NIC");

	if (set && !streq(set, "0"))
		nca_step_warn(step, "env-cross-nic", "", node->node->name,
			      nca_step_text(step,
					    "NCCL_CROSS_NIC=%s (set by %s) joins different rails, "
					    "which do not reach each other. Unset it, or set 0",
					    set, nca_step_setter(node)));
	nca_step_setenv(step, i, "NCCL_CROSS_NIC", "0");
}

static void set_rdma(struct nca_step *step, size_t i)
{
	set_hcas(step, i);
	if (step->gid_family)
		nca_env_gid(step, i);
	if (step->env.mesh_len)
		set_mesh(step, i);
	if (step->env.apart)
		set_apart(step, i);
	if (step->env.lag)
		nca_step_setenv(step, i, "NCCL_IB_QPS_PER_CONNECTION", "2");
}

/* Could NCCL try anything but TCP? A plug-in ignores NCCL_IB_DISABLE (NVIDIA/nccl#676). */
static bool may_try_rdma(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes) {
		if (step->rdma_lost ||
		    (node->node->nccl_net_plugin && *node->node->nccl_net_plugin))
			return true;
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_live(p))
				return true;
	}
	return false;
}

void nca_env_prepare(struct nca_step *step)
{
	bool rdma = step->nodes.v->rails.n > 0;

	step->env.family6 = any_needs_family6(step);
	step->env.apart = rdma && step->gid_family && !step->env.mesh_len && any_apart(step);
	step->env.lag = rdma && all_lag(step);
	step->env.tcp = !rdma && streq(step->plan->net, "Socket") && may_try_rdma(step);
}

static void set_profile(struct nca_step *step, size_t i)
{
	const struct nca_pair *p;

	NCA_FOREACH(p, step->nodes.v[i].node->site)
		if (nca_pin_is_variable(p->key))
			nca_step_setenv(step, i, p->key, p->value);
}

void nca_env_node(struct nca_step *step, size_t i)
{
	set_profile(step, i);
	set_sockets(step, i);
	if (step->nodes.v[i].rails.n)
		set_rdma(step, i);
	if (nca_same(nca_step_set(&step->nodes.v[i], "NCCL_NET"), "IB") &&
	    streq(step->plan->net, "Socket"))
		nca_step_replace(step, i, "NCCL_NET", "Socket");
	else if (step->env.tcp)
		nca_step_setenv(step, i, "NCCL_NET", "Socket");
}
