/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the blame is right: 300 trials for each size and each mix of faults. Prints a row each;
 * exit status 1 where one is below 99 in 100 or an innocent was blamed. The seed is fixed.
 */
#include <stdio.h>

#include "tests/unit/blame_sim.h"

#define TRIALS 300

static size_t share(size_t n, size_t percent)
{
	size_t k = n * percent / 100;

	return k ? k : 1;
}

static bool run(const char *name, const struct sim *s, unsigned int *seed)
{
	size_t exact = 0, innocent = 0, i;
	bool good;

	for (i = 0; i < TRIALS; i++) {
		struct sim_score score = sim_run(s, seed);

		exact += score.exact;
		innocent += score.innocent;
	}
	good = 100 * exact >= 99 * TRIALS && !innocent;
	printf("%5zu nodes  %-32s %5.1f %% exact, %zu innocent  %s\n", s->nodes, name,
	       100.0 * (double)exact / TRIALS, innocent, good ? "ok" : "MISSED");
	return good;
}

int main(void)
{
	static const size_t sizes[] = {4,  5,  6,  7,	8,   9,	  12,  15,  16,	 17,
				       24, 33, 64, 100, 128, 255, 256, 500, 1000};
	unsigned int seed = 20260101;
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t n = sizes[i];
		const struct {
			const char *name;
			struct sim sim;
		} mixes[] = {
			{"1 bad node", {n, 2, .bad_nodes = 1}},
			{"1 % bad nodes", {n, 2, .bad_nodes = share(n, 1)}},
			{"10 % bad nodes", {n, 2, .bad_nodes = share(n, 10)}},
			{"10 % bad HCAs", {n, 4, .bad_ends = share(n, 10)}},
			{"a bad pair", {n, 2, .bad_pairs = 1}},
			{"a bad node and a bad pair", {n, 2, .bad_nodes = 1, .bad_pairs = 1}},
			{"a dead rail", {n, 4, .bad_rails = 1}},
			{"a dead leaf", {n, 2, .bad_leaves = 1, .leaf_size = n >= 16 ? 8 : 2}},
			{"10 %, 5 % of reports lost",
			 {n, 2, .bad_nodes = share(n, 10), .lost = 0.05}},
			{"10 % and a pair, 5 % lost",
			 {n, 2, .bad_nodes = share(n, 10), .bad_pairs = 1, .lost = 0.05}},
		};
		size_t k;

		for (k = 0; k < ARRAY_SIZE(mixes); k++)
			good = run(mixes[k].name, &mixes[k].sim, &seed) && good;
	}
	return !good;
}
