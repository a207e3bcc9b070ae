/* SPDX-License-Identifier: Apache-2.0 */
/* A MASTER_PORT of the user's: can the workers meet there? */
#include <nca/firewall.h>
#include <nca/number.h>

#include "rendezvous_parts.h"

int nca_master_port(const struct nca_meeting *m, const char *set, int *ret)
{
	const struct nca_node *first = m->job->nodes.v;
	unsigned int port;

	*ret = -1;
	if (nca_parse_u32(set, 1, 65535, &port))
		return nca_plan_warn(m->plan, m->pool, "master-port-bad", first->name,
				     "MASTER_PORT=%s is set and is no port; unset it, or set 1024 "
				     "to 65535",
				     set);
	*ret = (int)port;
	if (m->job->nnodes > 1 && !nca_firewall_accepts(first, *ret)) {
		m->plan->verdict = "refuse";
		return nca_plan_warn(m->plan, m->pool, "firewall-closed", first->name,
				     "the firewall drops connections to MASTER_PORT=%s, which is "
				     "set. Open it, or unset MASTER_PORT",
				     set);
	}
	if (nca_node_port_is_taken(first, *ret))
		return nca_plan_warn(m->plan, m->pool, "master-port-busy", first->name,
				     "MASTER_PORT=%s is set and in use. Unset it, or set another",
				     set);
	if (port < 1024)
		return nca_plan_warn(m->plan, m->pool, "master-port-bad", first->name,
				     "MASTER_PORT=%s is set: ports below 1024 need privileges. "
				     "Unset it",
				     set);
	return 0;
}
