/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with known faults, whose nodes answer as their HCAs would. */
#include "table.h"

#include <errno.h>
#include <stdio.h>

#include <nca/blame.h>
#include <nca/preflight.h>

#define WC_RETRY_EXC 12
#define WC_FATAL 19
#define WC_RNR_RETRY 13

/*
 * Faults: "WORD NODE.RAIL", "*" for all of them, or "pair A.B.RAIL", "cut A.RAIL" (nodes below A do
 * not reach the others), "lost NODE" (its last answer); with commas.
 * Findings: "CODE NODE HCA PEER DIRECTION", "-" for what there is none of; with semicolons.
 */
struct row {
	const char *name;
	size_t nodes, rails;
	const char *faults;
	const char *verdict, *findings;
	const char *exclude; /* NULL: none */
	const char *bans;    /* "NODE HCA", with commas */
	const char *text;    /* part of the first finding's; NULL: not looked at */
	const char *leaves;  /* a letter for each node's, "-": not known; NULL: none is */
};

static const struct row rows[] = {
	{"two nodes, healthy", 2, 1, "", "healthy", "", NULL, .bans = ""},
	{"three nodes, healthy", 3, 2, "", "healthy", "", NULL, .bans = ""},
	{"four nodes, healthy", 4, 4, "", "healthy", "", NULL, .bans = ""},
	{"100 nodes, healthy", 100, 4, "", "healthy", "", NULL, .bans = ""},
	{"three nodes, 32 rails, healthy", 3, 32, "", "healthy", "", NULL, .bans = ""},
	{"three nodes, 32 rails, the last is dead on one", 3, 32, "both 1.31", "degraded",
	 "rdma-dead n1 m31:1 - both", "n1", .bans = "n1 m31:1"},
	{"17 nodes, the first of which not all meet", 17, 1, "in 16.0", "failed",
	 "rdma-dead n16 m0:1 - in", "n16", .bans = "n16 m0:1"},

	{"two nodes: it receives nothing, and nobody can tell", 2, 1, "in 1.0", "failed",
	 "rdma-dead n0 m0:1 n1 out", NULL, .bans = "n0 m0:1,n1 m0:1",
	 .text = "m0:1 and n1 m0:1: nothing passes over RDMA from n0 to n1. Check"},
	{"two nodes: its answers and messages are lost", 2, 1, "out 1.0", "failed",
	 "rdma-dead n0 m0:1 n1 in", NULL, .bans = "n0 m0:1,n1 m0:1", .text = "from n1 to n0"},
	{"two nodes: in either direction", 2, 1, "both 0.0", "failed", "rdma-dead n0 m0:1 n1 both",
	 NULL, .bans = "n0 m0:1,n1 m0:1", .text = "try --exclude of one, then of the other"},
	{"two nodes: one rail of two", 2, 2, "in 1.1", "degraded", "rdma-dead n0 m1:1 n1 out", NULL,
	 .bans = "n0 m1:1,n1 m1:1"},
	{"two nodes: all rails are one finding", 2, 2, "in 1.*", "failed", "rdma-dead n0 - n1 out",
	 NULL, .bans = "n0 m0:1,n0 m1:1,n1 m0:1,n1 m1:1",
	 .text = "and n1, all 2 HCA ports: nothing passes over RDMA from n0 to n1. Check"},
	{"two nodes: an address is gone: that one says so", 2, 1, "gid 1.0", "failed",
	 "rdma-gid n1 m0:1 - -", "n1", .bans = "n1 m0:1",
	 .text = "m0:1: the GID entry holds no address"},
	{"two nodes: the peer sees that the address is gone", 2, 1, "zero 1.0", "failed",
	 "rdma-gid n1 m0:1 - -", "n1", .bans = "n1 m0:1"},
	{"two nodes: no route", 2, 1, "route 0.0", "failed", "rdma-route n0 m0:1 - -", "n0",
	 .bans = "n0 m0:1"},
	{"two nodes: neither has a route to the other", 2, 1, "subnet 0.0", "failed",
	 "rdma-route n0 m0:1 n1 -", NULL, .bans = "n0 m0:1,n1 m0:1"},
	{"two nodes: it does not open", 2, 2, "open 0.1", "degraded", "rdma-open n0 m1:1 - -", "n0",
	 .bans = "n0 m1:1", .text = "it cannot be used: no such thing"},
	{"two nodes: nothing opens on one", 2, 2, "open 0.*", "failed", "rdma-open n0 - - -", "n0",
	 .bans = "n0 m0:1,n0 m1:1", .text = "all 2 HCA ports"},
	{"two nodes: nothing opens on both", 2, 1, "open *.*", "failed",
	 "rdma-open n0 m0:1 - -;rdma-open n1 m0:1 - -", NULL, .bans = "n0 m0:1,n1 m0:1"},
	{"two nodes: another interface answers", 2, 1, "mac 1.0", "failed",
	 "rdma-neighbour n1 m0:1 - -", "n1", .bans = "n1 m0:1"},
	{"two nodes: behind a router the neighbour is the router", 2, 1, "mac 1.0,routed *.0",
	 "failed", "rdma-dead n0 m0:1 n1 both", NULL, .bans = "n0 m0:1,n1 m0:1"},
	{"two nodes: no ARP", 2, 1, "silent 1.0", "failed", "rdma-silent n0 m0:1 n1 -", NULL,
	 .bans = "n0 m0:1,n1 m0:1"},
	{"two nodes: only large ones are dropped", 2, 1, "large 1.0", "failed",
	 "rdma-large n0 m0:1 n1 out", NULL, .bans = "n0 m0:1,n1 m0:1"},
	{"two nodes: a port of a bond is dead", 2, 1, "leg 1.0", "degraded",
	 "rdma-some-paths n0 m0:1 n1 -", NULL, .bans = ""},
	{"two nodes: the HCA fails", 2, 1, "fatal 0.0", "failed", "rdma-device n0 m0:1 - -", "n0",
	 .bans = "n0 m0:1"},
	{"two nodes: another errno", 2, 1, "memory 0.0", "failed", "rdma-device n0 m0:1 - -", "n0",
	 .bans = "n0 m0:1", .text = "cannot be connected: Cannot allocate memory"},
	{"two nodes: one stalls", 2, 1, "stall 1.0", "untested", "rdma-unheard n0 m0:1 n1 -", NULL,
	 .bans = ""},
	{"two nodes: an answer is lost, the other says it works", 2, 1, "lost 1", "healthy", "",
	 NULL, .bans = ""},
	{"two nodes: both answers are lost", 2, 1, "lost 0,lost 1", "untested",
	 "rdma-unheard n0 m0:1 n1 -", NULL, .bans = ""},

	{"three nodes: it receives nothing", 3, 1, "in 1.0", "failed", "rdma-dead n1 m0:1 - in",
	 "n1", .bans = "n1 m0:1", .text = "m0:1: it receives nothing over RDMA"},
	{"three nodes: nothing that it sends arrives", 3, 1, "out 2.0", "failed",
	 "rdma-dead n2 m0:1 - out", "n2", .bans = "n2 m0:1", .text = "(2 of 2 tests failed)"},
	{"three nodes: one of two rails", 3, 2, "both 0.1", "degraded", "rdma-dead n0 m1:1 - both",
	 "n0", .bans = "n0 m1:1"},
	{"three nodes: all rails of a node", 3, 2, "both 0.*", "failed", "rdma-dead n0 - - both",
	 "n0", .bans = "n0 m0:1,n0 m1:1"},
	{"three nodes: a pair", 3, 1, "pair 0.2.0", "failed", "rdma-dead n0 m0:1 n2 both", NULL,
	 .bans = "n0 m0:1,n2 m0:1", .text = "look at the path between them too"},
	{"three nodes: nothing passes", 3, 1, "both *.0", "failed", "rdma-dead - m0:1 - -", NULL,
	 .bans = "n0 m0:1,n1 m0:1,n2 m0:1",
	 .text = "rail 0 (m0:1): nothing passes over RDMA, on all"},
	{"three nodes: nobody has an address", 3, 2, "gid *.1", "degraded", "rdma-gid - m1:1 - -",
	 NULL, .bans = "n0 m1:1,n1 m1:1,n2 m1:1"},
	{"four nodes: one deaf, one mute, on two rails", 4, 2, "in 0.0,out 3.1", "failed",
	 "rdma-dead n0 m0:1 - in;rdma-dead n3 m1:1 - out", "n0,n3", .bans = "n0 m0:1,n3 m1:1"},
	{"four nodes: one deaf, one mute, on one rail of two", 4, 2, "in 0.0,out 3.0", "degraded",
	 "rdma-dead n0 m0:1 - in;rdma-dead n3 m0:1 - out", "n0,n3", .bans = "n0 m0:1,n3 m0:1"},
	{"four nodes in two halves", 4, 1, "cut 2.0", "failed", "rdma-dead - m0:1 - -", NULL,
	 .bans = "n0 m0:1,n1 m0:1,n2 m0:1,n3 m0:1", .text = "joins groups of nodes"},
	{"four nodes: what one proves spares its partners", 4, 1, "gid 2.0,in 1.0", "failed",
	 "rdma-dead n1 m0:1 - in;rdma-gid n2 m0:1 - -", "n1,n2", .bans = "n1 m0:1,n2 m0:1"},
	{"four nodes: a silent one", 4, 1, "silent 3.0", "failed", "rdma-silent n3 m0:1 - -", "n3",
	 .bans = "n3 m0:1"},
	{"four nodes: one in another subnet", 4, 1, "subnet 3.0", "failed",
	 "rdma-route n3 m0:1 - -", "n3", .bans = "n3 m0:1"},
	{"four nodes: all in subnets of their own", 4, 1, "subnet *.0", "failed",
	 "rdma-route - m0:1 - -", NULL, .bans = "n0 m0:1,n1 m0:1,n2 m0:1,n3 m0:1"},
	{"four nodes: a black hole", 4, 2, "large 2.1", "degraded", "rdma-large n2 m1:1 - in", "n2",
	 .bans = "n2 m1:1"},
	{"four nodes: a bond", 4, 1, "leg 2.0", "degraded", "rdma-some-paths n2 m0:1 - -", NULL,
	 .bans = ""},
	{"four nodes: of a bond, a test takes the dead port alone", 4, 1, "leg 2.0,pair 2.3.0",
	 "degraded", "rdma-some-paths n2 m0:1 - -", NULL, .bans = ""},
	{"four nodes: a lost answer", 4, 2, "both 1.0,lost 2", "degraded",
	 "rdma-dead n1 m0:1 - both", "n1", .bans = "n1 m0:1"},
	{"four nodes: another interface answers for one", 4, 1, "mac 2.0", "failed",
	 "rdma-neighbour n2 m0:1 - -", "n2", .bans = "n2 m0:1"},
	{"four nodes: another MAC answers for all, and one is deaf", 4, 1, "proxy *.0,in 2.0",
	 "failed", "rdma-dead n2 m0:1 - in", "n2", .bans = "n2 m0:1"},
	{"four nodes: a rail on one of two leaves", 4, 2, "both 2.1,both 3.1", "degraded",
	 "rdma-dead - m1:1 - -", "n2,n3", .bans = "n2 m1:1,n3 m1:1",
	 .text = "rail 1 (m1:1) of all 2 nodes on switch y (n2,n3): nothing passes over RDMA (5 of "
		 "5 tests failed). Check",
	 .leaves = "xxyy"},
	{"four nodes: one leaf is not known", 4, 2, "both 2.1,both 3.1", "degraded",
	 "rdma-dead n2 m1:1 - both;rdma-dead n3 m1:1 - both", "n2,n3", .bans = "n2 m1:1,n3 m1:1",
	 .leaves = "x-yy"},
	{"four nodes: one of a leaf's works", 4, 2, "both 2.1", "degraded",
	 "rdma-dead n2 m1:1 - both", "n2", .bans = "n2 m1:1", .leaves = "xxyy"},
	{"four nodes: all are on one leaf", 4, 2, "both 2.1,both 3.1", "degraded",
	 "rdma-dead n2 m1:1 - both;rdma-dead n3 m1:1 - both", "n2,n3", .bans = "n2 m1:1,n3 m1:1",
	 .leaves = "xxxx"},
	{"six nodes: a rail on two of three leaves", 6, 1, "in 0.0,in 1.0,in 4.0,in 5.0", "failed",
	 "rdma-dead - m0:1 - -;rdma-dead - m0:1 - -", "n0,n1,n4,n5",
	 .bans = "n0 m0:1,n1 m0:1,n4 m0:1,n5 m0:1", .text = "on switch x (n0,n1)",
	 .leaves = "xxyyzz"},
	{"six nodes: a leaf, and an HCA on another", 6, 1, "both 0.0,both 1.0,in 3.0", "failed",
	 "rdma-dead - m0:1 - -;rdma-dead n3 m0:1 - in", "n0,n1,n3",
	 .bans = "n0 m0:1,n1 m0:1,n3 m0:1", .leaves = "xxyyzz"},
	{"six nodes: a leaf drops what is large", 6, 2, "large 4.0,large 5.0", "degraded",
	 "rdma-large - m0:1 - -", "n4,n5", .bans = "n4 m0:1,n5 m0:1",
	 .text = "of all 2 nodes on switch z (n4,n5): small messages pass, large ones do not",
	 .leaves = "xxyyzz"},
	{"nine nodes: a deaf node", 9, 2, "in 7.*", "failed", "rdma-dead n7 - - in", "n7",
	 .bans = "n7 m0:1,n7 m1:1"},
	{"nine nodes: two on a rail of two", 9, 2, "both 3.0,both 4.0", "degraded",
	 "rdma-dead n3 m0:1 - both;rdma-dead n4 m0:1 - both", "n3,n4", .bans = "n3 m0:1,n4 m0:1"},
	{"100 nodes: three nodes and an HCA", 100, 4, "both 3.*,both 4.*,both 5.*,in 77.2",
	 "failed",
	 "rdma-dead n3 - - both;rdma-dead n4 - - both;rdma-dead n5 - - both;"
	 "rdma-dead n77 m2:1 - in",
	 "n[3-5],n77",
	 .bans = "n3 m0:1,n3 m1:1,n3 m2:1,n3 m3:1,n4 m0:1,n4 m1:1,n4 m2:1,n4 m3:1,n5 m0:1,n5 "
		 "m1:1,n5 "
		 "m2:1,n5 m3:1,n77 m2:1"},
};

