/* SPDX-License-Identifier: Apache-2.0 */
/* What should be equal on all nodes: settings, versions, firmware. */
#include <errno.h>

#include <nca/hostlist.h>

#include "step.h"

/* More values than this are counted. */
#define GROUPS_MAX 4

/* Names and ranges of a value. */
#define NAMES_MAX 12

struct group {
	const char *value;
	NCA_LIST(const char *) nodes;
};

struct groups {
	NCA_LIST(struct group) all;
};

static struct group *find_group(struct nca_pool *pool, struct groups *g, const char *value)
{
	struct group *group;

	NCA_FOREACH(group, g->all)
		if (streq(group->value, value))
			return group;
	group = NCA_APPEND(pool, g->all);
	if (group)
		*group = (struct group){.value = value};
	return group;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->nodes.n != y->nodes.n)
		return x->nodes.n < y->nodes.n ? 1 : -1;
	return strcmp(x->value, y->value);
}

/* "6.8 on node1,node3, 5.15 on node2" */
static char *groups_text(struct nca_pool *pool, const struct groups *g)
{
	const struct group *group;
	char *text = "";

	NCA_FOREACH(group, g->all) {
		size_t i = (size_t)(group - g->all.v);
		char *names = nca_hostlist_make(pool, group->nodes.v, group->nodes.n, NAMES_MAX);

		if (i == GROUPS_MAX)
			return nca_pool_printf(pool, "%s and %zu other values", text, g->all.n - i);
		text = !names ? NULL
			      : nca_pool_printf(pool, "%s%s%s on %s", text, i ? ", " : "",
						group->value, names);
		if (!text)
			return NULL;
	}
	return text;
}

static bool all_equal(const char *const *values, size_t n)
{
	const char *first = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (values[i] && first && values[i] != first && !streq(values[i], first))
			return false;
		first = first ? first : values[i];
	}
	return true;
}

int nca_differ_text(struct nca_pool *pool, const char *const *names, const char *const *values,
		    size_t n, char **text, const char **odd)
{
	struct groups g = {0};
	struct group *last;
	size_t i;

	if (all_equal(values, n))
		return 0;
	for (i = 0; i < n; i++) {
		struct group *group = values[i] ? find_group(pool, &g, values[i]) : NULL;
		const char **name = group ? NCA_APPEND(pool, group->nodes) : NULL;

		if (values[i] && !name)
			return -ENOMEM;
		if (name)
			*name = names[i];
	}
	qsort(g.all.v, g.all.n, sizeof(*g.all.v), compare_groups);
	last = &g.all.v[g.all.n - 1];
	*odd = last->nodes.n < g.all.v->nodes.n ? last->nodes.v[0] : NULL;
	*text = groups_text(pool, &g);
	return *text ? 1 : -ENOMEM;
}

bool nca_step_differ(struct nca_step *step, const char *code, const char *what,
		     const char *const *values, const char *cure)
{
	const char **names = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*names));
	const char *odd = NULL;
	char *text = NULL;
	size_t i;
	int rc = names ? 0 : -ENOMEM;

	for (i = 0; names && i < step->nodes.n; i++)
		names[i] = step->nodes.v[i].node->name;
	rc = rc ? rc : nca_differ_text(step->pool, names, values, step->nodes.n, &text, &odd);
	step->no_memory = step->no_memory || rc < 0;
	if (rc > 0)
		nca_step_warn(step, code, what, odd,
			      nca_step_text(step, "%s differs: %s; %s", what, text, cure));
	return rc != 0;
}

/* Keys of `software` that the nodes of a step should share. */
static const struct {
	const char *key, *what;
} software[] = {
	{"kernel", "the kernel"},	  {"ofed", "OFED"},
	{"gpu_driver", "the GPU driver"}, {"cuda", "CUDA"},
	{"libibverbs", "libibverbs"},	  {"nccl", "the node's NCCL"},
};

