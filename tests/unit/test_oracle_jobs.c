/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is set for NCCL, read as NCCL reads it: every recorded job against the rules in
 * tests/oracle, for every version.
 */
#include "table.h"

#include <glob.h>
#include <stdio.h>
#include <strings.h>

#include <nca/file.h>
#include <nca/plan.h>

#include "lib/step.h"
#include "tests/oracle/nccl_rules.h"

struct job {
	const struct nca_job *job;
	const struct nca_plan *plan;
	const char *file;
};

/* What a task of the node finds in its environment: what was set, and what we put over it. */
static const char *variable(const struct job *j, size_t i, const char *name)
{
	const char *ours = nca_pairs_get(j->plan->nodes.v[i].env, name);

	return ours ? ours : nca_pairs_get(j->job->nodes.v[i].environment, name);
}

static bool has_flag(const struct nca_link *link, const char *flag)
{
	size_t i;

	for (i = 0; i < link->flags.n; i++)
		if (streq(link->flags.v[i], flag))
			return true;
	return false;
}

/* getifaddrs() gives IPv4 first, by index; then IPv6, of which global ones come first. */
static size_t node_ifaddrs(const struct nca_node *node, struct nccl_ifaddr *ifs, size_t most)
{
	const struct nca_link *link;
	const struct nca_addr *a;
	size_t n = 0;
	int pass;

	for (pass = 0; pass < 3; pass++)
		NCA_FOREACH(link, node->interfaces)
			NCA_FOREACH(a, link->addresses) {
				struct nccl_ifaddr *to = &ifs[n];
				bool local;

				if (n == most || nca_ip_parse(a->addr, &to->ip))
					continue;
				local = nca_ip_is_link_local(&to->ip);
				if (pass != (to->ip.family == 4 ? 0 : local ? 2 : 1))
					continue;
				to->name = link->name;
				to->running = link->carrier != 0 &&
					      (!link->flags.v || has_flag(link, "UP"));
				n++;
			}
	return n;
}

/* Does a warning of the plan say that it cannot be right for such a version? */
static bool is_said(const struct job *j, const char *code)
{
	const struct nca_warning *w;

	NCA_FOREACH(w, j->plan->warnings)
		if (streq(w->code, code))
			return true;
	return false;
}

static size_t wrong, compared;

static void say(const struct job *j, size_t i, int v, const char *what)
{
	print_message("# %s %s, NCCL %s: %s\n", j->file, j->plan->nodes.v[i].name,
		      nccl_version_names[v], what);
	wrong++;
}

/* Does an entry of the list say the whole name? Then more than one is what somebody wants. */
static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);
	const char *at = list;

	while (at && *at) {
		if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
			return true;
		at = strchr(at, ',');
		at += at != NULL;
	}
	return false;
}

static bool are_named(const struct nccl_ifaddr *ifs, const size_t *found, size_t n,
		      const char *list)
{
	size_t i;

	for (i = 0; list && i < n; i++)
		if (!is_named(list + (*list == '='), ifs[found[i]].name))
			return false;
	return list != NULL;
}

static void check_job_interface(const struct job *j, size_t i, int v)
{
	const struct nca_plan_node *node = &j->plan->nodes.v[i];
	struct nccl_ifaddr ifs[512];
	size_t found[16], n = node_ifaddrs(&j->job->nodes.v[i], ifs, ARRAY_SIZE(ifs));
	size_t count =
		nccl_interfaces(ifs, n, variable(j, i, "NCCL_SOCKET_IFNAME"),
				variable(j, i, "NCCL_SOCKET_FAMILY"), nccl_versions[v], 16, found);
	const char *set = nca_pairs_get(j->job->nodes.v[i].environment, "NCCL_SOCKET_IFNAME");
	char text[NCA_ADDR_TEXT];

	if (!node->socket_ifname)
		return;
	if (!count || !streq(ifs[found[0]].name, node->socket_ifname))
		say(j, i, v, "another interface");
	else if (!streq(nca_ip_text(&ifs[found[0]].ip, text), node->socket_addr))
		say(j, i, v, "another address");
	else if (count > 1 && !is_said(j, "env-prefix") && !are_named(ifs, found, count, set))
		say(j, i, v, "more than one interface");
}

/* NCCL opens what the task can open and takes what is active. */
static bool is_visible(const struct nca_node *node, const struct nca_hca *hca,
		       const struct nca_port *port)
{
	return hca->uverbs_opens != 0 && !nca_same(node->dev_infiniband, "absent") &&
	       (!port->state || streq(port->state, "ACTIVE")) &&
	       (!port->link_layer || streq(port->link_layer, "InfiniBand") ||
		streq(port->link_layer, "Ethernet"));
}

static bool is_planned(const struct nca_plan_node *node, const struct nca_hca *hca, int port)
{
	const struct nca_plan_hca *h;

	NCA_FOREACH(h, node->hcas)
		if (streq(h->name, hca->name) && h->port == port)
			return true;
	return false;
}

