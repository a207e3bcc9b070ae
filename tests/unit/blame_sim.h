/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric with known faults, tested by the schedule, for the test and the bench of the blame. */
#ifndef NCA_TEST_BLAME_SIM_H
#define NCA_TEST_BLAME_SIM_H

#include <nca/blame.h>

struct sim {
	size_t nodes, rails;
	size_t bad_nodes, bad_ends,
		bad_pairs;	      /* how many of each; pairs of those that are tested */
	size_t bad_rails, bad_leaves; /* leaves of leaf_size nodes; 0 or 1 of both */
	size_t leaf_size;	      /* 0: not known */
	double lost; /* share of the reports that do not come; both ends of a test report it */
};

struct sim_score {
	bool exact;	 /* all faults, as wide as they are, and no other */
	size_t innocent; /* nodes, ends, rails or leaves that were blamed and are not at fault */
};

/* One trial; *seed goes on from trial to trial. */
struct sim_score sim_run(const struct sim *s, unsigned int *seed);

#endif