struct sim {
	const struct row *row;
	struct nca_pool *pool;
	struct nca_job job;
	struct nca_plan plan;
	struct nca_trial trial;
};

/* Is the number, or "*", what stands at *text? Goes behind it. */
static bool take(const char **text, size_t n)
{
	size_t value;
	char *end;

	if (**text == '*') {
		++*text;
		return true;
	}
	value = strtoul(*text, &end, 10);
	*text = end;
	return value == n;
}

/* Is there such a fault of a node's rail? */
static bool has(const struct sim *s, const char *word, size_t node, size_t rail)
{
	const char *f = s->row->faults;

	for (; *f; f += strcspn(f, ",") + (f[strcspn(f, ",")] == ',')) {
		const char *at = f + strlen(word) + 1;

		if (strncmp(f, word, strlen(word)) || f[strlen(word)] != ' ' || !take(&at, node))
			continue;
		if (*at != '.')
			return true;
		at++;
		if (take(&at, rail))
			return true;
	}
	return false;
}

static bool is_cut(const struct sim *s, size_t a, size_t b, size_t rail)
{
	size_t at, lost_a, lost_b, lost_rail;

	for (at = 1; at < s->row->nodes; at++)
		if (has(s, "cut", at, rail) && (a < at) != (b < at))
			return true;
	for (const char *f = s->row->faults; f; f = strchr(f, ',') ? strchr(f, ',') + 1 : NULL)
		if (sscanf(f, "pair %zu.%zu.%zu", &lost_a, &lost_b, &lost_rail) == 3 &&
		    lost_rail == rail &&
		    ((lost_a == a && lost_b == b) || (lost_a == b && lost_b == a)))
			return true;
	return false;
}

