/* SPDX-License-Identifier: Apache-2.0 */
/* The one line that says what was agreed. */
#include <stdio.h>

#include <nca/addr.h>
#include <nca/plan.h>

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of one thing on all nodes, which are sorted here: one where they agree, both of two,
 * else the first node's and how many others there are. */
static char *join(struct nca_pool *pool, char **names, size_t n, const char *between)
{
	char *first = names[0], *other = NULL;
	size_t i, others = 0;

	qsort(names, n, sizeof(*names), compare_names);
	for (i = 0; i < n; i++)
		if (!streq(names[i], first) && (!other || !streq(names[i], other))) {
			other = names[i];
			others++;
		}
	if (!others)
		return first;
	if (others == 1)
		return nca_pool_printf(pool, "%s%s%s", first, between, other);
	return nca_pool_printf(pool, "%s and %zu other names", first, others);
}

static char *join_nodes(const struct nca_plan *plan, struct nca_pool *pool, const char *between,
			char *(*name)(const struct nca_plan_node *, struct nca_pool *))
{
	char **names = nca_pool_alloc(pool, plan->nodes.n * sizeof(*names));
	size_t i;

	for (i = 0; names && i < plan->nodes.n; i++) {
		names[i] = name(&plan->nodes.v[i], pool);
		if (!names[i])
			return NULL;
	}
	return names ? join(pool, names, plan->nodes.n, between) : NULL;
}

static char *interface_name(const struct nca_plan_node *node, struct nca_pool *pool)
{
	(void)pool;
	return node->socket_ifname ? node->socket_ifname : "no interface";
}

static char *hca_names(const struct nca_plan_node *node, struct nca_pool *pool)
{
	const struct nca_plan_hca *hca;
	char *list = "";

	NCA_FOREACH(hca, node->hcas)
		list = list ? nca_pool_printf(pool, "%s%s%s", list, *list ? "," : "", hca->name)
			    : NULL;
	return list;
}

/* " (10.10.0.0/24)" where all nodes are in one prefix, else "". */
static char *network(const struct nca_plan *plan, const struct nca_job *job, struct nca_pool *pool)
{
	const struct nca_plan_node *node;
	struct nca_prefix first = {0};
	char text[NCA_ADDR_TEXT];
	const struct nca_addr *a;
	struct nca_ip ip;

	NCA_FOREACH(node, plan->nodes) {
		const struct nca_link *link =
			nca_node_link(&job->nodes.v[node - plan->nodes.v], node->socket_ifname);

		if (!link || nca_ip_parse(node->socket_addr, &ip))
			return "";
		NCA_FOREACH(a, link->addresses)
			if (!first.ip.family && nca_same(a->addr, node->socket_addr))
				first = nca_ip_prefix(&ip, a->prefixlen);
		if (!nca_prefix_has(&first, &ip))
			return "";
	}
	return nca_pool_printf(pool, " (%s/%d)", nca_ip_text(&first.ip, text), first.len);
}

/* " (2 x 200 Gb/s)"; "" where a rate is unknown or they differ. */
static char *speed(const struct nca_plan_node *node, const struct nca_node *from,
		   struct nca_pool *pool)
{
	const struct nca_plan_hca *hca;
	double rate = 0;

	NCA_FOREACH(hca, node->hcas) {
		const struct nca_hca *h = nca_node_hca(from, hca->name);
		const struct nca_port *port;

		NCA_FOREACH(port, h->ports) {
			if (port->port != hca->port)
				continue;
			if (port->rate_gbps <= 0 || (rate > 0 && rate != port->rate_gbps))
				return "";
			rate = port->rate_gbps;
		}
	}
	return nca_pool_printf(pool, " (%zu x %g Gb/s)", node->hcas.n, rate);
}

/* By the type of the first rail's GID: all have the same. */
static const char *roce_name(const struct nca_plan_node *node, const struct nca_node *from)
{
	const struct nca_plan_hca *rail = node->hcas.v;
	const struct nca_hca *hca = nca_node_hca(from, rail->name);
	const struct nca_port *port;
	const struct nca_gid *gid;

	NCA_FOREACH(port, hca->ports)
		NCA_FOREACH(gid, port->gids)
			if (port->port == rail->port && gid->index == rail->gid_index &&
			    gid->type && strstr(gid->type, "v1"))
				return "RoCE v1";
	return "RoCE v2";
}

static char *transport(const struct nca_plan *plan, const struct nca_job *job,
		       struct nca_pool *pool)
{
	char *names, *rates;

	if (streq(plan->net, "Socket"))
		return "TCP";
	if (!plan->nodes.v->hcas.n)
		return "the vendor's network plug-in";
	names = join_nodes(plan, pool, " / ", hca_names);
	rates = speed(plan->nodes.v, job->nodes.v, pool);
	if (!names || !rates)
		return NULL;
	return nca_pool_printf(pool, "%s on %s%s",
			       streq(plan->net, "IB") ? "InfiniBand"
						      : roce_name(plan->nodes.v, job->nodes.v),
			       names, rates);
}

static char *meeting(const struct nca_plan *plan, struct nca_pool *pool)
{
	const struct nca_rendezvous *r = plan->rendezvous;
	bool six = r && r->master_addr && strchr(r->master_addr, ':');

	if (!r || !r->master_addr || r->master_port < 0)
		return "";
	return nca_pool_printf(pool, ", rendezvous %s%s%s:%d", six ? "[" : "", r->master_addr,
			       six ? "]" : "", r->master_port);
}

char *nca_plan_summary(const struct nca_plan *plan, const struct nca_job *job,
		       struct nca_pool *pool)
{
	char *where, *net, *how, *meet = meeting(plan, pool);

	if (!meet)
		return NULL;
	if (streq(plan->net, "none"))
		return nca_pool_printf(pool, "1 node%s", meet);
	where = join_nodes(plan, pool, ",", interface_name);
	net = network(plan, job, pool);
	how = transport(plan, job, pool);
	if (!where || !net || !how)
		return NULL;
	return nca_pool_printf(pool, "%d nodes on %s%s, %s%s", job->nnodes, where, net, how, meet);
}
