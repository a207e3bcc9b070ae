/* SPDX-License-Identifier: Apache-2.0 */
/* One environment for all nodes. */
#include <errno.h>

#include <nca/broadcast.h>
#include <nca/contract.h>

#include "step.h"

#define VERSION_CONF_FILE 22304

struct merge {
	const struct nca_job *job;
	struct nca_plan *plan;
	struct nca_pool *pool;
	bool any_file;
};

/* Both unset is the same, too. */
static bool is_same(const char *a, const char *b)
{
	return a && b ? streq(a, b) : !a && !b;
}

static bool is_same_everywhere(const struct merge *m, const char *key)
{
	const struct nca_plan_node *node;
	const char *first = nca_pairs_get(m->plan->nodes.v[0].env, key);

	NCA_FOREACH(node, m->plan->nodes)
		if (!is_same(first, nca_pairs_get(node->env, key)))
			return false;
	return true;
}

/* Of the node's own env, since that is what is copied. */
static void take(struct nca_plan_node *node, const char *key, struct nca_pair *ret)
{
	struct nca_pair *p;

	*ret = (struct nca_pair){NULL, NULL};
	NCA_FOREACH(p, node->env)
		if (streq(p->key, key)) {
			*ret = *p;
			memmove(p, p + 1, (size_t)(node->env.v + node->env.n - p - 1) * sizeof(*p));
			node->env.n--;
			return;
		}
}

static int put(struct merge *m, struct nca_plan_node *node, const char *key, const char *value)
{
	struct nca_pair *p = NCA_APPEND(m->pool, node->env);

	if (!p)
		return -ENOMEM;
	*p = (struct nca_pair){(char *)key, (char *)value};
	return 0;
}

static int move_to_file(struct merge *m, const char *key)
{
	struct nca_plan_node *node;

	m->any_file = true;
	NCA_FOREACH(node, m->plan->nodes) {
		struct nca_pair pair, *line;

		take(node, key, &pair);
		line = pair.key ? NCA_APPEND(m->pool, node->conf) : NULL;
		if (pair.key && !line)
			return -ENOMEM;
		if (line)
			*line = pair;
	}
	return 0;
}

/* Has a node an interface of that name that NCCL could take? */
static bool has_interface(const struct nca_node *node, const char *name)
{
	const struct nca_link *link = nca_node_link(node, name);

	return link && link->addresses.n && link->carrier != 0;
}

/* More names than this are no convention but chance. */
#define NAMES_MAX 8

/* Does a node have one of the names that is not its own? */
static bool has_other(const struct merge *m, size_t i, char *const *names, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++)
		if (!streq(names[k], m->plan->nodes.v[i].socket_ifname) &&
		    has_interface(&m->job->nodes.v[i], names[k]))
			return true;
	return false;
}

static size_t distinct_names(const struct merge *m, char *names[NAMES_MAX])
{
	const struct nca_plan_node *node;
	size_t n = 0, k;

	NCA_FOREACH(node, m->plan->nodes) {
		for (k = 0; k < n && !nca_same(names[k], node->socket_ifname);)
			k++;
		if (k < n)
			continue;
		if (n == NAMES_MAX || !node->socket_ifname)
			return 0;
		names[n++] = node->socket_ifname;
	}
	return n;
}

/* "=eth1,bond0": NULL where a node has more than its own of them, or memory is short. */
static const char *union_of_interfaces(struct merge *m)
{
	char *names[NAMES_MAX], *list = NULL;
	size_t n = distinct_names(m, names), i;

	for (i = 0; i < m->plan->nodes.n; i++)
		if (has_other(m, i, names, n))
			return NULL;
	for (i = 0; i < n; i++)
		list = nca_pool_printf(m->pool, "%s%s%s", list ? list : "=", list ? "," : "",
				       names[i]);
	return list;
}

/* Is it known of every node that NCCL reads the file? Of one that it does not? */
static void read_versions(const struct merge *m, bool *all_new, bool *any_old)
{
	const struct nca_node *node;

	*all_new = true;
	*any_old = false;
	NCA_FOREACH(node, m->job->nodes) {
		int version = nca_version_nccl(node);

		*all_new = *all_new && version >= VERSION_CONF_FILE;
		*any_old = *any_old || (version >= 0 && version < VERSION_CONF_FILE);
	}
}

