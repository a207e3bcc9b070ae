/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a site's configuration file fixes for its nodes: pins, by which a site says what the rules
 * would have to find out, and variables of its profile. Pure.
 */
#ifndef NCA_PIN_H
#define NCA_PIN_H

#include <stdio.h>

#include <nca/inventory.h>

/*
 * Checks "KEY", "VALUE" of a line: a pin of the table, or a variable of NCCL, RCCL, NVSHMEM, UCX or
 * libfabric that the plan does not decide itself (NCCL_IB_TC, NCCL_IB_SL, NCCL_IB_TIMEOUT). 0;
 * -ENOENT: no such pin, and no variable, without a text; -EINVAL with one.
 */
int nca_pin_check(const char *key, const char *value, struct nca_error *err);

/* Is the key the name of a variable rather than of a pin? */
bool nca_pin_is_variable(const char *key);

/* What the node's site pins, NULL where it does not. */
const char *nca_pin_get(const struct nca_node *node, const char *key);

/* Is a yes/no pin set to that word? */
bool nca_pin_is(const struct nca_node *node, const char *key, const char *word);

/* Collects the pins that are near to a word that is none: nca_near_add(). */
void nca_pin_near(const char *word, char *buf);

/* One line per pin: name, argument, help; for --help and the manual page. */
void nca_pins_print(FILE *out);

#endif
