/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With tests/unit/fake_verbs.c a libibverbs of two HCAs that work, each call of which can be made
 * to fail by fail.c. Says at the end what was not destroyed.
 */
#include <stdio.h>

#include "tests/unit/fake_verbs.h"

__attribute__((destructor)) static void end(void)
{
	if (fake.alive)
		fprintf(stderr, "libibverbs: %d objects are left\n", fake.alive);
}
