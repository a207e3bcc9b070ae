/* SPDX-License-Identifier: Apache-2.0 */
/* A MASTER_ADDR of the user's: is it where the nodes meet? */
#include <errno.h>

#include <nca/addr.h>

#include "rendezvous_parts.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

/* -EINVAL: a name, of which nobody knows where it leads. */
static int read_address(const struct nca_node *first, const char *set, struct nca_ip *ret)
{
	if (!nca_ip_parse(nca_has_prefix(set, "localhost") ? "127.0.0.1" : set, ret))
		return 0;
	if (!first->hostname_resolves_to || !nca_node_is_named(first, set))
		return -EINVAL;
	return nca_ip_parse(first->hostname_resolves_to, ret);
}

/* What keeps a name from leading to task 0, as far as it is known; NULL: nothing. *rc: -ENOMEM. */
static const char *name_fault(const struct nca_meeting *m, const char *set, int *rc)
{
	const struct nca_node *node, *first = m->job->nodes.v;
	const char *fault = NULL;

	if (set[strspn(set, NAME_CHARACTERS)] && !strchr(set, '%'))
		return "is neither an address nor a name";
	if (nca_node_is_named(first, set)) {
		if (!first->hostname_resolves_to || *first->hostname_resolves_to)
			return NULL;
		fault = nca_pool_printf(m->pool, "leads nowhere on %s, whose name it is",
					first->name);
		*rc = fault ? 0 : -ENOMEM;
		return fault;
	}
	NCA_FOREACH(node, m->job->nodes)
		if (!fault && nca_node_is_named(node, set)) {
			fault = nca_pool_printf(m->pool, "is not %s, where task 0 runs",
						first->name);
			*rc = fault ? 0 : -ENOMEM;
		}
	return fault;
}

static int warn(const struct nca_meeting *m, const char *set, const char *what)
{
	const struct nca_plan_node *first = m->plan->nodes.v;

	if (!what)
		return -ENOMEM;
	return nca_plan_warn(m->plan, m->pool, "env-master-addr", NULL,
			     "MASTER_ADDR=%s %s; the nodes meet at %s (%s). Unset it", set, what,
			     first->socket_addr, first->socket_ifname);
}

int nca_master_check(const struct nca_meeting *m)
{
	const struct nca_node *first = m->job->nodes.v;
	const struct nca_plan_node *plan = m->plan->nodes.v;
	const char *set = nca_pairs_get(first->environment, "MASTER_ADDR");
	const struct nca_link *link;
	const char *fault;
	struct nca_ip ip;
	int rc = 0;

	if (!set || !*set || !plan->socket_addr)
		return 0;
	if (read_address(first, set, &ip)) {
		fault = name_fault(m, set, &rc);
		return fault ? warn(m, set, fault) : rc;
	}
	if (nca_ip_is_loopback(&ip))
		return warn(m, set,
			    nca_node_is_named(first, set)
				    ? nca_pool_printf(m->pool,
						      "is %s on %s: what listens at the name there "
						      "is not reached by the others",
						      first->hostname_resolves_to, first->name)
				    : "leads every node to itself");
	link = nca_node_holder(first, &ip);
	if (!link)
		return warn(m, set,
			    nca_pool_printf(m->pool, "is no address of %s, where task 0 runs",
					    first->name));
	if (nca_same(link->name, plan->socket_ifname))
		return 0;
	return warn(m, set, nca_pool_printf(m->pool, "is on %s of %s", link->name, first->name));
}
