/* SPDX-License-Identifier: Apache-2.0 */
/* What the candidates are worth, rule by rule. */
#include <errno.h>

#include "network.h"

#define SDR_MBPS 8000

#define VALUE(c, rule) ((c)->value[(rule)-NCA_RULE_FAMILY])

struct nca_ips {
	struct nca_ip *v;
	size_t n;
};

static int compare_ips(const void *a, const void *b)
{
	return nca_ip_compare(a, b);
}

/* What the node names resolve to, as the first two nodes see it: the second knows the first's. */
static int read_node_addresses(struct nca_step *step, struct nca_ips *ret)
{
	const struct nca_peer *peer;
	size_t i, k;

	for (i = 0; i < step->nodes.n && i < 2; i++)
		NCA_FOREACH(peer, step->nodes.v[i].node->peers)
			for (k = 0; k < peer->addresses.n; k++) {
				struct nca_ip ip, *slot;

				if (nca_ip_parse(peer->addresses.v[k], &ip))
					continue;
				slot = NCA_APPEND(step->pool, *ret);
				if (!slot)
					return -ENOMEM;
				*slot = ip;
			}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_ips);
	return 0;
}

/* Carries it RDMA: of NCCL's own transport, or of the plug-in that NCCL_NET names? */
static bool is_rail(const struct nca_step *step, const struct nca_node_state *node,
		    const struct nca_link_state *link)
{
	const struct nca_port_state *p;
	size_t i;

	for (i = 0; i < node->rails.n; i++)
		if (link->uses[node->rails.v[i] - node->ports.v])
			return true;
	if (!step->foreign)
		return false;
	NCA_FOREACH(p, node->ports)
		if (p->rule == NCA_RULE_PLUGIN_FABRIC && link->uses[p - node->ports.v])
			return true;
	return false;
}

/* A bond survives the loss of a port; IPoIB is slow and its fabric is for RDMA; a bridge without a
 * port to the outside is the node's own. */
static int kind_value(const struct nca_node *node, const struct nca_link *link)
{
	if (nca_same(link->kind, "infiniband") ||
	    (nca_same(link->kind, "bridge") && !nca_topo_physical(node, link)))
		return 0;
	return nca_same(link->kind, "bond") ? 2 : 1;
}

/* How the drivers of radios begin (drivers/net/wireless), for documents that do not say more. */
static const char *const radio_drivers[] = {"ath",  "b43",     "brcm", "iwl",	   "mt76",
					    "mt79", "mwifiex", "rtw",  "rtl8xxxu", "wil"};

static bool is_radio(const struct nca_link *link)
{
	size_t i;

	for (i = 0; link->wireless < 0 && link->driver && i < ARRAY_SIZE(radio_drivers); i++)
		if (nca_has_prefix(link->driver, radio_drivers[i]))
			return true;
	return link->wireless == 1;
}

/* A wire before a radio, which all its users share and which tells no speed, and that before what
 * only software has made. */
static int medium_value(const struct nca_node *node, const struct nca_link *link)
{
	if (!nca_topo_physical(node, link))
		return 0;
	return is_radio(link) ? 1 : 2;
}

/* What is not known of IPoIB, where all that is known of the node's other interfaces is slower than
 * any InfiniBand: 4x SDR, of which TCP has more than of 1 Gb/s. */
static void guess_ipoib(struct nca_node_state *node)
{
	struct nca_candidate *c;
	int fastest = -1;

	NCA_FOREACH(c, node->candidates)
		if (VALUE(c, NCA_RULE_SPEED) > fastest)
			fastest = VALUE(c, NCA_RULE_SPEED);
	NCA_FOREACH(c, node->candidates)
		if (VALUE(c, NCA_RULE_SPEED) < 0 && fastest > 0 && fastest < SDR_MBPS &&
		    nca_same(c->state->link->kind, "infiniband"))
			VALUE(c, NCA_RULE_SPEED) = SDR_MBPS;
}

static int master_value(const struct nca_node_state *node, const struct nca_candidate *c,
			const struct nca_ip *master, bool first)
{
	if (!master->family)
		return 0;
	return first ? !nca_ip_compare(&c->ip, master)
		     : nca_routes_via(node->routes, nca_candidate_device(c), master);
}

