/* SPDX-License-Identifier: Apache-2.0 */
/* What an open HCA tells, with a libibverbs of this file's own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <infiniband/verbs.h>

#include "lib/verbs.h"

static struct {
	int listed, opened;
	int open_error;
	ssize_t table_result; /* below 0: the table cannot be read */
} fake;

static struct ibv_device device = {.name = "mlx5_0"};
static struct ibv_device *devices[] = {&device, NULL};
static struct ibv_context context;

struct ibv_device **ibv_get_device_list(int *n)
{
	fake.listed++;
	*n = 1;
	return devices;
}

void ibv_free_device_list(struct ibv_device **list)
{
	assert_ptr_equal(list, devices);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	assert_ptr_equal(d, &device);
	fake.opened++;
	errno = fake.open_error;
	return fake.open_error ? NULL : &context;
}

int ibv_close_device(struct ibv_context *c)
{
	assert_ptr_equal(c, &context);
	fake.opened--;
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (void *)compat;

	assert_ptr_equal(c, &context);
	if (port != 1)
		return EINVAL;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	return 0;
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *attr)
{
	assert_ptr_equal(c, &context);
	attr->vendor_id = 0xffffff;
	attr->vendor_part_id = 7;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	static const struct ibv_gid_entry table[] = {
		{.gid = {.raw = {0xfe, 0x80, [15] = 1}},
		 .gid_index = 0,
		 .port_num = 1,
		 .gid_type = IBV_GID_TYPE_ROCE_V1,
		 .ndev_ifindex = 2},
		{.gid = {.raw = {[10] = 0xff, 0xff, 10, 0, 0, 1}},
		 .gid_index = 3,
		 .port_num = 1,
		 .gid_type = IBV_GID_TYPE_ROCE_V2,
		 .ndev_ifindex = 99},
		{.gid_index = 0, .port_num = 9},
	};

	assert_ptr_equal(c, &context);
	assert_true(max <= 2047); /* one more is EINVAL */
	assert_int_equal(flags, 0);
	assert_int_equal(size, sizeof(*entries));
	if (fake.table_result < 0)
		return fake.table_result;
	memcpy(entries, table, sizeof(table));
	return ARRAY_SIZE(table);
}

static int set_up(void **state)
{
	static const struct nca_source src = {.live = true};
	static struct nca_probe p;
	struct nca_link *l;
	struct nca_hca *h;

	memset(&fake, 0, sizeof(fake));
	p.src = &src;
	p.pool = nca_pool_new();
	p.node = nca_schema_new(p.pool, &nca_node_shape);
	l = NCA_APPEND(p.pool, p.node->interfaces);
	nca_schema_init(&nca_link_shape, l);
	l->name = nca_pool_strdup(p.pool, "eth0");
	l->ifindex = 2;
	h = NCA_APPEND(p.pool, p.node->hcas);
	nca_schema_init(&nca_hca_shape, h);
	h->name = nca_pool_strdup(p.pool, "mlx5_0");
	h->uverbs_opens = 1;
	nca_schema_init(&nca_port_shape, NCA_APPEND(p.pool, h->ports));
	h->ports.v[0].port = 1;
	*state = &p;
	return 0;
}

static int tear_down(void **state)
{
	nca_pool_free(((struct nca_probe *)*state)->pool);
	return 0;
}

static void test_fill(void **state)
{
	const struct nca_probe *p = *state;
	const struct nca_hca *h = p->node->hcas.v;
	const struct nca_port *port = h->ports.v;

	assert_int_equal(nca_verbs_fill(p), 0);
	assert_int_equal(fake.opened, 0);
	assert_int_equal(port->max_mtu, 4096);
	assert_int_equal(port->active_mtu, 1024);
	assert_string_equal(h->vendor_id, "0xffffff");
	assert_int_equal(port->gids.n, 2);
	assert_string_equal(port->gids.v[0].gid, "fe80:0000:0000:0000:0000:0000:0000:0001");
	assert_string_equal(port->gids.v[0].type, "IB/RoCE v1");
	assert_string_equal(port->gids.v[0].ndev, "eth0");
	assert_int_equal(port->gids.v[1].index, 3);
	assert_string_equal(port->gids.v[1].gid, "0000:0000:0000:0000:0000:ffff:0a00:0001");
	assert_string_equal(port->gids.v[1].type, "RoCE v2");
	assert_null(port->gids.v[1].ndev);
}

/* sysfs is read then. */
static void test_no_table(void **state)
{
	const struct nca_probe *p = *state;

	fake.table_result = -EOPNOTSUPP;
	assert_int_equal(nca_verbs_fill(p), 0);
	assert_null(p->node->hcas.v[0].ports.v[0].gids.v);
	assert_int_equal(p->node->hcas.v[0].ports.v[0].active_mtu, 1024);
}

static void test_open_fails(void **state)
{
	const struct nca_probe *p = *state;

	fake.open_error = ENOMEM;
	assert_int_equal(nca_verbs_fill(p), 0);
	assert_string_equal(p->node->unknown.v[0].key, "hcas[mlx5_0].ports.active_mtu");
	assert_int_equal(p->node->hcas.v[0].ports.v[0].active_mtu, -1);
}

/* A device node that does not open must never reach libibverbs: it would wait for seconds. */
static void test_not_called(void **state)
{
	const struct nca_probe *p = *state;

	p->node->hcas.v[0].uverbs_opens = 0;
	assert_int_equal(nca_verbs_fill(p), 0);
	assert_int_equal(fake.listed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fill),
		TEST(test_no_table),
		TEST(test_open_fails),
		TEST(test_not_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
