/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, on HCAs that fail as a test says. */
#include <errno.h>

#include "lib/verbs.h"
#include "ping_case.h"

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
	assert_string_equal(t.opened.ends.v[0].why,
			    "No such file or directory: /dev/infiniband/uverbs0 is not visible "
			    "here: the container hides it");
	assert_int_equal(t.linked.partners.v[0].error, ENOENT);
	assert_int_equal(t.pinged.partners.v[0].failed, QPS);
	assert_int_equal(t.pinged.partners.v[0].received, 0);
}

/* A machine without a container, one with a container's mark, and one with namespaces of its own.
 */
static void test_node_hidden(void **state)
{
	static const char *const groups[] = {"0::/system.slice\n", "0::/kubepods/pod1\n"};
	static const char *const users[] = {"-> user:[4026531837]", "-> user:[4026531838]"};
	static const struct {
		size_t groups, users;
		bool hides;
	} rows[] = {{0, 0, false}, {1, 0, true}, {0, 1, true}};
	char *why;
	size_t i;

	(void)state;
	tree_put(&t.tree, "proc/self/ns/pid", "-> pid:[4026531836]");
	tree_put(&t.tree, "proc/self/ns/cgroup", "-> cgroup:[4026531835]");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_put(&t.tree, "proc/self/cgroup", groups[rows[i].groups]);
		tree_put(&t.tree, "proc/self/ns/user", users[rows[i].users]);
		assert_int_equal(nca_uverbs_try(t.tree.fd, t.pool, "mlx5_7", &why), -ENOENT);
		assert_int_equal(strstr(why, ": the container hides it") != NULL, rows[i].hides);
		assert_int_equal(unlinkat(t.tree.fd, "proc/self/ns/user", 0), 0);
	}
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
	ask("mlx5_0", 1, 4);
	tree_put(&t.tree, "sys/class/infiniband/mlx5_0/ports/2/gids/3", GID_B "\n");
	tree_put(&t.tree, IB("1") "gids/255", GID_B "\n");
	assert_int_equal(open_them(), 0);
	assert_int_equal(fake.listed, 1);
	assert_int_equal(fake.opened, 2);
	assert_int_equal(t.opened.ends.v[1].error, -1);
	assert_int_equal(t.opened.ends.v[2].error, EINVAL);
	assert_string_equal(t.opened.ends.v[2].why, "mlx5_0: no such port: Invalid argument");
	assert_int_equal(t.opened.ends.v[3].error, ERANGE);
	assert_int_equal(t.opened.ends.v[4].error, -1);
	assert_int_equal(t.opened.ends.v[5].error, ENOENT);
	assert_string_equal(t.opened.ends.v[5].why,
			    "mlx5_0: no GID at index 4: No such file or directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ping_set_up, ping_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_fails),
		TEST(test_node_fails),
		TEST(test_node_hidden),
		TEST(test_two_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
