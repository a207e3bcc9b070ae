/* SPDX-License-Identifier: Apache-2.0 */
/* Values that somebody has set: what NCCL ignores, what verbs refuse, what must be equal. */
#include <stdlib.h>

#include "step.h"

struct number {
	const char *variable;
	long min, max;
};

/* Fields of struct ibv_qp_attr and ibv_ah_attr (rdma-core libibverbs/verbs.h), and limits of NCCL's
 * own (src/transport/net_socket.cc). */
static const struct number numbers[] = {
	{"NCCL_IB_RETRY_CNT", 0, 7},	  {"NCCL_IB_TIMEOUT", 0, 31},
	{"NCCL_IB_SL", -1, 15},		  {"NCCL_IB_TC", -1, 255},
	{"NCCL_IB_GID_INDEX", -1, 1023},  {"NCCL_CROSS_NIC", 0, 2},
	{"NCCL_SOCKET_NTHREADS", -2, 16}, {"NCCL_NSOCKS_PERTHREAD", -2, 16},
};

/* Anything else is ignored without a word (src/misc/socket.cc, envSocketFamily()). */
static const char *const families[] = {"NCCL_SOCKET_FAMILY", "NCCL_IB_ADDR_FAMILY"};

/* Both ends use their own value (docs/userguide, env.rst: the same on all ranks); with what stands
 * for unset. */
static const struct {
	const char *variable, *unset;
} same[] = {
	{"NCCL_NET", ""},
	{"NCCL_NET_PLUGIN", ""},
	{"NCCL_IB_DISABLE", "0"},
	{"NCCL_SOCKET_FAMILY", ""},
	{"NCCL_IB_QPS_PER_CONNECTION", "1"},
	{"NCCL_SOCKET_NTHREADS", "-2"},
	{"NCCL_NSOCKS_PERTHREAD", "-2"},
	{"NCCL_ALGO", ""},
	{"NCCL_PROTO", ""},
	{"NCCL_BUFFSIZE", "-2"},
};

/* As NCCL reads it (src/misc/param.cc, strtoll() with base 0). */
static bool is_number(const char *text, const struct number *row)
{
	char *end;
	long value = strtol(text, &end, 0);

	return end != text && !*end && value >= row->min && value <= row->max;
}

static void check_number(struct nca_step *step, const struct nca_node_state *node,
			 const struct number *row)
{
	const char *set = nca_step_set(node, row->variable);

	if (set && *set && !is_number(set, row))
		nca_step_warn(step, "env-bad-value", row->variable, node->node->name,
			      nca_step_text(step,
					    "%s=%s (set by %s) is no number from %ld to %ld. "
					    "Unset it",
					    row->variable, set, nca_step_setter(node), row->min,
					    row->max));
}

static void check_family(struct nca_step *step, const struct nca_node_state *node,
			 const char *variable)
{
	const char *set = nca_step_set(node, variable);

	if (set && !streq(set, "AF_INET") && !streq(set, "AF_INET6"))
		nca_step_warn(step, "env-bad-value", variable, node->node->name,
			      nca_step_text(step,
					    "%s=%s (set by %s) is neither AF_INET nor AF_INET6: "
					    "NCCL ignores it. Unset it",
					    variable, set, nca_step_setter(node)));
}

/* "10.1.0.0/16"; without "/" it is ignored, and GIDs outside are not taken
 * (src/transport/net_ib/connect.cc, envIbAddrRange()). */
static void check_range(struct nca_step *step, const struct nca_node_state *node)
{
	const char *set = nca_step_set(node, "NCCL_IB_ADDR_RANGE"), *what = NULL;
	struct nca_prefix range;
	size_t i;

	if (!set || !*set)
		return;
	if (!strchr(set, '/') || nca_prefix_parse(set, strchr(set, ':') ? 6 : 4, &range)) {
		what = "is no prefix like 10.1.0.0/16: NCCL ignores it";
	} else {
		for (i = 0; i < node->rails.n; i++) {
			const struct nca_gid *gid = nca_rail_gid(step, node->rails.v[i]);
			struct nca_ip ip;

			if (gid && !nca_ip_parse_gid(gid->gid, &ip) && !nca_prefix_has(&range, &ip))
				what = "does not hold the address of every rail";
		}
	}
	if (what)
		nca_step_warn(step, "env-bad-value", "NCCL_IB_ADDR_RANGE", node->node->name,
			      nca_step_text(step, "NCCL_IB_ADDR_RANGE=%s (set by %s) %s. Unset it",
					    set, nca_step_setter(node), what));
}

