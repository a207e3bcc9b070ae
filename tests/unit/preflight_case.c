/* SPDX-License-Identifier: Apache-2.0 */
#include "preflight_case.h"

#include <errno.h>
#include <stdio.h>

#define WC_RETRY_EXC 12
#define WC_FATAL 19
#define WC_RNR_RETRY 13

/* Is the number, or "*", what stands at *text? Goes behind it. */
static bool take(const char **text, size_t n)
{
	size_t value;
	char *end;

	if (**text == '*') {
		++*text;
		return true;
	}
	value = strtoul(*text, &end, 10);
	*text = end;
	return value == n;
}

/* Is there such a fault of a node's rail? */
static bool has(const struct sim *s, const char *word, size_t node, size_t rail)
{
	const char *f = s->row->faults;

	for (; *f; f += strcspn(f, ",") + (f[strcspn(f, ",")] == ',')) {
		const char *at = f + strlen(word) + 1;

		if (strncmp(f, word, strlen(word)) || f[strlen(word)] != ' ' || !take(&at, node))
			continue;
		if (*at != '.')
			return true;
		at++;
		if (take(&at, rail))
			return true;
	}
	return false;
}

static bool is_cut(const struct sim *s, size_t a, size_t b, size_t rail)
{
	size_t at, lost_a, lost_b, lost_rail;

	for (at = 1; at < s->row->nodes; at++)
		if (has(s, "cut", at, rail) && (a < at) != (b < at))
			return true;
	for (const char *f = s->row->faults; f; f = strchr(f, ',') ? strchr(f, ',') + 1 : NULL)
		if (sscanf(f, "pair %zu.%zu.%zu", &lost_a, &lost_b, &lost_rail) == 3 &&
		    lost_rail == rail &&
		    ((lost_a == a && lost_b == b) || (lost_a == b && lost_b == a)))
			return true;
	return false;
}

static bool is_dead(const struct sim *s, size_t node, size_t rail)
{
	return has(s, "both", node, rail) || has(s, "mac", node, rail);
}

static bool arrives(const struct sim *s, size_t from, size_t to, size_t rail)
{
	return !has(s, "out", from, rail) && !has(s, "in", to, rail) && !is_dead(s, from, rail) &&
	       !is_dead(s, to, rail) && !is_cut(s, from, to, rail);
}

static char *mac_of(const struct sim *s, size_t node, size_t rail, bool other)
{
	return nca_pool_printf(s->pool, "02:00:00:%02zx:%02zX:%02x", rail, node, other);
}

static char *gid_of(const struct sim *s, size_t node, size_t rail)
{
	return nca_pool_printf(s->pool, "0000:0000:0000:0000:0000:ffff:0a%02zx:00%02zx", rail,
			       node);
}

static struct nca_opened *open_node(const struct sim *s, size_t node)
{
	struct nca_opened *opened = nca_pool_alloc(s->pool, sizeof(*opened));
	struct nca_open ask;
	size_t rail, i;

	assert_int_equal(nca_trial_open(&s->trial, node, s->pool, &ask), 0);
	assert_int_equal(ask.ports.n, s->row->rails);
	for (rail = 0; rail < ask.ports.n; rail++) {
		struct nca_end *end = NCA_APPEND(s->pool, opened->ends);

		*end = (struct nca_end){.error = -1, .lid = -1, .mtu = 4096};
		if (has(s, "open", node, rail)) {
			end->why = "no such thing";
			end->error = ENODEV;
			continue;
		}
		end->gid = has(s, "zero", node, rail) ? "0000:0000:0000:0000:0000:0000:0000:0000"
						      : gid_of(s, node, rail);
		end->mac = mac_of(s, node, rail, false);
		for (i = 0; i < (size_t)ask.sets * (size_t)ask.qps; i++)
			*(int *)NCA_APPEND(s->pool, end->qpns) =
				(int)(1000 * node + 100 * rail + i);
	}
	return opened;
}

static int link_error(const struct sim *s, size_t node, size_t peer, size_t rail)
{
	if (has(s, "gid", node, rail) || has(s, "zero", node, rail) || has(s, "zero", peer, rail))
		return EINVAL;
	if (has(s, "route", node, rail) || has(s, "subnet", node, rail) ||
	    has(s, "subnet", peer, rail))
		return ENETUNREACH;
	if (has(s, "memory", node, rail))
		return ENOMEM;
	if (has(s, "busy", node, rail))
		return EAGAIN;
	return has(s, "silent", node, rail) || has(s, "silent", peer, rail) ? ETIMEDOUT : -1;
}

static void link_one(const struct sim *s, size_t node, const struct nca_partner *p,
		     struct nca_linked *linked)
{
	size_t rail = (size_t)p->port;
	size_t peer = nca_schedule_partner(s->row->nodes, rail, (size_t)p->set, node);
	struct nca_linked_one *one = NCA_APPEND(s->pool, linked->partners);

	assert_int_equal(p->end->qpns.n, s->trial.qps);
	assert_int_equal(p->end->qpns.v[0],
			 1000 * peer + 100 * rail + (size_t)p->set * s->trial.qps);
	*one = (struct nca_linked_one){.error = link_error(s, node, peer, rail)};
	if (one->error < 0)
		one->mac = mac_of(s, peer, rail,
				  has(s, "mac", peer, rail) || has(s, "proxy", peer, rail));
}

