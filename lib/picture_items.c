/* SPDX-License-Identifier: Apache-2.0 */
/* Where the devices of a node stand in its picture. */
#include <errno.h>
#include <limits.h>

#include <nca/topo.h>

#include "picture.h"

/* Above a band stands its name; deeper stacks of interfaces are not indented any more. */
#define BAND_HEAD 20
#define DEPTH_MAX 6

static const struct nca_decision *find_row(const struct nca_plan_node *plan, const char *subject)
{
	const struct nca_decision *d;

	NCA_FOREACH(d, plan->decisions)
		if (nca_same(d->subject, subject))
			return d;
	return NULL;
}

/* The text without what stands in the box already: the addresses of a link. */
static const char *sentence(const struct nca_item *item, const struct nca_decision *d)
{
	const char *text = nca_decision_values(d);
	const char *end = item->link && item->link->addresses.n ? strstr(text, ": ") : NULL;

	return end ? end + 2 : text;
}

static void decide(struct nca_item *item, const struct nca_decision *d, struct nca_pool *pool)
{
	if (!d)
		return;
	item->chosen = nca_same(d->outcome, "chosen");
	item->tip = nca_pool_printf(pool, "%s, %s: %s", d->outcome, d->rule, d->text);
	item->note = item->chosen ? sentence(item, d)
				  : nca_pool_printf(pool, "%s: %s", d->rule, sentence(item, d));
}

static int add_gpus(const struct nca_node *node, struct nca_pool *pool, struct nca_items_of *of)
{
	size_t i;

	for (i = 0; i < node->gpus.n; i++) {
		const struct nca_gpu *gpu = &node->gpus.v[i];
		struct nca_item *item = NCA_APPEND(pool, of->gpus);

		if (!item)
			return -ENOMEM;
		*item = (struct nca_item){.name = nca_pool_printf(pool, "GPU %d", gpu->index),
					  .value = gpu->pci ? gpu->pci : "",
					  .note = gpu->model ? gpu->model : "",
					  .numa = gpu->numa,
					  .gpu = i};
		if (!item->name)
			return -ENOMEM;
	}
	return 0;
}

static int add_port(const struct nca_plan_node *plan, const struct nca_hca *hca,
		    const struct nca_port *port, struct nca_pool *pool, struct nca_items_of *of)
{
	struct nca_item *item = NCA_APPEND(pool, of->ports);
	const char *layer = port->link_layer ? port->link_layer : "?";
	const char *name = nca_pool_printf(pool, "%s:%d", hca->name, port->port);

	if (!item || !name)
		return -ENOMEM;
	*item = (struct nca_item){.name = name,
				  .note = "",
				  .numa = hca->numa,
				  .down = port->state && !streq(port->state, "ACTIVE"),
				  .hca = hca,
				  .port = port};
	item->value =
		port->rate_gbps >= 0 && !item->down
			? nca_pool_printf(pool, "%s %g Gb/s", layer, port->rate_gbps)
			: nca_pool_printf(pool, "%s %s", layer, item->down ? port->state : "");
	decide(item, find_row(plan, name), pool);
	if (!item->value || !item->note)
		return -ENOMEM;
	return nca_topo_netdevs(hca, port, pool, &item->netdevs);
}

static int add_ports(const struct nca_node *node, const struct nca_plan_node *plan,
		     struct nca_pool *pool, struct nca_items_of *of)
{
	const struct nca_hca *hca;
	const struct nca_port *port;
	int rc = 0;

	NCA_FOREACH(hca, node->hcas)
		NCA_FOREACH(port, hca->ports)
			rc = rc ? rc : add_port(plan, hca, port, pool, of);
	return rc;
}

static int place_numa(nca_items *items, int numa, int y)
{
	struct nca_item *item;

	NCA_FOREACH(item, *items)
		if (item->numa == numa) {
			item->y = y;
			y += NCA_ROW;
		}
	return y;
}

/* The next NUMA node after `last`, unknown ones at last; INT_MAX: there is none. */
static int next_numa(const struct nca_items_of *of, int last)
{
	const nca_items *both[] = {&of->gpus, &of->ports};
	const struct nca_item *item;
	bool unknown = false;
	int next = INT_MAX;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(both); i++)
		NCA_FOREACH(item, *both[i]) {
			unknown = unknown || item->numa < 0;
			if (item->numa >= 0 && item->numa > last && item->numa < next)
				next = item->numa;
		}
	return next == INT_MAX && unknown && last != INT_MAX - 1 ? -1 : next;
}

