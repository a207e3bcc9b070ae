/* SPDX-License-Identifier: Apache-2.0 */
/* What other nodes may connect to. */
#include <nca/firewall.h>

bool nca_firewall_accepts(const struct nca_node *node, int port)
{
	const struct nca_firewall_rule *rule;
	size_t i;

	if (!node->firewall || !nca_same(node->firewall->input, "drop"))
		return true;
	NCA_FOREACH(rule, node->firewall->accept) {
		if (nca_same(rule->proto, "udp"))
			continue;
		if (!rule->ports.n)
			return true;
		for (i = 0; i < rule->ports.n; i++)
			if (rule->ports.v[i] == port)
				return true;
	}
	return false;
}
