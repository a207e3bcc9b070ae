/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment variables that we read or set, once: what the plugin hands to the agent, what a
 * snapshot records, and what a task may be given follow from one table.
 *
 * Pure and libc only: the plugin links it too.
 */
#ifndef NCA_VARIABLE_H
#define NCA_VARIABLE_H

#include <nca/util.h>

/*
 * May we set it for a task, or take away again what an outer step was given? A fixed list: nothing
 * like LD_PRELOAD, and nothing that the user says to us.
 */
bool nca_variable_may_set(const char *name);

/*
 * Does a rule, a check or the contract of a trainer (nca/contract.h) read "NAME=VALUE", so that the
 * snapshot records it? Of SLURM_JOB_NAME only the names that mean something to a trainer: the
 * others are the user's own affair.
 */
bool nca_variable_is_recorded(const char *assignment);

/* Does the agent need "NAME=VALUE", to record it or to know what the step was given? The rest of
 * the user's environment is not ours to see. */
bool nca_variable_is_passed(const char *assignment);

/*
 * Is a name of `len` characters one of the words of a list that spaces separate, where a word that
 * ends with "*" stands for all names that begin so?
 */
bool nca_variable_is_listed(const char *name, size_t len, const char *list);

#endif
