/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugin and the program nccl-autoconf say to each other. The plugin knows no more of the
 * product than this page and the option table; libc only.
 *
 * Both directions use records: strings that end with a NUL byte, one after another, ended by an
 * empty string.
 */
#ifndef NCA_LAUNCH_H
#define NCA_LAUNCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <nca/util.h>

/*
 * Carries "VERSION:PORT:SECRET:SECONDS:EXCUSE" from srun to the step: the hub's port, the step's
 * secret (64 hex digits), how long a task waits, and what an excuse begins with. The name begins
 * with SLURM so that every --export lets it through (Slurm env.c, env_array_merge_slurm); it is
 * taken out before a task starts.
 */
#define NCA_LAUNCH_VARIABLE "SLURM_NCCL_AUTOCONF"
#define NCA_LAUNCH_VERSION 1

/* The same from the wrapper to its tasks; another name, so that the plugin, where there is one,
 * leaves the variable and the step alone. */
#define NCA_RUN_VARIABLE "SLURM_NCCL_AUTOCONF_RUN"

/* Beside it where RANK or LOCAL_RANK was set already when srun was called, so that all tasks have
 * the same. Otherwise what a task has is its own, as from TaskProlog or pyxis. */
#define NCA_RANKS_VARIABLE "SLURM_NCCL_AUTOCONF_RANKS"

/* Names, with commas, what was injected into a task, so that an srun inside it does not take it for
 * the user's. */
#define NCA_MARKER_VARIABLE "NCCL_AUTOCONF_VARS"

/* The user's words where no command line can be given. */
#define NCA_OPTION_VARIABLE "NCCL_AUTOCONF"

#define NCA_SECRET_BYTES 32

/*
 * An excuse: where the agent cannot run, slurmstepd's plugin opens a connection to the hub and
 * sends "NCX EXCUSE TEXT\n", so that nobody waits for that node. What the hub sends before it
 * closes ends with NCA_EXCUSE_STOP where the step must not run. Without the hash that needs a
 * library: the EXCUSE of the step, known by nobody else, is good for nothing but this.
 */
#define NCA_EXCUSE_STOP "NCX stop\n"
#define NCA_EXCUSE_MAGIC "NCX "
#define NCA_EXCUSE_HEX 32
#define NCA_EXCUSE_MAX 512

/*
 * The hub: `nccl-autoconf hub` with its listening socket and one end of a socket pair as these
 * descriptors. The pair brings the records below, then nothing until srun ends, which closes it.
 */
#define NCA_HUB_LISTEN_FD 3
#define NCA_HUB_LIFE_FD 4

#define NCA_HUB_SECRET "secret="       /* 64 hex digits */
#define NCA_HUB_NNODES "nnodes="       /* of the step */
#define NCA_HUB_STEP "step="	       /* "JOBID.STEPID" */
#define NCA_HUB_SRUN "srun="	       /* process id of srun */
#define NCA_HUB_PLUGSTACK "plugstack=" /* one word of plugstack.conf; repeated */
#define NCA_HUB_ENV "env="	       /* value of NCCL_AUTOCONF; at most once */
#define NCA_HUB_USER "user="	       /* value of --nccl-autoconf; at most once */
#define NCA_HUB_ARG "arg="	       /* one word of the task's command line; repeated */

#define NCA_HUB_EXCUSE "excuse=" /* NCA_EXCUSE_HEX hex digits */

/* The agent: `nccl-autoconf agent` with a memory file that is one struct nca_mailbox. */
#define NCA_AGENT_MAILBOX_FD 3

#define NCA_AGENT_HUB "hub="	   /* "HOST PORT SECRET SECONDS" */
#define NCA_AGENT_NODEID "nodeid=" /* of the step, from 0 */
#define NCA_AGENT_TASKS "tasks="   /* of the step on this node */
#define NCA_AGENT_FIRST "first="   /* global id of this node's first task */
#define NCA_AGENT_ENV "env:"	   /* "NAME=VALUE" of the step's environment; repeated */