static bool is_dead(const struct sim *s, size_t node, size_t rail)
{
	return has(s, "both", node, rail) || has(s, "mac", node, rail);
}

static bool arrives(const struct sim *s, size_t from, size_t to, size_t rail)
{
	return !has(s, "out", from, rail) && !has(s, "in", to, rail) && !is_dead(s, from, rail) &&
	       !is_dead(s, to, rail) && !is_cut(s, from, to, rail);
}

static char *mac_of(const struct sim *s, size_t node, size_t rail, bool other)
{
	return nca_pool_printf(s->pool, "02:00:00:%02zx:%02zX:%02x", rail, node, other);
}

static char *gid_of(const struct sim *s, size_t node, size_t rail)
{
	return nca_pool_printf(s->pool, "0000:0000:0000:0000:0000:ffff:0a%02zx:00%02zx", rail,
			       node);
}

static struct nca_opened *open_node(const struct sim *s, size_t node)
{
	struct nca_opened *opened = nca_pool_alloc(s->pool, sizeof(*opened));
	struct nca_open ask;
	size_t rail, i;

	assert_int_equal(nca_trial_open(&s->trial, node, s->pool, &ask), 0);
	assert_int_equal(ask.ports.n, s->row->rails);
	for (rail = 0; rail < ask.ports.n; rail++) {
		struct nca_end *end = NCA_APPEND(s->pool, opened->ends);

		*end = (struct nca_end){.error = -1, .lid = -1, .mtu = 4096};
		if (has(s, "open", node, rail)) {
			end->why = "no such thing";
			end->error = ENODEV;
			continue;
		}
		end->gid = has(s, "zero", node, rail) ? "0000:0000:0000:0000:0000:0000:0000:0000"
						      : gid_of(s, node, rail);
		end->mac = mac_of(s, node, rail, false);
		for (i = 0; i < (size_t)ask.sets * (size_t)ask.qps; i++)
			*(int *)NCA_APPEND(s->pool, end->qpns) =
				(int)(1000 * node + 100 * rail + i);
	}
	return opened;
}

