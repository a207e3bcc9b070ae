/* SPDX-License-Identifier: Apache-2.0 */
/* A site's file: what is read, what is ignored and said, and for which nodes it holds. */
#include "table.h"

#include <nca/conf.h>

struct row {
	const char *name;
	const char *text;
	const char *site; /* of node2: "key=value key=value" */
	int timeout;	  /* of a step on node2, -1 unset */
	const char *bad;  /* part of the only complaint; NULL: none */
};

static const struct row rows[] = {
	{"empty", "", "", -1, NULL},
	{"comments and empty lines", "# x\n\n  # y\ntimeout=9 # z\n", "", 9, NULL},
	{"no newline at the end", "timeout=9", "", 9, NULL},
	{"CRLF", "timeout=9\r\nrail-count=2\r\n", "rail-count=2", 9, NULL},
	{"blanks around =", "timeout =\t9\n rail-count = 2 \n", "rail-count=2", 9, NULL},
	{"the last wins", "timeout=9\ntimeout=8\nrail-count=2\nrail-count=3\n", "rail-count=3", 8,
	 NULL},
	{"a section with the node", "[nodes=node[1-2]]\ntimeout=9\nrail-count=2\n", "rail-count=2",
	 9, NULL},
	{"a section without", "[nodes=node[3-4]]\ntimeout=9\nrail-count=2\n", "", -1, NULL},
	{"a section replaces", "rail-count=1\n[nodes=node2]\nrail-count=2\n", "rail-count=2", -1,
	 NULL},
	{"a later section replaces",
	 "[nodes=node[1-9]]\nrail-count=1\n[nodes=ALL]\nrail-count=2\n[nodes=x]\nrail-count=3\n",
	 "rail-count=2", -1, NULL},
	{"a variable", "NCCL_IB_TC=106\n", "NCCL_IB_TC=106", -1, NULL},
	{"a variable's value may be empty", "NCCL_IB_TC=\n", "NCCL_IB_TC=", -1, NULL},
	{"a variable without value", "NCCL_IB_TC\n", "", -1, "line 1: NCCL_IB_TC"},
	{"a variable that the plan decides", "\nNCCL_IB_HCA=mlx5_0\n", "", -1,
	 "line 2: NCCL_IB_HCA differs from step to step and is decided for each; what can be fixed "
	 "here instead: rail-hca="},
	{"a variable of nobody we know", "PATH=/bin\n", "", -1, "unknown word \"PATH\""},
	{"a near word", "timout=9\n", "", -1, "did you mean timeout=?"},
	{"a near pin", "rail-hcas=x\n", "", -1, "did you mean rail-hca=?"},
	{"near words of both kinds", "rail\n", "", -1, "rail-hca= or rail-exclude="},
	{"a bad value of a word", "timeout=0\n", "", -1, "1 to 3600"},
	{"a bad number", "rail-count=33\n", "", -1, "a number from 1 to 32"},
	{"a bad choice", "gid-family=4\n", "", -1, "ipv4|ipv6"},
	{"no value", "rail-hca\n", "", -1, "rail-hca=: takes"},
	{"NCCL's syntax", "rail-hca==mlx5_0\n", "", -1, "without \"=\" and \"^\""},
	{"no subnet", "control-subnet=10.0.0\n", "", -1, "CIDR"},
	{"a subnet of IPv6", "rail-subnet=fd00::/8\n", "rail-subnet=fd00::/8", -1, NULL},
	{"two words a line", "quiet strict\n", "", -1, "one word a line"},
	{"two values", "timeout=9 8\n", "", -1, "one word a line"},
	{"on", "on\n", "", -1, "only in plugstack.conf"},
	{"default", "default=on\n", "", -1, "only in plugstack.conf"},
	{"a section of another kind", "[gpus]\nrail-count=2\n", "", -1, "[nodes=HOSTLIST]"},
	{"a bad list ignores its section only",
	 "[nodes=n[1]\nrail-count=2\n[nodes=node2]\ntimeout=9\n", "", 9, "\"n[1\""},
};

static void check_row(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct row *r = *state;
	char *names[] = {"node2"}, site[256] = "";
	struct nca_node node = {.name = names[0]};
	const struct nca_pair *p;
	struct nca_options opt;
	struct nca_conf conf;

	assert_int_equal(nca_conf_parse(nca_pool_strdup(pool, r->text), "/etc/f", pool, &conf), 0);
	assert_int_equal(conf.bad.n, r->bad ? 1 : 0);
	if (r->bad && !strstr(conf.bad.v[0], r->bad))
		fail_msg("%s", conf.bad.v[0]);
	assert_int_equal(nca_conf_site(&conf, pool, &node), 0);
	NCA_FOREACH(p, node.site) {
		size_t n = strlen(site);

		snprintf(site + n, sizeof(site) - n, "%s%s=%s", n ? " " : "", p->key, p->value);
	}
	assert_string_equal(site, r->site);
	nca_options_init(&opt);
	nca_conf_words(&conf, names, 1, &opt);
	assert_int_equal(opt.timeout, r->timeout);
}

/* A word of a section needs every node of the step in it, and the nodes to be known. */
static void check_steps(void **state)
{
	static const char text[] = "timeout=9\n[nodes=node[1-2]]\ntimeout=8\n";
	nca_autopool struct nca_pool *pool = nca_pool_new();
	char *names[] = {"node1", "node2", "node3"};
	static const int want[] = {9, 8, 8, 9};
	struct nca_options opt;
	struct nca_conf conf;
	size_t n;

	(void)state;
	assert_int_equal(nca_conf_parse(nca_pool_strdup(pool, text), "f", pool, &conf), 0);
	for (n = 0; n < ARRAY_SIZE(want); n++) {
		nca_options_init(&opt);
		nca_conf_words(&conf, names, n, &opt);
		assert_int_equal(opt.timeout, want[n]);
	}
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_row);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_steps);
	return _cmocka_run_group_tests("conf", tests, n, NULL, NULL);
}