static void check_job_hcas(const struct job *j, size_t i, int v)
{
	const char *list = variable(j, i, "NCCL_IB_HCA"), *net = variable(j, i, "NCCL_NET");
	const struct nca_plan_node *node = &j->plan->nodes.v[i];
	const struct nca_hca *hca;
	const struct nca_port *port;

	/* A plug-in does not ask for the list, and TCP is said by NCCL_NET, in letters of any size
	 * (src/plugin/net.cc; src/net.cc before). */
	if (streq(j->plan->net, "plugin") || streq(j->plan->net, "none") ||
	    (net && !strcasecmp(net, "Socket")))
		return;
	NCA_FOREACH(hca, j->job->nodes.v[i].hcas)
		NCA_FOREACH(port, hca->ports) {
			bool takes = is_visible(&j->job->nodes.v[i], hca, port) &&
				     nccl_takes_port(list, hca->name, port->port, nccl_versions[v]);

			if (takes && !is_planned(node, hca, port->port) &&
			    !is_said(j, "env-more-hcas") &&
			    !nca_same(variable(j, i, "NCCL_IB_DISABLE"), "1"))
				say(j, i, v, "more HCAs");
			if (!takes && is_planned(node, hca, port->port))
				say(j, i, v, "fewer HCAs");
		}
}

static size_t port_gids(const struct nca_port *port, struct nccl_gid *gids, size_t most)
{
	const struct nca_gid *gid;
	size_t n = 0;

	NCA_FOREACH(gid, port->gids) {
		struct nca_ip ip;

		if (n == most || nca_ip_parse_gid(gid->gid, &ip))
			continue;
		gids[n].index = gid->index;
		gids[n].roce = gid->type && strstr(gid->type, "v2") ? 2 : 1;
		nccl_gid_raw(&ip, gids[n++].raw);
	}
	return n;
}

static void check_job_gids(const struct job *j, size_t i, int v)
{
	const struct nca_node *from = &j->job->nodes.v[i];
	const struct nca_plan_hca *h;
	const struct nca_port *port;

	NCA_FOREACH(h, j->plan->nodes.v[i].hcas)
		NCA_FOREACH(port, nca_node_hca(from, h->name)->ports) {
			struct nccl_gid gids[256];
			size_t n = port_gids(port, gids, ARRAY_SIZE(gids));
			int index;

			if (port->port != h->port || h->gid_index < 0)
				continue;
			index = nccl_gid_index(gids, n, 256, variable(j, i, "NCCL_IB_GID_INDEX"),
					       variable(j, i, "NCCL_IB_ADDR_FAMILY"),
					       variable(j, i, "NCCL_IB_ADDR_RANGE"),
					       nccl_versions[v]);
			compared++;
			if (index != h->gid_index && !is_said(j, "gid-ambiguous") &&
			    !(nccl_versions[v] < 22100 && is_said(j, "gid-old-nccl")) &&
			    !is_said(j, "env-other-gid"))
				say(j, i, v, "another GID");
		}
}

/* A node that knows its NCCL gets what is right for that one. */
static bool is_version(const struct nca_node *node, int v)
{
	int own = nca_version_nccl(node),
	    next = v + 1 < NCCL_VERSIONS ? nccl_versions[v + 1] : own + 1;

	return own < 0 || (own >= nccl_versions[v] && own < next) ||
	       (v == 0 && own < nccl_versions[0]);
}

static void check_job(const char *path)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	nca_autofree char *text = NULL;
	struct nca_error err = {""};
	struct nca_options opt;
	struct nca_plan *plan;
	struct job j = {.file = strrchr(path, '/') + 1};
	size_t len, i;
	void *job;
	int v;

	nca_options_init(&opt);
	nca_options_finish(&opt);
	if (nca_file_read(path, &text, &len, &err) ||
	    nca_schema_parse(&nca_job_shape, text, len, path, pool, &job, &err) ||
	    nca_plan_make(job, &opt, NULL, pool, &plan, &err))
		fail_msg("%s", err.text);
	j.job = job;
	j.plan = plan;
	for (i = 0; i < plan->nodes.n && !streq(plan->verdict, "refuse"); i++)
		for (v = 0; v < NCCL_VERSIONS; v++) {
			if (!is_version(&j.job->nodes.v[i], v))
				continue;
			check_job_interface(&j, i, v);
			check_job_hcas(&j, i, v);
			check_job_gids(&j, i, v);
		}
}

static void test_jobs(void **state)
{
	glob_t found;
	size_t i;

	(void)state;
	assert_int_equal(glob(JOBS, GLOB_BRACE, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++)
		check_job(found.gl_pathv[i]);
	globfree(&found);
	assert_true(compared > 500);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs)};

	return cmocka_run_group_tests_name("oracle_jobs", tests, NULL, NULL);
}
