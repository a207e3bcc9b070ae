/* SPDX-License-Identifier: Apache-2.0 */
/* What makes two ports of two nodes the same rail. */
#include "rail_keys.h"

bool nca_rail_network(const struct nca_step *step, const struct nca_node_state *node,
		      const struct nca_port_state *rail, struct nca_prefix *net, const char **ndev)
{
	const struct nca_gid *gid = nca_rail_gid(step, rail);
	const struct nca_link *link;
	const struct nca_addr *a;
	struct nca_ip ip, have;

	if (!gid)
		gid = rail->gid[0] ? rail->gid[0] : rail->gid[1];
	link = gid ? nca_node_link(node->node, gid->ndev) : NULL;
	if (!link || nca_ip_parse_gid(gid->gid, &ip))
		return false;
	NCA_FOREACH(a, link->addresses)
		if (a->prefixlen > 0 && !nca_ip_parse(a->addr, &have) &&
		    !nca_ip_compare(&have, &ip)) {
			*net = nca_ip_prefix(&ip, a->prefixlen);
			*ndev = link->name;
			return true;
		}
	return false;
}

static const char *network_key(struct nca_step *step, const struct nca_node_state *node,
			       const struct nca_port_state *port)
{
	struct nca_prefix net;
	const char *ndev;
	char buf[NCA_ADDR_TEXT];

	if (!nca_rail_network(step, node, port, &net, &ndev))
		return NULL;
	return nca_step_text(step, "%s/%d", nca_ip_text(&net.ip, buf), net.len);
}

static const char *subnet_key(struct nca_step *step, const struct nca_port_state *port)
{
	const struct nca_gid *gid = port->port->gids.n ? port->port->gids.v : NULL;

	if (!gid || !nca_same(port->port->link_layer, "InfiniBand") || strlen(gid->gid) < 19 ||
	    nca_has_prefix(gid->gid, "fe80:0000:0000:0000"))
		return NULL;
	return nca_step_text(step, "%.19s", gid->gid);
}

const char *nca_rail_key(struct nca_step *step, const struct nca_node_state *node,
			 const struct nca_port_state *port, enum nca_rail_key kind)
{
	switch (kind) {
	case NCA_KEY_NETWORK:
		return network_key(step, node, port);
	case NCA_KEY_SUBNET:
		return subnet_key(step, port);
	case NCA_KEY_PCI:
		if (!port->hca->pci)
			return NULL;
		return nca_step_text(step, "%s:%d", port->hca->pci, port->port->port);
	case NCA_KEY_NAME:
		return nca_step_text(step, "%s:%d", port->hca->name, port->port->port);
	default:
		return NULL;
	}
}

/* "mlx5_2" before "mlx5_10". */
static int compare_names(const char *a, const char *b)
{
	while (*a && *b) {
		size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");

		if (n && m && n != m)
			return n < m ? -1 : 1;
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	return (*a != 0) - (*b != 0);
}

int nca_rail_compare(const void *a, const void *b)
{
	const struct nca_port_state *x = *(struct nca_port_state *const *)a;
	const struct nca_port_state *y = *(struct nca_port_state *const *)b;
	int c = 0;

	if (x->hca->pci && y->hca->pci)
		c = strcmp(x->hca->pci, y->hca->pci);
	if (!c)
		c = compare_names(x->hca->name, y->hca->name);
	return c ? c : x->port->port - y->port->port;
}

static int compare_holders(const void *a, const void *b)
{
	const struct nca_rail_holder *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	return c ? c : (x->node > y->node) - (x->node < y->node);
}

bool nca_rail_holders_read(struct nca_step *step, enum nca_rail_key kind,
			   struct nca_rail_holders *ret)
{
	struct nca_rail_holders h = {0};
	size_t i, k, total = 0;

	for (i = 0; i < step->nodes.n; i++)
		total += step->nodes.v[i].rails.n;
	h.v = nca_pool_alloc(step->pool, total * sizeof(*h.v));
	step->no_memory = step->no_memory || !h.v;
	for (i = 0; h.v && i < step->nodes.n; i++)
		for (k = 0; k < step->nodes.v[i].rails.n; k++) {
			struct nca_port_state *p = step->nodes.v[i].rails.v[k];
			const char *key = nca_rail_key(step, &step->nodes.v[i], p, kind);

			if (!key)
				return false;
			h.v[h.n++] = (struct nca_rail_holder){key, i, p};
		}
	if (!h.v)
		return false;
	qsort(h.v, h.n, sizeof(*h.v), compare_holders);
	for (i = 1; i < h.n; i++)
		if (!compare_holders(&h.v[i - 1], &h.v[i]))
			return false;
	*ret = h;
	return true;
}

size_t nca_rail_holders_end(const struct nca_rail_holders *h, size_t i)
{
	size_t end = i;

	while (end < h->n && streq(h->v[end].key, h->v[i].key))
		end++;
	return end;
}

size_t nca_rail_holders_lacking(const struct nca_rail_holders *h, size_t i, size_t end)
{
	size_t node = 0;

	while (i < end && h->v[i].node == node) {
		i++;
		node++;
	}
	return node;
}

size_t nca_rails_most(const struct nca_step *step)
{
	const struct nca_node_state *node;
	size_t most = 0;

	NCA_FOREACH(node, step->nodes)
		most = node->rails.n > most ? node->rails.n : most;
	return most;
}

bool nca_rail_holders_tell(const struct nca_step *step, const struct nca_rail_holders *h,
			   enum nca_rail_key kind)
{
	size_t i, end, keys = 0, common = 0;

	for (i = 0; i < h->n; i = end) {
		end = nca_rail_holders_end(h, i);
		keys++;
		common += end - i == step->nodes.n;
	}
	return common || (kind <= NCA_KEY_SUBNET && keys <= nca_rails_most(step));
}
