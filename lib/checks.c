/* SPDX-License-Identifier: Apache-2.0 */
/* What would make the agreed network or the agreed rails fail or crawl. */
#include <nca/firewall.h>

#include "rail_keys.h"

/* A recorded step failed with 8 MiB, systemd's default; NCCL registers tens of MiB. */
#define MEMLOCK_FAILS_KB 8192
#define MEMLOCK_LOW_KB 65536

static void check_memlock(struct nca_step *step, const struct nca_node_state *node)
{
	int kb = node->node->memlock_kb;

	if (!node->rails.n || kb < 0 || kb >= MEMLOCK_LOW_KB)
		return;
	nca_step_warn(step, "memlock-low", "", node->node->name,
		      nca_step_text(step,
				    "memlock: the task may lock %d kB of memory, RDMA needs far "
				    "more. Set LimitMEMLOCK=infinity for slurmd and "
				    "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf",
				    kb));
	if (kb <= MEMLOCK_FAILS_KB)
		nca_step_verdict(step, "refuse");
}

/* NCCL, Gloo and NET/Socket listen on ports that the kernel gives them; there is no port range
 * variable. */
static void check_firewall(struct nca_step *step, const struct nca_node_state *node)
{
	const nca_ints *range = &node->node->ip_local_port_range;
	int port, first = range->n == 2 ? range->v[0] : 32768;
	int last = range->n == 2 ? range->v[1] : 60999;
	char *text;

	if (!node->node->firewall)
		return;
	for (port = first; port <= last && port <= 65535; port++)
		if (!nca_firewall_accepts(node->node, port))
			break;
	if (port > last || port > 65535)
		return;
	text = nca_step_text(step,
			     "the firewall drops connections to port %d: NCCL listens on ports "
			     "from %d to %d%s. Open these between compute nodes",
			     port, first, last,
			     range->n == 2 ? "" : ", unless net.ipv4.ip_local_port_range is other");
	if (range->n != 2) {
		nca_step_unsure(step, "firewall-closed", node->node->name, text);
		return;
	}
	nca_step_warn(step, "firewall-closed", "", node->node->name, text);
	nca_step_verdict(step, "refuse");
}

/* Two ports of one node in one subnet: the kernel may send over the other one (NVIDIA/nccl#1269).
 */
static void check_shared_prefix(struct nca_step *step, const struct nca_node_state *node,
				const struct nca_node_state *next)
{
	const char *dev, *name;
	char text[NCA_ADDR_TEXT];

	if (!node->chosen || !next->chosen || node == next)
		return;
	name = node->chosen->state->link->name;
	dev = nca_routes_device(node->routes, &next->chosen->ip);
	if (!dev || streq(dev, name) || !nca_routes_via(node->routes, name, &next->chosen->ip))
		return;
	nca_step_warn(step, "shared-prefix", "", node->node->name,
		      nca_step_text(step,
				    "%s and %s hold the same prefix %s/%d, and the kernel sends "
				    "over %s. Use one subnet per port, or give %s the higher route "
				    "metric",
				    name, dev, nca_ip_text(&node->chosen->net.ip, text),
				    node->chosen->net.len, dev, dev));
}

/* The candidate of next that is in the network of c and that the kernel reaches over the chosen
 * interface; NULL: none. */
static const struct nca_candidate *hidden_peer(const struct nca_node_state *node,
					       const struct nca_candidate *c,
					       const struct nca_node_state *next)
{
	const char *name = node->chosen->state->link->name;
	const struct nca_candidate *d;

	NCA_FOREACH(d, next->candidates)
		if (nca_prefix_same(&c->net, &d->net) &&
		    nca_same(nca_routes_device(node->routes, &d->ip), name))
			return d;
	return NULL;
}

/* A faster port that the kernel does not use, because a longer prefix of the chosen one lies in its
 * own. */
static void check_hidden(struct nca_step *step, const struct nca_node_state *node,
			 const struct nca_node_state *next)
{
	const struct nca_candidate *c, *d = NULL;
	int speed = node->chosen ? nca_topo_speed(node->node, node->chosen->state->link) : -1;
	char ip[NCA_ADDR_TEXT];
	const char *name;

	if (speed <= 0 || node == next || !streq(step->plan->net, "Socket"))
		return;
	NCA_FOREACH(c, node->candidates)
		if (c->state->rule == NCA_RULE_UNREACHABLE &&
		    nca_topo_speed(node->node, c->state->link) > speed &&
		    (d = hidden_peer(node, c, next)))
			break;
	if (!d)
		return;
	name = node->chosen->state->link->name;
	nca_step_warn(step, "shared-prefix", "hidden", node->node->name,
		      nca_step_text(step,
				    "%s is faster than %s, but the kernel sends to %s's %s, which "
				    "is in the prefix of both, over %s. Use one subnet per port",
				    c->state->link->name, name, next->node->name,
				    nca_ip_text(&d->ip, ip), name));
}

/* What the user chose may be another network on another node. */
static const char *route_cure(struct nca_step *step, const struct nca_node_state *node)
{
	if (!node->user_hcas)
		return "Add one, or put the rail into one subnet";
	return nca_step_text(step,
			     "NCCL_IB_HCA=%s (set by %s) takes it: unset that, or add a route",
			     nca_step_set(node, "NCCL_IB_HCA"), nca_step_setter(node));
}

static bool is_unrouted(const struct nca_step *step, const struct nca_node_state *node,
			const struct nca_node_state *next, size_t i)
{
	const struct nca_prefix *from = nca_rail_network(step, node->rails.v[i]);
	const struct nca_prefix *to = nca_rail_network(step, next->rails.v[i]);

	return from && to && !nca_prefix_same(from, to) &&
	       !nca_rail_reaches(step, node, node->rails.v[i], &to->ip);
}

