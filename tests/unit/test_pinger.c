/* SPDX-License-Identifier: Apache-2.0 */
/* The node's side of the preflight on HCAs that fail as a test says. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include <libmnl/libmnl.h>

#include <nca/addr.h>

#include "fake_verbs.h"
#include "lib/pinger_parts.h"
#include "lib/probe_parts.h"
#include "tree.h"

#define QPS 4
#define IB(n) "sys/class/infiniband/mlx5_" n "/ports/1/"
#define GID_A "0000:0000:0000:0000:0000:ffff:0a0b:000b"
#define GID_B "0000:0000:0000:0000:0000:ffff:0a0b:000c"

static const struct tree_entry files[] = {
	{"sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n"},
	{"sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n"},
	{"dev/infiniband/uverbs0", ""},
	{"dev/infiniband/uverbs1", ""},
	{IB("0") "gids/3", GID_A "\n"},
	{IB("0") "gid_attrs/ndevs/3", "eth3\n"},
	{IB("0") "counters/symbol_error", "18446744073709551615\n"},
	{IB("0") "counters/link_downed", "3\n"},
	{IB("0") "counters/port_xmit_wait", "1\n"},
	{IB("0") "hw_counters/duplicate_request", "5\n"},
	{IB("1") "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n"},
	{"sys/class/net/eth3/address", "02:00:00:00:00:0b\n"},
	{"sys/class/net/eth3/ifindex", "2000000000\n"},
	{"sys/class/net/eth3/mtu", "9000\n"},
	{"sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=106\nsrc_ip=1\n"},
	{"sys/class/net/eth3/qos/pfc", "0,0,0,1,0,0,0,0\n"},
	{"sys/module/nvidia_peermem/version", "1\n"},
};

static struct {
	struct tree tree;
	struct nca_pool *pool;
	struct nca_pinger *pinger;
	struct nca_open open;
	struct nca_opened opened;
	struct nca_link_up up;
	struct nca_linked linked;
	struct nca_pinged pinged;
	struct nca_error err;
} t;

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	fake_reset();
	t.pool = nca_pool_new();
	tree_open(&t.tree, files, ARRAY_SIZE(files));
	t.open.sets = 1;
	t.open.qps = QPS;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nca_pinger_close(t.pinger);
	assert_int_equal(fake.alive, 0);
	nca_pool_free(t.pool);
	tree_close(&t.tree);
	return 0;
}

static void ask(const char *hca, int port, int gid_index)
{
	*(struct nca_open_port *)NCA_APPEND(t.pool, t.open.ports) =
		(struct nca_open_port){nca_pool_strdup(t.pool, hca), port, gid_index, 0, 3, 106};
}

static int open_them(void)
{
	return nca_pinger_open(&t.open, t.tree.fd, t.pool, &t.opened, &t.pinger, &t.err);
}

static struct nca_end *peer(const char *gid, size_t qps)
{
	struct nca_end *end = nca_pool_alloc(t.pool, sizeof(*end));

	*end = (struct nca_end){.lid = 9, .mtu = 1024, .gid = nca_pool_strdup(t.pool, gid)};
	while (end->qpns.n < qps) {
		int qpn = 500 + (int)end->qpns.n;

		*(int *)NCA_APPEND(t.pool, end->qpns) = qpn;
	}
	return end;
}

static void add(int port, int set, struct nca_end *end)
{
	*(struct nca_partner *)NCA_APPEND(t.pool, t.up.partners) =
		(struct nca_partner){port, set, end};
}

static int link_them(void)
{
	return nca_pinger_link(t.pinger, &t.up, t.pool, &t.linked, &t.err);
}

static int ping(void)
{
	return nca_pinger_ping(t.pinger, t.pool, &t.pinged, &t.err);
}

/* One port with that many sets, each with a partner. */
static void run(int sets)
{
	int i;

	t.open.sets = sets;
	ask("mlx5_0", 1, 3);
	assert_int_equal(open_them(), 0);
	for (i = 0; i < sets; i++)
		add(0, i, peer(GID_B, QPS));
	assert_int_equal(link_them(), 0);
	assert_int_equal(ping(), 0);
}

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

static void test_infiniband(void **state)
{
	(void)state;
	fake.hcas[1].infiniband = true;
	t.open.sets = 2;
	ask("mlx5_1", 1, -1);
	assert_int_equal(open_them(), 0);
	assert_string_equal(t.opened.ends.v[0].gid, "fe80:0000:0000:0000:0000:0000:0000:0001");
	assert_null(t.opened.ends.v[0].mac);
	assert_int_equal(t.opened.ends.v[0].lid, 7);
	add(0, 0, peer("fe80:0000:0000:0000:0000:0000:0000:0002", QPS));
	add(0, 1, peer("fec0:0000:0000:0000:0000:0000:0000:0002", QPS));
	assert_int_equal(link_them(), 0);
	assert_int_equal(fake.rtr[0].ah_attr.is_global, 0);
	assert_int_equal(fake.rtr[0].ah_attr.dlid, 9);
	assert_int_equal(fake.rtr[QPS].ah_attr.is_global, 1);
}

