/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must not change a decision, over all recorded jobs: the order in which things are listed,
 * names, what has no part in the step; and what must only make it less sure: facts that are not
 * known.
 */
#include "table.h"

#include <glob.h>
#include <stdio.h>

#include <jansson.h>

#include <nca/digest.h>
#include <nca/file.h>
#include <nca/plan.h>

#define JOBS_MAX 256

struct job {
	char *name;
	json_t *json;	/* as recorded, without the answer */
	json_t *expect; /* the answer, which may allow several */
};

static struct job jobs[JOBS_MAX];
static size_t njobs;

typedef void (*mutate_fn)(json_t *job);

/* Bits of what is not compared. */
enum { ANY_ROWS = 1, ANY_ORDER = 2 };

struct property {
	const char *name;
	mutate_fn mutate;
	int flags;
	const char *rename; /* what was put before each device's name */
};

static json_t *get(json_t *object, const char *key)
{
	return json_object_get(object, key);
}

#define FOREACH(list, item)                                                                        \
	for (size_t at_##item = 0; at_##item < json_array_size(list); at_##item++)                 \
		if ((item = json_array_get(list, at_##item)))

static void reverse(json_t *list)
{
	size_t i, n = json_array_size(list);

	for (i = 0; i < n; i++) {
		json_t *last = json_incref(json_array_get(list, n - 1));

		json_array_remove(list, n - 1);
		json_array_insert_new(list, i, last);
	}
}

static void reverse_nodes(json_t *job)
{
	reverse(get(job, "nodes"));
}

static void reverse_devices(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		reverse(get(node, "interfaces"));
		reverse(get(node, "hcas"));
		reverse(get(node, "pci"));
	}
}

/* 198.51.100.0/24 is for documentation: no job has it. */
static json_t *link_new(const char *name, const char *kind, const char *addr, int len, int carrier)
{
	return json_pack("{s:s, s:i, s:s, s:i, s:i, s:[s, s], s:[{s:s, s:s, s:i, s:s}]}", "name",
			 name, "ifindex", 900, "kind", kind, "mtu", 1500, "carrier", carrier,
			 "flags", "BROADCAST", "UP", "addresses", "family", "inet", "addr", addr,
			 "prefixlen", len, "scope", "global");
}

static void add_down(json_t *job)
{
	json_t *node;
	int i = 1;

	FOREACH(get(job, "nodes"), node)
	{
		char addr[32];

		snprintf(addr, sizeof(addr), "198.51.100.%d", i++);
		json_array_append_new(get(node, "interfaces"),
				      link_new("down0", "ether", addr, 24, 0));
	}
}

static void add_docker(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		json_array_append_new(get(node, "interfaces"),
				      link_new("docker9", "bridge", "198.51.100.1", 24, 1));
		if (json_array_size(get(node, "routes")))
			json_array_append_new(get(node, "routes"),
					      json_pack("{s:s, s:s, s:s}", "family", "inet", "dst",
							"198.51.100.0/24", "dev", "docker9"));
	}
}

static void add_keys_to(json_t *value)
{
	const char *key;
	json_t *item;
	void *next;

	FOREACH(value, item)
	add_keys_to(item);
	if (!json_is_object(value))
		return;
	json_object_foreach_safe(value, next, key, item)
		/* Maps of names: a key more is a fact more. */
		if (!streq(key, "environment") && !streq(key, "sysctl") &&
		    !streq(key, "software") && !streq(key, "distances") && !streq(key, "vpd") &&
		    !streq(key, "counters") && !streq(key, "options")) add_keys_to(item);
	json_object_set_new(value, "no_such_key", json_pack("{s:[i]}", "a", 1));
}

/* Device names stand in many places; whatever string equals one is one. */
static void rename_in(json_t *value, json_t *names)
{
	const char *key;
	json_t *item;
	void *next;
	size_t i;

	for (i = 0; i < json_array_size(value); i++) {
		item = json_array_get(value, i);
		if (json_is_string(item) && get(names, json_string_value(item)))
			json_array_set(value, i, get(names, json_string_value(item)));
		else
			rename_in(item, names);
	}
	if (!json_is_object(value))
		return;
	json_object_foreach_safe(value, next, key, item)
	{
		if (json_is_string(item) && get(names, json_string_value(item)))
			json_object_set(value, key, get(names, json_string_value(item)));
		else
			rename_in(item, names);
	}
}

static void rename_distances(json_t *node)
{
	json_t *old = get(node, "distances"), *new, *row;
	const char *key;
	char name[128];

	if (!json_is_object(old))
		return;
	new = json_object();
	json_object_foreach(old, key, row) {
		snprintf(name, sizeof(name), "q%s", key);
		json_object_set(new, name, row);
	}
	json_object_set_new(node, "distances", new);
}

static void collect_names(json_t *list, json_t *names)
{
	json_t *item;

	FOREACH(list, item)
	{
		const char *name = json_string_value(get(item, "name"));

		/* "lo" is the kernel's. */
		if (!streq(name, "lo"))
			json_object_set_new(names, name, json_sprintf("q%s", name));
	}
}

static void rename_devices(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		json_t *names = json_object(), *gone = get(node, "environment");

		collect_names(get(node, "interfaces"), names);
		collect_names(get(node, "hcas"), names);
		/* What somebody set names devices as they were: that is another question. */
		if (gone)
			json_object_del(node, "environment");
		json_object_del(node, "launcher");
		rename_in(node, names);
		rename_distances(node);
		json_decref(names);
	}
}

static void forget_environment(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		json_object_del(node, "environment");
		json_object_del(node, "launcher");
	}
}

