/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a recorded job that must not change the decision. */
#ifndef NCA_TEST_MUTATE_H
#define NCA_TEST_MUTATE_H

#include "recorded.h"

void reverse_nodes(json_t *job);
void reverse_devices(json_t *job);

/* An interface that is down, a container's bridge, keys that no reader knows. */
void add_down(json_t *job);
void add_docker(json_t *job);
void add_keys_to(json_t *value);

/* Puts "q" before the names of all devices. */
void rename_devices(json_t *job);

/* Names stand in many places: whatever string equals one of names is replaced by what stands there
 * for it. */
void rename_in(json_t *value, json_t *names);

/* What somebody set names devices as they were. */
void forget_environment(json_t *job);

/* A node like one of the others, with addresses of its own. False where there is no room. */
bool add_node(json_t *job, size_t like);

#endif
