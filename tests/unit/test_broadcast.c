/* SPDX-License-Identifier: Apache-2.0 */
/* One environment for two nodes that differ. */
#include "table.h"

#include <stdio.h>

#include <nca/broadcast.h>

struct row {
	const char *name;
	const char *node[2]; /* "PLANNED VARIABLES|INTERFACES|NCCL|CONF_DIR"; what is empty is
				unknown */
	const char *env;     /* of both */
	const char *conf[2]; /* of each */
	const char *warning; /* part of the only one's text; NULL: none */
	enum nca_broadcast until;
	const char *site; /* conf-dir= */
};

#define PATH "NCCL_CONF_FILE=/var/tmp/nccl-autoconf.7.3/nccl.conf"

static const struct row rows[] = {
	{"nothing differs", .node = {"NCCL_A=1 X=2|eth0", "NCCL_A=1 X=2|eth0"},
	 .env = "NCCL_A=1 X=2"},
	{"nothing at all", .node = {"", ""}, .env = ""},
	{"a value differs",
	 .node = {"NCCL_IB_GID_INDEX=3 NCCL_A=1", "NCCL_IB_GID_INDEX=1 NCCL_A=1"},
	 .env = "NCCL_A=1 " PATH, .conf = {"NCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX=1"}},
	{"only one node has it", .node = {"", "NCCL_IB_TC=1"}, .env = PATH,
	 .conf = {"", "NCCL_IB_TC=1"}},
	{"only the first has it", .node = {"NCCL_IB_TC=1", ""}, .env = PATH,
	 .conf = {"NCCL_IB_TC=1", ""}},
	{"interfaces: names of both where no node has both",
	 .node = {"NCCL_SOCKET_IFNAME==eth1|eth0 eth1", "NCCL_SOCKET_IFNAME==bond0|eth0 bond0"},
	 .env = "NCCL_SOCKET_IFNAME==eth1,bond0"},
	{"not where a node has both",
	 .node = {"NCCL_SOCKET_IFNAME==eth1|eth1", "NCCL_SOCKET_IFNAME==bond0|eth1 bond0"},
	 .env = PATH, .conf = {"NCCL_SOCKET_IFNAME==eth1", "NCCL_SOCKET_IFNAME==bond0"}},
	{"NCCL is known to read the file",
	 .node = {"NCCL_SOCKET_IFNAME==eth1|eth1|2.23.4", "NCCL_SOCKET_IFNAME==bond0|bond0|2.28.9"},
	 .env = PATH, .conf = {"NCCL_SOCKET_IFNAME==eth1", "NCCL_SOCKET_IFNAME==bond0"}},
	{"NCCL is known not to, on one node",
	 .node = {"NCCL_SOCKET_IFNAME==eth1|eth1|2.28.9",
		  "NCCL_SOCKET_IFNAME==bond0|eth1 bond0|2.22.3"},
	 .env = "", .warning = "NCCL_SOCKET_IFNAME would be =eth1 on a and =bond0 on b"},
	{"an old NCCL, and the names of both do",
	 .node = {"NCCL_SOCKET_IFNAME==eth1|eth1|2.18.5", "NCCL_SOCKET_IFNAME==bond0|bond0|2.18.5"},
	 .env = "NCCL_SOCKET_IFNAME==eth1,bond0"},
	{"an old NCCL and another variable",
	 .node = {"NCCL_IB_HCA==m0||2.18.5", "NCCL_IB_HCA==m1||2.18.5"}, .env = "",
	 .warning = "NCCL before 2.23.4 reads no file"},
	{"what only Gloo reads", .node = {"GLOO_SOCKET_IFNAME=eth1", "GLOO_SOCKET_IFNAME=bond0"},
	 .env = "", .warning = "GLOO_SOCKET_IFNAME would be eth1 on a and bond0 on b"},
	{"what one node lacks", .node = {"", "UCX_TLS=tcp"}, .env = "",
	 .warning = "unset on a and tcp on b"},
	{"node ranks are the launcher's",
	 .node = {"NODE_RANK=0 NNODES=2 PET_NODE_RANK=0", "NODE_RANK=1 NNODES=2 PET_NODE_RANK=1"},
	 .env = "NNODES=2"},
	{"the site's directory", .node = {"NCCL_A=1", "NCCL_A=2"},
	 .env = "NCCL_CONF_FILE=/shared/nccl-autoconf.7.3/nccl.conf",
	 .conf = {"NCCL_A=1", "NCCL_A=2"}, .site = "/shared"},
	{"one that all nodes have", .node = {"NCCL_A=1|||/run/x", "NCCL_A=2|||/run/x"},
	 .env = "NCCL_CONF_FILE=/run/x/7.3/nccl.conf", .conf = {"NCCL_A=1", "NCCL_A=2"}},
	{"one that one node has", .node = {"NCCL_A=1|||/run/x", "NCCL_A=2"}, .env = PATH,
	 .conf = {"NCCL_A=1", "NCCL_A=2"}},
	{"for the job", .node = {"NCCL_A=1|||/run/x", "NCCL_A=2|||/run/x"},
	 .env = "NCCL_CONF_FILE=/run/x/7/nccl.conf", .conf = {"NCCL_A=1", "NCCL_A=2"},
	 .until = NCA_BROADCAST_JOB},
};

