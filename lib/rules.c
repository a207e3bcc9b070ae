/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the decision. */
#include "rules.h"

#define LINK(word, source)                                                                         \
	{                                                                                          \
		word, NCA_JUDGES_LINK, source                                                      \
	}
#define PORT(word, source)                                                                         \
	{                                                                                          \
		word, NCA_JUDGES_PORT, source                                                      \
	}
#define STEP(word, source)                                                                         \
	{                                                                                          \
		word, NCA_JUDGES_STEP, source                                                      \
	}

const struct nca_rule_info nca_rules[NCA_RULES] = {
	[NCA_RULE_NONE] = STEP("undecided", ""),

	[NCA_RULE_LOOPBACK] =
		LINK("loopback",
		     "lo leads to no other node; NCCL takes the first address of a named "
		     "interface, on lo 127.0.0.1, whatever else it holds (NVIDIA/nccl#1053)"),
	[NCA_RULE_NO_CARRIER] =
		LINK("no-carrier", "an address does not imply a link: NCCL before 2.28.3 takes the "
				   "interface all the same, newer ones demand IFF_RUNNING "
				   "(src/os/linux.cc, NVIDIA/nccl#1798)"),
	[NCA_RULE_SLAVE] =
		LINK("slave", "traffic of a bond, bridge or netvsc port belongs to its master, "
			      "which is judged instead (linux net/core/dev.c, rx_handler)"),
	[NCA_RULE_NO_ADDRESS] =
		LINK("no-address", "NCCL looks at getifaddrs() entries of AF_INET and AF_INET6 "
				   "only (src/os/linux.cc)"),
	[NCA_RULE_LOOPBACK_ADDRESS] =
		LINK("loopback-address", "127.0.0.0/8 and ::1 lead to the node itself (RFC 1122)"),
	[NCA_RULE_LINK_LOCAL] = LINK(
		"link-local", "169.254.0.0/16 and fe80::/10 are not routed (RFC 3927, "
			      "RFC 4291); a BMC's USB device has one (uccl-project/uccl#1034)"),
	[NCA_RULE_DUPLICATE_ADDRESS] =
		LINK("duplicate-address", "an address that two nodes of the step have cannot lead "
					  "from one to the other: docker0, virbr0, BMC, agents "
					  "(NVIDIA/nccl#913, #519)"),
	[NCA_RULE_CONNECT_FAILED] =
		LINK("connect-failed", "a connection over it was tried in this step and failed"),
	[NCA_RULE_USER_INTERFACE] =
		LINK("user-choice", "NCCL_SOCKET_IFNAME is set, and what somebody set is kept: "
				    "NCCL takes the first match by ifindex (src/misc/socket.cc)"),
	[NCA_RULE_PINNED_INTERFACE] =
		LINK("site-pin", "the site's file says which interface or network carries control "
				 "traffic: everyone who runs at scale pins names per model"),
	[NCA_RULE_UNREACHABLE] =
		LINK("unreachable", "the kernel's route look-up decides where a packet leaves, not "
				    "equal prefixes; both directions must lead over the chosen "
				    "interfaces (linux net/ipv4/fib_trie.c, fib_table_lookup)"),

	[NCA_RULE_FAMILY] = LINK("ipv4-first", "NCCL takes an interface's IPv4 address if it has "
					       "one; Gloo and torch mix families badly"),
	[NCA_RULE_MASTER_ADDR] = LINK("master-addr", "MASTER_ADDR is set to an address of this "
						     "network: the workers meet there"),
	[NCA_RULE_NODE_ADDRESS] = LINK("node-address", "the node names of the step resolve to this "
						       "network: srun reached the nodes over it"),
	[NCA_RULE_NOT_RAIL] =
		LINK("not-a-rail", "start-up traffic stays off the ports that carry RDMA, so that "
				   "a rail that fails does not take the step's control with it"),
	[NCA_RULE_PHYSICAL] = LINK("physical-first",
				   "overlays, container bridges and radio can join nodes too, but "
				   "slowly; a kind is a tie-break, never a filter"),
	[NCA_RULE_SPEED] = LINK("speed", "where TCP carries the data the slowest node's link "
					 "decides the step"),
	[NCA_RULE_MTU] = LINK("mtu", "jumbo frames mark the network that was made for data"),
	[NCA_RULE_SUBNET] = LINK("same-subnet", "no router between the nodes"),
	[NCA_RULE_DEFAULT_ROUTE] = LINK(
		"default-route", "the network that leads on is the one the nodes are known by"),
	[NCA_RULE_KIND] = LINK(
		"kind",
		"a bond survives the loss of a port; IPoIB is slow and its fabric is for RDMA"),
	[NCA_RULE_FIRST] = LINK(
		"first", "equal in all: the first by name, then by address, whatever the order of "
			 "the nodes"),
	[NCA_RULE_ONLY_NETWORK] = LINK("only-network", "no other network joins all nodes"),

	[NCA_RULE_PLUGIN_FABRIC] =
		PORT("plugin-fabric", "EFA has no RC queue pairs: aws-ofi-nccl uses it, NCCL's own "
				      "transport cannot (linux drivers/infiniband/hw/efa)"),
	[NCA_RULE_IWARP] = PORT("iwarp", "NCCL moves queue pairs by hand, iWARP needs rdma_cm"),
	[NCA_RULE_MANAGEMENT] = PORT("nvlink-management",
				     "VPD SMDL=SW_MNG marks the ConnectX-7 that manages NVLink "
				     "switches on B200 and B300 boards"),
	[NCA_RULE_NOT_OPENABLE] = PORT(
		"not-openable", "sysfs shows what the host has, /dev/infiniband and the device "
				"cgroup decide what the task can open (NVIDIA/nccl#451)"),
	[NCA_RULE_PORT_DOWN] = PORT("port-down", "NCCL uses ACTIVE ports only "
						 "(src/transport/net_ib/init.cc)"),
	[NCA_RULE_NO_SUBNET_MANAGER] =
		PORT("no-subnet-manager", "an InfiniBand port without LID or SM LID has no routes"),
	[NCA_RULE_NO_GID] =
		PORT("no-gid", "RoCE needs a RoCE v2 GID with a routable address that the task's "
			       "network namespace holds; fe80 GIDs reach no further than the wire "
			       "(NVIDIA/nccl#426)"),
	[NCA_RULE_SHADOWED] = PORT("shadowed", "a VF beside its usable PF shares the PF's wire and "
					       "is fused with it wrongly (NVIDIA/nccl#1422)"),
	[NCA_RULE_USER_HCA] = PORT("user-choice", "NCCL_IB_HCA is set, and what somebody set is "
						  "kept"),
	[NCA_RULE_PINNED_HCA] =
		PORT("site-pin", "the site's file says which HCA ports are rails (Azure, OCI and "
				 "imbue pin them per model)"),

	[NCA_RULE_UNSEEN] = PORT(
		"unseen", "containers see each other's verbs devices where the RDMA namespaces "
			  "are shared; an address in the own network namespace tells the own "
			  "ones (Mellanox/k8s-rdma-shared-dev-plugin)"),
	[NCA_RULE_VIRTUAL] = PORT("software-rdma", "soft-RoCE beside a real HCA is a test device"),
	[NCA_RULE_FRONT_END] = PORT(
		"front-end", "the port below the default route, through VLAN, bridge, bond and "
			     "LAG, is management or storage where others are left"),
	[NCA_RULE_LINK_LAYER] =
		PORT("other-link-layer", "InfiniBand and RoCE do not connect (NVIDIA/nccl#302); "
					 "InfiniBand is built for computing, unless Ethernet is "
					 "next to the GPUs and InfiniBand is not"),
	[NCA_RULE_ROCE_V1] = PORT("roce-v1", "RoCE v1 has an Ethernet type of its own and no IP "
					     "header: it does not meet v2 (NVIDIA/nccl#426) and "
					     "does not cross routers"),
	[NCA_RULE_IB_SUBNET] =
		PORT("other-subnet", "InfiniBand ports of different subnets meet only through "
				     "routers, which a FLID in GID 1 shows (NVIDIA/nccl#366, "
				     "src/transport/net_ib/connect.cc)"),
	[NCA_RULE_LOCALITY] =
		PORT("far-from-gpu", "compute HCAs share a PCIe switch with a GPU where the board "
				     "has any that do; storage HCAs of DGX A100 differ in nothing "
				     "else"),
	[NCA_RULE_SLOWER] = PORT("slower", "a slow port in the list slows every ring "
					   "(NVIDIA/nccl#1412)"),

	[NCA_RULE_MODEL] =
		PORT("other-model",
		     "boards whose PCI tree tells nothing have equally many HCAs of "
		     "one model for each GPU; an odd one is storage or management (BlueField-3 "
		     "of GB200 trays)"),

	[NCA_RULE_STORAGE] =
		PORT("storage", "IP over InfiniBand is storage's, where the ports without it are "
				"one for each GPU"),

	[NCA_RULE_PING_FAILED] =
		PORT("ping-failed", "RDMA over it was tried in this step and failed: an ACTIVE "
				    "port proves nothing, and NCCL fails with status 12 only "
				    "when the training runs (NVIDIA/nccl#2013, #749)"),

	[NCA_RULE_MISSING_RAIL] =
		PORT("missing-rail", "nodes with unequal HCA lists hang (NVIDIA/nccl#2428): a rail "
				     "that one node lacks is left out on all"),
	[NCA_RULE_TOO_MANY] =
		PORT("too-many", "NCCL opens at most 32 devices, up to 2.18.3 at most 16 "
				 "(src/transport/net_ib/common.h, MAX_IB_DEVS)"),
	[NCA_RULE_MESH] = PORT("mesh", "on direct cables the HCA depends on the peer, which NCCL "
				       "before 2.30.7 does not know "
				       "(NCCL_IB_SUBNET_AWARE_ROUTING)"),
	[NCA_RULE_TCP] = PORT("tcp", "one transport for the whole step: InfiniBand on some nodes "
				     "and TCP on others hangs (NVIDIA/nccl#234)"),
	[NCA_RULE_RAIL] = PORT("rail", "usable on every node, the same link layer and speed, in "
				       "one order"),

	[NCA_RULE_ONE_NODE] = STEP("one-node", "a step on one node needs no network"),
};

const enum nca_rule nca_rules_control[] = {
	NCA_RULE_FAMILY,   NCA_RULE_MASTER_ADDR, NCA_RULE_NODE_ADDRESS, NCA_RULE_PHYSICAL,
	NCA_RULE_NOT_RAIL, NCA_RULE_SUBNET,	 NCA_RULE_KIND,		NCA_RULE_DEFAULT_ROUTE,
	NCA_RULE_SPEED,	   NCA_RULE_MTU,	 NCA_RULE_NONE};

const enum nca_rule nca_rules_data[] = {
	NCA_RULE_FAMILY,	NCA_RULE_PHYSICAL,     NCA_RULE_SPEED,	NCA_RULE_MTU,
	NCA_RULE_MASTER_ADDR,	NCA_RULE_NODE_ADDRESS, NCA_RULE_SUBNET, NCA_RULE_KIND,
	NCA_RULE_DEFAULT_ROUTE, NCA_RULE_NONE};