static int link_error(const struct sim *s, size_t node, size_t peer, size_t rail)
{
	if (has(s, "gid", node, rail) || has(s, "zero", node, rail) || has(s, "zero", peer, rail))
		return EINVAL;
	if (has(s, "route", node, rail) || has(s, "subnet", node, rail) ||
	    has(s, "subnet", peer, rail))
		return ENETUNREACH;
	if (has(s, "memory", node, rail))
		return ENOMEM;
	return has(s, "silent", node, rail) || has(s, "silent", peer, rail) ? ETIMEDOUT : -1;
}

static void link_one(const struct sim *s, size_t node, const struct nca_partner *p,
		     struct nca_linked *linked)
{
	size_t rail = (size_t)p->port;
	size_t peer = nca_schedule_partner(s->row->nodes, rail, (size_t)p->set, node);
	struct nca_linked_one *one = NCA_APPEND(s->pool, linked->partners);

	assert_int_equal(p->end->qpns.n, s->trial.qps);
	assert_int_equal(p->end->qpns.v[0],
			 1000 * peer + 100 * rail + (size_t)p->set * s->trial.qps);
	*one = (struct nca_linked_one){.error = link_error(s, node, peer, rail)};
	if (one->error < 0)
		one->mac = mac_of(s, peer, rail,
				  has(s, "mac", peer, rail) || has(s, "proxy", peer, rail));
}