static struct nca_job *read_job(const json_t *json, struct nca_pool *pool)
{
	struct nca_job *job = nca_pool_alloc(pool, sizeof(*job));
	struct nca_error err = {""};

	if (nca_schema_decode(&nca_job_shape, (json_t *)json, "", pool, job, &err))
		fail_msg("%s", err.text);
	return job;
}

static struct nca_plan *plan_job(const struct nca_job *job, struct nca_pool *pool)
{
	struct nca_error err = {""};
	struct nca_options opt;
	struct nca_plan *plan;

	nca_options_init(&opt);
	nca_options_finish(&opt);
	if (nca_plan_make(job, &opt, NULL, pool, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static const struct nca_plan_node *find_node(const struct nca_plan *plan, const char *name)
{
	const struct nca_plan_node *node;

	NCA_FOREACH(node, plan->nodes)
		if (streq(node->name, name))
			return node;
	return NULL;
}

static bool same_name(const char *was, const char *is, const char *rename)
{
	size_t n = rename ? strlen(rename) : 0;

	if (!was || !is)
		return was == is;
	return streq(was, is) || (!strncmp(is, rename ? rename : "", n) && streq(was, is + n));
}

static bool same_hcas(const struct nca_plan_node *a, const struct nca_plan_node *b,
		      const struct property *p)
{
	size_t i, k;

	if (a->hcas.n != b->hcas.n)
		return false;
	for (i = 0; i < a->hcas.n; i++) {
		for (k = 0; k < b->hcas.n; k++)
			if (same_name(a->hcas.v[i].name, b->hcas.v[k].name, p->rename) &&
			    a->hcas.v[i].port == b->hcas.v[k].port &&
			    a->hcas.v[i].gid_index == b->hcas.v[k].gid_index)
				break;
		if (k == b->hcas.n || (!(p->flags & ANY_ORDER) && k != i))
			return false;
	}
	return true;
}

/* Which node runs task 0 is a matter of the order. */
static size_t count_warnings(const struct nca_plan *plan)
{
	const struct nca_warning *w;
	size_t n = 0;

	NCA_FOREACH(w, plan->warnings)
		n += !streq(w->code, "master-addr-elsewhere");
	return n;
}

/* What differs, NULL where nothing does. */
static const char *difference(const struct nca_plan *a, const struct nca_plan *b,
			      const struct property *p)
{
	const struct nca_plan_node *node;

	if (!streq(a->verdict, b->verdict))
		return "verdict";
	if (!streq(a->net, b->net))
		return "net";
	if (!streq(a->confidence, b->confidence))
		return "confidence";
	if (count_warnings(a) != count_warnings(b))
		return "warnings";
	NCA_FOREACH(node, a->nodes) {
		const struct nca_plan_node *other = find_node(b, node->name);

		if (!same_name(node->socket_ifname, other->socket_ifname, p->rename))
			return "interface";
		if (!same_hcas(node, other, p))
			return "HCAs";
		if (node->env.n != other->env.n)
			return "variables";
		if (!(p->flags & ANY_ROWS) && node->decisions.n != other->decisions.n)
			return "rows";
	}
	return NULL;
}

static const struct property properties[] = {
	{"the order of the nodes", reverse_nodes, ANY_ORDER, NULL},
	{"the order of the devices", reverse_devices, 0, NULL},
	{"the names of the devices", rename_devices, ANY_ORDER, "q"},
	{"an interface that is down", add_down, ANY_ROWS, NULL},
	{"a docker bridge", add_docker, ANY_ROWS, NULL},
	{"unknown keys", add_keys_to, 0, NULL},
};

static void check_property(void **state)
{
	const struct property *p = *state;
	size_t i, wrong = 0;

	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		json_t *before = json_deep_copy(jobs[i].json), *after;
		const char *what;

		if (p->rename)
			forget_environment(before);
		after = json_deep_copy(before);
		p->mutate(after);
		what = difference(plan_job(read_job(before, pool), pool),
				  plan_job(read_job(after, pool), pool), p);
		if (what)
			print_message("# %s: %s differ\n", jobs[i].name, what);
		wrong += what != NULL;
		json_decref(before);
		json_decref(after);
	}
	assert_int_equal(wrong, 0);
}

/* A digest, which is what nodes send, gives the plan of the snapshot to the last letter. */
static void check_digest(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		struct nca_job *job = read_job(jobs[i].json, pool);
		nca_autofree char *want = NULL, *got = NULL;
		struct nca_node *node;
		json_t *digest;

		want = nca_schema_print(&nca_plan_shape, plan_job(job, pool), 0, 1);
		NCA_FOREACH(node, job->nodes)
			assert_int_equal(nca_digest_prepare(node, pool), 0);
		digest = nca_schema_encode(&nca_job_shape, job, NCA_DIGEST);
		got = nca_schema_print(&nca_plan_shape, plan_job(read_job(digest, pool), pool), 0,
				       1);
		json_decref(digest);
		if (!streq(want, got))
			print_message("# %s\n", jobs[i].name);
		assert_string_equal(want, got);
	}
}

/* 10.0.0.7/24 becomes 10.0.0.107 in the new node, and its GIDs with it; the addresses that all
 * nodes have (containers' bridges) stay. False where there is no room. */
static bool move_address(json_t *a, const char *others, json_t *names)
{
	const char *addr = json_string_value(get(a, "addr"));
	unsigned int b[4];
	char text[64], gid[64];

	if (!streq(json_string_value(get(a, "scope")), "global"))
		return true;
	if (sscanf(addr, "%u.%u.%u.%u", &b[0], &b[1], &b[2], &b[3]) != 4 ||
	    json_integer_value(get(a, "prefixlen")) > 24)
		return false;
	snprintf(text, sizeof(text), "\"%s\"", addr);
	if (strstr(others, text))
		return true;
	snprintf(text, sizeof(text), "%u.%u.%u.%u", b[0], b[1], b[2], (b[3] + 100) % 250 + 1);
	json_object_set_new(names, addr, json_string(text));
	snprintf(gid, sizeof(gid), "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", b[0], b[1],
		 b[2], b[3]);
	snprintf(text, sizeof(text), "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", b[0], b[1],
		 b[2], (b[3] + 100) % 250 + 1);
	json_object_set_new(names, gid, json_string(text));
	return true;
}

/* A node like the last one, with addresses of its own. */
static bool add_node(json_t *job)
{
	json_t *nodes = get(job, "nodes"), *node, *link, *a, *names = json_object();
	size_t n = json_array_size(nodes);
	nca_autofree char *others = json_dumps(json_array_get(nodes, 0), 0);
	bool room = n > 1;

	node = json_deep_copy(json_array_get(nodes, n - 1));
	FOREACH(get(node, "interfaces"), link)
	FOREACH(get(link, "addresses"), a)
	room = room && move_address(a, others, names);
	json_object_set_new(node, "name", json_string("extra9"));
	rename_in(get(node, "interfaces"), names);
	rename_in(get(node, "hcas"), names);
	json_decref(names);
	json_array_append_new(nodes, node);
	json_object_set_new(job, "nnodes",
			    json_integer(json_integer_value(get(job, "nnodes")) + 1));
	return room;
}

static void check_add_node(void **state)
{
	const struct property any = {.flags = ANY_ROWS};
	size_t i, wrong = 0, tried = 0;

	(void)state;
	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		json_t *after = json_deep_copy(jobs[i].json);

		if (add_node(after)) {
			const char *what = difference(plan_job(read_job(jobs[i].json, pool), pool),
						      plan_job(read_job(after, pool), pool), &any);

			tried++;
			wrong += what != NULL;
			if (what)
				print_message("# %s: %s differ\n", jobs[i].name, what);
		}
		json_decref(after);
	}
	assert_true(tried > 20);
	assert_int_equal(wrong, 0);
}

