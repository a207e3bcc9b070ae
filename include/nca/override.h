/* SPDX-License-Identifier: Apache-2.0 */
/* What a program has in the place of what its task was given. Pure. */
#ifndef NCA_OVERRIDE_H
#define NCA_OVERRIDE_H

#include <nca/schema.h>

struct nca_override {
	const char *name, *given;
	const char *found; /* NULL: it is gone */
	bool per_task;	   /* given is the value of another variable of the task */
	bool exported; /* given is not ours: the step began with it, and the plan stands on it */
};

typedef NCA_LIST(struct nca_override) nca_overrides;

/*
 * Is this, as read from /proc/PID/environ, what execve() laid there: one "NAME=VALUE" or more, each
 * ended by a NUL byte? Those bytes are the process's own. A bash that starts puts a NUL byte in the
 * place of each "=" in turn (its variables.c, initialize_shell_variables()), setproctitle() writes
 * over them, and before execve() is done there are none.
 */
bool nca_environment_is_whole(const char *env, size_t len);

/*
 * Compares what a task was told to set (records as nca/launch.h) with the environment of its
 * program, as /proc/PID/environ has it. Only the names count that the program's
 * NCA_MARKER_VARIABLE lists, since the task has set no others; without it, or where the environment
 * is not whole, nothing is known of this process and the list stays empty. Of the variables that
 * the step began with
 * ("NAME=VALUE", ended by NULL) those count that a task may be given and was not. The list and its
 * strings are the pool's. -ENOMEM.
 */
int nca_overrides_find(const char *records, size_t size, const char *const *exported,
		       const char *env, size_t len, struct nca_pool *pool, nca_overrides *ret);

/*
 * One line about a list that is not empty, without code: what the program on the node has, what
 * probably did it, and what helps. contained: the program is in a container that the agent is not
 * in. NULL when memory is short.
 */
char *nca_overrides_text(const nca_overrides *list, const char *node, bool contained,
			 struct nca_pool *pool);

#endif
