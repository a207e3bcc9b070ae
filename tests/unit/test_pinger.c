/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting, on HCAs that fail as a test says. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "ping_case.h"

static void test_healthy(void **state)
{
	const struct nca_end *end;
	int i;

	(void)state;
	run(2);
	end = t.opened.ends.v;
	assert_null(end->why);
	assert_int_equal(end->error, -1);
	assert_int_equal(end->mtu, 4096);
	assert_string_equal(end->gid, GID_A);
	assert_string_equal(end->mac, "02:00:00:00:00:0b");
	assert_int_equal(end->qpns.n, 2 * QPS);
	assert_int_equal(end->qpns.v[7], FAKE_QPN + 7);
	for (i = 0; i < 2 * QPS; i++) {
		const struct ibv_qp_attr *rtr = &fake.rtr[i];

		assert_int_equal(rtr->path_mtu, IBV_MTU_1024);
		assert_int_equal(rtr->dest_qp_num, 500 + i % QPS);
		assert_int_equal(rtr->ah_attr.is_global, 1);
		assert_int_equal(rtr->ah_attr.sl, 3);
		assert_int_equal(rtr->ah_attr.grh.sgid_index, 3);
		assert_int_equal(rtr->ah_attr.grh.traffic_class, 106);
		assert_int_equal(rtr->ah_attr.grh.dgid.raw[15], 12);
		assert_int_equal(rtr->ah_attr.grh.flow_label, FAKE_QPN + i);
		assert_int_equal(fake.rts[i].timeout, 16);
		assert_int_equal(fake.rts[i].retry_cnt, 3);
	}
	assert_int_equal(t.linked.partners.n, 2);
	assert_int_equal(t.linked.partners.v[1].error, -1);
	assert_null(t.linked.partners.v[1].mac);
	assert_int_equal(t.pinged.partners.n, 0);
	assert_int_equal(t.pinged.risen.n, 0);
}

#define SUBNET "fe80:0000:0000:0000:"
#define OTHER "fe80:0000:0000:0007:"
#define ROUTED "fec0:0000:0123:0007:"
#define EUI "0000:0000:0000:0002"

/* Who needs a GRH, and which LID takes what is sent. */
static void test_infiniband(void **state)
{
	static const struct {
		const char *routed; /* what stands in GID 1 */
		bool grh;
		const char *peer;
		const char *gid; /* that is published */
		int is_global, dlid, sgid;
	} rows[] = {
		{NULL, false, SUBNET EUI, SUBNET "0000:0000:0000:0001", 0, 9, 0},
		{NULL, false, NULL, SUBNET "0000:0000:0000:0001", 0, 9, 0},
		{NULL, true, SUBNET EUI, SUBNET "0000:0000:0000:0001", 1, 9, 0},
		{NULL, false, OTHER EUI, SUBNET "0000:0000:0000:0001", 1, 9, 0},
		{NULL, false, ROUTED EUI, SUBNET "0000:0000:0000:0001", 1, 0x123, 0},
		{"0000:0000:0000:0000:0000:0000:0000:0000", false, SUBNET EUI,
		 SUBNET "0000:0000:0000:0001", 0, 9, 0},
		{ROUTED EUI, false, ROUTED EUI, ROUTED EUI, 0, 9, 0},
		{ROUTED EUI, false, "fec0:0000:0456:0008:" EUI, ROUTED EUI, 1, 0x456, 1},
	};
	size_t i;

	(void)state;
	ask("mlx5_1", 1, -1);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ibv_ah_attr *ah = &fake.rtr[0].ah_attr;

		fake_reset();
		fake.hcas[1].infiniband = true;
		fake.hcas[1].grh = rows[i].grh;
		if (rows[i].routed)
			tree_put(&t.tree, IB("1") "gids/1", rows[i].routed);
		t.up.partners.n = 0;
		assert_int_equal(open_them(), 0);
		assert_string_equal(t.opened.ends.v[0].gid, rows[i].gid);
		assert_null(t.opened.ends.v[0].mac);
		assert_int_equal(t.opened.ends.v[0].lid, 7);
		add(0, 0, peer(rows[i].peer, QPS));
		assert_int_equal(link_them(), 0);
		assert_int_equal(ah->is_global, rows[i].is_global);
		assert_int_equal(ah->dlid, rows[i].dlid);
		assert_int_equal(ah->grh.sgid_index, rows[i].sgid);
		nca_pinger_close(t.pinger);
		t.pinger = NULL;
	}
}