/* Names the first rail without a route, and counts the rest. */
static void check_rail_routes(struct nca_step *step, const struct nca_node_state *node,
			      const struct nca_node_state *next)
{
	size_t i, first = node->rails.n, n = 0;
	const struct nca_prefix *from, *to;
	char a[NCA_ADDR_TEXT], b[NCA_ADDR_TEXT];
	const char *ndev;

	if (step->env.mesh_len || node == next)
		return;
	for (i = node->rails.n; i-- > 0;)
		if (is_unrouted(step, node, next, i)) {
			first = i;
			n++;
		}
	if (!n)
		return;
	from = nca_rail_network(step, node->rails.v[first]);
	to = nca_rail_network(step, next->rails.v[first]);
	ndev = nca_rail_gid(step, node->rails.v[first])->ndev;
	nca_step_warn(
		step, "rail-unrouted", step->nodes.v->rails.v[first]->hca->name, node->node->name,
		nca_step_text(step,
			      "%s (%s, subnet %s/%d) has no route over %s to the same rail of "
			      "%s (subnet %s/%d)%s. %s",
			      node->rails.v[first]->hca->name, ndev, nca_ip_text(&from->ip, a),
			      from->len, ndev, next->node->name, nca_ip_text(&to->ip, b), to->len,
			      n > 1 ? nca_step_text(step, "; so it is with %zu more", n - 1) : "",
			      route_cure(step, node)));
}

/* Does the interface answer ARP requests for addresses of the node's other interfaces? Only if it
 * is known that it does. */
static bool answers_for_all(struct nca_step *step, const struct nca_node *node, const char *ndev)
{
	const char *all = nca_pairs_get(node->sysctl, "arp_ignore");
	const char *key = nca_step_text(step, "arp_ignore/%s", ndev);

	return all && streq(all, "0") && key && !nca_pairs_get(node->sysctl, key);
}

/* Two RoCE ports in one subnet: RDMA to the address of one that is sent to the MAC of the other is
 * dropped, where sockets would be served (linux Documentation/networking/ip-sysctl.rst). */
static void check_arp(struct nca_step *step, const struct nca_node_state *node)
{
	size_t i, k;

	for (i = 0; i < node->rails.n; i++)
		for (k = 0; k < i; k++) {
			const struct nca_prefix *net = nca_rail_network(step, node->rails.v[i]);
			const struct nca_prefix *other = nca_rail_network(step, node->rails.v[k]);
			const struct nca_gid *a = nca_rail_gid(step, node->rails.v[k]);
			const struct nca_gid *b = nca_rail_gid(step, node->rails.v[i]);
			char text[NCA_ADDR_TEXT];

			if (!a || !b || !net || !other || net->ip.family != 4 ||
			    !nca_prefix_same(net, other) || nca_same(a->ndev, b->ndev) ||
			    !answers_for_all(step, node->node, a->ndev) ||
			    !answers_for_all(step, node->node, b->ndev))
				continue;
			nca_step_warn(step, "arp-flux", "", node->node->name,
				      nca_step_text(step,
						    "%s and %s are in one subnet %s/%d with "
						    "arp_ignore=0: either answers for the other's "
						    "address, and RDMA that comes to the wrong "
						    "port is dropped. Set "
						    "net.ipv4.conf.all.arp_ignore=1 and "
						    "arp_announce=2, or use one subnet per port",
						    a->ndev, b->ndev, nca_ip_text(&net->ip, text),
						    net->len));
			return;
		}
}

/* Does NCCL order two rails of the node as it does those of the first one? */
static bool is_like_first(const struct nca_step *step, const struct nca_node_state *node, size_t a,
			  size_t b)
{
	struct nca_port_state **v = node->rails.v, **first = step->nodes.v->rails.v;

	return (nca_rail_compare(&v[a], &v[b]) > 0) == (nca_rail_compare(&first[a], &first[b]) > 0);
}

static void warn_order(struct nca_step *step, const struct nca_node_state *node, size_t a, size_t b)
{
	nca_step_warn(step, "rail-order", "", node->node->name,
		      nca_step_text(step,
				    "rail %zu is %s and rail %zu is %s, NCCL orders them the other "
				    "way round than on %s: place for place it pairs different "
				    "rails. Cable the node like %s",
				    a, node->rails.v[a]->hca->name, b, node->rails.v[b]->hca->name,
				    step->nodes.v->node->name, step->nodes.v->node->name));
}

/* NCCL pairs HCAs by their place in its own order, whatever the list says. */
static void check_order(struct nca_step *step, const struct nca_node_state *node)
{
	size_t a, b;

	for (b = 1; b < node->rails.n; b++)
		for (a = 0; a < b; a++)
			if (!is_like_first(step, node, a, b)) {
				warn_order(step, node, a, b);
				return;
			}
}

void nca_checks_run(struct nca_step *step)
{
	size_t i;

	nca_ends_check(step);
	nca_peers_check(step);
	for (i = 0; i < step->nodes.n; i++) {
		const struct nca_node_state *node = &step->nodes.v[i];
		const struct nca_node_state *next = &step->nodes.v[(i + 1) % step->nodes.n];

		check_memlock(step, node);
		check_firewall(step, node);
		check_shared_prefix(step, node, next);
		check_hidden(step, node, next);
		check_order(step, node);
		check_arp(step, node);
		check_rail_routes(step, node, next);
	}
}
