/* SPDX-License-Identifier: Apache-2.0 */
/* What other nodes may connect to. Pure. */
#ifndef NCA_FIREWALL_H
#define NCA_FIREWALL_H

#include <nca/inventory.h>

/* May other nodes connect to this TCP port? Also yes where nothing is known of a firewall; a rule
 * without ports is for all. */
bool nca_firewall_accepts(const struct nca_node *node, int port);

#endif
