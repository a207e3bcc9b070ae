/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that are not known make a decision less sure, over all recorded jobs, and never certainly
 * wrong. */
#include "recorded.h"

/* Facts that a node may not know, one kind at a time: of the node, of its links, HCAs and ports. */
struct fact {
	const char *name;
	const char *of; /* NULL, "interfaces", "hcas" or "ports" */
	const char *key;
	const char *but; /* jobs in which nothing else tells */
};

static const struct fact facts[] = {
	/* The user's choice is kept; only the routes say that it leads nowhere. Two addresses on
	   one wire, of which either will do. */
	{"without routes", NULL, "routes", "n-h16.json b-two-addresses-other-order.json"},
	/* One snapshot, in which only the other node's name says in which network it is. */
	{"without peers", NULL, "peers", "h-xe9680-storage-lag.json"},
	{"without PCI tree", NULL, "pci", NULL},
	{"without distances", NULL, "distances", NULL},
	{"without GPUs", NULL, "gpus", NULL},
	{"without host", NULL, "host", NULL},
	{"without firewall", NULL, "firewall", NULL},
	{"without memory lock limit", NULL, "memlock_kb", NULL},
	{"without NCCL's version", NULL, "nccl_version", NULL},
	{"without knowing of a container", NULL, "in_container", NULL},
	{"without port range", NULL, "ip_local_port_range", NULL},
	{"without kinds of links", "interfaces", "kind", NULL},
	{"without speeds", "interfaces", "speed_mbps", NULL},
	{"without MTUs", "interfaces", "mtu", NULL},
	{"without carriers", "interfaces", "carrier", NULL},
	{"without flags", "interfaces", "flags", NULL},
	{"without interface indexes", "interfaces", "ifindex", NULL},
	{"without PCI addresses of links", "interfaces", "pci", NULL},
	{"without drivers of links", "interfaces", "driver", NULL},
	{"without masters", "interfaces", "master", NULL},
	{"without bonds", "interfaces", "bond", NULL},
	{"without PCI addresses of HCAs", "hcas", "pci", NULL},
	{"without NUMA nodes of HCAs", "hcas", "numa", NULL},
	{"without node types", "hcas", "node_type", NULL},
	{"without uverbs", "hcas", "uverbs_opens", NULL},
	{"without drivers of HCAs", "hcas", "driver", NULL},
	/* A link that is up at half its rate. */
	{"without rates", "ports", "rate_gbps", "a-b02.json h-b55.json b-rail-trained-down.json"},
	{"without physical states", "ports", "phys_state", NULL},
	{"without netdevs", "ports", "netdev", NULL},
	/* InfiniBand fabrics that differ in their subnet prefixes alone; a table that the driver
	   has left empty; GIDs of two families. */
	{"without GIDs", "ports", "gids",
	 "105.json a-h27.json a-x06.json b-azure-mana-verbs-device.json "
	 "b-macvlan-no-gid-in-namespace.json b-roce-v4-against-v6.json"},
	{"without LIDs", "ports", "lid", NULL},
};

/* What was tried and failed tells what nothing else does, and whoever looks has an MTU before he
 * has a speed: so a virtual machine shows its links. */
static void forget_key(json_t *item, const char *key)
{
	if (streq(key, "uverbs_opens") && json_is_false(get(item, key)))
		return;
	if (streq(key, "speed_mbps") && get(item, key) && !get(item, "mtu"))
		json_object_set_new(item, "mtu", json_integer(1500));
	json_object_del(item, key);
}

static void forget(json_t *value, const char *of, const char *key)
{
	json_t *item, *port;

	if (!of) {
		json_object_del(value, key);
		return;
	}
	FOREACH(get(value, streq(of, "ports") ? "hcas" : of), item)
	{
		if (!streq(of, "ports"))
			forget_key(item, key);
		else
			FOREACH(get(item, "ports"), port)
		json_object_del(port, key);
	}
}

