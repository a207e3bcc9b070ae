/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who tests whom, and who is to blame when tests fail. Pure.
 *
 * A test is one pair of nodes on one rail. An endpoint is a node's HCA port of a rail. A single
 * failed test says nothing about which of its two ends is at fault, so nobody is blamed who has not
 * failed with two different partners.
 */
#ifndef NCA_BLAME_H
#define NCA_BLAME_H

#include <nca/schema.h>

#define NCA_NOBODY ((size_t)-1)

/*
 * How many rounds of tests n nodes need: in a round every node has one partner. All pairs up to 16
 * nodes; else as many as keep the odds of a wrong or missing blame below one in a hundred
 * (tests/bench/blame_sim.c).
 */
size_t nca_schedule_rounds(size_t n);

/* The partner of a node in a round on a rail, and the other way round; NCA_NOBODY: it rests. Rails
 * begin at different rounds, so that at one time a node has as many partners as rails. */
size_t nca_schedule_partner(size_t n, size_t rail, size_t round, size_t node);

enum nca_outcome_kind { NCA_TEST_UNKNOWN, NCA_TEST_PASSED, NCA_TEST_FAILED };

struct nca_test_result {
	size_t a, b; /* nodes */
	size_t rail;
	enum nca_outcome_kind outcome;
};

struct nca_tests {
	size_t nodes, rails;
	const size_t *leaf; /* switch of each node, by any numbers; NULL: not known */
	NCA_LIST(struct nca_test_result) results;
};

/* The widest first. */
enum nca_fault_kind {
	NCA_FAULT_RAIL,	    /* a rail on all nodes: nothing passes on it */
	NCA_FAULT_SPLIT,    /* groups of nodes within which a rail works and between which it does
			       not: `node` and `peer` are of two groups */
	NCA_FAULT_LEAF,	    /* a rail on all nodes of a leaf switch, of which there are others */
	NCA_FAULT_NODE,	    /* all rails of a node that has several */
	NCA_FAULT_ENDPOINT, /* one rail of a node */
	NCA_FAULT_PAIR,	    /* two nodes on a rail, and nothing tells whose fault it is */
};

struct nca_fault {
	enum nca_fault_kind kind;
	size_t node, peer, rail; /* NCA_NOBODY where it does not apply */
	size_t leaf;		 /* of NCA_FAULT_LEAF */
};

typedef NCA_LIST(struct nca_fault) nca_faults;

/*
 * What is at fault, the widest first, then by rail and node; what is summed up is not listed again.
 * Nodes and endpoints are only named after failing with two partners, which a step of two nodes
 * does not have: there it is a pair. -ENOMEM.
 */
int nca_blame_find(const struct nca_tests *tests, struct nca_pool *pool, nca_faults *ret);

#endif
