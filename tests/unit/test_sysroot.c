/* SPDX-License-Identifier: Apache-2.0 */
/* Reading below a directory that stands for the root: links stay inside it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tree.h"

#include <nca/sysroot.h>

static const struct tree_entry entries[] = {
	{"sys/devices/pci0/eth0/mtu", "1500\n"},
	{"sys/class/net/eth0", "-> ../../devices/pci0/eth0"},
	{"sys/absolute", "-> /sys/devices/pci0"},
	{"sys/above", "-> ../../../../../sys/devices"},
	{"sys/outside", "-> /etc/passwd"},
	{"sys/loop", "-> loop"},
	{"n/zero", "0"},
	{"n/hex", "0x1f\n"},
	{"n/max", "2147483647\n"},
	{"n/above", "2147483648\n"},
	{"n/negative", "-1\n"},
	{"n/empty", ""},
	{"n/word", "4x\n"},
	{"t/trimmed", "a b \t\r\n"},
	{"l/mlx5_10", ""},
	{"l/mlx5_2", ""},
	{"l/.hidden", ""},
};

static const struct {
	const char *path;
	int value;
} ints[] = {
	{"sys/class/net/eth0/mtu", 1500},
	{"sys/absolute/eth0/mtu", 1500},
	{"sys/above/pci0/eth0/mtu", 1500},
	{"n/zero", 0},
	{"n/hex", 31},
	{"n/max", INT_MAX},
	{"n/above", -1},
	{"n/negative", -1},
	{"n/empty", -1},
	{"n/word", -1},
	{"n/missing", -1},
};

static const struct {
	const char *path;
	int error;
} failures[] = {
	{"sys/outside", -ENOENT},
	{"sys/loop", -ELOOP},
	{"sys/missing", -ENOENT},
	{"../../etc/passwd", -ENOENT},
};

static int set_up(void **state)
{
	static struct tree t;

	tree_open(&t, entries, ARRAY_SIZE(entries));
	*state = &t;
	return 0;
}

static int tear_down(void **state)
{
	tree_close(*state);
	return 0;
}

static void test_ints(void **state)
{
	const struct tree *t = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ints); i++) {
		print_message("%s\n", ints[i].path);
		assert_int_equal(nca_sysroot_int(t->fd, "%s", ints[i].path), ints[i].value);
	}
}

static void test_failures(void **state)
{
	const struct tree *t = *state;
	char real[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(failures); i++) {
		print_message("%s\n", failures[i].path);
		assert_int_equal(nca_sysroot_open(t->fd, failures[i].path, O_RDONLY),
				 failures[i].error);
		assert_int_equal(nca_sysroot_realpath(t->fd, failures[i].path, real),
				 failures[i].error);
	}
}

static void test_names(void **state)
{
	const struct tree *t = *state;
	struct nca_pool *pool = nca_pool_new();
	char real[PATH_MAX];
	nca_strs names = {0};

	assert_int_equal(nca_sysroot_realpath(t->fd, "sys/class/net/eth0/./mtu", real), 0);
	assert_string_equal(real, "sys/devices/pci0/eth0/mtu");
	assert_string_equal(nca_sysroot_target(t->fd, pool, "sys/class/net/eth0"), "eth0");
	assert_string_equal(nca_sysroot_text(t->fd, pool, "t/trimmed"), "a b");
	assert_null(nca_sysroot_text(t->fd, pool, "t/missing"));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(nca_sysroot_list(t->fd, pool, &names, "l"), 0);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.v[0], "mlx5_2");
	assert_string_equal(names.v[1], "mlx5_10");
	assert_int_equal(nca_sysroot_list(t->fd, pool, &names, "l/none"), -ENOENT);
	assert_int_equal(names.n, 2);
	nca_pool_free(pool);
}

/* From here on the process is on a kernel without openat2(2). */
static void test_old_kernel(void **state)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		skip();
	test_ints(state);
	test_failures(state);
	test_names(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ints),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_old_kernel),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
