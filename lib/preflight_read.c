/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of a preflight as tests with a verdict each. */
#include <errno.h>
#include <strings.h>

#include "preflight.h"

/* Where a node's answers about its tests stand. */
struct place {
	int *index;			      /* of nca_link_up.partners, by rail and round; -1 */
	const struct nca_pinged_one **pinged; /* by index: NULL: as it should be */
	size_t n;
};

/* Are there tests of a rail that pass though another MAC answers? */
enum strangers { NOT_LOOKED, NONE, SOME };

struct reader {
	struct nca_judge *j;
	struct place *places;	   /* by node */
	enum strangers *strangers; /* by rail */
};

/* The same order as nca_trial_link(). */
static int read_place(const struct reader *r, size_t node)
{
	const struct nca_trial *t = r->j->t;
	struct place *p = &r->places[node];
	const struct nca_pinged_one *one;
	size_t rail, round, all = t->rails * t->rounds;

	p->index = nca_pool_alloc(r->j->pool, all * sizeof(*p->index));
	p->pinged = nca_pool_alloc(r->j->pool, all * sizeof(*p->pinged));
	if (!p->index || !p->pinged)
		return -ENOMEM;
	for (rail = 0; rail < t->rails; rail++)
		for (round = 0; round < t->rounds; round++) {
			size_t peer = nca_schedule_partner(t->nodes, rail, round, node);
			bool is = peer != NCA_NOBODY && nca_trial_is_open(t, node, rail) &&
				  nca_trial_is_open(t, peer, rail);

			p->index[rail * t->rounds + round] = is ? (int)p->n++ : -1;
		}
	if (t->pinged[node])
		NCA_FOREACH(one, t->pinged[node]->partners)
			if ((size_t)one->partner < p->n)
				p->pinged[one->partner] = one;
	return 0;
}

/* The answer to LINK; NULL: none. */
static const struct nca_linked_one *linked(const struct reader *r, size_t node, int index)
{
	const struct nca_linked *l = r->j->t->linked[node];

	return l && index >= 0 && (size_t)index < l->partners.n ? &l->partners.v[index] : NULL;
}

static int error_of(const struct nca_linked_one *l)
{
	return l->error > 0 ? l->error : 0;
}

/* The addresses of the netdev that a port's GID belongs to. */
static const struct nca_link *netdev_of(const struct nca_trial *t, size_t node, size_t rail)
{
	const struct nca_plan_hca *at = &t->plan->nodes.v[node].hcas.v[rail];
	const struct nca_node *from = &t->job->nodes.v[node];
	const struct nca_hca *hca = nca_node_hca(from, at->name);
	const struct nca_port *port;
	const struct nca_gid *gid;

	if (!hca)
		return NULL;
	NCA_FOREACH(port, hca->ports)
		NCA_FOREACH(gid, port->gids)
			if (port->port == at->port && gid->index == at->gid_index)
				return nca_node_link(from, gid->ndev);
	return NULL;
}

/* Behind a router the neighbour is the router. */
static bool is_on_link(const struct nca_trial *t, size_t node, size_t rail,
		       const struct nca_end *peer)
{
	const struct nca_link *link = netdev_of(t, node, rail);
	const struct nca_addr *a;
	struct nca_ip ip, own;

	if (!link || !peer->gid || nca_ip_parse_gid(peer->gid, &ip))
		return false;
	NCA_FOREACH(a, link->addresses) {
		struct nca_prefix net;

		if (nca_ip_parse(a->addr, &own))
			continue;
		net = nca_ip_prefix(&own, a->prefixlen);
		if (nca_prefix_has(&net, &ip))
			return true;
	}
	return false;
}

static int has_its_mac(const struct nca_trial *t, size_t node, size_t peer, size_t rail,
		       const struct nca_linked_one *l)
{
	const struct nca_end *end = nca_trial_end(t, peer, rail);

	if (!l->mac || !end->mac || !is_on_link(t, node, rail, end))
		return -1;
	return strcasecmp(l->mac, end->mac) == 0;
}

/* Does a test pass that has another MAC than the peer's? Then such MACs are a way of this network
 * (a proxy, a bond that balances), and no sign. */
static enum strangers look_for_strangers(const struct reader *r, size_t rail)
{
	const struct nca_trial *t = r->j->t;
	size_t node, round;

	for (node = 0; node < t->nodes; node++)
		for (round = 0; round < t->rounds && t->pinged[node]; round++) {
			size_t peer = nca_schedule_partner(t->nodes, rail, round, node);
			int index = r->places[node].index[rail * t->rounds + round];
			const struct nca_linked_one *l = linked(r, node, index);

			if (l && !error_of(l) && !r->places[node].pinged[index] &&
			    has_its_mac(t, node, peer, rail, l) == 0)
				return SOME;
		}
	return NONE;
}

/* Of a test that failed. */
static int mac_is_peers(const struct reader *r, size_t node, size_t peer, size_t rail,
			const struct nca_linked_one *l)
{
	int is = has_its_mac(r->j->t, node, peer, rail, l);

	if (is == 0 && r->strangers[rail] == NOT_LOOKED)
		r->strangers[rail] = look_for_strangers(r, rail);
	return is == 0 && r->strangers[rail] == SOME ? -1 : is;
}

static int has_gid(const struct nca_end *end)
{
	return end->gid ? strspn(end->gid, "0:") < strlen(end->gid) : -1;
}

/* What the peer says of our small messages; what it does not list came. */
static int received(const struct reader *r, size_t peer, int index)
{
	const struct nca_pinged_one *one;

	if (!r->j->t->pinged[peer] || index < 0)
		return -1;
	one = r->places[peer].pinged[index];
	return !one || one->received != 0;
}

