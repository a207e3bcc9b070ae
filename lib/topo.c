/* SPDX-License-Identifier: Apache-2.0 */
/* How the devices of one node belong together. */
#include <errno.h>

#include <nca/topo.h>

/* Deeper stacks are a loop in a broken document. */
#define DEPTH_MAX 8

/* Bytes of an Ethernet MTU that RoCE needs for itself: GRH 40, UDP 8, BTH 12, XRC 4, atomic 28,
 * ICRC 4 (kernel, include/rdma/ib_addr.h iboe_get_mtu). */
#define ROCE_OVERHEAD 96

static const char *const level_words[] = {NULL, "SYS", "NODE", "PHB", "PXB", "PIX"};

const char *nca_level_word(enum nca_level level)
{
	return level_words[level];
}

static enum nca_level parse_level(const char *word)
{
	size_t i;

	for (i = 1; i < ARRAY_SIZE(level_words); i++)
		if (nca_same(word, level_words[i]))
			return (enum nca_level)i;
	return NCA_LEVEL_UNKNOWN;
}

static const struct nca_pci *find_pci(const struct nca_node *node, const char *addr)
{
	const struct nca_pci *p;

	NCA_FOREACH(p, node->pci)
		if (nca_same(p->addr, addr))
			return p;
	return NULL;
}

/* The nearest common bridge, and how many steps it is above a. */
static const struct nca_pci *common_bridge(const struct nca_node *node, const struct nca_pci *a,
					   const struct nca_pci *b, int *steps)
{
	const struct nca_pci *up, *other;
	int i, k;

	up = find_pci(node, a->parent);
	for (i = 1; up && i <= DEPTH_MAX; i++, up = find_pci(node, up->parent)) {
		other = find_pci(node, b->parent);
		for (k = 1; other && k <= DEPTH_MAX; k++, other = find_pci(node, other->parent))
			if (other == up) {
				*steps = i > k ? i : k;
				return up;
			}
	}
	return NULL;
}

static enum nca_level numa_level(int a, int b)
{
	if (a < 0 || b < 0)
		return NCA_LEVEL_UNKNOWN;
	return a == b ? NCA_LEVEL_NODE : NCA_LEVEL_SYS;
}

static enum nca_level tree_level(const struct nca_node *node, const struct nca_hca *hca,
				 const struct nca_gpu *gpu)
{
	const struct nca_pci *a = find_pci(node, hca->pci), *b = find_pci(node, gpu->pci), *up;
	int steps = 0;

	up = a && b ? common_bridge(node, a, b, &steps) : NULL;
	if (!up)
		return numa_level(hca->numa < 0 && a ? a->numa : hca->numa,
				  gpu->numa < 0 && b ? b->numa : gpu->numa);
	if (nca_same(up->kind, "hostbridge"))
		return NCA_LEVEL_PHB;
	/* A whole switch is one entry ("switch") or two ports, the upper of which is shared. */
	if ((nca_same(up->kind, "switch") && steps == 1) ||
	    (nca_same(up->kind, "upstream") && steps == 2))
		return NCA_LEVEL_PIX;
	return NCA_LEVEL_PXB;
}

enum nca_level nca_topo_level(const struct nca_node *node, const struct nca_hca *hca, size_t i)
{
	const struct nca_row *row;

	NCA_FOREACH(row, node->distances)
		if (nca_same(row->key, hca->name))
			return i < row->values.n ? parse_level(row->values.v[i])
						 : NCA_LEVEL_UNKNOWN;
	if (i >= node->gpus.n || (node->host && node->host->virtual_machine == 1))
		return NCA_LEVEL_UNKNOWN;
	return tree_level(node, hca, &node->gpus.v[i]);
}

enum nca_level nca_topo_nearest(const struct nca_node *node, const struct nca_hca *hca)
{
	enum nca_level best = NCA_LEVEL_UNKNOWN;
	size_t i;

