/* SPDX-License-Identifier: Apache-2.0 */
/* Who tests whom: perfect matchings by the circle method, some or all of them. */
#include <nca/blame.h>

#define ALL_UP_TO 16
#define ROUNDS_MIN 8

/* A node without a partner plays against a ghost, the last of an even number. */
static size_t even(size_t n)
{
	return n + n % 2;
}

static size_t log2_up(size_t n)
{
	size_t k = 0;

	while (((size_t)1 << k) < n)
		k++;
	return k;
}

size_t nca_schedule_rounds(size_t n)
{
	size_t enough = log2_up(n);

	if (n < 2)
		return 0;
	if (n <= ALL_UP_TO)
		return even(n) - 1;
	return enough > ROUNDS_MIN ? enough : ROUNDS_MIN;
}

size_t nca_schedule_partner(size_t n, size_t rail, size_t round, size_t node)
{
	size_t all = even(n) - 1, used = nca_schedule_rounds(n), r, partner;

	if (n < 2 || round >= used)
		return NCA_NOBODY;
	/* Rounds far from each other, so that chance decides who is whose partner. */
	r = (rail + round * (all / used)) % all;
	if (node == all)
		partner = r;
	else if (node == r)
		partner = all;
	else
		partner = (2 * r + all - node) % all;
	return partner < n ? partner : NCA_NOBODY;
}
