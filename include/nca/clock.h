/* SPDX-License-Identifier: Apache-2.0 */
/* Time for deadlines. */
#ifndef NCA_CLOCK_H
#define NCA_CLOCK_H

#include <time.h>

/* Milliseconds since some fixed point; never set back, so that a clock that jumps ends no wait. */
static inline long long nca_clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

#endif