static int leave_out(struct merge *m, const char *key, const char *why)
{
	const struct nca_plan_node *first = m->plan->nodes.v, *other = first;
	const char *a = nca_pairs_get(first->env, key), *b;
	struct nca_plan_node *node;
	struct nca_pair pair;
	int rc;

	while (is_same(a, nca_pairs_get(other->env, key)))
		other++;
	b = nca_pairs_get(other->env, key);
	rc = nca_plan_warn(m->plan, m->pool, "broadcast-differs", NULL,
			   "%s would be %s on %s and %s on %s, and %s: it is not set. Start the "
			   "workers by srun, or make the nodes alike",
			   key, a ? a : "unset", first->name, b ? b : "unset", other->name, why);
	NCA_FOREACH(node, m->plan->nodes)
		take(node, key, &pair);
	return rc;
}

static int merge_interfaces(struct merge *m, bool any_old)
{
	const char *list = union_of_interfaces(m);
	struct nca_plan_node *node;
	struct nca_pair pair;
	int rc = 0;

	if (!list)
		return any_old ? leave_out(m, "NCCL_SOCKET_IFNAME",
					   "NCCL before 2.23.4 reads no file at a place of ours")
			       : move_to_file(m, "NCCL_SOCKET_IFNAME");
	NCA_FOREACH(node, m->plan->nodes) {
		take(node, "NCCL_SOCKET_IFNAME", &pair);
		rc = rc ? rc : put(m, node, "NCCL_SOCKET_IFNAME", list);
	}
	return rc;
}

static bool is_rank(const char *key)
{
	return streq(key, "NODE_RANK") || streq(key, "PET_NODE_RANK");
}

static int merge_key(struct merge *m, const char *key)
{
	struct nca_plan_node *node;
	struct nca_pair pair;
	bool all_new, any_old;

	if (is_rank(key)) {
		NCA_FOREACH(node, m->plan->nodes)
			take(node, key, &pair);
		return 0;
	}
	if (!nca_has_prefix(key, "NCCL_"))
		return leave_out(m, key, "nothing but NCCL reads a file");
	read_versions(m, &all_new, &any_old);
	if (!all_new && streq(key, "NCCL_SOCKET_IFNAME"))
		return merge_interfaces(m, any_old);
	return any_old ? leave_out(m, key, "NCCL before 2.23.4 reads no file at a place of ours")
		       : move_to_file(m, key);
}

/* The next key of any node that is not the same on all. One that the first node has was compared
 * there; one that it lacks differs. */
static const char *next_different(const struct merge *m)
{
	const struct nca_plan_node *node, *first = m->plan->nodes.v;
	const struct nca_pair *p;

	NCA_FOREACH(p, first->env)
		if (!is_same_everywhere(m, p->key))
			return p->key;
	NCA_FOREACH(node, m->plan->nodes)
		NCA_FOREACH(p, node->env)
			if (!nca_pairs_get(first->env, p->key))
				return p->key;
	return NULL;
}

/* Every node's own directory for such files; NULL: not the same, or not there. */
static const char *common_dir(const struct nca_job *job)
{
	const struct nca_node *node;

	NCA_FOREACH(node, job->nodes)
		if (!nca_same(node->conf_dir, job->nodes.v[0].conf_dir))
			return NULL;
	return job->nodes.v[0].conf_dir;
}

/* For a step named by the step, for a job by the job. */
static const char *make_path(const struct merge *m, const struct nca_options *opt)
{
	const char *id = m->job->id ? m->job->id : "0", *dir = common_dir(m->job);
	size_t n = nca_broadcast_wanted(opt) == NCA_BROADCAST_JOB ? strcspn(id, ".") : strlen(id);

	if (opt->conf_dir[0] || !dir)
		return nca_pool_printf(m->pool, "%s/nccl-autoconf.%.*s/nccl.conf",
				       opt->conf_dir[0] ? opt->conf_dir : "/var/tmp", (int)n, id);
	return nca_pool_printf(m->pool, "%s/%.*s/nccl.conf", dir, (int)n, id);
}

enum nca_broadcast nca_broadcast_wanted(const struct nca_options *opt)
{
	const struct nca_contract *c = nca_contract_find(opt->trainer);

	if (opt->broadcast > NCA_BROADCAST_OFF)
		return (enum nca_broadcast)opt->broadcast;
	return c && c->copies ? NCA_BROADCAST_STEP : NCA_BROADCAST_OFF;
}

int nca_broadcast_apply(const struct nca_job *job, const struct nca_options *opt,
			struct nca_plan *plan, struct nca_pool *pool)
{
	struct merge m = {.job = job, .plan = plan, .pool = pool};
	const char *key, *path = make_path(&m, opt);
	struct nca_plan_node *node;
	int rc = path ? 0 : -ENOMEM;

	while (!rc && (key = next_different(&m)))
		rc = merge_key(&m, key);
	NCA_FOREACH(node, plan->nodes)
		if (!rc && m.any_file)
			rc = put(&m, node, "NCCL_CONF_FILE", path);
	return rc;
}