/* The next of the parts that bars separate; NULL: empty or not there. */
static char *part(char **rest)
{
	char *word = strsep(rest, "|");

	return word && *word ? word : NULL;
}

static void fill(struct nca_pool *pool, const char *side, struct nca_node *node,
		 struct nca_plan_node *plan)
{
	static struct nca_addr address[1];
	char *rest = nca_pool_strdup(pool, side), *env = part(&rest), *links = part(&rest), *word;

	node->nccl_version = part(&rest);
	node->conf_dir = part(&rest);
	plan->name = node->name;
	while ((word = strsep(&env, " "))) {
		struct nca_pair *p = NCA_APPEND(pool, plan->env);

		p->key = strsep(&word, "=");
		p->value = word;
	}
	while ((word = strsep(&links, " "))) {
		struct nca_link *link = NCA_APPEND(pool, node->interfaces);

		link->name = word;
		link->carrier = -1;
		link->addresses.v = address;
		link->addresses.n = 1;
	}
	word = (char *)nca_pairs_get(plan->env, "NCCL_SOCKET_IFNAME");
	plan->socket_ifname = word ? word + 1 : NULL;
}

static const char *text(struct nca_pool *pool, const struct nca_pair *v, size_t n)
{
	char *all = nca_pool_strdup(pool, "");
	size_t i;

	for (i = 0; i < n; i++)
		all = nca_pool_printf(pool, "%s%s%s=%s", all, i ? " " : "", v[i].key, v[i].value);
	return all;
}

static void check(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct row *r = *state;
	struct nca_node nodes[2] = {{.name = "a"}, {.name = "b"}};
	struct nca_job job = {.id = "7.3", .nnodes = 2, .nodes = {nodes, 2}};
	struct nca_plan_node out[2] = {{0}};
	struct nca_plan plan = {.nodes = {out, 2}};
	struct nca_options opt = {.broadcast = r->until ? r->until : NCA_BROADCAST_STEP};
	int i;

	snprintf(opt.conf_dir, sizeof(opt.conf_dir), "%s", r->site ? r->site : "");
	for (i = 0; i < 2; i++)
		fill(pool, r->node[i], &nodes[i], &out[i]);
	assert_int_equal(nca_broadcast_apply(&job, &opt, &plan, pool), 0);
	for (i = 0; i < 2; i++) {
		assert_string_equal(text(pool, out[i].env.v, out[i].env.n), r->env);
		assert_string_equal(text(pool, out[i].conf.v, out[i].conf.n),
				    r->conf[i] ? r->conf[i] : "");
	}
	assert_int_equal(plan.warnings.n, r->warning ? 1 : 0);
	if (r->warning && !strstr(plan.warnings.v[0].text, r->warning))
		fail_msg("%s", plan.warnings.v[0].text);
}

struct wanted {
	const char *name; /* words of --nccl-autoconf= */
	enum nca_broadcast want;
};

static const struct wanted wanted[] = {
	{"on", NCA_BROADCAST_OFF},
	{"broadcast", NCA_BROADCAST_STEP},
	{"broadcast=job", NCA_BROADCAST_JOB},
	{"trainer=auto", NCA_BROADCAST_OFF},
	{"trainer=deepspeed", NCA_BROADCAST_OFF},
	{"trainer=deepspeed-pdsh", NCA_BROADCAST_STEP},
	{"trainer=ray", NCA_BROADCAST_STEP},
	{"trainer=mpirun", NCA_BROADCAST_STEP},
	{"trainer=ray,broadcast=job", NCA_BROADCAST_JOB},
	{"trainer=torchrun,broadcast", NCA_BROADCAST_STEP},
};

static void check_wanted(void **state)
{
	const struct wanted *r = *state;
	struct nca_options opt;
	struct nca_error err;

	nca_options_init(&opt);
	assert_int_equal(nca_options_parse(&opt, r->name, NCA_FROM_USER, &err), 0);
	assert_int_equal(nca_broadcast_wanted(&opt), r->want);
	nca_options_finish(&opt);
	assert_int_equal(nca_broadcast_wanted(&opt), r->want);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	TABLE_ADD(tests, n, wanted, check_wanted);
	return _cmocka_run_group_tests("broadcast", tests, n, NULL, NULL);
}