/* The GPUs of other trays are reached through memory of this kind (src/mnnvl.cc). */
static void check_mnnvl(struct nca_step *step, const struct nca_node_state *node)
{
	const char *set = nca_step_set(node, "NCCL_CUMEM_ENABLE");
	const char *model = node->node->gpus.n ? node->node->gpus.v->model : NULL;

	if (nca_same(set, "0") && model && (strstr(model, "GB200") || strstr(model, "GB300")))
		nca_step_warn(step, "env-no-mnnvl", "", node->node->name,
			      nca_step_text(step,
					    "NCCL_CUMEM_ENABLE=0 (set by %s) keeps NCCL from the "
					    "NVLink between the nodes. Unset it",
					    nca_step_setter(node)));
}

/* "10.0.0.1:23456", "[fd00::1]:1". -EINVAL. */
static int read_comm_id(const char *set, struct nca_ip *ret)
{
	char text[NCA_ADDR_TEXT] = "";
	size_t open = set[0] == '[';
	size_t n = open ? strcspn(set + 1, "]") : strcspn(set, ":");

	if (n < sizeof(text))
		memcpy(text, set + open, n);
	return nca_ip_parse(text, ret);
}

/* An unknown prefix length may hold it. */
static bool is_in_subnet(const struct nca_node *node, const struct nca_ip *ip)
{
	const struct nca_link *link;
	const struct nca_addr *a;
	struct nca_ip own;

	NCA_FOREACH(link, node->interfaces)
		NCA_FOREACH(a, link->addresses) {
			struct nca_prefix net;

			if (nca_ip_parse(a->addr, &own) || own.family != ip->family)
				continue;
			net = nca_ip_prefix(&own, a->prefixlen);
			if (a->prefixlen < 0 || nca_prefix_has(&net, ip))
				return true;
		}
	return false;
}

/* NCCL then asks nobody else where to meet, and every rank looks for an interface in the subnet of
 * that address (src/bootstrap.cc, ncclFindInterfaceMatchSubnet(); NVIDIA/nccl#474). */
static void check_comm_id(struct nca_step *step, const struct nca_node_state *node)
{
	const char *set = nca_step_set(node, "NCCL_COMM_ID");
	const struct nca_node *first = step->nodes.v->node;
	bool other;
	struct nca_ip ip;

	if (!set || !*set)
		return;
	other = read_comm_id(set, &ip) || !nca_node_holder(first, &ip);
	if (!other && is_in_subnet(node->node, &ip))
		return;
	nca_step_warn(
		step, "env-comm-id", "", node->node->name,
		other ? nca_step_text(
				step,
				"NCCL_COMM_ID=%s (set by %s) is no address of %s, where NCCL "
				"would meet; NCCL_SOCKET_IFNAME does not count then. Unset it",
				set, nca_step_setter(node), first->name)
		      : nca_step_text(
				step,
				"NCCL_COMM_ID=%s (set by %s): with it NCCL wants an interface "
				"in the subnet of that address, and %s has none. Unset it",
				set, nca_step_setter(node), node->node->name));
}

static void check_same(struct nca_step *step, const char *variable, const char *unset)
{
	const char **values = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*values));
	bool any = false;
	size_t i;

	step->no_memory = step->no_memory || !values;
	for (i = 0; values && i < step->nodes.n; i++) {
		values[i] = nca_step_set(&step->nodes.v[i], variable);
		any = any || values[i];
		if (!values[i] || streq(values[i], unset))
			values[i] = "unset";
	}
	if (values && any)
		nca_step_differ(step, "env-differs", variable, values,
				"it must be equal on all nodes. Set it on all or on none");
}

void nca_env_check_values(struct nca_step *step, const struct nca_node_state *node)
{
	size_t i;

	if (!node->node->environment.n)
		return;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		check_number(step, node, &numbers[i]);
	for (i = 0; i < ARRAY_SIZE(families); i++)
		check_family(step, node, families[i]);
	check_range(step, node);
	check_mnnvl(step, node);
	check_comm_id(step, node);
}

void nca_env_check_same(struct nca_step *step)
{
	const struct nca_node_state *node;
	bool any = false;
	size_t i;

	NCA_FOREACH(node, step->nodes)
		any = any || node->node->environment.n;
	for (i = 0; any && i < ARRAY_SIZE(same); i++)
		check_same(step, same[i].variable, same[i].unset);
}
