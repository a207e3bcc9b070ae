/* SPDX-License-Identifier: Apache-2.0 */
/* What the site's file pins: judged like a rule, and said so where it cannot be kept. */
#include <nca/names.h>
#include <nca/number.h>
#include <nca/pin.h>

#include "step.h"

/* A pin that matches nothing of use is ignored: a step that the rules can start shall start. */
static void warn_ignored(struct nca_step *step, const struct nca_node_state *node, const char *pins,
			 const char *what)
{
	nca_step_warn(step, "pin-ignored", pins, node->node->name,
		      nca_step_text(step,
				    "%s of the site's file leave%s no usable %s and %s ignored. "
				    "Correct the file, or the node",
				    pins, strchr(pins, ' ') ? "" : "s", what,
				    strchr(pins, ' ') ? "are" : "is"));
}

/* "rail-subnet=10.0.0.0/8 rail-min-gbps=100": those of the keys that are set; NULL: none. */
static char *pins_text(struct nca_step *step, const struct nca_node *node, const char *const *keys)
{
	char *text = NULL;

	for (; *keys; keys++) {
		const char *value = nca_pin_get(node, *keys);

		if (value)
			text = nca_step_text(step, "%s%s%s=%s", text ? text : "", text ? " " : "",
					     *keys, value);
	}
	return text;
}

/* Is the device one of a list of whole names? NULL: no list, so all are. */
static bool is_named(struct nca_step *step, const char *list, const char *name, int port)
{
	const char *exact = list ? nca_step_join(step, "=", list) : NULL;

	return !list || (exact && nca_names_match(exact, name, port));
}

static bool link_is_pinned(struct nca_step *step, const struct nca_node_state *node,
			   const struct nca_link_state *link)
{
	const char *subnet = nca_pin_get(node->node, "control-subnet");
	const struct nca_candidate *c;
	struct nca_prefix prefix;

	if (!is_named(step, nca_pin_get(node->node, "control-interface"), link->link->name, -1))
		return false;
	if (!subnet || nca_prefix_parse(subnet, 0, &prefix))
		return true;
	NCA_FOREACH(c, node->candidates)
		if (c->state == link && nca_prefix_has(&prefix, &c->ip))
			return true;
	return false;
}

void nca_pins_judge_links(struct nca_step *step, struct nca_node_state *node)
{
	static const char *const keys[] = {"control-interface", "control-subnet", NULL};
	char *pins = node->node->site.n ? pins_text(step, node->node, keys) : NULL;
	struct nca_link_state *link;
	bool any = false;

	if (!pins)
		return;
	NCA_FOREACH(link, node->links)
		any = any || (link->rule == NCA_RULE_NONE && link_is_pinned(step, node, link));
	if (!any) {
		warn_ignored(step, node, pins, "interface");
		return;
	}
	NCA_FOREACH(link, node->links)
		if (!link_is_pinned(step, node, link))
			nca_link_reject(step, link, NCA_RULE_PINNED_INTERFACE,
					"the site's file says ", pins);
}

void nca_pins_read_node(struct nca_node_state *node)
{
	const char *subnet = node->node->site.n ? nca_pin_get(node->node, "rail-subnet") : NULL;

	if (subnet && nca_prefix_parse(subnet, 0, &node->rail_subnet))
		node->rail_subnet = (struct nca_prefix){0};
}

static bool has_layer(const struct nca_node *node, const struct nca_port_state *p)
{
	return nca_pin_is(node, "rail-link-layer", "infiniband") ? p->layer == NCA_LAYER_IB
	       : nca_pin_is(node, "rail-link-layer", "ethernet") ? p->layer == NCA_LAYER_ETHERNET
								 : true;
}

static bool has_gid(const struct nca_node_state *node, const struct nca_port_state *p)
{
	struct nca_ip ip;
	int i;

	if (!node->rail_subnet.ip.family || p->layer != NCA_LAYER_ETHERNET)
		return true;
	for (i = 0; i < 2; i++)
		if (p->gid[i] && !nca_ip_parse_gid(p->gid[i]->gid, &ip) &&
		    nca_prefix_has(&node->rail_subnet, &ip))
			return true;
	return false;
}

static bool has_rate(const struct nca_node *node, const struct nca_port_state *p)
{
	const char *text = nca_pin_get(node, "rail-min-gbps");
	unsigned int min;

	return !text || nca_parse_u32(text, 1, 100000, &min) || p->rate < 0 || p->rate >= min;
}