static int small_status(const struct sim *s, size_t node, size_t peer, size_t rail)
{
	if (has(s, "fatal", node, rail))
		return WC_FATAL;
	if (has(s, "stall", peer, rail))
		return WC_RNR_RETRY;
	if (has(s, "leg", node, rail) || has(s, "leg", peer, rail))
		return WC_RETRY_EXC;
	if (has(s, "fatal", peer, rail) || link_error(s, peer, node, rail) > 0 ||
	    !arrives(s, node, peer, rail) || !arrives(s, peer, node, rail))
		return WC_RETRY_EXC;
	return -1;
}

/* Queue pairs over the dead port of a bond, or all. */
static int failed_of(const struct sim *s, size_t node, size_t peer, size_t rail)
{
	bool leg = has(s, "leg", node, rail) || has(s, "leg", peer, rail);

	return leg && !is_cut(s, node, peer, rail) ? 2 : (int)s->trial.qps;
}

static void ping_one(const struct sim *s, size_t node, int index, const struct nca_partner *p,
		     struct nca_pinged *pinged)
{
	size_t rail = (size_t)p->port;
	size_t peer = nca_schedule_partner(s->row->nodes, rail, (size_t)p->set, node);
	struct nca_pinged_one one = {index, small_status(s, node, peer, rail), -1, -1, -1, -1};

	if (link_error(s, node, peer, rail) > 0)
		return;
	if (one.status < 0 && has(s, "large", peer, rail))
		one.large = WC_RETRY_EXC;
	if (one.status > 0 || one.large > 0)
		one.failed = failed_of(s, node, peer, rail);
	if (!arrives(s, peer, node, rail) || has(s, "fatal", node, rail) ||
	    link_error(s, peer, node, rail) > 0)
		one.received = 0;
	if (one.status > 0 || one.large > 0 || one.received == 0)
		*(struct nca_pinged_one *)NCA_APPEND(s->pool, pinged->partners) = one;
}

static void answer(struct sim *s, size_t node)
{
	struct nca_linked *linked = nca_pool_alloc(s->pool, sizeof(*linked));
	struct nca_pinged *pinged = nca_pool_alloc(s->pool, sizeof(*pinged));
	const struct nca_partner *p;
	struct nca_link_up up;

	assert_int_equal(nca_trial_link(&s->trial, node, s->pool, &up), 0);
	NCA_FOREACH(p, up.partners) {
		link_one(s, node, p, linked);
		ping_one(s, node, (int)(p - up.partners.v), p, pinged);
	}
	s->trial.linked[node] = linked;
	s->trial.pinged[node] = has(s, "lost", node, 0) ? NULL : pinged;
}

