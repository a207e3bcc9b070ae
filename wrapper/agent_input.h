/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent of a node must know: from the plugin's mailbox, or from a task's own environment.
 */
#ifndef NCA_AGENT_INPUT_H
#define NCA_AGENT_INPUT_H

#include <nca/channel.h>

struct nca_agent_input {
	char host[64];
	int port;
	uint8_t key[NCA_SECRET_BYTES];
	int nodeid, tasks, first_task;
	const char **env; /* "NAME=VALUE" of the step, ended by NULL; in the mailbox; the list is
			     the caller's to free */
};

/* Reads the records of a mailbox. -EINVAL: one is missing or malformed; -ENOMEM. */
int nca_agent_input_read(const struct nca_mailbox *box, struct nca_agent_input *ret,
			 struct nca_error *err);

/*
 * The same for a task that the wrapper started: hub is "HOST PORT SECRET SECONDS", the rest stands
 * in Slurm's variables. env is the task's own environment and stays the caller's. -EINVAL with the
 * variable that is missing.
 */
int nca_agent_input_task(const char *hub, const char **env, struct nca_agent_input *ret,
			 struct nca_error *err);

/* The value of a variable of the step's environment, or NULL. */
const char *nca_agent_env(const struct nca_agent_input *in, const char *name);

#endif
