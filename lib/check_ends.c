/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the ends of a rail agree, and does one of the ports stand out? What most nodes have is taken
 * to be right; where as many say one thing as the other, both are named.
 */
#include <nca/number.h>

#include "step.h"

/* Ports go down a few times while a node and its switch start. */
#define LINK_DOWNED_FEW 10

/* So many times what is usual in the step. */
#define LINK_DOWNED_FACTOR 4

struct quality {
	const char *code, *what, *unit, *why;
	const char *cure, *ib_cure;
	double (*value)(const struct nca_node_state *node,
			const struct nca_port_state *rail); /* < 0: unknown */
};

/* What the driver says, else what follows from the netdev. */
static double mtu_of(const struct nca_node_state *node, const struct nca_port_state *rail)
{
	const struct nca_link *link = nca_node_link(node->node, rail->port->netdev);

	if (rail->port->active_mtu > 0 || !link || link->mtu <= 0 ||
	    rail->layer != NCA_LAYER_ETHERNET)
		return rail->port->active_mtu;
	return nca_topo_roce_mtu(link->mtu);
}

static double rate_of(const struct nca_node_state *node, const struct nca_port_state *rail)
{
	(void)node;
	return rail->rate;
}

/* A RoCE LAG stays ACTIVE with one of its ports (mlx5_core, lag). */
static double legs_of(const struct nca_node_state *node, const struct nca_port_state *rail)
{
	const struct nca_link *link = nca_node_link(node->node, rail->port->netdev);
	const char *master = link ? nca_topo_master(node->node, link) : NULL;

	link = master ? nca_node_link(node->node, master) : link;
	return rail->layer == NCA_LAYER_ETHERNET && link ? nca_topo_bond_legs(node->node, link)
							 : -1;
}

static const struct quality qualities[] = {
	{"mtu-mismatch", "an RDMA MTU", "", "connections fail or hang, NCCL does not negotiate it",
	 "Set one MTU on the netdevs", "Set one in the subnet manager's partition", mtu_of},
	{"rail-speed", "a speed", " Gb/s", "the slower end decides", "Check cable and port",
	 "Check cable and port", rate_of},
	{"rail-legs", "a bond", " ports with a link", "the smaller bond decides",
	 "Check its cables and switch ports", "", legs_of},
};

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The known values, sorted; NULL where memory is short. */
static double *sorted_values(struct nca_step *step, const struct quality *q, size_t rail, size_t *n)
{
	double *v = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*v));
	const struct nca_node_state *node;

	*n = 0;
	step->no_memory = step->no_memory || !v;
	if (!v)
		return NULL;
	NCA_FOREACH(node, step->nodes)
		if (q->value(node, node->rails.v[rail]) > 0)
			v[(*n)++] = q->value(node, node->rails.v[rail]);
	qsort(v, *n, sizeof(*v), compare_numbers);
	return v;
}

/* The value that more nodes have than any other; -1 where two are as frequent. */
static double usual(const double *v, size_t n)
{
	size_t i, len, most = 0;
	double value = -1;

	for (i = 0; i < n; i += len) {
		for (len = 1; i + len < n && v[i + len] == v[i]; len++)
			;
		if (len >= most) {
			value = len == most ? -1 : v[i];
			most = len;
		}
	}
	return value;
}

/* What a rail should have. */
struct right {
	double value;	   /* <= 0: all that is known is equal */
	const char *where; /* who has it */
};

static bool all_equal(const struct nca_step *step, const struct quality *q, size_t rail)
{
	const struct nca_node_state *node;
	double first = -1;

	NCA_FOREACH(node, step->nodes) {
		double value = q->value(node, node->rails.v[rail]);

		if (value > 0 && first > 0 && value != first)
			return false;
		first = value > 0 ? value : first;
	}
	return true;
}

static const struct nca_node_state *first_known(const struct nca_step *step,
						const struct quality *q, size_t rail)
{
	const struct nca_node_state *node = step->nodes.v;

	while (q->value(node, node->rails.v[rail]) <= 0)
		node++;
	return node;
}

static struct right find_right(struct nca_step *step, const struct quality *q, size_t rail)
{
	struct right right = {-1, "most nodes"};
	const struct nca_node_state *first;
	const double *v;
	size_t n;

	if (all_equal(step, q, rail))
		return right;
	v = sorted_values(step, q, rail, &n);
	right.value = v ? usual(v, n) : -1;
	if (right.value > 0)
		return right;
	first = first_known(step, q, rail);
	return (struct right){q->value(first, first->rails.v[rail]), first->node->name};
}

