/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the decision, in the order in which they apply. The word of a rule is what a
 * decision row and the manual page call it; its source says why the rule is right.
 */
#ifndef NCA_RULES_H
#define NCA_RULES_H

enum nca_rule {
	NCA_RULE_NONE, /* not decided yet */

	/* What makes an interface useless, whatever the step: the first that applies is its reason.
	 */
	NCA_RULE_LOOPBACK,
	NCA_RULE_NO_CARRIER,
	NCA_RULE_SLAVE,
	NCA_RULE_NO_ADDRESS,
	NCA_RULE_LOOPBACK_ADDRESS,
	NCA_RULE_LINK_LOCAL,
	NCA_RULE_DUPLICATE_ADDRESS,
	NCA_RULE_CONNECT_FAILED,
	NCA_RULE_USER_INTERFACE,
	NCA_RULE_PINNED_INTERFACE,
	NCA_RULE_UNREACHABLE,

	/* What makes one network better than another that joins all nodes as well. */
	NCA_RULE_FAMILY,
	NCA_RULE_MASTER_ADDR,
	NCA_RULE_NODE_ADDRESS,
	NCA_RULE_NOT_RAIL,
	NCA_RULE_PHYSICAL,
	NCA_RULE_SPEED,
	NCA_RULE_MTU,
	NCA_RULE_SUBNET,
	NCA_RULE_KIND,
	NCA_RULE_DEFAULT_ROUTE,
	NCA_RULE_FIRST,
	NCA_RULE_ONLY_NETWORK,

	/* What makes an HCA port useless: the first that applies is its reason. */
	NCA_RULE_PLUGIN_FABRIC,
	NCA_RULE_IWARP,
	NCA_RULE_MANAGEMENT,
	NCA_RULE_NOT_OPENABLE,
	NCA_RULE_PORT_DOWN,
	NCA_RULE_NO_SUBNET_MANAGER,
	NCA_RULE_NO_GID,
	NCA_RULE_SHADOWED,
	NCA_RULE_USER_HCA,
	NCA_RULE_PINNED_HCA,

	/* What tells compute ports from the others; each gives up rather than leave nothing. */
	NCA_RULE_UNSEEN,
	NCA_RULE_VIRTUAL,
	NCA_RULE_FRONT_END,
	NCA_RULE_LINK_LAYER,
	NCA_RULE_ROCE_V1,
	NCA_RULE_IB_SUBNET,
	NCA_RULE_LOCALITY,
	NCA_RULE_SLOWER,
	NCA_RULE_MODEL,
	NCA_RULE_STORAGE,

	/* A test of the chosen ports. */
	NCA_RULE_PING_FAILED,

	/* Agreement of the nodes. */
	NCA_RULE_MISSING_RAIL,
	NCA_RULE_TOO_MANY,
	NCA_RULE_MESH,
	NCA_RULE_TCP,
	NCA_RULE_RAIL,

	NCA_RULE_ONE_NODE,
	NCA_RULES
};

/* What a rule judges. */
enum nca_rule_subject { NCA_JUDGES_LINK, NCA_JUDGES_PORT, NCA_JUDGES_STEP };

struct nca_rule_info {
	const char *word;
	enum nca_rule_subject subject;
	const char *source;
};

extern const struct nca_rule_info nca_rules[NCA_RULES];

/* How networks are compared, the strongest first; ends with NCA_RULE_NONE. control: RDMA or a
 * plug-in carries the data, TCP only the start-up; data: TCP carries all. */
extern const enum nca_rule nca_rules_control[], nca_rules_data[];

#endif
