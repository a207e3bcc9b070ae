/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody has set, where it cannot work or does not do what it seems to. */
#include <strings.h>

#include <nca/names.h>
#include <nca/number.h>

#include "step.h"

/* Variables whose misspelling is silent: NCCL ignores names that it does not know. */
static const char *const known[] = {"NCCL_SOCKET_IFNAME",
				    "NCCL_SOCKET_FAMILY",
				    "NCCL_IB_HCA",
				    "NCCL_IB_GID_INDEX",
				    "NCCL_IB_DISABLE",
				    "NCCL_IB_ADDR_FAMILY",
				    "NCCL_IB_ADDR_RANGE",
				    "NCCL_IB_TC",
				    "NCCL_IB_SL",
				    "NCCL_IB_TIMEOUT",
				    "NCCL_IB_RETRY_CNT",
				    "NCCL_NET",
				    "NCCL_NET_PLUGIN",
				    "NCCL_CROSS_NIC",
				    "NCCL_DEBUG",
				    "NCCL_DEBUG_SUBSYS",
				    "NCCL_DEBUG_FILE",
				    "NCCL_TOPO_FILE",
				    "NCCL_P2P_DISABLE",
				    "NCCL_P2P_LEVEL",
				    "NCCL_SHM_DISABLE",
				    "NCCL_NET_GDR_LEVEL",
				    "NCCL_IB_QPS_PER_CONNECTION",
				    "NCCL_IB_SPLIT_DATA_ON_QPS",
				    "GLOO_SOCKET_IFNAME"};

/* Are a and b equal but for one character that is missing, added or another? */
static bool is_near_miss(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), head = 0, tail = 0;

	while (a[head] && a[head] == b[head])
		head++;
	while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail])
		tail++;
	return n - head - tail <= 1 && m - head - tail <= 1 && (n != m || head < n);
}

static void check_spelling(struct nca_step *step, const struct nca_node_state *node)
{
	const struct nca_pair *pair;
	size_t i;

	NCA_FOREACH(pair, node->node->environment) {
		const char *near = NULL;
		bool exact = false;

		for (i = 0; i < ARRAY_SIZE(known); i++) {
			exact = exact || streq(pair->key, known[i]);
			near = is_near_miss(pair->key, known[i]) ? known[i] : near;
		}
		if (near && !exact)
			nca_step_warn(
				step, "env-unknown", pair->key, node->node->name,
				nca_step_text(step,
					      "%s (set by %s) is no variable of NCCL and does "
					      "nothing; %s is meant?",
					      pair->key, nca_step_setter(node), near));
	}
}

/* An index must name a routable RoCE v2 GID on every rail (src/transport/net_ib/connect.cc). */
static void check_gid(struct nca_step *step, const struct nca_node_state *node)
{
	const char *set = nca_step_set(node, "NCCL_IB_GID_INDEX");
	unsigned int index;
	size_t i;

	if (!set || !step->gid_family || nca_parse_u32(set, 0, 1023, &index))
		return;
	for (i = 0; i < node->rails.n; i++) {
		const struct nca_gid *want = nca_rail_gid(step, node->rails.v[i]);

		if (!want || want->index == (int)index)
			continue;
		nca_step_warn(step, "env-other-gid", "", node->node->name,
			      nca_step_text(step,
					    "NCCL_IB_GID_INDEX=%s (set by %s), but the "
					    "address of %s is at index %d (%s). Unset it",
					    set, nca_step_setter(node), node->rails.v[i]->hca->name,
					    want->index,
					    want->ndev ? want->ndev : "netdev unknown"));
		return;
	}
}

