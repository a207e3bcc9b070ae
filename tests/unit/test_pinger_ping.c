/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that fail, and what goes with them, as a test says. */
#include <errno.h>

#include <nca/clock.h>

#include "ping_case.h"

static void test_sends_fail(void **state)
{
	static const struct {
		struct fake_qp qps[QPS];
		struct nca_pinged_one want;
	} rows[] = {
		/* the partner's messages come, our own do not arrive, or their answers do not */
		{{{.small = 12}, {.small = 12}, {.small = 12}, {.small = 12}},
		 {0, 12, -1, 129, 4, -1}},
		{{{.small = 12, .unheard = true},
		  {.small = 12, .unheard = true},
		  {.small = 12, .unheard = true},
		  {.small = 12}},
		 {0, 12, -1, 129, 4, 1}},
		{{{.large = 12}, {.large = 12}, {.large = 12}, {.large = 12}},
		 {0, -1, 12, 129, 4, -1}},
		{{[2] = {.small = 12}}, {0, 12, -1, 129, 1, -1}},
		/* large ones after one that failed, and after one that had no turn */
		{{[0] = {.large = 12}}, {0, -1, 12, 129, 1, -1}},
		{{[1] = {.large = 12}}, {0, -1, 12, 129, 1, -1}},
		{{{.small = 12}, {.large = 12}}, {0, 12, 12, 129, 2, -1}},
		/* a flush is a consequence */
		{{{.small = 5}, {.small = 13}}, {0, 13, -1, 249, 2, -1}},
		{{{.small = 5}}, {0, 5, -1, 249, 1, -1}},
	};
	size_t i;

	(void)state;
	t.open.sets = 1;
	ask("mlx5_0", 1, 3);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct nca_pinged_one *got, *want = &rows[i].want;

		fake_reset();
		memcpy(fake.qps, rows[i].qps, sizeof(rows[i].qps));
		t.up.partners.n = 0;
		assert_int_equal(open_them(), 0);
		add(0, 0, peer(GID_B, QPS));
		assert_int_equal(link_them(), 0);
		assert_int_equal(ping(), 0);
		assert_int_equal(t.pinged.partners.n, 1);
		got = t.pinged.partners.v;
		assert_int_equal(got->status, want->status);
		assert_int_equal(got->large, want->large);
		assert_int_equal(got->vendor, want->vendor);
		assert_int_equal(got->failed, want->failed);
		assert_int_equal(got->received, want->received);
		nca_pinger_close(t.pinger);
		t.pinger = NULL;
	}
}

/* One that is through, one whose HCA says nothing, one of which two messages do not come, one on
 * which nothing can be posted, and one whose HCA says nothing of what is large. */
static void test_deadline(void **state)
{
	const struct nca_pinged_one *got;

	(void)state;
	fake.qps[QPS].silent = true;
	fake.qps[2 * QPS].unheard = fake.qps[2 * QPS + 1].unheard = true;
	fake.qps[3 * QPS].post = EIO;
	fake.qps[4 * QPS].silent_large = true;
	run(5);
	assert_int_equal(t.pinged.partners.n, 4);
	got = &t.pinged.partners.v[0];
	assert_int_equal(got->partner, 1);
	assert_int_equal(got->status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(got->large, -1);
	assert_int_equal(got->failed, 1);
	assert_int_equal(got->received, -1);
	got = &t.pinged.partners.v[1];
	assert_int_equal(got->partner, 2);
	assert_int_equal(got->failed, -1);
	assert_int_equal(got->received, 2);
	got = &t.pinged.partners.v[2];
	assert_int_equal(got->partner, 3);
	assert_int_equal(got->status, IBV_WC_GENERAL_ERR);
	assert_int_equal(got->failed, 1);
	got = &t.pinged.partners.v[3];
	assert_int_equal(got->partner, 4);
	assert_int_equal(got->status, -1);
	assert_int_equal(got->large, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(got->failed, QPS);
}

static void test_fatal(void **state)
{
	(void)state;
	fake.hcas[0].fatal = true;
	run(1);
	assert_int_equal(t.pinged.partners.v[0].status, IBV_WC_FATAL_ERR);
	assert_int_equal(t.pinged.partners.v[0].failed, QPS);
}

/* Our own messages are through long before the partner's come. */
static void test_slow_partner(void **state)
{
	(void)state;
	fake.qps[1].slow = true;
	run(1);
	assert_int_equal(t.pinged.partners.n, 0);
}

/* As fatal: its descriptors are readable for ever. */
static void test_gone(void **state)
{
	(void)state;
	fake.hcas[0].gone = true;
	fake.qps[0].silent = true;
	run(1);
	assert_int_equal(t.pinged.partners.v[0].status, IBV_WC_FATAL_ERR);
}

static void test_hints(void **state)
{
	const struct nca_row *row;
	size_t i;
	static const char *const facts[] = {"mtu 4096",	       "peermem yes",
					    "dmabuf yes",      "traffic_class Global tclass=106",
					    "netdev_mtu 9000", "pfc 0,0,0,1,0,0,0,0"};

	(void)state;
	fake.hcas[0].dmabuf = EBADF;
	ask("mlx5_0", 1, 3);
	assert_int_equal(open_them(), 0);
	add(0, 0, peer(GID_B, QPS));
	assert_int_equal(link_them(), 0);
	tree_put(&t.tree, IB("0") "counters/link_downed", "4\n");
	tree_put(&t.tree, IB("0") "counters/port_xmit_wait", "9\n");
	tree_put(&t.tree, IB("0") "hw_counters/duplicate_request", "4294967300\n");
	assert_int_equal(ping(), 0);
	assert_int_equal(t.pinged.risen.n, 2);
	assert_string_equal(t.pinged.risen.v[0].name, "link_downed");
	assert_int_equal(t.pinged.risen.v[0].by, 1);
	assert_string_equal(t.pinged.risen.v[1].name, "duplicate_request");
	assert_int_equal(t.pinged.risen.v[1].by, INT_MAX);
	row = t.pinged.facts.v;
	assert_string_equal(row->key, "mlx5_0:1");
	assert_int_equal(row->values.n, ARRAY_SIZE(facts));
	for (i = 0; i < ARRAY_SIZE(facts); i++)
		assert_string_equal(row->values.v[i], facts[i]);
}

/* Root can have counters read at most every 10 s; the hub gives all of it 5 s. */
static void test_lifespan(void **state)
{
	long long start = nca_clock_ms();

	(void)state;
	tree_put(&t.tree, IB("0") "hw_counters/lifespan", "10000\n");
	run(1);
	assert_true(nca_clock_ms() - start < NCA_PINGER_MS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ping_set_up, ping_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sends_fail),	 TEST(test_deadline), TEST(test_fatal),
		TEST(test_slow_partner), TEST(test_gone),     TEST(test_hints),
		TEST(test_lifespan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