static bool port_is_pinned(struct nca_step *step, const struct nca_node_state *node,
			   const struct nca_port_state *p)
{
	const char *name = p->hca->name, *list = nca_pin_get(node->node, "rail-hca");

	return is_named(step, list, name, p->port->port) && has_layer(node->node, p) &&
	       has_gid(node, p) && has_rate(node->node, p);
}

/* What must never be used, though nothing be left. */
static bool is_forbidden(struct nca_step *step, const struct nca_node *node,
			 const struct nca_port_state *p)
{
	const char *list = nca_pin_get(node, "rail-exclude");

	return (list && is_named(step, list, p->hca->name, p->port->port)) ||
	       (nca_pin_is(node, "allow-vf", "no") && (p->hca->is_vf == 1 || p->hca->physfn)) ||
	       (nca_pin_is(node, "allow-virtual", "no") && p->software);
}

static void reject_port(struct nca_step *step, struct nca_port_state *p, const char *pins)
{
	nca_step_judge_port(step, p, NCA_RULE_PINNED_HCA,
			    nca_step_text(step, "%s port %d: the site's file says %s", p->hca->name,
					  p->port->port, pins));
}

/* The place of a port in rail-hca=. */
static int place_of(struct nca_step *step, const char *list, const struct nca_port_state *p)
{
	int place = 0;

	for (; list && *list; place++) {
		size_t n = strcspn(list, ",");
		const char *entry = nca_step_text(step, "%.*s", (int)n, list);

		if (entry && is_named(step, entry, p->hca->name, p->port->port))
			return place;
		list += n + (list[n] == ',');
	}
	return -1;
}

void nca_pins_judge_ports(struct nca_step *step, struct nca_node_state *node)
{
	static const char *const never[] = {"rail-exclude", "allow-vf", "allow-virtual", NULL};
	static const char *const only[] = {"rail-hca", "rail-link-layer", "rail-subnet",
					   "rail-min-gbps", NULL};
	const char *list = node->node->site.n ? nca_pin_get(node->node, "rail-hca") : NULL;
	char *pins = node->node->site.n ? pins_text(step, node->node, only) : NULL;
	struct nca_port_state *p;
	bool any = false;

	if (!node->node->site.n)
		return;
	NCA_FOREACH(p, node->ports) {
		if (is_forbidden(step, node->node, p))
			reject_port(step, p, pins_text(step, node->node, never));
		any = any || (nca_port_is_open(p) && port_is_pinned(step, node, p));
	}
	if (!pins)
		return;
	if (!any) {
		warn_ignored(step, node, pins, "HCA port");
		return;
	}
	node->fixed_hcas = list != NULL;
	NCA_FOREACH(p, node->ports) {
		p->place = place_of(step, list, p);
		if (!port_is_pinned(step, node, p))
			reject_port(step, p, pins);
	}
}

static bool all_have(const struct nca_step *step, int i)
{
	const struct nca_node_state *node;
	size_t k;

	NCA_FOREACH(node, step->nodes)
		for (k = 0; k < node->rails.n; k++)
			if (!node->rails.v[k]->gid[i])
				return false;
	return true;
}

int nca_pins_family(struct nca_step *step)
{
	const struct nca_node_state *node;
	const char *family = NULL;
	bool six;

	NCA_FOREACH(node, step->nodes)
		if (!family && node->node->site.n)
			family = nca_pin_get(node->node, "gid-family");
	if (!family)
		return 0;
	six = streq(family, "ipv6");
	if (all_have(step, six))
		return six ? 6 : 4;
	nca_step_warn(step, "pin-ignored", "gid-family", NULL,
		      nca_step_text(step,
				    "gid-family=%s of the site's file is ignored: some rail has no "
				    "such GID. Give its interface an address, or correct the file",
				    family));
	return 0;
}

void nca_pins_count(struct nca_step *step, const struct nca_node_state *node)
{
	const char *text = node->node->site.n ? nca_pin_get(node->node, "rail-count") : NULL;
	unsigned int want;

	if (!text || nca_parse_u32(text, 1, 32, &want) || node->rails.n >= want)
		return;
	nca_step_warn(step, "rail-count", "", node->node->name,
		      nca_step_text(step,
				    "%zu HCA ports are usable, the site's file expects "
				    "rail-count=%u. nccl-autoconf show on the node says why each "
				    "other is not",
				    node->rails.n, want));
}
