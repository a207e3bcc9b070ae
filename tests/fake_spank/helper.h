/* SPDX-License-Identifier: Apache-2.0 */
/* The program that stands where nccl-autoconf stands. */
#ifndef NCA_TEST_HELPER_H
#define NCA_TEST_HELPER_H

#include <nca/launch.h>

/* Its path, as it was called. */
extern const char *self;

/* How the plugin left this process: all that a program inherits. */
void describe(char *buf, size_t size);

/* As an agent, the deed of that name. Returns the exit status. */
int run_agent(const char *name);

#endif
