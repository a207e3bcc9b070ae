/* SPDX-License-Identifier: Apache-2.0 */
/* Which interfaces can be used at all, whatever the step, and over which address. */
#include <errno.h>

#include <nca/names.h>

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

/* Down as far as it is known: an unknown carrier is not down. */
static bool is_down(const struct nca_link *link)
{
	return link->carrier == 0 || (link->flags.v && !has_flag(link, "UP"));
}

/* The addresses of a link for its decision row: " 10.0.0.1/24 fe80::1/64". */
static char *addresses_text(struct nca_step *step, const struct nca_link *link)
{
	const struct nca_addr *a;
	char *text = "";

	NCA_FOREACH(a, link->addresses)
		if (text && a - link->addresses.v < 3)
			text = a->prefixlen >= 0 ? nca_step_text(step, "%s %s/%d", text, a->addr,
								 a->prefixlen)
						 : nca_step_text(step, "%s %s", text, a->addr);
	return text;
}

static void reject(struct nca_step *step, struct nca_link_state *state, enum nca_rule rule,
		   const char *why, const char *value)
{
	nca_step_judge_link(step, state, rule,
			    nca_step_text(step, "%s%s: %s%s", state->link->name,
					  addresses_text(step, state->link), why, value));
}

static int add_candidate(struct nca_step *step, struct nca_node_state *node,
			 struct nca_link_state *state, const struct nca_ip *ip, int len)
{
	struct nca_candidate *c = NCA_APPEND(step->pool, node->candidates);

	if (!c)
		return -ENOMEM;
	c->state = state;
	c->ip = *ip;
	c->net = nca_ip_prefix(ip, len);
	return 0;
}

/*
 * NCCL uses the first IPv4 address of an interface, or the first IPv6 address (getifaddrs() gives
 * global ones first, linux net/ipv6/addrconf.c, ipv6_link_dev_addr()); others cannot be chosen by
 * any variable.
 */
static int add_candidates(struct nca_step *step, struct nca_node_state *node,
			  struct nca_link_state *state)
{
	enum nca_rule why = NCA_RULE_NO_ADDRESS;
	const struct nca_addr *a;
	bool have4 = false, have6 = false;
	int rc = 0;

	NCA_FOREACH(a, state->link->addresses) {
		struct nca_ip ip;
		bool *have;

		if (nca_ip_parse(a->addr, &ip) || nca_ip_is_zero(&ip))
			continue;
		have = ip.family == 4 ? &have4 : &have6;
		if (nca_ip_is_loopback(&ip) || nca_same(a->scope, "host"))
			why = NCA_RULE_LOOPBACK_ADDRESS;
		else if (nca_ip_is_link_local(&ip) || nca_same(a->scope, "link"))
			why = NCA_RULE_LINK_LOCAL;
		else if (!*have)
			rc = rc ? rc : add_candidate(step, node, state, &ip, a->prefixlen);
		*have = *have || ip.family == 4 || !nca_ip_is_link_local(&ip);
	}
	if (node->candidates.n && node->candidates.v[node->candidates.n - 1].state == state)
		return rc;
	reject(step, state, why,
	       why == NCA_RULE_NO_ADDRESS ? "no IP address"
	       : why == NCA_RULE_LINK_LOCAL
		       ? "the address that NCCL would use is link-local and is not routed"
		       : "the address that NCCL would use is the node's own",
	       "");
	return rc;
}

static int judge_link(struct nca_step *step, struct nca_node_state *node,
		      struct nca_link_state *state)
{
	const struct nca_link *link = state->link;
	const char *master = nca_topo_master(node->node, link);

	if (is_loopback(link))
		reject(step, state, NCA_RULE_LOOPBACK, "leads to no other node", "");
	else if (master)
		reject(step, state, NCA_RULE_SLAVE, "belongs to ", master);
	else if (is_down(link))
		reject(step, state, NCA_RULE_NO_CARRIER,
		       link->carrier == 0 ? "no carrier" : "is not up", "");
	else
		return add_candidates(step, node, state);
	return 0;
}

static int judge_node(struct nca_step *step, struct nca_node_state *node)
{
	const struct nca_link *link;
	struct nca_link_state *state;
	int rc = 0;

	node->links.v =
		nca_pool_alloc(step->pool, node->node->interfaces.n * sizeof(*node->links.v));
	if (!node->links.v)
		return -ENOMEM;
	NCA_FOREACH(link, node->node->interfaces)
		node->links.v[node->links.n++] = (struct nca_link_state){.link = link};
	NCA_FOREACH(state, node->links)
		rc = rc ? rc : judge_link(step, node, state);
	return rc;
}

