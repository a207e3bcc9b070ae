/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts as findings: code, words and cure. */
#include "preflight.h"

#define FILTERS                                                                                    \
	"filters (UDP port 4791 for RoCE, partition keys for InfiniBand), VLAN, flow control, "    \
	"cable and switch port"

#define DEAD(word)                                                                                 \
	{                                                                                          \
		word, "rdma-dead", NCA_HARM_DEAD, false,                                           \
			{"no answer comes back over RDMA, though ACTIVE",                          \
			 "nothing that it sends over RDMA arrives, though ACTIVE",                 \
			 "it receives nothing over RDMA, though ACTIVE",                           \
			 "nothing passes over RDMA in either direction, though ACTIVE"},           \
			"nothing passes over RDMA", "Check " FILTERS                               \
	}

#define OWN(word, code, what, cure)                                                                \
	{                                                                                          \
		word, code, NCA_HARM_DEAD, true, {what, what, what, what}, what, cure              \
	}

#define SILENT(word, what, cure)                                                                   \
	{                                                                                          \
		word, "rdma-unheard", NCA_HARM_UNHEARD, false, {what, what, what, what}, what,     \
			cure                                                                       \
	}

const struct nca_finding_kind nca_finding_kinds[NCA_FINDING_KINDS] = {
	SILENT("unheard", "the test gave no answer", "Start the step again"),
	DEAD("dead"),
	DEAD("forward-dead"),
	DEAD("return-dead"),
	{"mtu-black-hole",
	 "rdma-large",
	 NCA_HARM_DEAD,
	 false,
	 {"small messages pass, large ones do not", "large messages that it sends do not arrive",
	  "it does not receive large messages",
	  "small messages pass, large ones do not in either direction"},
	 "small messages pass, large ones do not",
	 "Set the same MTU on ports, bonds and switches"},
	{"peer-silent",
	 "rdma-silent",
	 NCA_HARM_DEAD,
	 false,
	 {"no ARP or ND between its address and the others on this rail",
	  "no ARP or ND between its address and the others on this rail",
	  "no ARP or ND between its address and the others on this rail",
	  "no ARP or ND between its address and the others on this rail"},
	 "the address does not answer ARP or ND on this rail",
	 "Check the link, the VLAN and whether cables of two rails are swapped"},
	OWN("gid-gone", "rdma-gid", "the GID entry holds no address: its IP address was removed",
	    "Give the interface its IP address back"),
	OWN("peer-gid-empty", "rdma-gid",
	    "the GID entry holds no address: its IP address was removed",
	    "Give the interface its IP address back"),
	OWN("no-route", "rdma-route", "no route to the other nodes over the port's interface",
	    "Set the interface up, add the route, or correct its address"),
	OWN("wrong-neighbour", "rdma-neighbour",
	    "another interface answers for its address (ARP flux, or a duplicate address)",
	    "Set arp_ignore=1 and arp_announce=2, or use one subnet per rail"),
	OWN("not-connected", "rdma-device", "its queue pairs cannot be connected",
	    "See dmesg for the driver's reason"),
	OWN("device-fatal", "rdma-device", "the HCA has failed", "Reset it, see dmesg"),
	OWN("not-opened", "rdma-open", "it cannot be used",
	    "Look at the device node, the memory lock limit and dmesg"),
	{"some-paths-dead",
	 "rdma-some-paths",
	 NCA_HARM_DEGRADED,
	 false,
	 {"only some of the queue pairs get through: a port of a bond, or one path of several, is "
	  "dead",
	  "only some of the queue pairs get through: a port of a bond, or one path of several, is "
	  "dead",
	  "only some of the queue pairs get through: a port of a bond, or one path of several, is "
	  "dead",
	  "only some of the queue pairs get through: a port of a bond, or one path of several, is "
	  "dead"},
	 "only some of the queue pairs get through",
	 "Check each port of the bond and its switch"},
	SILENT("peer-stalled", "what arrived was not taken in time",
	       "See whether the node is overloaded"),
	SILENT("test-fault", "the test itself is at fault", "Report this"),
	SILENT("consequence", "flushed after another error", "See the first error"),
};

const struct nca_finding_kind *nca_finding_kind(const char *word)
{
	const struct nca_finding_kind *k;

	for (k = nca_finding_kinds; k < nca_finding_kinds + NCA_FINDING_KINDS; k++)
		if (streq(k->word, word))
			return k;
	return nca_finding_kinds;
}