	for (i = 0; i < node->gpus.n; i++) {
		enum nca_level level = nca_topo_level(node, hca, i);

		best = level > best ? level : best;
	}
	return best;
}

static bool has_name(const nca_strs *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (nca_same(list->v[i], name))
			return true;
	return false;
}

/* Is lower directly below upper? A slave is known by its own `master` or by its master's list. */
static inline bool is_below(const struct nca_link *upper, const struct nca_link *lower)
{
	return nca_same(upper->link, lower->name) || nca_same(lower->master, upper->name) ||
	       (upper->bond && has_name(&upper->bond->slaves, lower->name)) ||
	       (upper->bridge && has_name(&upper->bridge->ports, lower->name));
}

static bool over(const struct nca_node *node, const struct nca_link *upper, const char *name,
		 int depth)
{
	const struct nca_link *lower;

	if (nca_same(upper->name, name) || nca_same(upper->link, name))
		return true;
	NCA_FOREACH(lower, node->interfaces)
		if (depth < DEPTH_MAX && lower != upper && is_below(upper, lower) &&
		    over(node, lower, name, depth + 1))
			return true;
	return false;
}

bool nca_topo_over(const struct nca_node *node, const struct nca_link *upper, const char *name)
{
	return name && over(node, upper, name, 0);
}

/* Then only its own name counts, which most questions are about. */
bool nca_topo_lowest(const struct nca_node *node, const struct nca_link *link)
{
	const struct nca_link *l;

	if (link->link || link->bond || link->bridge)
		return false;
	NCA_FOREACH(l, node->interfaces)
		if (l->master && streq(l->master, link->name))
			return false;
	return true;
}

/* Adds a name that is known and not there yet; the last one is the likeliest. */
static int add_netdev(struct nca_pool *pool, nca_strs *list, char *name)
{
	char **slot;
	size_t i;

	if (!name)
		return 0;
	for (i = list->n; i-- > 0;)
		if (streq(list->v[i], name))
			return 0;
	slot = NCA_APPEND(pool, *list);
	if (!slot)
		return -ENOMEM;
	*slot = name;
	return 0;
}

int nca_topo_netdevs(const struct nca_hca *hca, const struct nca_port *port, struct nca_pool *pool,
		     nca_strs *ret)
{
	const struct nca_gid *gid;
	int rc = add_netdev(pool, ret, port->netdev);

	rc = rc ? rc : add_netdev(pool, ret, hca->lag ? hca->lag->bond : NULL);
	NCA_FOREACH(gid, port->gids)
		rc = rc ? rc : add_netdev(pool, ret, gid->ndev);
	return rc;
}

bool nca_topo_uses(const struct nca_node *node, const struct nca_link *link, bool lowest,
		   const struct nca_hca *hca, const nca_strs *netdevs)
{
	const struct nca_link *l;
	size_t i;

	for (i = 0; i < netdevs->n; i++)
		if (lowest ? nca_same(link->name, netdevs->v[i])
			   : nca_topo_over(node, link, netdevs->v[i]))
			return true;
	if (lowest)
		return nca_same(link->pci, hca->pci);
	NCA_FOREACH(l, node->interfaces)
		if (nca_same(l->pci, hca->pci) && nca_topo_over(node, link, l->name))
			return true;
	return false;
}

/* The netdev's, or what is known of the port of an HCA behind it; -1: nothing. */
static int own_speed(const struct nca_node *node, const struct nca_link *link)
{
	const struct nca_hca *hca;
	const struct nca_port *port;

	if (link->speed_mbps > 0)
		return link->speed_mbps;
	NCA_FOREACH(hca, node->hcas)
		NCA_FOREACH(port, hca->ports)
			if (nca_same(port->netdev, link->name) && port->rate_gbps > 0)
				return (int)(1000 * port->rate_gbps);
	return -1;
}

