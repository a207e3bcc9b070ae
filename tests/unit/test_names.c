/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <nca/names.h>

struct row {
	const char *name;
	const char *list, *device;
	int port;
	bool want;
};

static const struct row rows[] = {
	{"a prefix", "bond0", "bond0.2973", -1, true},
	{"a whole name", "=bond0", "bond0.2973", -1, false},
	{"the whole name", "=bond0", "bond0", -1, true},
	{"mlx5_1 takes mlx5_10", "mlx5_1", "mlx5_10", 1, true},
	{"=mlx5_1 does not", "=mlx5_1", "mlx5_10", 1, false},
	{"one = holds for the list", "=a,b", "b1", -1, false},
	{"a second = belongs to a name", "=a,=b", "b", -1, false},
	{"a blank belongs to a name", "a, b", "b", -1, false},
	{"exclusion", "^docker,lo", "docker0", -1, false},
	{"exclusion of nothing else", "^docker0", "lo", -1, true},
	{"exact exclusion", "^=eth1", "eth10", -1, true},
	{"=^ is a name", "=^a", "b", -1, false},
	{"empty", "", "x", 1, true},
	{"only =", "=", "x", 1, true},
	{"only ^: none", "^", "x", 1, false},
	{"one character is no list of interfaces", "v", "eth0", -1, true},
	{"one character is a list of HCAs", "v", "mlx5_0", 1, false},
	{"a port", "=mlx5_0:1", "mlx5_0", 1, true},
	{"another port", "=mlx5_0:2", "mlx5_0", 1, false},
	{"rail and plane", "=mlx5_0:1:0:0", "mlx5_0", 1, true},
	{"a port without number is 0", "mlx5_0:", "mlx5_0", 1, false},
	{"empty entries", ",,eth0", "eth0", -1, true},
};

static void check(void **state)
{
	const struct row *r = *state;

	assert_int_equal(nca_names_match(r->list, r->device, r->port), r->want);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	return _cmocka_run_group_tests("names", tests, n, NULL, NULL);
}