static bool holds(json_t *list, const char *name)
{
	json_t *item;

	FOREACH(list, item)
	if (nca_same(json_string_value(item), name))
		return true;
	return false;
}

static bool is_right_interface(json_t *expect, const struct nca_plan_node *node)
{
	const char *name = node->socket_ifname;

	return nca_same(json_string_value(get(get(expect, "socket_ifname"), node->name)), name) ||
	       nca_same(json_string_value(get(get(expect, "socket_ifname_also"), node->name)),
			name) ||
	       holds(get(get(expect, "socket_ifname_any"), node->name), name);
}

/*
 * Did the interface join all nodes too, with all facts? Where TCP carries no data, any that does is
 * right; else one that is no slower. Which of them is nicer, the lost fact may have told.
 */
static bool is_as_good(const struct nca_plan *plan, const struct nca_plan_node *node,
		       const char *name)
{
	const struct nca_decision *row;

	NCA_FOREACH(row, node->decisions)
		if (nca_same(row->subject, name))
			return strstr(row->text, "joins all nodes too") &&
			       (streq(plan->net, "IB") || streq(plan->net, "RoCE") ||
				(!streq(row->rule, "speed") && !streq(row->rule, "mtu")));
	return false;
}

static bool is_list(json_t *list, const struct nca_plan_node *node)
{
	const struct nca_plan_hca *hca;

	if (!list || json_array_size(list) != node->hcas.n)
		return false;
	NCA_FOREACH(hca, node->hcas)
		if (!holds(list, hca->name))
			return false;
	return true;
}

static bool is_right_list(json_t *expect, const struct nca_plan_node *node)
{
	json_t *other;

	FOREACH(get(get(expect, "hcas_any"), node->name), other)
	if (is_list(other, node))
		return true;
	return is_list(get(get(expect, "hcas_also"), node->name), node);
}

/* The same choice, or an unsure one, or less than was chosen: nothing else that is certain. */
static const char *certain_difference(const struct nca_plan *a, const struct nca_plan *b,
				      json_t *expect)
{
	const struct likeness any = {.flags = ANY_ORDER};
	const struct nca_plan_node *node;

	if (streq(b->confidence, "unsure") || streq(a->verdict, "refuse") ||
	    streq(b->verdict, "fallback"))
		return NULL;
	if (streq(b->verdict, "refuse") && !streq(a->verdict, "refuse"))
		return "refused";
	NCA_FOREACH(node, a->nodes) {
		const struct nca_plan_node *other = plan_find_node(b, node->name);

		if (!plan_same_name(node->socket_ifname, other->socket_ifname, NULL) &&
		    !is_right_interface(expect, other) &&
		    !is_as_good(a, node, other->socket_ifname))
			return "another interface";
		if (node->hcas.n && other->hcas.n && node->hcas.v->gid_index >= 0 &&
		    other->hcas.v->gid_index < 0)
			continue;
		if (!plan_same_hcas(node, other, &any) && !is_right_list(expect, other))
			return "other HCAs";
	}
	return NULL;
}

static void check_fact(void **state)
{
	const struct fact *f = *state;
	size_t i, wrong = 0;

	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		json_t *after = json_deep_copy(jobs[i].json), *node;
		const char *what;

		FOREACH(get(after, "nodes"), node)
		forget(node, f->of, f->key);
		what = certain_difference(recorded_plan(recorded_job(jobs[i].json, pool), pool),
					  recorded_plan(recorded_job(after, pool), pool),
					  jobs[i].expect);
		if (f->but && strstr(f->but, jobs[i].name))
			what = NULL;
		if (what)
			print_message("# %s: %s, and sure\n", jobs[i].name, what);
		wrong += what != NULL;
		json_decref(after);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, facts, check_fact);
	return _cmocka_run_group_tests("facts", tests, n, recorded_read, recorded_free);
}
