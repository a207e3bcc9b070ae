/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the node's first program really got. Between our plugin's task_init and the program another
 * plugin, a container or TaskProlog may set variables anew, and nobody can tell beforehand: so the
 * first task of the node, once it has set its variables, connects to the agent with a descriptor
 * that execve() closes, and then the agent reads the program's environment.
 */
#ifndef NCA_RECEIPT_H
#define NCA_RECEIPT_H

#include "agent.h"
#include "agent_input.h"

/*
 * Listens at an abstract name of the kernel's choice and appends it as an NCA_TASK_SHOW to the
 * records, which must not be published yet. Returns the socket; -1 where that fails, or where a
 * task sets nothing: then there is no receipt, and nobody needs to know.
 */
int nca_receipt_listen(char *records, size_t size);

/*
 * Waits for the program, or until the hub ends, and tells the hub what was overridden, of what was
 * set and, in a step that was asked for, of what the user exported, if anything was. Closes the
 * socket last. Silent where the program cannot be looked at: it is gone, belongs to another user,
 * or lies in a network or process namespace that the agent does not see.
 */
void nca_receipt_take(struct nca_agent *a, int socket, const struct nca_agent_input *in,
		      const char *records, size_t size);

#endif