/* Facts that a node may not know, one kind at a time: of the node, of its links, HCAs and ports. */
struct fact {
	const char *name;
	const char *of; /* NULL, "interfaces", "hcas" or "ports" */
	const char *key;
	const char *but; /* a job in which nothing else tells */
};

static const struct fact facts[] = {
	{"without routes", NULL, "routes", NULL},
	{"without peers", NULL, "peers", NULL},
	{"without PCI tree", NULL, "pci", NULL},
	{"without distances", NULL, "distances", NULL},
	{"without GPUs", NULL, "gpus", NULL},
	{"without host", NULL, "host", NULL},
	{"without firewall", NULL, "firewall", NULL},
	{"without memory lock limit", NULL, "memlock_kb", NULL},
	{"without NCCL's version", NULL, "nccl_version", NULL},
	{"without knowing of a container", NULL, "in_container", NULL},
	{"without port range", NULL, "ip_local_port_range", NULL},
	{"without kinds of links", "interfaces", "kind", NULL},
	{"without speeds", "interfaces", "speed_mbps", NULL},
	{"without MTUs", "interfaces", "mtu", NULL},
	{"without carriers", "interfaces", "carrier", NULL},
	{"without flags", "interfaces", "flags", NULL},
	{"without interface indexes", "interfaces", "ifindex", NULL},
	{"without PCI addresses of links", "interfaces", "pci", NULL},
	{"without drivers of links", "interfaces", "driver", NULL},
	{"without masters", "interfaces", "master", NULL},
	{"without bonds", "interfaces", "bond", NULL},
	{"without PCI addresses of HCAs", "hcas", "pci", NULL},
	{"without NUMA nodes of HCAs", "hcas", "numa", NULL},
	{"without node types", "hcas", "node_type", NULL},
	/* A container's devices as sysfs lists them: only opening them tells. */
	{"without uverbs", "hcas", "uverbs_opens", "104.json"},
	{"without drivers of HCAs", "hcas", "driver", NULL},
	{"without rates", "ports", "rate_gbps", NULL},
	{"without physical states", "ports", "phys_state", NULL},
	{"without netdevs", "ports", "netdev", NULL},
	/* Five InfiniBand fabrics that differ in their subnet prefixes alone. */
	{"without GIDs", "ports", "gids", "105.json"},
	{"without LIDs", "ports", "lid", NULL},
};

