/* SPDX-License-Identifier: Apache-2.0 */
/* Which key tells the rails of the nodes from each other, if any does. */
#include "mesh.h"

bool nca_rails_equal(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (node->rails.n != step->nodes.v->rails.n)
			return false;
	return true;
}

size_t nca_rail_lacking(const struct nca_rail *rail)
{
	size_t i = 0;

	while (rail->port[i])
		i++;
	return i;
}

/* Is the port left out for what has become of it? One of another role is another device that bears
 * the name there. */
static bool is_sick(const struct nca_port_state *p)
{
	return p && p->rule != NCA_RULE_FRONT_END && p->rule != NCA_RULE_LOCALITY;
}

/* Is a rail that some node lacks there on it too, but of no use? Then keys tell more than places.
 */
static bool has_sick_sibling(const struct nca_step *step, const struct nca_rail_table *table)
{
	const struct nca_rail *rail;

	NCA_FOREACH(rail, table->rails)
		if (rail->n < step->nodes.n &&
		    is_sick(nca_rail_find(step, &step->nodes.v[nca_rail_lacking(rail)], &rail->key,
					  table->kind)))
			return true;
	return false;
}

/* The length of a name that the kernel made of the driver and a number (mlx5_%d, erdma_%d), without
 * the number; 0: udev has named it by its place. */
static size_t stem(const char *name)
{
	size_t n = strlen(name);

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return name[n] && memchr(name, '_', n) ? n : 0;
}

/* Has the node ports with that beginning, all with lower numbers, and not that one? */
static bool is_behind(const struct nca_node_state *node, const char *name)
{
	const struct nca_port_state *p;
	size_t n = stem(name);
	bool any = false;

	NCA_FOREACH(p, node->ports) {
		if (!n || stem(p->hca->name) != n || strncmp(p->hca->name, name, n) != 0)
			continue;
		if (nca_name_compare(p->hca->name, name) >= 0)
			return false;
		any = true;
	}
	return any;
}

/* Is every rail that a node lacks of a number behind all of its own? The kernel counts the devices
 * that it finds: so the numbers do not tell which is missing. */
static bool only_counts(const struct nca_step *step, const struct nca_rail_table *table)
{
	const struct nca_rail *rail;
	size_t i;

	if (table->kind != NCA_KEY_NAME)
		return false;
	NCA_FOREACH(rail, table->rails)
		for (i = 0; i < step->nodes.n; i++)
			if (!rail->port[i] && !is_behind(&step->nodes.v[i], rail->key.text))
				return false;
	return true;
}

/* Does a key stand for InfiniBand here and Ethernet there? Then the nodes are numbered in different
 * ways, and it tells nothing. */
static bool is_contradicted(const struct nca_step *step, const struct nca_rail_table *table)
{
	const struct nca_rail *rail;
	size_t i;

	NCA_FOREACH(rail, table->rails)
		for (i = 0; i < step->nodes.n; i++) {
			const struct nca_port_state *p =
				rail->port[i] ? NULL
					      : nca_rail_find(step, &step->nodes.v[i], &rail->key,
							      table->kind);

			if (p && p->layer && p->layer != step->nodes.v->rails.v[0]->layer)
				return true;
		}
	return false;
}

/* Is every port of every node a rail? Then none is sick. */
static bool all_are_rails(const struct nca_step *step)
{
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (node->rails.n != node->ports.n)
			return false;
	return true;
}

enum nca_rail_key_kind nca_rail_choose_kind(struct nca_step *step, struct nca_rail_table *table,
					    bool *sick)
{
	enum nca_rail_key_kind kind;

	for (kind = NCA_KEY_PLACE; kind < NCA_KEY_ORDINAL; kind++) {
		bool tells;

		if (kind > NCA_KEY_SUBNET && nca_rails_equal(step) && all_are_rails(step))
			break;
		if (!nca_rail_table_read(step, kind, table))
			continue;
		if (nca_mesh_is(step, table))
			return kind;
		if (kind > NCA_KEY_SUBNET && is_contradicted(step, table))
			continue;
		if (!nca_rails_equal(step) && only_counts(step, table))
			continue;
		tells = nca_rail_table_tells(step, table);
		if (tells && (kind <= NCA_KEY_SUBNET || !nca_rails_equal(step)))
			return kind;
		if (kind > NCA_KEY_SUBNET && has_sick_sibling(step, table)) {
			*sick = true;
			if (tells)
				return kind;
		}
	}
	return NCA_KEY_ORDINAL;
}
