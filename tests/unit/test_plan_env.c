/* SPDX-License-Identifier: Apache-2.0 */
/* What is set, and what is refused or left out. */
#include "small_steps.h"

#include <errno.h>

struct variable {
	const char *name, *job, *variable, *want; /* NULL: not set */
};

static const struct variable variables[] = {
	{"one exact name", HCAS(""), "NCCL_SOCKET_IFNAME", "=eth0"},
	{"Gloo takes it plain", HCAS(""), "GLOO_SOCKET_IFNAME", "eth0"},
	{"TensorPipe too", HCAS(""), "TP_SOCKET_IFNAME", "eth0"},
	{"exact devices and ports", HCAS(""), "NCCL_IB_HCA", "=m0:1"},
	{"NVSHMEM without =", HCAS(""), "NVSHMEM_HCA_LIST", "m0:1"},
	{"no GID index on InfiniBand", HCAS(""), "NCCL_IB_GID_INDEX", NULL},
	{"RDMA does not need NCCL_NET", HCAS(""), "NCCL_NET", NULL},
	{"agreed TCP beside an HCA", TWO("", "", IB("m0", "ACTIVE", "200"), "", "", ""), "NCCL_NET",
	 "Socket"},
	{"TCP beside a plug-in", TWO("", "", "", "", ", 'nccl_net_plugin': 'libnccl-net.so'", ""),
	 "NCCL_NET", "Socket"},
	{"TCP beside iWARP, which NCCL would try", TWO("", "", RNIC(""), RNIC(""), "", ""),
	 "NCCL_NET", "Socket"},
	{"TCP where there is nothing else", TWO("", "", "", "", "", ""), "NCCL_NET", NULL},
	{"what is set stays", TWO("", "", "", "", USER("'GLOO_SOCKET_IFNAME': 'eth0'"), ""),
	 "GLOO_SOCKET_IFNAME", NULL},
	{"what cannot work does not",
	 TWO("", "", "", "", USER("'GLOO_SOCKET_IFNAME': '10.0.0.1'"), ""), "GLOO_SOCKET_IFNAME",
	 "eth0"},
};

static void check_variable(void **state)
{
	const struct variable *r = *state;
	const struct plan row = {.job = r->job};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_job *job;
	struct nca_plan *plan;
	const char *got;

	plan_make(pool, &row, &plan, &job);
	got = nca_pairs_get(plan->nodes.v->env, r->variable);
	if (r->want)
		assert_string_equal(got, r->want);
	else
		assert_null(got);
}

static void check_bad_jobs(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {""};
	struct nca_options opt;
	struct nca_plan *plan;

	(void)state;
	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(document_read(pool, &nca_job_shape, JOB(2, "")), &opt, NULL,
				       pool, &plan, &err),
			 -EINVAL);
	assert_int_equal(nca_plan_make(document_read(pool, &nca_job_shape,
						     JOB(2, NODE("a", "", "", "", "") "," NODE(
								    "a", "", "", "", ""))),
				       &opt, NULL, pool, &plan, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "two nodes"));
}

/* The interface that a test proved useless is left out on that node; the others follow. */
static void check_ban(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_ban ban = {"b", "eth0", "timed out"};
	const nca_bans bans = {&ban, 1};
	struct nca_options opt;
	struct nca_plan *plan;
	const struct nca_job *job = document_read(
		pool, &nca_job_shape, TWO(ETH1("1", ""), ETH1("2", ""), "", "", "", ""));

	(void)state;
	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(job, &opt, &bans, pool, &plan, NULL), 0);
	assert_string_equal(plan->nodes.v[0].socket_ifname, "eth1");
	assert_string_equal(plan->nodes.v[1].socket_ifname, "eth1");
	assert_string_equal(plan->nodes.v[1].decisions.v[0].rule, "connect-failed");
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, variables, check_variable);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_bad_jobs);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_ban);
	return _cmocka_run_group_tests("plan_env", tests, n, NULL, NULL);
}
