/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's preflight. */
#include <errno.h>

#include <nca/clock.h>

#include "preflight.h"

/* Above the three seconds that agents give themselves. */
#define ASK_MS 5000

static char *print_open(const struct nca_trial *t, size_t i, struct nca_pool *pool)
{
	struct nca_open open;

	return nca_trial_open(t, i, pool, &open) ? NULL
						 : nca_decide_print(&nca_open_shape, &open, pool);
}

static char *print_link(const struct nca_trial *t, size_t i, struct nca_pool *pool)
{
	struct nca_link_up link;

	return nca_trial_link(t, i, pool, &link)
		       ? NULL
		       : nca_decide_print(&nca_link_up_shape, &link, pool);
}

static char *print_nothing(const struct nca_trial *t, size_t i, struct nca_pool *pool)
{
	(void)t, (void)i, (void)pool;
	return "";
}

/* What the hub asks, in this order; answers lie in lists of the trial. */
static const struct question {
	enum nca_message type, answer;
	char *(*print)(const struct nca_trial *t, size_t node, struct nca_pool *pool);
	const struct nca_shape *shape;
	size_t offset;
	const char *doing; /* a node, meanwhile */
} questions[] = {
	{NCA_MSG_OPEN, NCA_MSG_OPENED, print_open, &nca_opened_shape,
	 offsetof(struct nca_trial, opened), "opening HCAs"},
	{NCA_MSG_LINK, NCA_MSG_LINKED, print_link, &nca_linked_shape,
	 offsetof(struct nca_trial, linked), "connecting queue pairs"},
	{NCA_MSG_PING, NCA_MSG_PINGED, print_nothing, &nca_pinged_shape,
	 offsetof(struct nca_trial, pinged), "sending messages"},
};

static int read_answers(struct nca_decide *d, const struct question *q, struct nca_trial *t,
			struct nca_error *err)
{
	void **answers = *(void ***)((char *)t + q->offset);
	size_t i;

	for (i = 0; i < t->nodes; i++) {
		const char *text = nca_hub_answer(d->hub, i);
		int rc = nca_schema_parse(q->shape, text, strlen(text), "answer", d->pool,
					  &answers[i], err);

		if (rc)
			return nca_fail_in(err, rc, "%s", d->plan->nodes.v[i].name);
	}
	return 0;
}

static int lost(const struct question *q, int rc, struct nca_error *err)
{
	struct nca_error why = *err;

	return nca_fail(err, rc, "while %s: %s%s", q->doing, why.text,
			rc == -ETIMEDOUT ? ": its driver or firmware hangs, look into its dmesg"
					 : "");
}

static int ask(struct nca_decide *d, const struct question *q, struct nca_trial *t,
	       struct nca_error *err)
{
	char **payloads = nca_pool_alloc(d->pool, t->nodes * sizeof(*payloads));
	size_t i;
	int rc;

	for (i = 0; payloads && i < t->nodes; i++) {
		payloads[i] = q->print(t, i, d->pool);
		if (!payloads[i])
			return nca_fail_memory(err);
	}
	if (!payloads)
		return nca_fail_memory(err);
	rc = nca_hub_ask(d->hub, q->type, payloads, q->answer, ASK_MS, err);
	return rc ? lost(q, rc, err) : read_answers(d, q, t, err);
}

static int add_result(struct nca_decide *d, const struct nca_preflight *result,
		      struct nca_error *err)
{
	if (d->preflight)
		return nca_preflight_add(d->preflight, result, d->pool) ? nca_fail_memory(err) : 0;
	d->preflight = nca_pool_alloc(d->pool, sizeof(*d->preflight));
	if (!d->preflight)
		return nca_fail_memory(err);
	*d->preflight = *result;
	return 0;
}

int nca_preflight_run(struct nca_decide *d, struct nca_error *err)
{
	long long start = nca_clock_ms();
	struct nca_preflight result;
	struct nca_trial t;
	size_t i;
	int rc = 0;

	if (!nca_preflight_applies(d->plan))
		return 0;
	if (nca_trial_begin(d->job, d->plan, d->pool, &t))
		return nca_fail_memory(err);
	for (i = 0; i < t.nodes; i++)
		t.leaf[i] = nca_hub_report(d->hub, i)->leaf;
	for (i = 0; !rc && i < ARRAY_SIZE(questions); i++)
		rc = ask(d, &questions[i], &t, err);
	if (rc)
		return nca_fail_in(err, rc, "RDMA check");
	if (nca_trial_judge(&t, d->pool, &result, &d->bans))
		return nca_fail_memory(err);
	result.seconds = (double)(nca_clock_ms() - start) / 1000;
	return add_result(d, &result, err);
}

/* What was dead and is used no more is no failure of the step. */
static void settle(const struct nca_decide *d)
{
	bool rdma = nca_preflight_applies(d->plan);

	if (streq(d->preflight->verdict, "failed") && rdma)
		d->preflight->verdict = "degraded";
	else if (streq(d->preflight->verdict, "degraded") && !rdma)
		d->preflight->verdict = "failed";
}

int nca_preflight_tell(struct nca_decide *d, struct nca_error *err)
{
	if (!d->preflight)
		return 0;
	settle(d);
	return nca_preflight_warn(d->preflight, d->plan, d->pool) ? nca_fail_memory(err) : 0;
}
