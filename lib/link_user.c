/* SPDX-License-Identifier: Apache-2.0 */
/* An interface that somebody has set: what NCCL takes by the list, and whether it can work. */
#include <nca/names.h>

#include "network.h"

/* Would NCCL take the interface by the list? */
static bool is_taken(const struct nca_link_state *state, const char *list)
{
	return !nca_link_is_down(state->link) && state->link->addresses.n &&
	       nca_names_match(list, state->link->name, -1);
}

/* The interface that NCCL takes by a list: the first by ifindex that is up and has an address. */
static struct nca_link_state *first_match(const struct nca_node_state *node, const char *list)
{
	struct nca_link_state *state, *first = NULL;

	NCA_FOREACH(state, node->links)
		if (is_taken(state, list) &&
		    (!first || state->link->ifindex < first->link->ifindex))
			first = state;
	return first;
}

/* Is the name in full an entry of the list? */
static bool has_entry(const char *list, const char *name)
{
	const char *entry = NULL;
	size_t n;

	while ((entry = nca_names_next(list, entry, &n)))
		if (strlen(name) == n && !strncmp(entry, name, n))
			return true;
	return false;
}

/* The link of which the list has an alternative name: getifaddrs(), and so NCCL, has none. */
static const struct nca_link *by_altname(const struct nca_node_state *node, const char *list)
{
	const struct nca_link *link;
	size_t i;

	NCA_FOREACH(link, node->node->interfaces)
		for (i = 0; i < link->altnames.n; i++)
			if (has_entry(list, link->altnames.v[i]))
				return link;
	return NULL;
}

/* Why a list matches nothing, as far as it is known, and what to do. */
static const char *no_match(struct nca_step *step, const struct nca_node_state *node,
			    const char *list)
{
	const struct nca_link *link = by_altname(node, list);
	const char *fault = nca_names_fault(list);

	if (fault)
		return nca_step_text(step, ": %s", fault);
	if (link)
		return nca_step_text(step,
				     ": NCCL does not know alternative names, as this of %s. Write "
				     "=%s",
				     link->name, link->name);
	return ". Unset it, or name one that exists in the task's network namespace";
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
					    "that is up and has an address; it is replaced%s",
					    variable, list, nca_step_setter(node),
					    no_match(step, node, list)));
}

static bool is_shared(const struct nca_node_state *node, const struct nca_link_state *a,
		      const struct nca_link_state *b)
{
	const struct nca_candidate *c, *d;

	NCA_FOREACH(c, node->candidates)
		NCA_FOREACH(d, node->candidates)
			if (c->state == a && d->state == b && nca_prefix_same(&c->net, &d->net))
				return true;
	return false;
}

/* Several that are meant: good, unless one of them cannot work, or the kernel sends to the networks
 * of all over one of them (NVIDIA/nccl#601, #1269). */
static void warn_named(struct nca_step *step, const struct nca_node_state *node, const char *list,
		       const struct nca_link_state *first, const struct nca_link_state *other)
{
	if (other->rule != NCA_RULE_NONE)
		nca_step_warn(step, "env-bad-interface", "NCCL_SOCKET_IFNAME", node->node->name,
			      nca_step_text(step,
					    "NCCL_SOCKET_IFNAME=%s (set by %s) names %s, which "
					    "cannot work between nodes (%s), and NCCL uses all "
					    "that it names. Write =%s",
					    list, nca_step_setter(node), other->link->name,
					    other->text, first->link->name));
	else if (is_shared(node, first, other))
		nca_step_warn(
			step, "shared-prefix", "NCCL_SOCKET_IFNAME", node->node->name,
			nca_step_text(step,
				      "NCCL_SOCKET_IFNAME=%s (set by %s) names %s and %s, which "
				      "hold the same prefix: the kernel sends over one of them. "
				      "Use one subnet per port, or write =%s",
				      list, nca_step_setter(node), first->link->name,
				      other->link->name, first->link->name));
}