/* Sum over the slaves that may send: all, or the active one (linux bonding,
 * bond_ethtool_get_link_ksettings). */
static int bond_speed(const struct nca_node *node, const struct nca_link *bond)
{
	bool one = bond->bond && nca_same(bond->bond->mode, "active-backup");
	const struct nca_link *l;
	int sum = 0;

	NCA_FOREACH(l, node->interfaces) {
		int speed = l == bond || !is_below(bond, l) ? -1 : own_speed(node, l);

		if (speed < 0)
			continue;
		if (one && (!bond->bond->active_slave || streq(bond->bond->active_slave, l->name)))
			return speed;
		sum += speed;
	}
	return sum ? sum : -1;
}

static int link_speed(const struct nca_node *node, const struct nca_link *link, int depth)
{
	bool bond = nca_same(link->kind, "bond");
	const struct nca_link *l;
	int best = -1;

	if (link->speed_mbps > 0 || depth > DEPTH_MAX)
		return link->speed_mbps;
	if (bond)
		best = bond_speed(node, link);
	NCA_FOREACH(l, node->interfaces)
		if (!bond && l != link && is_below(link, l) && nca_topo_physical(node, l)) {
			int speed = link_speed(node, l, depth + 1);

			best = speed > best ? speed : best;
		}
	return best > 0 ? best : own_speed(node, link);
}

int nca_topo_speed(const struct nca_node *node, const struct nca_link *link)
{
	return link_speed(node, link, 0);
}

int nca_topo_bond_legs(const struct nca_node *node, const struct nca_link *link)
{
	const struct nca_link *l;
	int depth, legs = 0;

	for (depth = 0; link && link->link && depth < DEPTH_MAX; depth++)
		link = nca_node_link(node, link->link);
	if (!link || !link->bond || !link->bond->mode ||
	    nca_same(link->bond->mode, "active-backup"))
		return -1;
	NCA_FOREACH(l, node->interfaces) {
		if (l == link || !is_below(link, l))
			continue;
		if (l->carrier < 0)
			return -1;
		legs += l->carrier;
	}
	return legs ? legs : -1;
}

static bool physical(const struct nca_node *node, const struct nca_link *link, int depth)
{
	static const char *const software[] = {"loopback", "veth", "vxlan", "tun", "dummy"};
	const struct nca_link *l;
	size_t i;

	if (node->in_container == 1 && nca_same(link->kind, "veth"))
		return true;
	for (i = 0; i < ARRAY_SIZE(software); i++)
		if (nca_same(link->kind, software[i]))
			return false;
	if (!nca_same(link->kind, "bridge") || depth > DEPTH_MAX)
		return true;
	NCA_FOREACH(l, node->interfaces)
		if (l != link && is_below(link, l) && physical(node, l, depth + 1))
			return true;
	return false;
}

bool nca_topo_physical(const struct nca_node *node, const struct nca_link *link)
{
	return physical(node, link, 0);
}

const char *nca_topo_master(const struct nca_node *node, const struct nca_link *link)
{
	const struct nca_link *upper;

	NCA_FOREACH(upper, node->interfaces)
		if (upper != link && is_below(upper, link) && !nca_same(upper->kind, "vrf") &&
		    !nca_same(upper->link, link->name))
			return upper->name;
	upper = nca_node_link(node, link->master);
	return upper && nca_same(upper->kind, "vrf") ? NULL : link->master;
}

const char *nca_topo_vpd(const struct nca_node *node, const struct nca_hca *hca, const char *key)
{
	const char *value = nca_pairs_get(hca->vpd, key);
	const struct nca_pci *pci = value ? NULL : find_pci(node, hca->pci);

	return pci ? nca_pairs_get(pci->vpd, key) : value;
}

int nca_topo_roce_mtu(int mtu)
{
	int ib;

	for (ib = 4096; ib > 256 && ib > mtu - ROCE_OVERHEAD; ib /= 2)
		;
	return ib;
}