/* What NCCL's own choice is told to take, where the rails have none such. */
static void check_gid_kind(struct nca_step *step, const struct nca_node_state *node)
{
	const char *family = nca_step_set(node, "NCCL_IB_ADDR_FAMILY");
	const char *version = nca_step_set(node, "NCCL_IB_ROCE_VERSION_NUM");
	const char *want = step->gid_family == 6 ? "AF_INET6" : "AF_INET";

	if (!node->rails.n || !step->gid_family)
		return;
	if (family && !streq(family, want) &&
	    (streq(family, "AF_INET") || streq(family, "AF_INET6")))
		nca_step_warn(step, "env-other-gid", "family", node->node->name,
			      nca_step_text(step,
					    "NCCL_IB_ADDR_FAMILY=%s (set by %s), but not every "
					    "rail has such an address; it is replaced by %s. "
					    "Unset it",
					    family, nca_step_setter(node), want));
	if (nca_same(version, "1") && !node->rails.v[0]->v1)
		nca_step_warn(step, "env-other-gid", "version", node->node->name,
			      nca_step_text(step,
					    "NCCL_IB_ROCE_VERSION_NUM=1 (set by %s): RoCE v1 does "
					    "not cross routers, and the rails have v2. Unset it",
					    nca_step_setter(node)));
}

static void check_hcas(struct nca_step *step, const struct nca_node_state *node)
{
	const char *set = nca_step_set(node, "NCCL_IB_HCA");
	const struct nca_port_state *p;
	size_t n = 0;

	if (!set || !node->user_hcas || !node->rails.n)
		return;
	NCA_FOREACH(p, node->ports)
		n += nca_port_is_live(p) && nca_names_match(set, p->hca->name, p->port->port);
	if (n > node->rails.n)
		nca_step_warn(step, "env-more-hcas", "", node->node->name,
			      nca_step_text(step,
					    "NCCL_IB_HCA=%s (set by %s) takes %zu ports, only %zu "
					    "are usable on all nodes. Unset it",
					    set, nca_step_setter(node), n, node->rails.n));
}

/* The plug-ins that work on one maker's machines alone, as NCCL_NET names them or begins. */
static const char *const google[] = {"gIB", "FasTrak", "GPUDirectTCPX"};

static bool any_live(const struct nca_node_state *node)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (nca_port_is_live(p))
			return true;
	return false;
}

/* Does it name the plug-in of a fabric that is not here? aws-ofi-nccl needs EFA or Slingshot. */
static bool is_elsewhere(const struct nca_node_state *node, const char *net)
{
	const struct nca_host *host = node->node->host;
	size_t i;

	if (strcasestr(net, "libfabric"))
		return any_live(node) && !nca_node_has_plugin_fabric(node->node);
	for (i = 0; i < ARRAY_SIZE(google); i++)
		if (!strncasecmp(net, google[i], strlen(google[i])))
			return host && host->vendor && !strstr(host->vendor, "Google");
	return false;
}

static void check_net(struct nca_step *step, const struct nca_node_state *node)
{
	const char *set = nca_step_set(node, "NCCL_NET");

	if (set && !strcasecmp(set, "IB") && !step->rdma_lost && streq(step->plan->net, "Socket"))
		nca_step_warn(step, "env-net", "", node->node->name,
			      nca_step_text(step,
					    "NCCL_NET=%s (set by %s), but there is no usable HCA: "
					    "NCCL would not start; it is replaced by Socket. "
					    "Unset it",
					    set, nca_step_setter(node)));
	if (set && is_elsewhere(node, set))
		nca_step_warn(step, "env-net", "elsewhere", node->node->name,
			      nca_step_text(step,
					    "NCCL_NET=%s (set by %s) names a plug-in whose fabric "
					    "the node does not have: NCCL does not start, or "
					    "leaves its HCAs unused. Unset it",
					    set, nca_step_setter(node)));
	if (step->rdma_lost && set)
		nca_step_warn(step, "env-net", "", node->node->name,
			      nca_step_text(step,
					    "NCCL_NET=%s (set by %s), but RDMA is not usable on "
					    "all nodes. Unset it",
					    set, nca_step_setter(node)));
}

void nca_env_check(struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes) {
		check_spelling(step, node);
		check_gid(step, node);
		check_gid_kind(step, node);
		check_hcas(step, node);
		check_net(step, node);
		nca_env_check_lists(step, node);
		nca_env_check_values(step, node);
	}
	nca_env_check_same(step);
}