/* What speaks most against a list: it takes what nobody means, or what cannot work. */
static int trouble(const struct nca_link_state *state, const char *list)
{
	if (!has_entry(list, state->link->name))
		return 2;
	return state->rule != NCA_RULE_NONE;
}

/*
 * A list can take more than it seems to, and NET/Socket uses all that match
 * (src/transport/net_socket.cc). What an entry names in full is meant.
 */
static void warn_more(struct nca_step *step, const struct nca_node_state *node, const char *list,
		      const struct nca_link_state *first)
{
	const struct nca_link_state *state, *other = NULL, *named = NULL;
	bool excludes = list[0] == '^';

	NCA_FOREACH(state, node->links) {
		if (!is_taken(state, list))
			continue;
		if (!excludes && has_entry(list, state->link->name))
			named = named ? named : state;
		if (state != first && (!other || trouble(state, list) > trouble(other, list)))
			other = state;
	}
	if (!other)
		return;
	if (!excludes && has_entry(list, first->link->name) && has_entry(list, other->link->name)) {
		warn_named(step, node, list, first, other);
		return;
	}
	nca_step_warn(step, "env-prefix", "NCCL_SOCKET_IFNAME", node->node->name,
		      nca_step_text(step, "NCCL_SOCKET_IFNAME=%s (set by %s) %s %s and %s%s=%s",
				    list, nca_step_setter(node), excludes ? "leaves" : "takes",
				    first->link->name, other->link->name,
				    excludes ? ", and NCCL uses all that is left. Write "
					     : " too: without \"=\" it holds beginnings of names. "
					       "Write ",
				    named ? list : first->link->name));
}

/* An address or a subnet stands for the interface that is in it: NCCL wants the name. */
static struct nca_link_state *meant(struct nca_node_state *node, const char *list)
{
	struct nca_candidate *c;
	struct nca_prefix net;

	if (nca_prefix_parse(list, strchr(list, ':') ? 6 : 4, &net))
		return NULL;
	NCA_FOREACH(c, node->candidates)
		if (c->state->rule == NCA_RULE_NONE &&
		    (nca_prefix_has(&net, &c->ip) || nca_prefix_has(&c->net, &net.ip)))
			return c->state;
	return NULL;
}

/* Somebody names an interface that has link-local addresses: two machines on one cable. */
static void open_local(struct nca_node_state *node, struct nca_link_state *state)
{
	struct nca_candidate *c;

	if (!state || state->rule != NCA_RULE_LINK_LOCAL)
		return;
	NCA_FOREACH(c, node->candidates)
		if (c->state == state && c->local && !c->duplicate)
			nca_candidate_open_local(c);
}

void nca_link_judge_user(struct nca_step *step, struct nca_node_state *node)
{
	const char *list = nca_step_set(node, "NCCL_SOCKET_IFNAME");
	struct nca_link_state *first, *state;

	if (!list || strlen(list) <= 1)
		return;
	first = first_match(node, list);
	open_local(node, first);
	node->user_ifname = first && first->rule == NCA_RULE_NONE;
	if (!first) {
		first = meant(node, list);
		node->user_address = first != NULL;
	}
	if (!node->user_ifname && !node->user_address) {
		warn_useless(step, node, list, first);
		return;
	}
	if (node->user_address && nca_step_is_user(node))
		nca_step_warn(
			step, "env-no-interface", "NCCL_SOCKET_IFNAME", node->node->name,
			nca_step_text(step,
				      "NCCL_SOCKET_IFNAME=%s (set by the user) is an address, "
				      "and NCCL wants the name of an interface: %s is meant. "
				      "Write =%s",
				      list, first->link->name, first->link->name));
	if (node->user_ifname)
		warn_more(step, node, list, first);
	NCA_FOREACH(state, node->links)
		if (state != first)
			nca_link_reject(step, state, NCA_RULE_USER_INTERFACE,
					"NCCL_SOCKET_IFNAME is set to ", list);
}
