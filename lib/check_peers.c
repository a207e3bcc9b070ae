/* SPDX-License-Identifier: Apache-2.0 */
/* Do the names of the nodes lead to them? Where no interface of a node holds what its name resolves
 * to, somebody translates addresses. */
#include "step.h"

static const char *unheld_address(const struct nca_node *node, const struct nca_peer *peer)
{
	const char *unheld = NULL;
	struct nca_ip ip;
	size_t i;

	for (i = 0; i < peer->addresses.n; i++) {
		if (nca_ip_parse(peer->addresses.v[i], &ip) || nca_ip_is_loopback(&ip))
			continue;
		if (nca_node_holder(node, &ip))
			return NULL;
		unheld = peer->addresses.v[i];
	}
	return unheld;
}

/* Is nothing more known of the way than that some router might know it? */
static bool is_guess(const struct nca_node_state *from, const struct nca_node_state *to)
{
	if (!from->chosen || !to->chosen)
		return false;
	return to->node->in_container == 1 ||
	       (from->routes->known && nca_routes_longest(from->routes, &to->chosen->ip) == 0);
}

static void check_peer(struct nca_step *step, const struct nca_node_state *node,
		       const struct nca_node_state *other, const struct nca_peer *peer)
{
	const char *unheld = unheld_address(other->node, peer);
	char ip[NCA_ADDR_TEXT];

	if (!unheld || !is_guess(node, other))
		return;
	nca_step_unsure(
		step, "name-elsewhere", other->node->name,
		nca_step_text(step,
			      "%s resolves to %s, which none of its interfaces holds: its "
			      "addresses are translated (NAT), and NCCL announces its own, %s, "
			      "which the others may not reach. A connection settles it; the host's "
			      "network does (--network=host, mirrored mode of WSL), or "
			      "NCCL_SOCKET_IFNAME names an interface that joins the nodes",
			      other->node->name, unheld, nca_ip_text(&other->chosen->ip, ip)));
}

static void check_list(struct nca_step *step, const struct nca_node_state *node,
		       const struct nca_node_state *others, size_t n)
{
	const struct nca_peer *peer;
	size_t i, at = 0;

	/* Both lists are mostly in one order. */
	NCA_FOREACH(peer, node->node->peers)
		for (i = 0; i < n; i++, at = (at + 1) % n)
			if (others[at].node != node->node &&
			    streq(others[at].node->name, peer->name)) {
				check_peer(step, node, &others[at], peer);
				break;
			}
}

void nca_peers_check(struct nca_step *step)
{
	const struct nca_node_state *all = step->nodes.v;

	/* The second node knows the first's address. */
	check_list(step, all, all, step->nodes.n);
	if (step->nodes.n > 1)
		check_list(step, &all[1], all, 1);
}