static void forget(json_t *value, const char *of, const char *key)
{
	json_t *item, *port;

	if (!of) {
		json_object_del(value, key);
		return;
	}
	FOREACH(get(value, streq(of, "ports") ? "hcas" : of), item)
	{
		if (!streq(of, "ports"))
			json_object_del(item, key);
		else
			FOREACH(get(item, "ports"), port)
		json_object_del(port, key);
	}
}

static bool holds(json_t *list, const char *name)
{
	json_t *item;

	FOREACH(list, item)
	if (nca_same(json_string_value(item), name))
		return true;
	return false;
}

static bool is_right_interface(json_t *expect, const struct nca_plan_node *node)
{
	const char *name = node->socket_ifname;

	return nca_same(json_string_value(get(get(expect, "socket_ifname"), node->name)), name) ||
	       nca_same(json_string_value(get(get(expect, "socket_ifname_also"), node->name)),
			name) ||
	       holds(get(get(expect, "socket_ifname_any"), node->name), name);
}

static bool is_list(json_t *list, const struct nca_plan_node *node)
{
	const struct nca_plan_hca *hca;

	if (!list || json_array_size(list) != node->hcas.n)
		return false;
	NCA_FOREACH(hca, node->hcas)
		if (!holds(list, hca->name))
			return false;
	return true;
}

