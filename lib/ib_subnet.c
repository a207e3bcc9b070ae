/* SPDX-License-Identifier: Apache-2.0 */
/* InfiniBand subnets: their ports meet only through routers. */
#include "fabric.h"

/* The upper half of a GID as text: "fe80:0000:0000:0000". */
#define PREFIX_TEXT 19

/* More are no subnets that anybody runs. */
#define SUBNETS_MAX 64

/* GID 0 of an InfiniBand port, whose first PREFIX_TEXT characters are the subnet prefix; the
 * default one is a prefix of its own too. NULL: not known. */
static const char *subnet_of(const struct nca_port_state *p)
{
	const struct nca_gid *gid = p->port->gids.v;

	if (p->layer != NCA_LAYER_IB || !p->port->gids.n || gid->index || !gid->gid ||
	    strlen(gid->gid) <= PREFIX_TEXT)
		return NULL;
	return gid->gid;
}

static bool same_subnet(const char *a, const char *b)
{
	return a && b && !strncmp(a, b, PREFIX_TEXT);
}

/* GID 1 holds a FLID (bytes 4 and 5): InfiniBand routers join the subnets. */
static bool has_router(const struct nca_port_state *p)
{
	struct nca_ip ip;

	return p->port->gids.n > 1 && p->port->gids.v[1].index == 1 &&
	       !nca_ip_parse_gid(p->port->gids.v[1].gid, &ip) && ip.family == 6 &&
	       (ip.byte[4] || ip.byte[5]);
}

struct subnet {
	const char *gid; /* of one of its ports */
	size_t nodes, ports;
	const struct nca_node_state *last;
};

struct subnets {
	NCA_LIST(struct subnet) all;
	bool known;
};

static struct subnet *find_subnet(struct nca_step *step, struct subnets *s, const char *gid,
				  bool add)
{
	struct subnet *sub;

	NCA_FOREACH(sub, s->all)
		if (same_subnet(sub->gid, gid))
			return sub;
	if (add && s->all.n == SUBNETS_MAX)
		return NULL;
	sub = add ? NCA_APPEND(step->pool, s->all) : NULL;
	step->no_memory = step->no_memory || (add && !sub);
	if (sub)
		*sub = (struct subnet){.gid = gid};
	return sub;
}

/* Subnets of the usable ports; not known where a port has none, or where routers join them. */
static struct subnets read_subnets(struct nca_step *step)
{
	struct subnets s = {.known = true};
	struct nca_node_state *node;
	struct nca_port_state *p;
	struct subnet *sub;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports) {
			if (!nca_port_is_open(p))
				continue;
			if (!subnet_of(p) || has_router(p))
				return (struct subnets){0};
			sub = find_subnet(step, &s, subnet_of(p), true);
			if (!sub)
				return (struct subnets){0};
			sub->ports++;
			sub->nodes += sub->last != node;
			sub->last = node;
		}
	return s;
}

static void reject_subnets(struct nca_step *step, struct subnets *s, size_t nodes, size_t ports,
			   const char *why)
{
	struct nca_node_state *node;
	struct nca_port_state *p;
	struct subnet *sub;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports) {
			if (!nca_port_is_open(p))
				continue;
			sub = find_subnet(step, s, subnet_of(p), false);
			if (sub->nodes < nodes || sub->ports < ports)
				nca_step_judge_port(step, p, NCA_RULE_IB_SUBNET,
						    nca_step_text(step,
								  "%s port %d: %s (subnet %.*s)",
								  p->hca->name, p->port->port, why,
								  PREFIX_TEXT, sub->gid));
		}
}

static const struct subnet *most_frequent(const struct subnets *s)
{
	const struct subnet *sub, *most = s->all.v;

	NCA_FOREACH(sub, s->all)
		most = sub->nodes > most->nodes ? sub : most;
	return most;
}

static bool is_in(const struct nca_node_state *node, const char *gid)
{
	const struct nca_port_state *p;

	NCA_FOREACH(p, node->ports)
		if (nca_port_is_open(p) && same_subnet(subnet_of(p), gid))
			return true;
	return false;
}