/* What the agent answers: operations for every task of the node, by the first character of the
 * record. */
#define NCA_TASK_SET '=' /* "=NAME=VALUE": set, unless it is set */
#define NCA_TASK_REPLACE                                                                           \
	'#' /* "#NAME=VALUE": set, though it is set and cannot work; the hub has said so */
#define NCA_TASK_COPY                                                                              \
	'<' /* "<NAME=OTHER": set to the value of the task's variable OTHER, unless it is set */
#define NCA_TASK_TOP                                                                               \
	'^' /* "^NAME=VALUE": set, unless the step had it set when it began; what came into a      \
	       task's environment since, as from a container's image, gives way */
#define NCA_TASK_SHOW                                                                              \
	'?' /* "?NAME": the node's first task connects to this abstract socket, and its program's  \
	       start closes the connection: the agent then looks what the program got */
#define NCA_TASK_SAY '-'  /* "-text": a warning that only this node can give */
#define NCA_TASK_STOP '!' /* "!": the step must not run; the hub has said why */

/* Those with a value. */
#define NCA_TASK_VALUES "=#^"

#define NCA_TASK_NAME_MAX 64

/*
 * "?NAME=VALUE", as the operations that set something look, with any first character: copies the
 * name and returns the value, which may be empty. NULL where there is no "=" or the name does not
 * fit.
 */
const char *nca_task_assignment(const char *record, char name[NCA_TASK_NAME_MAX]);

/* A task waits by so many seconds longer than the hub does for the nodes: planning and testing take
 * their time, and the hub's answer is to come first. */
#define NCA_GRACE_SECONDS 30

enum nca_mailbox_state {
	NCA_MAILBOX_OPEN = 0,  /* the agent is at work */
	NCA_MAILBOX_PUBLISHED, /* the answer is there; it may be empty */
	NCA_MAILBOX_DIED,      /* the agent ended without an answer; `status` is its wait status */
	NCA_MAILBOX_EXCUSED,   /* likewise, and the hub says so */
};

#define NCA_MAILBOX_SIZE 65536

/* Mapped by slurmstepd (and so by its tasks), by the agent and by the watcher that reaps it. */
struct nca_mailbox {
	_Atomic uint32_t state; /* futex */
	int32_t status;
	char in[NCA_MAILBOX_SIZE];
	char out[NCA_MAILBOX_SIZE];
};

/*
 * The record at *pos of a buffer, and *pos moved behind it. NULL at the empty string, at the end of
 * the buffer, and where a record does not end within it: bytes that somebody else writes cannot
 * lead outside.
 */
const char *nca_record_next(const char *buf, size_t size, size_t *pos);

/* Appends prefix and text as one record at *used and an empty one behind it. -ENOSPC, and nothing
 * changed, where it does not fit. */
int nca_record_add(char *buf, size_t size, size_t *used, const char *prefix, const char *text);

/* Is this program, a path or the beginning of a command line, what an mpirun starts by srun on
 * every node, to start the tasks itself? */
bool nca_is_mpi_daemon(const char *program);

/*
 * A word in shared memory that is 0 until somebody sets it, once, and wakes those who wait; and the
 * waiting, for at most the given milliseconds. Returns the word then.
 */
void nca_word_set(_Atomic uint32_t *word, uint32_t value);
uint32_t nca_word_wait(_Atomic uint32_t *word, int timeout_ms);

/* Moves the state away from OPEN, once, and wakes all that wait. */
void nca_mailbox_close(struct nca_mailbox *box, enum nca_mailbox_state state);

/* Waits until the state is not OPEN, for at most the given milliseconds. Returns the state then. */
enum nca_mailbox_state nca_mailbox_wait(struct nca_mailbox *box, int timeout_ms);

#endif
