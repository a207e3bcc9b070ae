/* SPDX-License-Identifier: Apache-2.0 */
/* A MASTER_ADDR of the user's: is it where the nodes meet? */
#include <errno.h>

#include <nca/addr.h>

#include "rendezvous_parts.h"

/* -EINVAL: a name, of which nobody knows where it leads. */
static int read_address(const struct nca_node *first, const char *set, struct nca_ip *ret)
{
	if (!nca_ip_parse(nca_has_prefix(set, "localhost") ? "127.0.0.1" : set, ret))
		return 0;
	if (!first->hostname_resolves_to || !nca_node_is_named(first, set))
		return -EINVAL;
	return nca_ip_parse(first->hostname_resolves_to, ret);
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
	struct nca_ip ip;

	if (!set || !plan->socket_addr || read_address(first, set, &ip))
		return 0;
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
