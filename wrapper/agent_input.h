/* SPDX-License-Identifier: Apache-2.0 */
/* What the plugin tells the agent. */
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

/* The value of a variable of the step's environment, or NULL. */
const char *nca_agent_env(const struct nca_agent_input *in, const char *name);

#endif