static int place_bands(struct nca_items_of *of, int y, struct nca_pool *pool)
{
	int numa = next_numa(of, -1);

	while (numa != INT_MAX) {
		struct nca_band *band = NCA_APPEND(pool, of->bands);
		int a, b;

		if (!band)
			return -ENOMEM;
		a = place_numa(&of->gpus, numa, y + BAND_HEAD);
		b = place_numa(&of->ports, numa, y + BAND_HEAD);
		*band = (struct nca_band){numa, y, (a > b ? a : b) - y};
		y += band->height + 10;
		numa = numa < 0 ? INT_MAX : next_numa(of, numa);
	}
	of->bottom = y;
	return 0;
}

static const struct nca_link *parent_of(const struct nca_node *node, const struct nca_link *link)
{
	const char *master = nca_topo_master(node, link);

	return nca_node_link(node, master ? master : link->link);
}

/* The highest port whose traffic leaves by the link: links stand in the order of the ports. */
static int port_height(const struct nca_node *node, const struct nca_items_of *of,
		       const struct nca_link *link)
{
	bool lowest = nca_topo_lowest(node, link);
	const struct nca_item *item;
	int y = INT_MAX;

	NCA_FOREACH(item, of->ports)
		if (nca_topo_uses(node, link, lowest, item->hca, &item->netdevs) && item->y < y)
			y = item->y;
	return y;
}

static const char *addresses(const struct nca_link *link, struct nca_pool *pool)
{
	const struct nca_addr *a;

	NCA_FOREACH(a, link->addresses)
		if (a->addr && !nca_same(a->scope, "link"))
			return a->prefixlen >= 0
				       ? nca_pool_printf(pool, "%s/%d%s", a->addr, a->prefixlen,
							 link->addresses.n > 2 ? ", ..." : "")
				       : a->addr;
	return link->kind ? link->kind : "";
}

/* Broken documents may hold loops: each link is drawn once. */
static bool is_placed(const struct nca_items_of *of, const struct nca_link *link)
{
	const struct nca_item *item;

	NCA_FOREACH(item, of->links)
		if (item->link == link)
			return true;
	return false;
}

static int add_link(const struct nca_node *node, const struct nca_plan_node *plan,
		    const struct nca_link *link, int depth, struct nca_pool *pool,
		    struct nca_items_of *of)
{
	struct nca_item *item = NCA_APPEND(pool, of->links);
	const struct nca_link *l;
	int rc = 0;

	if (!item)
		return -ENOMEM;
	*item = (struct nca_item){.name = link->name,
				  .value = addresses(link, pool),
				  .note = "",
				  .down = link->carrier == 0,
				  .indent = depth,
				  .link = link};
	decide(item, find_row(plan, link->name), pool);
	if (!item->value || !item->note)
		return -ENOMEM;
	NCA_FOREACH(l, node->interfaces)
		if (!rc && depth < DEPTH_MAX && !is_placed(of, l) && parent_of(node, l) == link)
			rc = add_link(node, plan, l, depth + 1, pool, of);
	return rc;
}

struct root {
	const struct nca_link *link;
	int height;
};

static int compare_roots(const void *a, const void *b)
{
	const struct root *x = a, *y = b;

	if (x->height != y->height)
		return x->height < y->height ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

static int add_links(const struct nca_node *node, const struct nca_plan_node *plan,
		     struct nca_pool *pool, struct nca_items_of *of)
{
	NCA_LIST(struct root) roots = {0};
	const struct nca_link *link;
	size_t i;
	int rc = 0;

	NCA_FOREACH(link, node->interfaces)
		if (!parent_of(node, link)) {
			struct root *root = NCA_APPEND(pool, roots);

			if (!root)
				return -ENOMEM;
			*root = (struct root){link, port_height(node, of, link)};
		}
	if (roots.n)
		qsort(roots.v, roots.n, sizeof(*roots.v), compare_roots);
	for (i = 0; !rc && i < roots.n; i++)
		rc = add_link(node, plan, roots.v[i].link, 0, pool, of);
	NCA_FOREACH(link, node->interfaces)
		if (!rc && !is_placed(of, link))
			rc = add_link(node, plan, link, 0, pool, of);
	return rc;
}

int nca_items_place(const struct nca_node *node, const struct nca_plan_node *plan, int top,
		    struct nca_pool *pool, struct nca_items_of *ret)
{
	struct nca_item *item;
	int rc, y = top;

	*ret = (struct nca_items_of){0};
	rc = add_gpus(node, pool, ret);
	rc = rc ? rc : add_ports(node, plan, pool, ret);
	rc = rc ? rc : place_bands(ret, top, pool);
	rc = rc ? rc : add_links(node, plan, pool, ret);
	NCA_FOREACH(item, ret->links) {
		item->y = y;
		y += NCA_ROW;
	}
	ret->bottom = y > ret->bottom ? y : ret->bottom;
	return rc;
}