static void add_port(const struct sim *s, struct nca_node *node, struct nca_plan_node *planned,
		     size_t i, size_t rail)
{
	struct nca_hca *hca = NCA_APPEND(s->pool, node->hcas);
	struct nca_link *link = NCA_APPEND(s->pool, node->interfaces);
	struct nca_addr *addr = NCA_APPEND(s->pool, link->addresses);
	struct nca_port *port = NCA_APPEND(s->pool, hca->ports);
	struct nca_gid *gid = NCA_APPEND(s->pool, port->gids);
	char *name = nca_pool_printf(s->pool, "m%zu", rail);

	hca->name = name;
	port->port = 1;
	*gid = (struct nca_gid){3, gid_of(s, i, rail), "RoCE v2",
				nca_pool_printf(s->pool, "e%zu", rail)};
	link->name = gid->ndev;
	*addr = (struct nca_addr){"inet", nca_pool_printf(s->pool, "10.%zu.0.%zu", rail, i),
				  has(s, "routed", i, rail) ? 32 : 24, "global"};
	*(struct nca_plan_hca *)NCA_APPEND(s->pool, planned->hcas) =
		(struct nca_plan_hca){name, 1, 3, (int)rail};
}

static void make_step(struct sim *s)
{
	size_t i, rail;

	s->plan.net = "RoCE";
	s->job.nnodes = (int)s->row->nodes;
	for (i = 0; i < s->row->nodes; i++) {
		struct nca_node *node = NCA_APPEND(s->pool, s->job.nodes);
		struct nca_plan_node *planned = NCA_APPEND(s->pool, s->plan.nodes);

		node->name = planned->name = nca_pool_printf(s->pool, "n%zu", i);
		for (rail = 0; rail < s->row->rails; rail++)
			add_port(s, node, planned, i, rail);
	}
}

static char *leaf_of(const struct sim *s, size_t node)
{
	const char *leaves = s->row->leaves;

	return leaves && leaves[node] != '-' ? nca_pool_strndup(s->pool, &leaves[node], 1) : NULL;
}