/* Which ports the link uses. */
static int find_uses(struct nca_step *step, const struct nca_node_state *node,
		     struct nca_link_state *link)
{
	bool lowest = nca_topo_lowest(node->node, link->link);
	size_t i;

	link->uses = nca_pool_alloc(step->pool, node->ports.n * sizeof(*link->uses));
	for (i = 0; link->uses && i < node->ports.n; i++)
		link->uses[i] = nca_topo_uses(node->node, link->link, lowest, node->ports.v[i].hca,
					      &node->ports.v[i].netdevs);
	return link->uses ? 0 : -ENOMEM;
}

int nca_network_values_node(struct nca_step *step, struct nca_node_state *node)
{
	struct nca_link_state *state;
	struct nca_candidate *c;
	int rc = 0;

	NCA_FOREACH(state, node->links)
		if (!rc && state->is_default)
			rc = find_uses(step, node, state);
	NCA_FOREACH(c, node->candidates) {
		const struct nca_link *link = c->state->link;

		if (!rc && !c->state->uses)
			rc = find_uses(step, node, c->state);
		VALUE(c, NCA_RULE_FAMILY) = c->ip.family == step->family;
		VALUE(c, NCA_RULE_PHYSICAL) = medium_value(node->node, link);
		VALUE(c, NCA_RULE_SPEED) = nca_topo_speed(node->node, link);
		VALUE(c, NCA_RULE_MTU) = link->mtu;
		VALUE(c, NCA_RULE_DEFAULT_ROUTE) =
			nca_routes_default(node->routes, link->name, c->ip.family);
		VALUE(c, NCA_RULE_KIND) = kind_value(node->node, link);
	}
	guess_ipoib(node);
	return rc;
}

static void fill(struct nca_step *step, const struct nca_node_state *node, struct nca_candidate *c,
		 const struct nca_ips *names, const struct nca_ip *master)
{
	VALUE(c, NCA_RULE_MASTER_ADDR) = master_value(node, c, master, node == step->nodes.v);
	VALUE(c, NCA_RULE_NODE_ADDRESS) =
		names->n && bsearch(&c->ip, names->v, names->n, sizeof(*names->v), compare_ips);
	/* What a tunnel takes off a standard frame says less than the nodes' names. */
	if (names->n && VALUE(c, NCA_RULE_MTU) > 0 && VALUE(c, NCA_RULE_MTU) < STANDARD_MTU)
		VALUE(c, NCA_RULE_MTU) = STANDARD_MTU;
	VALUE(c, NCA_RULE_NOT_RAIL) = !is_rail(step, node, c->state);
}

int nca_network_values(struct nca_step *step)
{
	const char *set = nca_step_set(step->nodes.v, "MASTER_ADDR");
	struct nca_ip master = {0};
	struct nca_ips names = {0};
	struct nca_node_state *node;
	struct nca_candidate *c;
	int rc = read_node_addresses(step, &names);

	if (set && nca_ip_parse(set, &master))
		master.family = 0;
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(c, node->candidates)
			if (!rc && nca_candidate_open(c))
				fill(step, node, c, &names, &master);
	return rc;
}

bool nca_link_is_before(const struct nca_link *a, const struct nca_link *b)
{
	return a->ifindex != b->ifindex ? a->ifindex < b->ifindex : strcmp(a->name, b->name) < 0;
}

const enum nca_rule *nca_network_order(const struct nca_step *step)
{
	return step->fast_sockets || streq(step->plan->net, "Socket") ? nca_rules_data
								      : nca_rules_control;
}

int nca_network_compare(const enum nca_rule *order, const int *a, const int *b, enum nca_rule *rule)
{
	for (; *order != NCA_RULE_NONE; order++) {
		int x = a[*order - NCA_RULE_FAMILY], y = b[*order - NCA_RULE_FAMILY];

		*rule = *order;
		if (x >= 0 && y >= 0 && x != y)
			return x > y ? 1 : -1;
	}
	*rule = NCA_RULE_FIRST;
	return 0;
}
