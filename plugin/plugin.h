/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin's parts: spank.c hands each of Slurm's callbacks to the side that it is called on. The
 * rules that all of it keeps: return 0, load nothing, write nothing but variables, start one
 * program.
 */
#ifndef NCA_PLUGIN_H
#define NCA_PLUGIN_H

#include <sys/types.h>

#include <slurm/spank.h>

#include <nca/error.h>
#include <nca/launch.h>
#include <nca/option.h>
#include <nca/spawn.h>

#define NCA_OPTION_NAME "nccl-autoconf"

/* Slurm's own steps (slurm.h: SLURM_EXTERN_CONT, SLURM_BATCH_SCRIPT, SLURM_INTERACTIVE_STEP). */
#define NCA_FIRST_SPECIAL_STEP 0xfffffff0u

/* Of the list of names in NCA_MARKER_VARIABLE. */
#define NCA_MARKER_MAX 1024

/* What one process of Slurm's (srun, or slurmstepd and its tasks) knows; the callbacks take no
 * context of ours. */
struct nca_plugin {
	int argc; /* words of plugstack.conf */
	char **argv;
	char user[1024]; /* value of --nccl-autoconf */
	bool asked;	 /* the option was given */
	int components;	 /* calls of init_post_opt in srun: one per component of a het step */
	int listed;	 /* calls of init: plugstack.conf may name us twice, and all comes twice */
	bool started;	 /* srun or a task has done its part */
	int life_fd;	 /* srun: the hub lives as long as this is open */
	struct nca_mailbox *box;
	int wait_seconds;
	pid_t watcher;		/* its process group, 0: none */
	_Atomic uint32_t *over; /* shared with it: it has nothing left to do */
};

extern struct nca_plugin nca_plugin;

/*
 * Words of plugstack.conf and, in srun, of NCCL_AUTOCONF and the option, in rising precedence. A
 * bad word of the first two is ignored, with one warning in srun.
 */
void nca_plugin_options(struct nca_options *opt);

/* srun, once the step exists: socket, secret, hub. Never fails: what goes wrong is one message and
 * the step runs. */
void nca_submit_start(spank_t sp);
void nca_submit_end(void);

/*
 * srun ends without having started a step. With --async (26.05, srun.c) it hands the step to
 * stepmgr and no callback comes after init_post_opt, not even exit: no hub could stay with such a
 * step.
 */
void nca_submit_unload(void);

/* slurmstepd, as the step starts: the mailbox and the agent. Never fails: what goes wrong is known
 * to the tasks. */
void nca_node_start(spank_t sp);

/* How the hub is reached: the value of NCA_LAUNCH_VARIABLE, srun's host, and which node we are. */
struct nca_hub_address {
	const char *launch, *host;
	uint32_t nodeid;
};

/*
 * Starts a process that starts the agent, reaps it, and closes the mailbox when it ended without an
 * answer; the hub is told why. With why set there is no agent to start, only this to tell. -errno.
 */
int nca_watcher_start(const struct nca_spawn *spawn, const struct nca_hub_address *hub,
		      const char *why, struct nca_error *err);

/* Ends watcher and agent, if they have not ended. */
void nca_watcher_end(void);

/* A task, just before it starts its program. Returns 0, or -1: the task must not run. */
int nca_task_start(spank_t sp);

#endif
