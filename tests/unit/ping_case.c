/* SPDX-License-Identifier: Apache-2.0 */
#include "ping_case.h"

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

struct ping_case t;

int ping_set_up(void **state)
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

int ping_tear_down(void **state)
{
	(void)state;
	nca_pinger_close(t.pinger);
	assert_int_equal(fake.alive, 0);
	nca_pool_free(t.pool);
	tree_close(&t.tree);
	return 0;
}

void ask(const char *hca, int port, int gid_index)
{
	*(struct nca_open_port *)NCA_APPEND(t.pool, t.open.ports) =
		(struct nca_open_port){nca_pool_strdup(t.pool, hca), port, gid_index, 0, 3, 106};
}

int open_them(void)
{
	return nca_pinger_open(&t.open, t.tree.fd, t.pool, &t.opened, &t.pinger, &t.err);
}

struct nca_end *peer(const char *gid, size_t qps)
{
	struct nca_end *end = nca_pool_alloc(t.pool, sizeof(*end));

	*end = (struct nca_end){.lid = 9, .mtu = 1024, .gid = nca_pool_strdup(t.pool, gid)};
	while (end->qpns.n < qps) {
		int qpn = 500 + (int)end->qpns.n;

		*(int *)NCA_APPEND(t.pool, end->qpns) = qpn;
	}
	return end;
}

void add(int port, int set, struct nca_end *end)
{
	*(struct nca_partner *)NCA_APPEND(t.pool, t.up.partners) =
		(struct nca_partner){port, set, end};
}

int link_them(void)
{
	return nca_pinger_link(t.pinger, &t.up, t.pool, &t.linked, &t.err);
}

int ping(void)
{
	return nca_pinger_ping(t.pinger, t.pool, &t.pinged, &t.err);
}

void run(int sets)
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