/* What cannot be opened says why and stops no other. */
static void test_open_fails(void **state)
{
	static const struct {
		struct fake_hca hca;
		int error;
		const char *why;
	} rows[] = {
		{{.open = EPERM}, EPERM, "mlx5_1: cannot be opened: Operation not permitted"},
		{{.pd = EIO}, EIO, "mlx5_1: no protection domain: Input/output error"},
		{{.reg = ENOMEM},
		 ENOMEM,
		 "mlx5_1: cannot register memory: Cannot allocate memory. Set "
		 "LimitMEMLOCK=infinity for slurmd and PropagateResourceLimitsExcept=MEMLOCK in "
		 "slurm.conf"},
		{{.channel = EMFILE}, EMFILE, "mlx5_1: no completion channel: Too many open files"},
		{{.cq = EINVAL}, EINVAL, "mlx5_1: no completion queue: Invalid argument"},
		{{.qp = ENOSPC}, ENOSPC, "mlx5_1: no queue pair: No space left on device"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fake_reset();
		fake.hcas[1] = rows[i].hca;
		t.open.ports.n = 0;
		ask("mlx5_1", 1, 0);
		ask("mlx5_0", 1, 3);
		assert_int_equal(open_them(), 0);
		assert_int_equal(t.opened.ends.v[0].error, rows[i].error);
		assert_string_equal(t.opened.ends.v[0].why, rows[i].why);
		assert_null(t.opened.ends.v[0].qpns.v);
		assert_null(t.opened.ends.v[1].why);
		nca_pinger_close(t.pinger);
		t.pinger = NULL;
		assert_int_equal(fake.alive, 0);
	}
}

static void test_node_fails(void **state)
{
	(void)state;
	assert_int_equal(unlinkat(t.tree.fd, "dev/infiniband/uverbs0", 0), 0);
	run(1);
	assert_int_equal(fake.opened, 0); /* it would wait for seconds */
	assert_int_equal(t.opened.ends.v[0].error, ENOENT);
	assert_non_null(strstr(t.opened.ends.v[0].why, "/dev/infiniband/uverbs0"));
	assert_int_equal(t.linked.partners.v[0].error, ENOENT);
	assert_int_equal(t.pinged.partners.v[0].failed, QPS);
	assert_int_equal(t.pinged.partners.v[0].received, 0);
}

/* The same HCA is opened once. */
static void test_two_ports(void **state)
{
	(void)state;
	ask("mlx5_0", 1, 3);
	ask("mlx5_0", 2, 3);
	ask("mlx5_0", 3, 3);
	ask("mlx5_0", 1, 256);
	ask("mlx5_1", 1, 255);
	assert_int_equal(open_them(), 0);
	assert_int_equal(fake.listed, 1);
	assert_int_equal(fake.opened, 2);
	assert_int_equal(t.opened.ends.v[1].error, -1);
	assert_int_equal(t.opened.ends.v[2].error, EINVAL);
	assert_string_equal(t.opened.ends.v[2].why, "mlx5_0: no such port: Invalid argument");
	assert_int_equal(t.opened.ends.v[3].error, ERANGE);
	assert_int_equal(t.opened.ends.v[4].error, -1);
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
	assert_int_equal(t.pinged.partners.v[2].late, -1);
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

static void test_sends_fail(void **state)
{
	static const struct {
		struct fake_qp qps[QPS];
		struct nca_pinged_one want;
	} rows[] = {
		/* the partner's messages come, our own do not arrive, or their answers do not */
		{{{.small = 12}, {.small = 12}, {.small = 12}, {.small = 12}},
		 {0, 12, -1, 129, 4, -1, -1}},
		{{{.small = 12, .unheard = true},
		  {.small = 12, .unheard = true},
		  {.small = 12, .unheard = true},
		  {.small = 12}},
		 {0, 12, -1, 129, 4, 1, -1}},
		{{{.large = 12}, {.large = 12}, {.large = 12}, {.large = 12}},
		 {0, -1, 12, 129, 4, -1, -1}},
		{{[2] = {.small = 12}}, {0, 12, -1, 129, 1, -1, -1}},
		/* a flush is a consequence */
		{{{.small = 5}, {.small = 13}}, {0, 13, -1, 249, 2, -1, -1}},
		{{{.small = 5}}, {0, 5, -1, 249, 1, -1, -1}},
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
		assert_int_equal(got->late, want->late);
		nca_pinger_close(t.pinger);
		t.pinger = NULL;
	}
}

/* One that is through, one whose HCA says nothing, one of which two messages do not come, and one
 * on which nothing can be posted. */
static void test_deadline(void **state)
{
	const struct nca_pinged_one *got;

	(void)state;
	fake.qps[QPS].silent = true;
	fake.qps[2 * QPS].unheard = fake.qps[2 * QPS + 1].unheard = true;
	fake.qps[3 * QPS].post = EIO;
	run(4);
	assert_int_equal(t.pinged.partners.n, 3);
	got = &t.pinged.partners.v[0];
	assert_int_equal(got->partner, 1);
	assert_int_equal(got->status, -1);
	assert_int_equal(got->failed, 1);
	assert_int_equal(got->received, -1);
	assert_int_equal(got->late, 1);
	got = &t.pinged.partners.v[1];
	assert_int_equal(got->partner, 2);
	assert_int_equal(got->failed, -1);
	assert_int_equal(got->received, 2);
	assert_int_equal(got->late, -1);
	got = &t.pinged.partners.v[2];
	assert_int_equal(got->partner, 3);
	assert_int_equal(got->status, IBV_WC_GENERAL_ERR);
	assert_int_equal(got->failed, 1);
	assert_int_equal(got->late, -1);
}

/* The others are tested, and nothing that the thread may touch is freed. */
static void test_thread_hangs(void **state)
{
	static struct nca_pinger *kept;

	(void)state;
	fake.qps[0].hangs = true;
	run(2);
	assert_int_equal(t.linked.partners.v[0].error, EINPROGRESS);
	assert_int_equal(t.linked.partners.v[1].error, -1);
	assert_int_equal(t.pinged.partners.n, 1);
	nca_pinger_close(t.pinger);
	assert_int_not_equal(fake.alive, 0);
	kept = t.pinger;
	fake_release();
	while (!atomic_load(&kept->partners.v[0].done))
		usleep(1000);
	kept->hung = false;
}

static void test_fatal(void **state)
{
	(void)state;
	fake.hcas[0].fatal = true;
	run(1);
	assert_int_equal(t.pinged.partners.v[0].status, IBV_WC_FATAL_ERR);
	assert_int_equal(t.pinged.partners.v[0].failed, QPS);
	assert_int_equal(t.pinged.partners.v[0].late, -1);
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
	assert_int_equal(t.pinged.partners.v[0].late, -1);
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

static void put_neighbour(char *buf, size_t *len, int ifindex, int family, const char *dst,
			  const char *mac)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf + *len);
	struct ndmsg *ndm;
	char addr[16];

	nlh->nlmsg_type = RTM_NEWNEIGH;
	ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));
	ndm->ndm_family = (unsigned char)family;
	ndm->ndm_ifindex = ifindex;
	assert_int_equal(inet_pton(family, dst, addr), 1);
	mnl_attr_put(nlh, NDA_DST, family == AF_INET ? 4 : 16, addr);
	if (mac)
		mnl_attr_put(nlh, NDA_LLADDR, 6, mac);
	*len += nlh->nlmsg_len;
}

