/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preflight's result: what RC pings between the nodes of a step have shown on its rails. Pure.
 *
 * A node is only named where its own HCA says why, or after failing with two different partners.
 */
#ifndef NCA_PREFLIGHT_H
#define NCA_PREFLIGHT_H

#include <nca/inventory.h>

struct nca_finding {
	char *code;	 /* stable word, documented with its cure; as a warning's */
	char *node;	 /* to blame; unknown: no one node */
	char *hca;	 /* "mlx5_0:1"; unknown: all rails */
	char *peer;	 /* of a pair of which nothing tells whose fault it is: the other */
	char *direction; /* what fails, as the node sees it: in, out, both; unknown */
	char *text;	 /* what, where, why and the cure, for people */
};

/* One HCA port that was tested. */
struct nca_tested {
	char *node, *hca;
	int port, rail;
	char *state; /* ok degraded failed untested */
	int tests, failed;
};

struct nca_preflight {
	char *verdict;	/* healthy degraded failed untested */
	double seconds; /* that the tests took */
	NCA_LIST(struct nca_tested) ports;
	NCA_LIST(struct nca_finding) findings; /* the widest first */
	nca_strs hints;			       /* what else was seen: never a verdict */
	char *exclude; /* the nodes to blame, as --exclude takes them; unknown: none */
};

extern const struct nca_shape nca_preflight_shape; /* preflight/1 */

#endif
