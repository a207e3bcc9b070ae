/* SPDX-License-Identifier: Apache-2.0 */
/* What else a preflight has seen: counters that rose, settings and MTUs that differ. */
#include <errno.h>
#include <stdio.h>

#include <nca/hostlist.h>

#include "preflight.h"
#include "step.h"

/* Names and ranges in a hint. */
#define NAMES_MAX 12

struct hinter {
	const struct nca_trial *t;
	struct nca_pool *pool;
	nca_strs *hints;
	nca_strs done; /* names of counters and settings that were looked at */
};

static int add(struct hinter *h, char *text)
{
	char **slot = text ? NCA_APPEND(h->pool, *h->hints) : NULL;

	if (!slot)
		return -ENOMEM;
	*slot = text;
	return 0;
}

/* True: the name, or its first n characters, comes for the first time; noted. */
static bool is_new(struct hinter *h, const char *name, size_t n, int *rc)
{
	char **slot;
	size_t i;

	for (i = 0; i < h->done.n; i++)
		if (strlen(h->done.v[i]) == n && !strncmp(h->done.v[i], name, n))
			return false;
	slot = NCA_APPEND(h->pool, h->done);
	if (slot)
		*slot = nca_pool_strndup(h->pool, name, n);
	*rc = slot && *slot ? *rc : -ENOMEM;
	return !*rc;
}

/* One line of a counter: the nodes where it rose, and by how much at most. */
static int add_risen(struct hinter *h, const char *counter)
{
	const char **names = nca_pool_alloc(h->pool, h->t->nodes * sizeof(*names));
	const struct nca_risen *r;
	size_t i, n = 0;
	int most = 0;
	char *list;

	for (i = 0; names && i < h->t->nodes; i++) {
		bool here = false;

		if (h->t->pinged[i])
			NCA_FOREACH(r, h->t->pinged[i]->risen)
				if (nca_same(r->name, counter)) {
					here = true;
					most = r->by > most ? r->by : most;
				}
		if (here)
			names[n++] = h->t->plan->nodes.v[i].name;
	}
	list = names ? nca_hostlist_make(h->pool, names, n, NAMES_MAX) : NULL;
	return list ? add(h,
			  nca_pool_printf(h->pool, "%s rose during the check on %s (by %d at most)",
					  counter, list, most))
		    : -ENOMEM;
}

static int hint_risen(struct hinter *h)
{
	const struct nca_risen *r;
	size_t i;
	int rc = 0;

	h->done.n = 0;
	for (i = 0; i < h->t->nodes; i++)
		if (h->t->pinged[i])
			NCA_FOREACH(r, h->t->pinged[i]->risen)
				if (!rc && is_new(h, r->name, strlen(r->name), &rc))
					rc = add_risen(h, r->name);
	return rc;
}

/* A value of every node: what differs is one line. */
static int compare(struct hinter *h, const char *what, const char *const *values, bool *differ)
{
	const char **names = nca_pool_alloc(h->pool, h->t->nodes * sizeof(*names));
	const char *odd;
	char *text;
	size_t i;
	int rc = names ? 0 : -ENOMEM;

	for (i = 0; names && i < h->t->nodes; i++)
		names[i] = h->t->plan->nodes.v[i].name;
	rc = rc ? rc : nca_differ_text(h->pool, names, values, h->t->nodes, &text, &odd);
	*differ = rc > 0;
	return rc > 0 ? add(h, nca_pool_printf(h->pool, "%s differs: %s", what, text)) : rc;
}

/* "name value" of a port: the value; NULL: it was not told. */
static const char *fact(const struct hinter *h, size_t node, size_t rail, const char *name)
{
	const struct nca_pinged *p = h->t->pinged[node];
	const char *port = nca_trial_port(h->t, node, rail, h->pool);
	const struct nca_row *row;
	size_t i, n = strlen(name);

	if (!p || !port)
		return NULL;
	NCA_FOREACH(row, p->facts)
		for (i = 0; streq(row->key, port) && i < row->values.n; i++)
			if (row->values.v[i] && !strncmp(row->values.v[i], name, n) &&
			    row->values.v[i][n] == ' ')
				return row->values.v[i] + n + 1;
	return NULL;
}

/* The first rail on which it differs stands for all. */
static int add_fact(struct hinter *h, const char *name, const char **values)
{
	size_t rail, i;
	bool differ = false;
	int rc = 0;

	for (rail = 0; !rc && !differ && rail < h->t->rails; rail++) {
		char *port = nca_trial_port(h->t, 0, rail, h->pool);
		char *what =
			port ? nca_pool_printf(h->pool, "%s of rail %zu (%s)", name, rail, port)
			     : NULL;

		for (i = 0; i < h->t->nodes; i++)
			values[i] = fact(h, i, rail, name);
		rc = what ? compare(h, what, values, &differ) : -ENOMEM;
	}
	return rc;
}

static int hint_facts(struct hinter *h, const char **values)
{
	const struct nca_row *row;
	size_t i, k;
	int rc = 0;

	h->done.n = 0;
	for (i = 0; i < h->t->nodes; i++)
		if (h->t->pinged[i])
			NCA_FOREACH(row, h->t->pinged[i]->facts)
				for (k = 0; !rc && k < row->values.n; k++) {
					const char *v = row->values.v[k];
					size_t n = v ? strcspn(v, " ") : 0;

					if (n && is_new(h, v, n, &rc))
						rc = add_fact(h, h->done.v[h->done.n - 1], values);
				}
	return rc;
}

static int hint_mtus(struct hinter *h, const char **values)
{
	size_t rail, i;
	bool differ;
	int rc = 0;

	for (rail = 0; !rc && rail < h->t->rails; rail++) {
		char *port = nca_trial_port(h->t, 0, rail, h->pool);
		char *what =
			port ? nca_pool_printf(h->pool, "the RDMA MTU of rail %zu (%s)", rail, port)
			     : NULL;

		for (i = 0; i < h->t->nodes; i++) {
			const struct nca_end *end = nca_trial_end(h->t, i, rail);

			values[i] = end && end->mtu > 0 ? nca_pool_printf(h->pool, "%d", end->mtu)
							: NULL;
		}
		rc = what ? compare(h, what, values, &differ) : -ENOMEM;
	}
	return rc;
}

int nca_preflight_hint(const struct nca_trial *t, struct nca_pool *pool, nca_strs *hints)
{
	struct hinter h = {.t = t, .pool = pool, .hints = hints};
	const char **values = nca_pool_alloc(pool, t->nodes * sizeof(*values));
	int rc = values ? hint_mtus(&h, values) : -ENOMEM;

	rc = rc ? rc : hint_facts(&h, values);
	return rc ? rc : hint_risen(&h);
}