static bool is_right_list(json_t *expect, const struct nca_plan_node *node)
{
	json_t *other;

	FOREACH(get(get(expect, "hcas_any"), node->name), other)
	if (is_list(other, node))
		return true;
	return is_list(get(get(expect, "hcas_also"), node->name), node);
}

/* The same choice, or an unsure one, or less than was chosen: nothing else that is certain. */
static const char *certain_difference(const struct nca_plan *a, const struct nca_plan *b,
				      json_t *expect)
{
	const struct property any = {.flags = ANY_ORDER};
	const struct nca_plan_node *node;

	if (streq(b->confidence, "unsure") || streq(a->verdict, "refuse") ||
	    streq(b->verdict, "fallback"))
		return NULL;
	if (streq(b->verdict, "refuse") && !streq(a->verdict, "refuse"))
		return "refused";
	NCA_FOREACH(node, a->nodes) {
		const struct nca_plan_node *other = find_node(b, node->name);

		if (!same_name(node->socket_ifname, other->socket_ifname, NULL) &&
		    !is_right_interface(expect, other))
			return "another interface";
		if (node->hcas.n && other->hcas.n && node->hcas.v->gid_index >= 0 &&
		    other->hcas.v->gid_index < 0)
			continue;
		if (!same_hcas(node, other, &any) && !is_right_list(expect, other))
			return "other HCAs";
	}
	return NULL;
}

static void check_fact(void **state)
{
	const struct fact *f = *state;
	size_t i, wrong = 0;

	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		json_t *after = json_deep_copy(jobs[i].json), *node;
		const char *what;

		FOREACH(get(after, "nodes"), node)
		forget(node, f->of, f->key);
		what = certain_difference(plan_job(read_job(jobs[i].json, pool), pool),
					  plan_job(read_job(after, pool), pool), jobs[i].expect);
		if (f->but && streq(f->but, jobs[i].name))
			what = NULL;
		if (what)
			print_message("# %s: %s, and sure\n", jobs[i].name, what);
		wrong += what != NULL;
		json_decref(after);
	}
	assert_int_equal(wrong, 0);
}

static int read_jobs(void **state)
{
	glob_t found;
	size_t i;

	(void)state;
	assert_int_equal(glob(JOBS_DIR "/*.json", 0, NULL, &found), 0);
	assert_true(found.gl_pathc < JOBS_MAX);
	for (i = 0; i < found.gl_pathc; i++) {
		json_t *json = json_load_file(found.gl_pathv[i], 0, NULL);

		assert_non_null(json);
		jobs[njobs].expect = json_incref(get(json, "expect"));
		json_object_del(json, "expect");
		jobs[njobs].json = json;
		jobs[njobs++].name = strdup(strrchr(found.gl_pathv[i], '/') + 1);
	}
	globfree(&found);
	return 0;
}

static int free_jobs(void **state)
{
	(void)state;
	while (njobs) {
		njobs--;
		json_decref(jobs[njobs].json);
		json_decref(jobs[njobs].expect);
		free(jobs[njobs].name);
	}
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, properties, check_property);
	TABLE_ADD(tests, n, facts, check_fact);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_add_node);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_digest);
	return _cmocka_run_group_tests("properties", tests, n, read_jobs, free_jobs);
}