static const char *driver_of(struct nca_step *step, const struct nca_node_state *node)
{
	(void)step;
	return node->rails.n ? node->rails.v[0]->hca->driver : NULL;
}

/* The versions of the rails in their order, equal neighbours once. */
static const char *firmware_of(struct nca_step *step, const struct nca_node_state *node)
{
	const char *text = NULL, *last = NULL;
	size_t i;

	for (i = 0; i < node->rails.n; i++) {
		const char *fw = node->rails.v[i]->hca->fw_ver;

		if (!fw)
			return NULL;
		if (last && streq(fw, last))
			continue;
		text = text ? nca_step_join(step, text, ", ", fw) : fw;
		last = fw;
	}
	return text;
}

static bool check_rails(struct nca_step *step, const char **values, const char *what,
			const char *(*value)(struct nca_step *, const struct nca_node_state *))
{
	size_t i;

	for (i = 0; i < step->nodes.n; i++)
		values[i] = value(step, &step->nodes.v[i]);
	return nca_step_differ(step, "node-differs", what, values,
			       "the step runs, but is not what was tested. Update the node");
}

static void check_software(struct nca_step *step, const char **values)
{
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(software); k++) {
		for (i = 0; i < step->nodes.n; i++)
			values[i] = nca_pairs_get(step->nodes.v[i].node->software, software[k].key);
		nca_step_differ(step, "node-differs", software[k].what, values,
				"the step runs, but is not what was tested. Update the node");
	}
}

/* NCCL compares numbers; the rest is for people: 2.21.5+cuda12.4, 2.21.5-1. */
static const char *release(struct nca_step *step, const char *version)
{
	size_t n = version ? strspn(version, "0123456789.") : 0;

	return n ? nca_step_text(step, "%.*s", (int)n, version) : version;
}

/* All ranks must have the same version (src/init.cc, "Mismatched NCCL version detected"). */
static void check_nccl(struct nca_step *step, const char **values)
{
	size_t i;

	for (i = 0; i < step->nodes.n; i++)
		values[i] = release(step, step->nodes.v[i].node->nccl_version);
	if (nca_step_differ(step, "nccl-differs", "the task's NCCL", values,
			    "NCCL refuses to start with different versions. Use one image or "
			    "environment on all nodes"))
		nca_step_verdict(step, "refuse");
}

/* What NCCL loads by itself: somebody who has set NCCL_NET or NCCL_NET_PLUGIN has chosen. */
static const char *plugin_of(const struct nca_node_state *node)
{
	const char *plugin = node->node->nccl_net_plugin;

	if (nca_step_set(node, "NCCL_NET") || nca_step_set(node, "NCCL_NET_PLUGIN"))
		return NULL;
	return plugin && !*plugin ? "none" : plugin;
}

/* One node's plug-in does not talk to another's, nor to NCCL's own (NVIDIA/nccl#1634). */
static void check_plugins(struct nca_step *step, const char **values)
{
	bool own = !streq(step->plan->net, "plugin");
	size_t i;

	if (streq(step->plan->net, "Socket"))
		return;
	for (i = 0; i < step->nodes.n; i++)
		values[i] = plugin_of(&step->nodes.v[i]);
	nca_step_differ(step, "node-differs", "NCCL's network plug-in", values,
			own ? "NCCL waits for ever. Use one image or environment on all nodes, or "
			      "set NCCL_NET=IB to leave the plug-ins out"
			    : "NCCL waits for ever. Use one image or environment on all nodes");
}

void nca_step_check_versions(struct nca_step *step)
{
	const char **values = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*values));

	step->no_memory = step->no_memory || !values;
	if (!values || step->nodes.n < 2)
		return;
	check_nccl(step, values);
	check_plugins(step, values);
	check_software(step, values);
	if (!check_rails(step, values, "the HCA driver", driver_of))
		check_rails(step, values, "the HCA firmware", firmware_of);
}
