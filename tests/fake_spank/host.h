/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host for SPANK plugins without Slurm: it exports what Slurm exports to them, walks the
 * callbacks in Slurm's order (slurm/spank.h) in processes like Slurm's, and writes down what
 * happened. What it answers is scripted.
 */
#ifndef NCA_TEST_HOST_H
#define NCA_TEST_HOST_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include <nca/util.h>

#define HOST_TASKS 8
#define HOST_WORDS 6
#define HOST_TEXT 16384

struct host_task {
	int status; /* wait status */
	char diff[HOST_TEXT];
};

struct host {
	/* Script */
	spank_context_t context;
	const char *words[HOST_WORDS]; /* of plugstack.conf */
	const char *option;	       /* NULL: not given */
	const char *const *env;	       /* the step's, or srun's own; NULL: none */
	const char *const *argv;       /* of the task */
	const char *cmdline;	       /* of srun: words that end with a NUL byte */
	size_t cmdline_size;
	uint32_t step, nodeid, nnodes,
		ntasks;	      /* tasks: of the step in srun, of the node in slurmstepd */
	int components;	      /* of a het step */
	int listed;	      /* how often plugstack.conf names the plugin */
	bool contained;	      /* SlurmdParameters=contain_spank */
	bool only_exit;	      /* nothing but exit is called */
	bool async;	      /* srun ends before its step, as with --async */
	spank_item_t no_item; /* an item that it cannot tell; with has_no_item */
	bool has_no_item;
	const uint16_t *port_range;
	int speed; /* how much faster time runs: a deadline need not be waited for */
	int jumps; /* days by which the time of day is set ahead whenever it is read; negative: back
		    */
	pid_t hub; /* a child of the test, 0 none, which ends when its listener is shut down */
	int listener;
	const char *imports[2]; /* "NAME=VALUE" that a plugin before ours sets in every task */
	const char *program;	/* which a task becomes, with its environment; NULL: it ends */
	const char *gate;	/* a FIFO that is opened once all tasks wait */

	/* Record */
	int bad_returns; /* of callbacks other than the option's */
	int option_rc, options;
	int new_fds;   /* while the step runs; slurmstepd, srun */
	int left_fds;  /* after exit and dlclose */
	int left_kids; /* the same for children, dead or alive */
	int leaks;     /* where a sanitizer looks for them */
	int status;    /* of the host process */
	int orphans;   /* that outlived it, and the signal that ended the last one, 0 none */
	int orphan_signal;
	pid_t pid; /* of the host process */
	char launch[256];
	char excuse[1024]; /* what came to the hub instead of an agent */
	struct host_task tasks[HOST_TASKS];
	atomic_uint waiting;
	atomic_uint logged;
	char log[HOST_TEXT]; /* a line per message */
};

/* In memory that all processes of a walk share. */
extern struct host *host;

/* Which callback runs in this process, as far as Slurm's answers depend on it. */
enum host_phase { PHASE_NONE, PHASE_INIT, PHASE_OPTIONS, PHASE_STEP, PHASE_TASK };

extern enum host_phase host_phase;
extern int host_task_id;
extern spank_t host_handle;
extern struct spank_option *host_option;

/* The process's copy of the step's environment. */
extern char **host_env;

void host_env_copy(const char *const *from);
const char *host_env_get(const char *name);
void host_env_set(const char *name, const char *value);
void host_env_unset(const char *name);

/* What changed against the list: "+NAME=VALUE" and "-NAME", sorted, with spaces. */
void host_env_diff(const char *const *from, char *buf, size_t size);

/* Walks the callbacks of the context in a process of its own and reaps all that come from it. */
void host_walk(void);

/* Before each test: a shared record and a step of two nodes in the given context. */
void host_reset(spank_context_t context);

/* One program of ours in a directory of its own that only we can change, under every name that
 * a test needs: the name is what it does. Returns "helper=PATH" for a name. */
extern char host_dir[64];
void host_helpers(void);
void host_helpers_remove(void);
const char *host_helper(const char *name);

/* Maps the record. */
void host_begin(void);

#endif