struct owner {
	struct nca_candidate *candidate;
	const struct nca_node_state *node;
};

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	int c = nca_ip_compare(&x->candidate->ip, &y->candidate->ip);

	if (c)
		return c;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void reject_duplicate(struct nca_step *step, const struct owner *o,
			     const struct owner *other)
{
	o->candidate->duplicate = true;
	reject(step, o->candidate->state, NCA_RULE_DUPLICATE_ADDRESS, "the same address is on ",
	       other->node->node->name);
}

/* Finds addresses that two nodes have, by sorting all. */
static int judge_duplicates(struct nca_step *step)
{
	struct nca_node_state *node;
	struct nca_candidate *c;
	struct owner *all;
	size_t n = 0, i;

	NCA_FOREACH(node, step->nodes)
		n += node->candidates.n;
	all = nca_pool_alloc(step->pool, n * sizeof(*all));
	if (!all)
		return -ENOMEM;
	n = 0;
	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(c, node->candidates)
			all[n++] = (struct owner){c, node};
	qsort(all, n, sizeof(*all), compare_owners);
	for (i = 1; i < n; i++)
		if (!nca_ip_compare(&all[i - 1].candidate->ip, &all[i].candidate->ip) &&
		    all[i - 1].node != all[i].node) {
			reject_duplicate(step, &all[i - 1], &all[i]);
			reject_duplicate(step, &all[i], &all[i - 1]);
		}
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
				    nca_same(ban->ifname, state->link->name))
					reject(step, state, NCA_RULE_CONNECT_FAILED,
					       "a connection over it failed: ",
					       ban->why ? ban->why : "no reason given");
}

/* The interface that NCCL takes by a list: the first by ifindex that is up and has an address. */
static struct nca_link_state *first_match(const struct nca_node_state *node, const char *list)
{
	struct nca_link_state *state, *first = NULL;

	NCA_FOREACH(state, node->links)
		if (nca_names_match(list, state->link->name, -1) && !is_down(state->link) &&
		    state->link->addresses.n &&
		    (!first || state->link->ifindex < first->link->ifindex))
			first = state;
	return first;
}

static void warn_useless(struct nca_step *step, struct nca_node_state *node, const char *list,
			 const struct nca_link_state *first)
{
	const char *variable = "NCCL_SOCKET_IFNAME";

	if (first)
		nca_step_warn(step, "env-bad-interface", variable, node->node->name,
			      nca_step_text(step,
					    "%s=%s (set by %s) makes NCCL take %s; it cannot work "
					    "between nodes and is replaced. Unset it",
					    variable, list, nca_step_setter(node), first->text));
	else
		nca_step_warn(step, "env-no-interface", variable, node->node->name,
			      nca_step_text(step,
					    "%s=%s (set by %s) matches no interface of the node "
					    "that is up and has an address; it is replaced. Unset "
					    "it, or name one that exists in the task's network "
					    "namespace",
					    variable, list, nca_step_setter(node)));
}

/* A list of beginnings of names can take more than it seems to, and NET/Socket uses all that match
 * (src/transport/net_socket.cc). */
static void warn_more(struct nca_step *step, const struct nca_node_state *node, const char *list,
		      const struct nca_link_state *first)
{
	const struct nca_link_state *state;

	NCA_FOREACH(state, node->links)
		if (state != first && !nca_names_exact(list) && !is_down(state->link) &&
		    state->link->addresses.n && nca_names_match(list, state->link->name, -1)) {
			nca_step_warn(
				step, "env-prefix", "NCCL_SOCKET_IFNAME", node->node->name,
				nca_step_text(step,
					      "NCCL_SOCKET_IFNAME=%s (set by %s) takes %s and "
					      "%s too: without \"=\" it holds beginnings of "
					      "names. Write =%s",
					      list, nca_step_setter(node), first->link->name,
					      state->link->name, first->link->name));
			return;
		}
}

/* What somebody set is kept if it can work: then nothing but its first match is left. */
static void judge_user(struct nca_step *step, struct nca_node_state *node)
{
	const char *list = nca_step_set(node, "NCCL_SOCKET_IFNAME");
	struct nca_link_state *first, *state;

	if (!list || strlen(list) <= 1)
		return;
	first = first_match(node, list);
	if (!first || first->rule != NCA_RULE_NONE) {
		warn_useless(step, node, list, first);
		return;
	}
	node->user_ifname = true;
	warn_more(step, node, list, first);
	NCA_FOREACH(state, node->links)
		if (state != first)
			reject(step, state, NCA_RULE_USER_INTERFACE,
			       "NCCL_SOCKET_IFNAME is set to ", list);
}

int nca_links_judge(struct nca_step *step)
{
	struct nca_node_state *node;
	int rc = 0;

	NCA_FOREACH(node, step->nodes)
		rc = rc ? rc : judge_node(step, node);
	rc = rc ? rc : judge_duplicates(step);
	judge_bans(step);
	NCA_FOREACH(node, step->nodes)
		judge_user(step, node);
	return rc;
}