static int small_status(const struct sim *s, size_t node, size_t peer, size_t rail)
{
	if (has(s, "fatal", node, rail))
		return WC_FATAL;
	if (has(s, "stall", peer, rail))
		return WC_RNR_RETRY;
	if (has(s, "leg", node, rail) || has(s, "leg", peer, rail))
		return WC_RETRY_EXC;
	if (has(s, "fatal", peer, rail) || link_error(s, peer, node, rail) > 0 ||
	    !arrives(s, node, peer, rail) || !arrives(s, peer, node, rail))
		return WC_RETRY_EXC;
	return -1;
}

/* Queue pairs over the dead port of a bond, or all. */
static int failed_of(const struct sim *s, size_t node, size_t peer, size_t rail)
{
	bool leg = has(s, "leg", node, rail) || has(s, "leg", peer, rail);

	return leg && !is_cut(s, node, peer, rail) ? 2 : (int)s->trial.qps;
}

static void ping_one(const struct sim *s, size_t node, int index, const struct nca_partner *p,
		     struct nca_pinged *pinged)
{
	size_t rail = (size_t)p->port;
	size_t peer = nca_schedule_partner(s->row->nodes, rail, (size_t)p->set, node);
	struct nca_pinged_one one = {index, small_status(s, node, peer, rail), -1, -1, -1, -1};

	if (link_error(s, node, peer, rail) > 0)
		return;
	if (one.status < 0 && has(s, "large", peer, rail))
		one.large = WC_RETRY_EXC;
	if (one.status > 0 || one.large > 0)
		one.failed = failed_of(s, node, peer, rail);
	if (!arrives(s, peer, node, rail) || has(s, "fatal", node, rail) ||
	    link_error(s, peer, node, rail) > 0)
		one.received = 0;
	if (one.status > 0 || one.large > 0 || one.received == 0)
		*(struct nca_pinged_one *)NCA_APPEND(s->pool, pinged->partners) = one;
}

static void answer(struct sim *s, size_t node)
{
	struct nca_linked *linked = nca_pool_alloc(s->pool, sizeof(*linked));
	struct nca_pinged *pinged = nca_pool_alloc(s->pool, sizeof(*pinged));
	const struct nca_partner *p;
	struct nca_link_up up;

	assert_int_equal(nca_trial_link(&s->trial, node, s->pool, &up), 0);
	NCA_FOREACH(p, up.partners) {
		link_one(s, node, p, linked);
		ping_one(s, node, (int)(p - up.partners.v), p, pinged);
	}
	s->trial.linked[node] = linked;
	s->trial.pinged[node] = has(s, "lost", node, 0) ? NULL : pinged;
}

static void add_port(const struct sim *s, struct nca_node *node, struct nca_plan_node *planned,
		     size_t i, size_t rail)
{
	struct nca_hca *hca = NCA_APPEND(s->pool, node->hcas);
	struct nca_link *link = NCA_APPEND(s->pool, node->interfaces);
	struct nca_addr *addr = NCA_APPEND(s->pool, link->addresses);
	struct nca_port *port = NCA_APPEND(s->pool, hca->ports);
	struct nca_gid *gid = NCA_APPEND(s->pool, port->gids);
	char *name = nca_pool_printf(s->pool, "m%zu", rail);

	hca->name = name;
	port->port = 1;
	*gid = (struct nca_gid){3, gid_of(s, i, rail), "RoCE v2",
				nca_pool_printf(s->pool, "e%zu", rail)};
	link->name = gid->ndev;
	*addr = (struct nca_addr){"inet", nca_pool_printf(s->pool, "10.%zu.0.%zu", rail, i),
				  has(s, "routed", i, rail) ? 32 : 24, "global"};
	*(struct nca_plan_hca *)NCA_APPEND(s->pool, planned->hcas) =
		(struct nca_plan_hca){name, 1, 3, (int)rail};
}

void sim_make(struct sim *s)
{
	size_t i, rail;

	s->plan.net = "RoCE";
	s->job.nnodes = (int)s->row->nodes;
	for (i = 0; i < s->row->nodes; i++) {
		struct nca_node *node = NCA_APPEND(s->pool, s->job.nodes);
		struct nca_plan_node *planned = NCA_APPEND(s->pool, s->plan.nodes);

		node->name = planned->name = nca_pool_printf(s->pool, "n%zu", i);
		for (rail = 0; rail < s->row->rails; rail++)
			add_port(s, node, planned, i, rail);
	}
}

static char *leaf_of(const struct sim *s, size_t node)
{
	const char *leaves = s->row->leaves;

	return leaves && leaves[node] != '-' ? nca_pool_strndup(s->pool, &leaves[node], 1) : NULL;
}

void sim_run(struct sim *s)
{
	size_t i;

	sim_make(s);
	assert_true(nca_preflight_applies(&s->plan));
	assert_int_equal(nca_trial_begin(&s->job, &s->plan, s->pool, &s->trial), 0);
	for (i = 0; i < s->row->nodes; i++)
		s->trial.leaf[i] = leaf_of(s, i);
	for (i = 0; i < s->row->nodes; i++)
		s->trial.opened[i] = open_node(s, i);
	for (i = 0; i < s->row->nodes; i++)
		answer(s, i);
}
