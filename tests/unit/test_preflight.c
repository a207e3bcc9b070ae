/* SPDX-License-Identifier: Apache-2.0 */
/* What is found in steps with known faults. */
#include "preflight_case.h"

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

	sim_run(&s);
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

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	return _cmocka_run_group_tests("preflight", tests, n, NULL, NULL);
}
