/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the hub beside srun: from the plugin in srun, or before srun by the wrapper. libc only.
 */
#ifndef NCA_START_H
#define NCA_START_H

#include <stdint.h>

#include <nca/error.h>
#include <nca/launch.h>

/* "VERSION:PORT:SECRET:SECONDS" with its end. */
#define NCA_START_VALUE (32 + 2 * NCA_SECRET_BYTES)

struct nca_start {
	const char *helper;		/* absolute path of the program */
	uint16_t port_first, port_last; /* where the hub may listen (SrunPortRange); 0: anywhere */
	const char *step;		/* "JOBID.STEPID", NULL: the nodes will tell */
	size_t nnodes;			/* 0: the nodes will tell */
	char **plugstack;		/* words of plugstack.conf */
	int nplugstack;
	const char *env, *user; /* lists of words; NULL: that source says nothing */
	char **argv;		/* the task's command line */
	int argc;
	int seconds; /* the nodes' limit */
};

/*
 * Opens the hub's socket, makes a secret and starts the hub: forked twice, in a session of its own,
 * so that srun's signals and its wait for children do not concern it. Writes what the nodes must
 * know to `value`. Returns a descriptor: the hub ends when its last copy is closed. It is closed on
 * exec. -errno; then nothing is left.
 */
int nca_start_hub(const struct nca_start *s, char value[NCA_START_VALUE], struct nca_error *err);

/* "VERSION:PORT:SECRET:SECONDS" to "HOST PORT SECRET SECONDS"; *seconds too. -EINVAL, -ENOSPC. */
int nca_start_read(const char *value, const char *host, char *hub, size_t size, int *seconds);

#endif
