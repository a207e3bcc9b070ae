/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the hub beside srun: from the plugin in srun, or before srun by the wrapper. libc only.
 */
#ifndef NCA_START_H
#define NCA_START_H

#include <stdint.h>

#include <nca/error.h>
#include <nca/launch.h>

/* "VERSION:PORT:SECRET:SECONDS:EXCUSE" with its end. */
#define NCA_START_VALUE (32 + 2 * NCA_SECRET_BYTES + NCA_EXCUSE_HEX)

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
	bool net;    /* what is started are no workers: only the network, unless env or user ask */
};

/*
 * Opens the hub's socket, makes a secret and starts the hub: forked twice, in a session of its own,
 * so that srun's signals and its wait for children do not concern it. Writes what the nodes must
 * know to `value`. Returns a descriptor: the hub ends when its last copy is closed. It is closed on
 * exec. -errno; then nothing is left.
 */
int nca_start_hub(const struct nca_start *s, char value[NCA_START_VALUE], struct nca_error *err);

/* The value to "HOST PORT SECRET SECONDS"; *seconds too. EXCUSE may be missing. -EINVAL, -ENOSPC.
 */
int nca_start_read(const char *value, const char *host, char *hub, size_t size, int *seconds);

/*
 * Tells the hub at host why this node has no agent, within a few seconds. 0; 1: the step must not
 * run; -EINVAL: the value has no EXCUSE; -ECONNREFUSED: the hub has ended or needs no node any
 * more; -errno.
 */
int nca_start_excuse(const char *value, const char *host, const char *why);

#endif