static void run(struct sim *s)
{
	size_t i;

	make_step(s);
	assert_true(nca_preflight_applies(&s->plan));
	assert_int_equal(nca_trial_begin(&s->job, &s->plan, s->pool, &s->trial), 0);
	for (i = 0; i < s->row->nodes; i++)
		s->trial.leaf[i] = leaf_of(s, i);
	for (i = 0; i < s->row->nodes; i++)
		s->trial.opened[i] = open_node(s, i);
	for (i = 0; i < s->row->nodes; i++)
		answer(s, i);
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static char *findings_text(const struct nca_preflight *pre, struct nca_pool *pool)
{
	const struct nca_finding *f;
	char *text = "";

	NCA_FOREACH(f, pre->findings)
		text = nca_pool_printf(pool, "%s%s%s %s %s %s %s", text, *text ? ";" : "", f->code,
				       or_none(f->node), or_none(f->hca), or_none(f->peer),
				       or_none(f->direction));
	return text;
}

static char *bans_text(const nca_bans *bans, struct nca_pool *pool)
{
	const struct nca_ban *ban;
	char *text = "";

	NCA_FOREACH(ban, *bans)
		text = nca_pool_printf(pool, "%s%s%s %s", text, *text ? "," : "", ban->node,
				       ban->subject);
	return text;
}

/* What is banned is what is failed, and nothing else. */
static void check_ports(const struct nca_preflight *pre, const nca_bans *bans,
			struct nca_pool *pool)
{
	const struct nca_tested *p;
	const struct nca_ban *ban;

	NCA_FOREACH(p, pre->ports) {
		const char *subject = nca_pool_printf(pool, "%s:%d", p->hca, p->port);
		bool is = false;

		NCA_FOREACH(ban, *bans)
			is = is || (streq(ban->node, p->node) && streq(ban->subject, subject));
		assert_int_equal(streq(p->state, "failed"), is);
		assert_true(p->failed <= p->tests);
	}
}

static void check(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct row *r = *state;
	struct sim s = {.row = r, .pool = pool};
	struct nca_preflight pre;
	nca_bans bans = {0};

	run(&s);
	assert_int_equal(nca_trial_judge(&s.trial, pool, &pre, &bans), 0);
	assert_string_equal(findings_text(&pre, pool), r->findings);
	assert_string_equal(pre.verdict, r->verdict);
	assert_string_equal(or_none(pre.exclude), or_none(r->exclude));
	assert_string_equal(bans_text(&bans, pool), r->bans);
	assert_int_equal(pre.ports.n, r->nodes * r->rails);
	check_ports(&pre, &bans, pool);
	if (r->text && !strstr(pre.findings.v[0].text, r->text))
		fail_msg("%s", pre.findings.v[0].text);
}

/* Of two nodes, "m0 m1" and so on: the rails of each. */
static struct nca_plan *plan_of(struct nca_pool *pool, const char *const rails[2])
{
	struct nca_plan *plan = nca_pool_alloc(pool, sizeof(*plan));
	size_t i;

	for (i = 0; i < 2; i++) {
		struct nca_plan_node *node = NCA_APPEND(pool, plan->nodes);
		const char *at = rails[i];

		for (; *at; at += strcspn(at, " ") + (strchr(at, ' ') != NULL))
			*(struct nca_plan_hca *)NCA_APPEND(pool, node->hcas) =
				(struct nca_plan_hca){nca_pool_strndup(pool, at, strcspn(at, " ")),
						      1, 3, 0};
	}
	return plan;
}

struct cover {
	const char *name;
	const char *tested[2], *plan[2];
	bool covers;
};

static const struct cover covers[] = {
	{"the same plan is tested", {"m0 m1", "m0 m1"}, {"m0 m1", "m0 m1"}, true},
	{"a part of it", {"m0 m1", "m2 m3"}, {"m1", "m3"}, true},
	{"nothing left", {"m0", "m0"}, {"", ""}, true},
	{"another port", {"m0", "m0"}, {"m1", "m0"}, false},
	{"tested ports that are paired anew", {"m0 m1", "m0 m1"}, {"m0", "m1"}, false},
};

static void check_covers(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct cover *r = *state;

	assert_int_equal(nca_preflight_covers(plan_of(pool, r->tested), plan_of(pool, r->plan)),
			 r->covers);
}

static void check_hints(void **state)
{
	static const struct row row = {"", 3, 2, "", "", "", NULL, .bans = ""};
	static struct nca_risen risen[] = {{0, "symbol_error", 3}, {1, "symbol_error", 5}};
	static char *odd[] = {"tc 0", "pfc 8"}, *usual[] = {"tc 106", "pfc 8"};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct sim s = {.row = &row, .pool = pool};
	struct nca_preflight pre;
	nca_bans bans = {0};
	size_t i;

	(void)state;
	run(&s);
	for (i = 0; i < 3; i++)
		*(struct nca_row *)NCA_APPEND(pool, s.trial.pinged[i]->facts) =
			(struct nca_row){"m1:1", {i == 1 ? odd : usual, 2}};
	s.trial.pinged[2]->risen.v = risen;
	s.trial.pinged[2]->risen.n = 2;
	s.trial.opened[0]->ends.v[0].mtu = 1024;
	s.trial.opened[1]->ends.v[1].mtu = -1;
	assert_int_equal(nca_trial_judge(&s.trial, pool, &pre, &bans), 0);
	assert_string_equal(pre.verdict, "healthy");
	assert_int_equal(pre.hints.n, 3);
	assert_string_equal(pre.hints.v[0],
			    "the RDMA MTU of rail 0 (m0:1) differs: 4096 on n1,n2, 1024 on n0");
	assert_string_equal(pre.hints.v[1], "tc of rail 1 (m1:1) differs: 106 on n0,n2, 0 on n1");
	assert_string_equal(pre.hints.v[2],
			    "symbol_error rose during the check on n2 (by 5 at most)");
}

/* A second check that is healthy does not undo what the first has found. */
static void check_add(void **state)
{
	static const struct row bad = {"", 7,  2,    "both 0.1,both 1.1,in 2.1",
				       "", "", NULL, .bans = ""};
	static const struct row good = {"", 7, 1, "", "", "", NULL, .bans = ""};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct sim first = {.row = &bad, .pool = pool}, second = {.row = &good, .pool = pool};
	struct nca_preflight pre, later;
	nca_bans bans = {0};

	(void)state;
	run(&first);
	run(&second);
	assert_int_equal(nca_trial_judge(&first.trial, pool, &pre, &bans), 0);
	assert_int_equal(nca_trial_judge(&second.trial, pool, &later, &bans), 0);
	pre.seconds = 1.5;
	later.seconds = 0.25;
	assert_int_equal(nca_preflight_add(&pre, &later, pool), 0);
	assert_string_equal(pre.verdict, "degraded");
	assert_true(pre.seconds == 1.75);
	assert_int_equal(pre.ports.n, 14);
	assert_int_equal(pre.findings.n, 3);
	assert_string_equal(pre.exclude, "n[0-2]");
	later.verdict = "untested";
	assert_int_equal(nca_preflight_add(&pre, &later, pool), 0);
	assert_string_equal(pre.verdict, "degraded");
	/* Nodes of one cause are one warning, and what the plan warned of comes last. */
	assert_int_equal(nca_plan_warn(&first.plan, pool, "planned", NULL, "of old"), 0);
	assert_int_equal(nca_preflight_warn(&pre, &first.plan, pool), 0);
	assert_int_equal(first.plan.warnings.n, 3);
	assert_string_equal(first.plan.warnings.v[2].code, "planned");
	assert_string_equal(first.plan.warnings.v[0].code, "rdma-dead");
	assert_non_null(strstr(first.plan.warnings.v[0].text, "n0,n1 (2 of 7): m1:1: "));
	assert_non_null(strstr(first.plan.warnings.v[0].text, "--exclude=n0,n1"));
	assert_string_equal(first.plan.warnings.v[1].node, "n2");
}

/* What NCCL will use: the plan's variables before the user's, his before none. */
static void check_open(void **state)
{
	static const struct row row = {"", 2, 1, "", "", "", NULL, .bans = ""};
	static struct nca_pair ours[] = {{"NCCL_IB_TC", "106"}, {"NCCL_IB_GID_INDEX", "3"}};
	static struct nca_pair users[] = {{"NCCL_IB_TC", "0"},
					  {"NCCL_IB_SL", "0x5"},
					  {"NCCL_IB_PKEY", "many"},
					  {"NCCL_IB_GID_INDEX", "7"}};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct sim s = {.row = &row, .pool = pool};
	struct nca_open open;

	(void)state;
	make_step(&s);
	s.plan.nodes.v[1].env.v = ours;
	s.plan.nodes.v[1].env.n = 1;
	s.job.nodes.v[1].environment.v = users;
	s.job.nodes.v[1].environment.n = 4;
	assert_int_equal(nca_trial_begin(&s.job, &s.plan, pool, &s.trial), 0);
	assert_int_equal(nca_trial_open(&s.trial, 1, pool, &open), 0);
	assert_int_equal(open.sets, 1);
	assert_int_equal(open.qps, 4);
	assert_string_equal(open.ports.v[0].hca, "m0");
	assert_int_equal(open.ports.v[0].tc, 106);
	assert_int_equal(open.ports.v[0].sl, 5);
	assert_int_equal(open.ports.v[0].pkey_index, 0);
	assert_int_equal(open.ports.v[0].gid_index, 7);
	s.plan.nodes.v[1].env.n = 2;
	assert_int_equal(nca_trial_open(&s.trial, 1, pool, &open), 0);
	assert_int_equal(open.ports.v[0].gid_index, 3);
	ours[0].value = "257";
	users[1].value = "16";
	users[2].value = "65537";
	assert_int_equal(nca_trial_open(&s.trial, 1, pool, &open), 0);
	assert_int_equal(open.ports.v[0].tc, 1);
	assert_int_equal(open.ports.v[0].sl, 0);
	assert_int_equal(open.ports.v[0].pkey_index, 1);
	s.plan.net = "IB";
	assert_int_equal(nca_trial_open(&s.trial, 0, pool, &open), 0);
	assert_int_equal(open.ports.v[0].gid_index, -1);
	s.plan.nodes.n = 1;
	assert_false(nca_preflight_applies(&s.plan));
	s.plan.nodes.n = 2;
	assert_true(nca_preflight_applies(&s.plan));
	s.plan.nodes.v[0].hcas.n = 0;
	assert_false(nca_preflight_applies(&s.plan));
	s.plan.nodes.v[0].hcas.n = 1;
	s.plan.net = "Socket";
	assert_false(nca_preflight_applies(&s.plan));
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	TABLE_ADD(tests, n, covers, check_covers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_hints);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_add);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_open);
	return _cmocka_run_group_tests("preflight", tests, n, NULL, NULL);
}
