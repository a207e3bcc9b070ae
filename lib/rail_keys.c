/* SPDX-License-Identifier: Apache-2.0 */
/* What makes two ports of two nodes the same rail. */
#include "rail_keys.h"

static bool subnet_key(const struct nca_port_state *port, struct nca_rail_key *key)
{
	const struct nca_gid *gid = port->port->gids.n ? port->port->gids.v : NULL;
	struct nca_ip ip;

	if (!gid || port->layer != NCA_LAYER_IB || nca_ip_parse_gid(gid->gid, &ip) ||
	    nca_ip_is_link_local(&ip))
		return false;
	key->net = nca_ip_prefix(&ip, 64);
	return true;
}

bool nca_rail_key_read(const struct nca_step *step, const struct nca_port_state *port,
		       enum nca_rail_key_kind kind, struct nca_rail_key *ret)
{
	const struct nca_prefix *net;

	*ret = (struct nca_rail_key){.text = ""};
	switch (kind) {
	case NCA_KEY_PLACE:
		ret->port = port->place;
		return port->place >= 0;
	case NCA_KEY_NETWORK:
		net = nca_rail_network(step, port);
		ret->net = net ? *net : ret->net;
		return net != NULL;
	case NCA_KEY_SUBNET:
		return subnet_key(port, ret);
	case NCA_KEY_PCI:
		ret->text = port->hca->pci;
		break;
	case NCA_KEY_NAME:
		ret->text = port->hca->name;
		break;
	case NCA_KEY_ORDINAL:
		return false;
	}
	ret->port = port->port->port;
	return ret->text != NULL;
}

bool nca_rail_key_same(const struct nca_rail_key *a, const struct nca_rail_key *b)
{
	return a->port == b->port && nca_prefix_same(&a->net, &b->net) && streq(a->text, b->text);
}

const char *nca_rail_key_text(struct nca_step *step, const struct nca_rail_key *key)
{
	char text[NCA_ADDR_TEXT];

	if (!key->net.ip.family && !key->text[0])
		return nca_step_text(step, "%d of rail-hca=", key->port);
	if (!key->net.ip.family)
		return key->text;
	return nca_step_text(step, "%s/%d", nca_ip_text(&key->net.ip, text), key->net.len);
}

int nca_name_compare(const char *a, const char *b)
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
		c = nca_name_compare(x->hca->name, y->hca->name);
	return c ? c : x->port->port - y->port->port;
}

int nca_rail_compare_pinned(const void *a, const void *b)
{
	const struct nca_port_state *x = *(struct nca_port_state *const *)a;
	const struct nca_port_state *y = *(struct nca_port_state *const *)b;
	int c = x->place - y->place;

	return c ? c : nca_rail_compare(a, b);
}

/* Keys of more rails than this many times the most that a node has are of something else. */
#define RAILS_FACTOR 4

/* The rail of a key. It is looked for at its place of the first node's list first: nodes of one
 * model are alike. */
static struct nca_rail *find_rail(struct nca_rail_table *t, const struct nca_rail_key *key,
				  size_t place)
{
	struct nca_rail *rail;

	if (place < t->rails.n && nca_rail_key_same(&t->rails.v[place].key, key))
		return &t->rails.v[place];
	NCA_FOREACH(rail, t->rails)
		if (nca_rail_key_same(&rail->key, key))
			return rail;
	return NULL;
}

static struct nca_rail *add_rail(struct nca_step *step, struct nca_rail_table *t,
				 const struct nca_rail_key *key)
{
	struct nca_rail *rail = NCA_APPEND(step->pool, t->rails);

	if (rail) {
		rail->key = *key;
		rail->port = nca_pool_alloc(step->pool, step->nodes.n * sizeof(*rail->port));
	}
	if (rail && rail->port)
		return rail;
	step->no_memory = true;
	return NULL;
}

static bool add_port(struct nca_step *step, struct nca_rail_table *t, size_t node, size_t place)
{
	struct nca_port_state *p = step->nodes.v[node].rails.v[place];
	struct nca_rail_key key;
	struct nca_rail *rail;

	if (!nca_rail_key_read(step, p, t->kind, &key))
		return false;
	rail = find_rail(t, &key, place);
	if (!rail && t->rails.n >= RAILS_FACTOR * nca_rails_most(step))
		return false;
	rail = rail ? rail : add_rail(step, t, &key);
	if (!rail || rail->port[node])
		return false;
	rail->port[node] = p;
	rail->n++;
	return true;
}

bool nca_rail_table_read(struct nca_step *step, enum nca_rail_key_kind kind,
			 struct nca_rail_table *ret)
{
	struct nca_rail_table table = {.kind = kind};
	size_t i, k;

	for (i = 0; i < step->nodes.n; i++)
		for (k = 0; k < step->nodes.v[i].rails.n; k++)
			if (!add_port(step, &table, i, k))
				return false;
	*ret = table;
	return true;
}

bool nca_rail_table_tells(const struct nca_step *step, const struct nca_rail_table *table)
{
	const struct nca_rail *rail;

	NCA_FOREACH(rail, table->rails)
		if (rail->n == step->nodes.n)
			return true;
	return table->kind <= NCA_KEY_SUBNET && table->rails.n <= nca_rails_most(step);
}

const struct nca_port_state *nca_rail_find(const struct nca_step *step,
					   const struct nca_node_state *node,
					   const struct nca_rail_key *key,
					   enum nca_rail_key_kind kind)
{
	const struct nca_port_state *p;
	struct nca_rail_key other;

	NCA_FOREACH(p, node->ports)
		if (nca_rail_key_read(step, p, kind, &other) && nca_rail_key_same(&other, key))
			return p;
	return NULL;
}

size_t nca_rails_most(const struct nca_step *step)
{
	const struct nca_node_state *node;
	size_t most = 0;

	NCA_FOREACH(node, step->nodes)
		most = node->rails.n > most ? node->rails.n : most;
	return most;
}
