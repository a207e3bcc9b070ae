/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded jobs, and what two plans of one have in common. */
#include "recorded.h"

#include <glob.h>

struct recorded jobs[JOBS_MAX];
size_t njobs;

struct nca_job *recorded_job(const json_t *json, struct nca_pool *pool)
{
	struct nca_job *job = nca_pool_alloc(pool, sizeof(*job));
	struct nca_error err = {""};

	if (nca_schema_decode(&nca_job_shape, (json_t *)json, "", pool, job, &err))
		fail_msg("%s", err.text);
	return job;
}

struct nca_plan *recorded_plan(const struct nca_job *job, struct nca_pool *pool)
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

const struct nca_plan_node *plan_find_node(const struct nca_plan *plan, const char *name)
{
	const struct nca_plan_node *node;

	NCA_FOREACH(node, plan->nodes)
		if (streq(node->name, name))
			return node;
	return NULL;
}

bool plan_same_name(const char *was, const char *is, const char *rename)
{
	size_t n = rename ? strlen(rename) : 0;

	if (!was || !is)
		return was == is;
	return streq(was, is) || (!strncmp(is, rename ? rename : "", n) && streq(was, is + n));
}

bool plan_same_hcas(const struct nca_plan_node *a, const struct nca_plan_node *b,
		    const struct likeness *how)
{
	size_t i, k;

	if (a->hcas.n != b->hcas.n)
		return false;
	for (i = 0; i < a->hcas.n; i++) {
		for (k = 0; k < b->hcas.n; k++)
			if (plan_same_name(a->hcas.v[i].name, b->hcas.v[k].name, how->rename) &&
			    a->hcas.v[i].port == b->hcas.v[k].port &&
			    a->hcas.v[i].gid_index == b->hcas.v[k].gid_index)
				break;
		if (k == b->hcas.n || (!(how->flags & ANY_ORDER) && k != i))
			return false;
	}
	return true;
}

/* Which node runs task 0, where the others meet, is a matter of the order. */
static const char *const of_first[] = {"env-master-addr", "master-port-busy", "no-port"};

static size_t count_warnings(const struct nca_plan *plan, int flags)
{
	const struct nca_warning *w;
	size_t i, n = 0;

	NCA_FOREACH(w, plan->warnings) {
		n++;
		for (i = 0; flags & ANY_FIRST && i < ARRAY_SIZE(of_first); i++)
			n -= streq(w->code, of_first[i]);
	}
	return n;
}

const char *plan_difference(const struct nca_plan *a, const struct nca_plan *b,
			    const struct likeness *how)
{
	const struct nca_plan_node *node;

	if (!streq(a->verdict, b->verdict))
		return "verdict";
	if (!streq(a->net, b->net))
		return "net";
	if (!streq(a->confidence, b->confidence))
		return "confidence";
	if (count_warnings(a, how->flags) != count_warnings(b, how->flags))
		return "warnings";
	NCA_FOREACH(node, a->nodes) {
		const struct nca_plan_node *other = plan_find_node(b, node->name);

		if (!plan_same_name(node->socket_ifname, other->socket_ifname, how->rename))
			return "interface";
		if (!plan_same_hcas(node, other, how))
			return "HCAs";
		if (node->env.n != other->env.n)
			return "variables";
		if (!(how->flags & ANY_ROWS) && node->decisions.n != other->decisions.n)
			return "rows";
	}
	return NULL;
}

int recorded_read(void **state)
{
	glob_t found;
	size_t i;

	(void)state;
	assert_int_equal(glob(JOBS, GLOB_BRACE, NULL, &found), 0);
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

int recorded_free(void **state)
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