static int known(int value)
{
	return value > 0 ? value : 0;
}

/* What one end of a test saw. False: it says nothing. */
static bool read_ping(const struct reader *r, size_t node, size_t peer, size_t rail, size_t round,
		      struct nca_ping *ret)
{
	const struct nca_trial *t = r->j->t;
	int mine = r->places[node].index[rail * t->rounds + round];
	int its = r->places[peer].index[rail * t->rounds + round];
	const struct nca_linked_one *l = linked(r, node, mine), *other = linked(r, peer, its);
	const struct nca_pinged_one *one = l ? r->places[node].pinged[mine] : NULL;

	/* What has no partner that could answer is no news, and EAGAIN is the agent's own: it had
	 * no time left to connect. */
	if (!l || error_of(l) == EAGAIN ||
	    (!error_of(l) && (!t->pinged[node] || (other && error_of(other)))))
		return false;
	*ret = (struct nca_ping){
		.rtr_errno = error_of(l),
		.status = one ? known(one->status) : 0,
		.large = one ? known(one->large) : 0,
		.received = received(r, peer, its),
		.roce = nca_same(t->plan->net, "RoCE"),
		.mac_is_peers = one ? mac_is_peers(r, node, peer, rail, l) : -1,
		.peer_has_gid = has_gid(nca_trial_end(t, peer, rail)),
		.qps = (int)t->qps,
		.qps_failed = one ? known(one->failed) : 0,
	};
	return true;
}

static int ways(const struct nca_ping *ping)
{
	switch (nca_verdict_find(ping)->where) {
	case NCA_WHERE_FORWARD:
		return NCA_WAY_OUT;
	case NCA_WHERE_RETURN:
		return NCA_WAY_IN;
	default:
		return 0;
	}
}

/* Two that have no route to each other: either of them may have the wrong address. */
static bool is_mutual(const struct nca_ping *a, const struct nca_ping *b)
{
	return b && a->rtr_errno == ENETUNREACH && b->rtr_errno == ENETUNREACH;
}

/* What an end's view proves of it, or of its peer; other: the peer's view, NULL: none. */
static void note_own(struct nca_judge *j, size_t node, size_t peer, size_t rail,
		     const struct nca_ping *ping, const struct nca_ping *other)
{
	const struct nca_verdict *v = nca_verdict_find(ping);
	size_t of = v->where == NCA_WHERE_PEER ? peer : node;

	if (nca_finding_kind(v->word)->own && !is_mutual(ping, other))
		j->own[nca_end_index(j->t, of, rail)] = nca_finding_kind(v->word);
}

static int read_try(struct reader *r, size_t a, size_t b, size_t rail, size_t round)
{
	struct nca_try *try = NCA_APPEND(r->j->pool, r->j->tries);
	struct nca_ping of_a, of_b;
	bool heard_a = read_ping(r, a, b, rail, round, &of_a);
	bool heard_b = read_ping(r, b, a, rail, round, &of_b);
	struct nca_verdict v = nca_verdict_join(heard_a ? &of_a : NULL, heard_b ? &of_b : NULL);

	if (!try)
		return -ENOMEM;
	*try = (struct nca_try){.a = a, .b = b, .rail = rail};
	if (streq(v.word, "ok"))
		return 0;
	try->kind = nca_finding_kind(v.word);
	try->ways = (heard_a ? ways(&of_a) : 0) | (heard_b ? nca_ways_turned(ways(&of_b)) : 0);
	try->error = heard_a && of_a.rtr_errno ? of_a.rtr_errno : heard_b ? of_b.rtr_errno : 0;
	if (heard_a)
		note_own(r->j, a, b, rail, &of_a, heard_b ? &of_b : NULL);
	if (heard_b)
		note_own(r->j, b, a, rail, &of_b, heard_a ? &of_a : NULL);
	return 0;
}

/* Tests of ends that did not open were not made. */
static int read_rail(struct reader *r, size_t rail)
{
	const struct nca_trial *t = r->j->t;
	size_t round, i;
	int rc = 0;

	for (i = 0; i < t->nodes; i++)
		if (t->opened[i] && !nca_trial_is_open(t, i, rail))
			r->j->own[nca_end_index(t, i, rail)] = nca_finding_kind("not-opened");
	for (round = 0; round < t->rounds; round++)
		for (i = 0; !rc && i < t->nodes; i++) {
			size_t peer = nca_schedule_partner(t->nodes, rail, round, i);

			if (peer != NCA_NOBODY && peer > i &&
			    r->places[i].index[rail * t->rounds + round] >= 0)
				rc = read_try(r, i, peer, rail, round);
		}
	return rc;
}

int nca_judge_read(struct nca_judge *j)
{
	struct reader r = {
		.j = j,
		.places = nca_pool_alloc(j->pool, j->t->nodes * sizeof(*r.places)),
		.strangers = nca_pool_alloc(j->pool, j->t->rails * sizeof(*r.strangers)),
	};
	size_t ends = j->t->nodes * j->t->rails, i;
	int rc = 0;

	j->own = nca_pool_alloc(j->pool, ends * sizeof(*j->own));
	j->banned = nca_pool_alloc(j->pool, ends * sizeof(*j->banned));
	j->degraded = nca_pool_alloc(j->pool, ends * sizeof(*j->degraded));
	if (!r.places || !r.strangers || !j->own || !j->banned || !j->degraded)
		return -ENOMEM;
	for (i = 0; !rc && i < j->t->nodes; i++)
		rc = read_place(&r, i);
	for (i = 0; !rc && i < j->t->rails; i++)
		rc = read_rail(&r, i);
	return rc;
}