/* No subnet is on all nodes: names those that are not in the one that most have. */
static void warn_apart(struct nca_step *step, const struct subnets *s)
{
	const struct subnet *most = most_frequent(s);
	const struct nca_node_state *node;

	NCA_FOREACH(node, step->nodes)
		if (!is_in(node, most->gid))
			nca_step_warn(step, "subnet-differs", "", node->node->name,
				      nca_step_text(step,
						    "no port in InfiniBand subnet %.*s, in which "
						    "%zu of %zu nodes are, and no router joins "
						    "the subnets: the step uses TCP. Leave it out "
						    "with --exclude={nodes}",
						    PREFIX_TEXT, most->gid, most->nodes,
						    step->nodes.n));
}

void nca_fabric_choose_subnets(struct nca_step *step)
{
	struct subnets s = read_subnets(step);

	if (!s.known || s.all.n < 2)
		return;
	if (most_frequent(&s)->nodes < step->nodes.n)
		warn_apart(step, &s);
	reject_subnets(step, &s, step->nodes.n, 0,
		       "not all nodes have a port in its InfiniBand subnet");
}

/* Nobody chose the HCAs, and no distance tells. */
static bool is_open(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes) {
		if (node->fixed_hcas)
			return false;
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_open(p) && nca_port_is_near(node, p))
				return false;
	}
	return true;
}

static bool sm_is_known(const struct nca_step *step)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (nca_port_is_open(p) && (p->port->sm_lid <= 0 || has_router(p)))
				return false;
	return true;
}

/* The ports that name this SM LID; 0 where some node has none. */
static size_t count_sm(const struct nca_step *step, int lid)
{
	const struct nca_node_state *node;
	const struct nca_port_state *p;
	size_t n = 0;

	NCA_FOREACH(node, step->nodes) {
		size_t before = n;

		NCA_FOREACH(p, node->ports)
			n += nca_port_is_open(p) && p->port->sm_lid == lid;
		if (n == before)
			return 0;
	}
	return n;
}

/* The SM LID that most ports name; 0 where there is no such. All ports of a subnet name the LID of
 * its one master (InfiniBand specification, PortInfo.MasterSMLID). */
static int most_frequent_sm(const struct nca_step *step)
{
	const struct nca_port_state *p;
	size_t n, most = 0;
	int lid = 0;

	NCA_FOREACH(p, step->nodes.v->ports) {
		int other = p->port->sm_lid;

		n = nca_port_is_open(p) ? count_sm(step, other) : 0;
		if (!n || n < most)
			continue;
		lid = n > most || lid == other ? other : 0;
		most = n;
	}
	return lid;
}

/* Fabrics that all have the default prefix: their subnet managers differ. */
static void choose_sm(struct nca_step *step)
{
	int lid = sm_is_known(step) ? most_frequent_sm(step) : 0;
	struct nca_node_state *node;
	struct nca_port_state *p;

	NCA_FOREACH(node, step->nodes)
		NCA_FOREACH(p, node->ports)
			if (lid && nca_port_is_open(p) && p->port->sm_lid != lid)
				nca_step_judge_port(
					step, p, NCA_RULE_IB_SUBNET,
					nca_step_text(step,
						      "%s port %d: another InfiniBand subnet has "
						      "more ports (SM LID %d, theirs is %d)",
						      p->hca->name, p->port->port, p->port->sm_lid,
						      lid));
}

void nca_fabric_choose_largest(struct nca_step *step)
{
	bool open = is_open(step);
	struct subnets s = open ? read_subnets(step) : (struct subnets){0};
	const struct subnet *sub, *most = s.all.v;

	if (open && s.all.n < 2)
		choose_sm(step);
	NCA_FOREACH(sub, s.all)
		most = sub->ports > most->ports ? sub : most;
	NCA_FOREACH(sub, s.all)
		if (sub != most && sub->ports == most->ports)
			return;
	if (s.all.n > 1)
		reject_subnets(step, &s, 0, most->ports,
			       "another InfiniBand subnet has more ports");
}