static void test_neighbour(void **state)
{
	static const struct {
		int ifindex;
		const char *ip, *mac;
	} rows[] = {
		{2, "10.0.0.1", "02:00:00:00:00:01"},
		{3, "10.0.0.1", "02:00:00:00:00:02"},
		{4, "10.0.0.1", NULL},
		{2, "10.0.0.2", NULL},
		{2, "fe80::1", "02:00:00:00:00:03"},
		{2, "a00:1::", NULL},
		{2, "10.0.0.3", NULL},
	};
	char buf[1024] __attribute__((aligned(8)));
	struct nca_dump dump = {.data = buf};
	size_t i;

	(void)state;
	put_neighbour(buf, &dump.len, 2, AF_INET, "10.0.0.1", "\2\0\0\0\0\1");
	put_neighbour(buf, &dump.len, 3, AF_INET, "10.0.0.1", "\2\0\0\0\0\2");
	put_neighbour(buf, &dump.len, 2, AF_INET6, "fe80::1", "\2\0\0\0\0\3");
	put_neighbour(buf, &dump.len, 2, AF_INET, "10.0.0.2", NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nca_ip ip;
		char *mac;

		assert_int_equal(nca_ip_parse(rows[i].ip, &ip), 0);
		mac = nca_neighbour_find(&dump, rows[i].ifindex, &ip, t.pool);
		assert_true(rows[i].mac ? nca_same(mac, rows[i].mac) : !mac);
	}
	dump.len -= 1; /* the last is not whole */
	assert_non_null(nca_neighbour_find(&dump, 2, &(struct nca_ip){4, {10, 0, 0, 1}}, t.pool));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_healthy),	 TEST(test_infiniband), TEST(test_open_fails),
		TEST(test_node_fails),	 TEST(test_two_ports),	TEST(test_rtr_fails),
		TEST(test_bad_end),	 TEST(test_sends_fail), TEST(test_deadline),
		TEST(test_thread_hangs), TEST(test_fatal),	TEST(test_slow_partner),
		TEST(test_gone),	 TEST(test_hints),	TEST(test_nothing),
		TEST(test_bad_messages), TEST(test_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
