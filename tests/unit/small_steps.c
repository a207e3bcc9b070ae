/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan of a small step must be. */
#include "small_steps.h"

static void read_bans(struct nca_pool *pool, const char *text, nca_bans *bans)
{
	for (; text && *text; text += strcspn(text, ",") + (strchr(text, ',') != NULL)) {
		struct nca_ban *ban = NCA_APPEND(pool, *bans);
		size_t name = strcspn(text, " ");

		ban->node = nca_pool_strndup(pool, text, name);
		ban->subject =
			nca_pool_strndup(pool, text + name + 1, strcspn(text, ",") - name - 1);
	}
}

void plan_make(struct nca_pool *pool, const struct plan *r, struct nca_plan **plan,
	       const struct nca_job **job)
{
	struct nca_error err = {""};
	struct nca_options opt;
	nca_bans bans = {0};

	read_bans(pool, r->bans, &bans);
	nca_options_init(&opt);
	nca_options_finish(&opt);
	opt.missing_rail_fail = r->missing_rail_fail;
	opt.min_rails = r->min_rails;
	opt.fallback_fail = r->fallback_fail;
	*job = document_read(pool, &nca_job_shape, r->job);
	if (nca_plan_make(*job, &opt, &bans, pool, plan, &err))
		fail_msg("%s", err.text);
}

static char *hcas_text(struct nca_pool *pool, const struct nca_plan_node *node)
{
	const struct nca_plan_hca *hca;
	char *text = "";

	NCA_FOREACH(hca, node->hcas)
		text = nca_pool_printf(pool, "%s%s%s", text, *text ? "," : "", hca->name);
	return text;
}

/* One row for each interface and each port, decided, with a sentence. */
static void check_rows(const struct nca_node *node, const struct nca_plan_node *got)
{
	const struct nca_decision *row;
	const struct nca_hca *hca;
	size_t n = node->interfaces.n, chosen = 0;

	NCA_FOREACH(hca, node->hcas)
		n += hca->ports.n;
	assert_int_equal(got->decisions.n, n);
	NCA_FOREACH(row, got->decisions) {
		assert_string_not_equal(row->rule, "undecided");
		assert_non_null(row->text);
		chosen += streq(row->outcome, "chosen");
	}
	assert_int_equal(chosen, (got->socket_ifname != NULL) + got->hcas.n);
}

void check_plan(void **state)
{
	const struct plan *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_warning *w;
	const struct nca_job *job;
	struct nca_plan *plan;
	const char *summary;
	bool warned = false;
	size_t i;

	plan_make(pool, r, &plan, &job);
	assert_string_equal(plan->verdict, r->verdict);
	assert_string_equal(plan->net, r->net);
	for (i = 0; i < plan->nodes.n; i++) {
		const struct nca_plan_node *node = &plan->nodes.v[i];

		if (r->ifname[i])
			assert_string_equal(node->socket_ifname, r->ifname[i]);
		else
			assert_null(node->socket_ifname);
		assert_string_equal(hcas_text(pool, node), r->hcas[i]);
		check_rows(&job->nodes.v[i], node);
	}
	NCA_FOREACH(w, plan->warnings)
		warned = warned ||
			 (nca_same(w->code, r->warning) && (!r->says || strstr(w->text, r->says)));
	assert_int_equal(warned, r->warning != NULL);
	if (!r->warning)
		assert_int_equal(plan->warnings.n, 0);
	summary = nca_plan_summary(plan, job, pool);
	assert_non_null(summary);
	if (r->summary)
		assert_non_null(strstr(summary, r->summary));
}
