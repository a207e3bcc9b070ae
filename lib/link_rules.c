/* SPDX-License-Identifier: Apache-2.0 */
/* Which interfaces can be used at all, whatever the step, and over which address. */
#include <errno.h>

#include "step.h"

static bool has_flag(const struct nca_link *link, const char *flag)
{
	size_t i;

	for (i = 0; i < link->flags.n; i++)
		if (nca_same(link->flags.v[i], flag))
			return true;
	return false;
}

static bool is_loopback(const struct nca_link *link)
{
	return nca_same(link->kind, "loopback") || link->arphrd == 772 ||
	       has_flag(link, "LOOPBACK");
}

/* Where a report has no carrier, ifconfig's RUNNING and ip's LOWER_UP and state tell. */
static bool has_no_carrier(const struct nca_link *link)
{
	if (link->carrier >= 0)
		return link->carrier == 0;
	return nca_same(link->operstate, "down") || nca_same(link->operstate, "lowerlayerdown") ||
	       (link->flags.v && !has_flag(link, "RUNNING") && !has_flag(link, "LOWER_UP"));
}

bool nca_link_is_down(const struct nca_link *link)
{
	return has_no_carrier(link) || (link->flags.v && !has_flag(link, "UP"));
}

/* The addresses of a link for its decision row: " 10.0.0.1/24 fe80::1/64". */
static char *addresses_text(struct nca_step *step, const struct nca_link *link)
{
	const struct nca_addr *a;
	char *text = "", len[NCA_INT_TEXT];

	NCA_FOREACH(a, link->addresses)
		if (text && a - link->addresses.v < 3)
			text = nca_step_join(step, text, " ", a->addr, a->prefixlen >= 0 ? "/" : "",
					     a->prefixlen >= 0 ? nca_step_int(a->prefixlen, len)
							       : "");
	return text;
}

void nca_link_reject(struct nca_step *step, struct nca_link_state *state, enum nca_rule rule,
		     const char *why, const char *value)
{
	const char *addresses = addresses_text(step, state->link);

	if (addresses)
		nca_step_judge_link(
			step, state, rule,
			nca_step_join(step, state->link->name, addresses, ": ", why, value));
}

/* There is room for one per address. */
static void add_candidate(struct nca_node_state *node, struct nca_link_state *state,
			  const struct nca_ip *ip, int len, bool local)
{
	node->candidates.v[node->candidates.n++] = (struct nca_candidate){
		.state = state, .ip = *ip, .net = nca_ip_prefix(ip, len), .local = local};
}

/* Why an address leads to no other node; NONE: it may. */
static enum nca_rule judge_address(const struct nca_addr *a, const struct nca_ip *ip)
{
	if (nca_ip_is_loopback(ip) || nca_same(a->scope, "host"))
		return NCA_RULE_LOOPBACK_ADDRESS;
	if (nca_ip_is_link_local(ip) || nca_same(a->scope, "link"))
		return NCA_RULE_LINK_LOCAL;
	return NCA_RULE_NONE;
}

/* Leads a link-local address to another machine? One of IPv6 needs the name of a device too, and
 * that of a BMC ends in the machine. */
static bool is_wire(const struct nca_link *link, const struct nca_ip *ip)
{
	return ip->family == 4 && nca_ip_is_link_local(ip) && link->bmc_usb != 1;
}

/*
 * NCCL uses the first IPv4 address of an interface, or the first IPv6 address (getifaddrs() gives
 * global ones first, linux net/ipv6/addrconf.c, ipv6_link_dev_addr()); others cannot be chosen by
 * any variable.
 */
static void add_candidates(struct nca_step *step, struct nca_node_state *node,
			   struct nca_link_state *state)
{
	enum nca_rule why = NCA_RULE_NO_ADDRESS;
	const struct nca_addr *a;
	bool have4 = false, have6 = false, any = false;

	NCA_FOREACH(a, state->link->addresses) {
		enum nca_rule rule;
		struct nca_ip ip;
		bool *have;

		if (nca_ip_parse(a->addr, &ip) || nca_ip_is_zero(&ip))
			continue;
		have = ip.family == 4 ? &have4 : &have6;
		rule = judge_address(a, &ip);
		why = rule == NCA_RULE_NONE ? why : rule;
		any = any || (rule == NCA_RULE_NONE && !*have);
		if (!*have && (rule == NCA_RULE_NONE || is_wire(state->link, &ip)))
			add_candidate(node, state, &ip, a->prefixlen, rule != NCA_RULE_NONE);
		*have = *have || ip.family == 4 || !nca_ip_is_link_local(&ip);
	}
	if (any)
		return;
	nca_link_reject(step, state, why,
			why == NCA_RULE_NO_ADDRESS ? "no IP address"
			: why == NCA_RULE_LINK_LOCAL
				? "the address that NCCL would use is link-local and is not routed"
				: "the address that NCCL would use is the node's own",
			"");
}

static void judge_link(struct nca_step *step, struct nca_node_state *node,
		       struct nca_link_state *state)
{
	const struct nca_link *link = state->link;
	const char *master = nca_topo_master(node->node, link);

	if (is_loopback(link))
		nca_link_reject(step, state, NCA_RULE_LOOPBACK, "leads to no other node", "");
	else if (master)
		nca_link_reject(step, state, NCA_RULE_SLAVE, "belongs to ", master);
	else if (nca_link_is_down(link))
		nca_link_reject(step, state, NCA_RULE_NO_CARRIER,
				has_no_carrier(link) ? "no carrier" : "is not up", "");
	else
		add_candidates(step, node, state);
}

int nca_links_judge_node(struct nca_step *step, struct nca_node_state *node)
{
	struct nca_link_state *state;
	const struct nca_link *link;
	size_t addresses = 0;
	/* Routers announce IPv6 on rails too: it is the default where IPv4 has none. */
	int family = nca_routes_default(node->routes, NULL, 4) ? 4 : 6;

	NCA_FOREACH(link, node->node->interfaces)
		addresses += link->addresses.n;
	node->links.v =
		nca_pool_alloc(step->pool, node->node->interfaces.n * sizeof(*node->links.v));
	node->candidates.v = nca_pool_alloc(step->pool, addresses * sizeof(*node->candidates.v));
	if (!node->links.v || !node->candidates.v)
		return -ENOMEM;
	NCA_FOREACH(link, node->node->interfaces)
		node->links.v[node->links.n++] = (struct nca_link_state){
			.link = link,
			.is_default = nca_routes_default(node->routes, link->name, family)};
	NCA_FOREACH(state, node->links)
		judge_link(step, node, state);
	return 0;
}

static void judge_bans(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_link_state *state;
	const struct nca_ban *ban;

	if (!step->bans)
		return;
	NCA_FOREACH(ban, *step->bans)
		NCA_FOREACH(node, step->nodes)
			NCA_FOREACH(state, node->links)
				if (nca_same(ban->node, node->node->name) &&
				    nca_same(ban->subject, state->link->name))
					nca_link_reject(step, state, NCA_RULE_CONNECT_FAILED,
							"a connection over it failed: ",
							ban->why ? ban->why : "no reason given");
}

int nca_links_judge(struct nca_step *step)
{
	struct nca_node_state *node;
	int rc = nca_links_judge_duplicates(step);

	judge_bans(step);
	NCA_FOREACH(node, step->nodes) {
		nca_link_judge_user(step, node);
		if (!node->user_ifname)
			nca_pins_judge_links(step, node);
	}
	return rc;
}