static void test_rtr_fails(void **state)
{
	(void)state;
	fake.qps[0].rtr = ETIMEDOUT;
	fake.qps[QPS].rtr = EINVAL;
	fake.qps[2 * QPS + 1].rtr = ENETUNREACH;
	run(4);
	assert_int_equal(t.linked.partners.v[0].error, ETIMEDOUT);
	assert_int_equal(fake.rtr[1].qp_state, 0); /* not tried: as long again */
	assert_int_equal(t.linked.partners.v[1].error, EINVAL);
	assert_int_equal(t.linked.partners.v[2].error, ENETUNREACH);
	assert_int_equal(t.linked.partners.v[3].error, -1);
	assert_int_equal(t.pinged.partners.n, 3);
	assert_int_equal(t.pinged.partners.v[2].partner, 2);
	assert_int_equal(t.pinged.partners.v[2].status, -1);
	assert_int_equal(t.pinged.partners.v[2].failed, QPS);
	assert_int_equal(t.pinged.partners.v[2].received, 0);
}

/* What a partner has published. */
static void test_bad_end(void **state)
{
	(void)state;
	t.open.sets = 5;
	ask("mlx5_0", 1, 3);
	assert_int_equal(open_them(), 0);
	add(0, 0, peer("10.0.0.1", QPS));
	add(0, 1, peer(NULL, QPS));
	add(0, 2, peer(GID_B, QPS - 1));
	add(0, 3, peer(GID_B, 0));
	add(0, 4, peer(GID_B, QPS));
	assert_int_equal(link_them(), 0);
	assert_int_equal(t.linked.partners.v[0].error, EINVAL);
	assert_int_equal(t.linked.partners.v[1].error, EINVAL);
	assert_int_equal(t.linked.partners.v[2].error, EINVAL);
	assert_int_equal(t.linked.partners.v[3].error, EINVAL);
	assert_int_equal(t.linked.partners.v[4].error, -1);
}

/* The others are tested, and nothing that the thread may touch is freed. */
static void test_thread_hangs(void **state)
{
	static struct nca_pinger *kept;
	struct pollfd over;
	eventfd_t n;

	(void)state;
	fake.qps[0].hangs = true;
	run(2);
	assert_int_equal(t.linked.partners.v[0].error, EINPROGRESS);
	assert_int_equal(t.linked.partners.v[1].error, -1);
	assert_int_equal(t.pinged.partners.n, 1);
	nca_pinger_close(t.pinger);
	assert_int_not_equal(fake.alive, 0);
	kept = t.pinger;
	/* The last that the thread does */
	over = (struct pollfd){kept->event, POLLIN, 0};
	fake_release();
	assert_int_equal(poll(&over, 1, -1), 1);
	assert_int_equal(eventfd_read(kept->event, &n), 0);
	assert_true(atomic_load(&kept->partners.v[0].done));
	kept->hung = false;
}

static void test_nothing(void **state)
{
	(void)state;
	assert_int_equal(open_them(), 0);
	assert_non_null(t.opened.ends.v);
	assert_int_equal(link_them(), 0);
	assert_non_null(t.linked.partners.v);
	assert_int_equal(ping(), 0);
	assert_non_null(t.pinged.partners.v);
	assert_int_equal(fake.listed, 0);
	assert_int_equal(ping(), -EPROTO);
	assert_int_equal(link_them(), -EPROTO);
}

/* What no hub of this program sends. */
static void test_bad_messages(void **state)
{
	static const struct {
		int port, set;
	} bad[] = {{0, 2}, {0, -1}, {1, 0}, {-1, 0}, {0, 0}};
	static const struct nca_open_port ports[] = {
		{"mlx5_0", 0, 3, 0, 0, 0},     {"mlx5_0", 256, 3, 0, 0, 0},
		{"mlx5_0", 1, 3, 65536, 0, 0}, {"mlx5_0", 1, 3, 0, 16, 0},
		{"mlx5_0", 1, 3, 0, 0, 256},
	};
	static const int sizes[][2] = {{0, 4}, {-1, 4}, {1025, 4}, {1, 0}, {1, -1}, {1, 65}};
	size_t i;

	(void)state;
	ask("mlx5_0", 1, 3);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		t.open.sets = sizes[i][0];
		t.open.qps = sizes[i][1];
		assert_int_equal(open_them(), -EPROTO);
		assert_null(t.pinger);
	}
	t.open.sets = 2;
	t.open.qps = QPS;
	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		t.open.ports.v[0] = ports[i];
		assert_int_equal(open_them(), -EPROTO);
	}
	t.open.ports.v[0] = (struct nca_open_port){"mlx5_0", 1, -1, 65535, 15, 255};
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(open_them(), 0);
		t.up.partners.n = 0;
		add(0, 0, peer(GID_B, QPS));
		add(bad[i].port, bad[i].set, peer(GID_B, QPS));
		assert_int_equal(link_them(), -EPROTO);
		nca_pinger_close(t.pinger);
		t.pinger = NULL;
		fake_reset();
	}
	assert_string_equal(t.err.text, "two partners at set 0 of port 0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ping_set_up, ping_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_healthy),	 TEST(test_infiniband),	  TEST(test_rtr_fails),
		TEST(test_bad_end),	 TEST(test_thread_hangs), TEST(test_nothing),
		TEST(test_bad_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
