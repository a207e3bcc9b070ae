/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of a step out of a small tree. */
#include "tree.h"

#include "lib/probe_parts.h"

static const struct tree_entry entries[] = {
	{"sys/bus/pci/devices/0000:1a:00.0/class", "0x030200\n"},
	{"sys/bus/pci/devices/0000:1a:00.0/vendor", "0x10de\n"},
	{"sys/bus/pci/devices/0000:2a:00.0/class", "0x030200\n"},
	{"sys/bus/pci/devices/0000:2a:00.0/vendor", "0x10de\n"},
	{"sys/bus/pci/devices/0000:02:00.0/class", "0x030000\n"},
	{"sys/bus/pci/devices/0000:02:00.0/vendor", "0x1a03\n"},
	{"proc/driver/nvidia/gpus/0000:2a:00.0/information",
	 "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\nGPU UUID: \t GPU-1b2c\n"},
};

struct bench {
	struct tree tree;
	struct nca_source src;
	struct nca_probe p;
};

static int set_up(void **state)
{
	static struct bench b;

	memset(&b, 0, sizeof(b));
	tree_open(&b.tree, entries, ARRAY_SIZE(entries));
	b.src.root_fd = b.tree.fd;
	b.p.src = &b.src;
	b.p.pool = nca_pool_new();
	b.p.node = nca_schema_new(b.p.pool, &nca_node_shape);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	nca_pool_free(b->p.pool);
	tree_close(&b->tree);
	return 0;
}

static const struct {
	const char *given; /* NULL: all */
	size_t n;
	int index[3];
	const char *pci[3];
} gpus[] = {
	{NULL, 2, {0, 1}, {"0000:1a:00.0", "0000:2a:00.0"}},
	{"", 0, {0}, {NULL}},
	{"1", 1, {1}, {"0000:2a:00.0"}},
	{"0-1", 2, {0, 1}, {"0000:1a:00.0", "0000:2a:00.0"}},
	{"1,2", 2, {1, 2}, {"0000:2a:00.0", NULL}},
	{"GPU-1b", 1, {1}, {"0000:2a:00.0"}},
	{"MIG-77", 1, {0}, {NULL}},
	{"1-0", 0, {0}, {NULL}},
	{"0-9999", 1, {0}, {NULL}},
};

static void test_gpus(void **state)
{
	struct bench *b = *state;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(gpus); i++) {
		print_message("%s\n", gpus[i].given ? gpus[i].given : "all");
		nca_schema_init(&nca_node_shape, b->p.node);
		b->src.gpus = gpus[i].given;
		assert_int_equal(nca_probe_gpus(&b->p), 0);
		assert_int_equal(b->p.node->gpus.n, gpus[i].n);
		for (k = 0; k < gpus[i].n; k++) {
			const struct nca_gpu *gpu = &b->p.node->gpus.v[k];

			assert_int_equal(gpu->index, gpus[i].index[k]);
			assert_true(gpu->pci ? nca_same(gpu->pci, gpus[i].pci[k])
					     : !gpus[i].pci[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_gpus, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