static bool is_off(const struct nca_node_state *node, const struct quality *q,
		   const struct right *right, size_t rail)
{
	double value = q->value(node, node->rails.v[rail]);

	return right[rail].value > 0 && value > 0 && value != right[rail].value;
}

/* Are two rails of a node off in the same way? */
static bool is_alike(const struct nca_node_state *node, const struct quality *q,
		     const struct right *right, size_t a, size_t b)
{
	return is_off(node, q, right, a) && is_off(node, q, right, b) &&
	       q->value(node, node->rails.v[a]) == q->value(node, node->rails.v[b]) &&
	       right[a].value == right[b].value && streq(right[a].where, right[b].where);
}

/* Names the first of the rails that are off in the same way, and counts the rest. */
static void warn_rail(struct nca_step *step, const struct nca_node_state *node,
		      const struct quality *q, const struct right *right, size_t rail)
{
	const struct nca_port_state *p = node->rails.v[rail];
	size_t i, more = 0;

	for (i = 0; i < rail; i++)
		if (is_alike(node, q, right, i, rail))
			return;
	for (i = rail + 1; i < node->rails.n; i++)
		more += is_alike(node, q, right, rail, i);
	nca_step_warn(step, q->code, step->nodes.v->rails.v[rail]->hca->name, node->node->name,
		      nca_step_text(step,
				    "%s port %d%s %s of %g%s, the same rail on %s of %g%s: %s. %s",
				    p->hca->name, p->port->port,
				    more ? nca_step_text(step, " and %zu more rail%s have", more,
							 more > 1 ? "s" : "")
					 : " has",
				    q->what, q->value(node, p), q->unit, right[rail].where,
				    right[rail].value, q->unit, q->why,
				    p->layer == NCA_LAYER_IB ? q->ib_cure : q->cure));
}

static void check_quality(struct nca_step *step, const struct quality *q)
{
	size_t i, n = step->nodes.v->rails.n;
	const struct nca_node_state *node;
	struct right *right = nca_pool_alloc(step->pool, n * sizeof(*right));

	step->no_memory = step->no_memory || !right;
	for (i = 0; right && i < n; i++)
		right[i] = find_right(step, q, i);
	for (i = 0; right && i < n; i++) {
		if (right[i].value <= 0)
			continue;
		NCA_FOREACH(node, step->nodes)
			if (is_off(node, q, right, i))
				warn_rail(step, node, q, right, i);
	}
}

/* How often the link was lost since the start, -1 unknown. */
static double downs(const struct nca_port_state *rail)
{
	const char *text = nca_pairs_get(rail->port->counters, "link_downed");
	unsigned int n;

	return text && !nca_parse_u32(text, 0, 0xffffffff, &n) ? (double)n : -1;
}

/* What half of the ports of the step do not exceed; -1: nothing is known. */
static double usual_downs(struct nca_step *step)
{
	const struct nca_node_state *node;
	size_t i, n = 0, all = 0;
	double *v;

	NCA_FOREACH(node, step->nodes)
		all += node->rails.n;
	v = nca_pool_alloc(step->pool, all * sizeof(*v));
	step->no_memory = step->no_memory || !v;
	NCA_FOREACH(node, step->nodes)
		for (i = 0; v && i < node->rails.n; i++)
			if (downs(node->rails.v[i]) >= 0)
				v[n++] = downs(node->rails.v[i]);
	if (!n)
		return -1;
	qsort(v, n, sizeof(*v), compare_numbers);
	return v[(n - 1) / 2];
}

static void check_flapping(struct nca_step *step)
{
	double common = usual_downs(step);
	const struct nca_node_state *node;
	size_t i;

	if (common < 0)
		return;
	NCA_FOREACH(node, step->nodes)
		for (i = 0; i < node->rails.n; i++) {
			const struct nca_port_state *p = node->rails.v[i];

			if (downs(p) < LINK_DOWNED_FEW || downs(p) <= LINK_DOWNED_FACTOR * common)
				continue;
			nca_step_warn(step, "rail-flapping", p->hca->name, node->node->name,
				      nca_step_text(step,
						    "%s port %d has lost its link %g times "
						    "(link_downed), others of the step %g. Check "
						    "cable and transceiver",
						    p->hca->name, p->port->port, downs(p), common));
		}
}

void nca_ends_check(struct nca_step *step)
{
	size_t k;

	for (k = 0; k < ARRAY_SIZE(qualities); k++)
		check_quality(step, &qualities[k]);
	check_flapping(step);
}
