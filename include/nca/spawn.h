/* SPDX-License-Identifier: Apache-2.0 */
/* Starting our program from a process of somebody else's. libc only: the plugin links it too. */
#ifndef NCA_SPAWN_H
#define NCA_SPAWN_H

#include <sys/types.h>

#include <nca/error.h>

/* Program and arguments, descriptors that it gets as 3, 4, … (at most two), and as whom it runs. */
struct nca_spawn {
	const char *path;
	const char *verb;
	int fds[2];
	int nfds;
	bool drop; /* from slurmstepd's root to this user; false: run as we are */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	int ngroups;
	const char *memlock; /* with drop: limit on locked memory, as SLURM_RLIMIT_MEMLOCK has it;
				NULL or "": as it is */
};

/*
 * To be called in a child between fork and exec, so only async-signal-safe: descriptors, signals,
 * oom_score_adj, privileges, working directory, then exec with an empty environment (where nothing
 * is dropped: with SLURM_CONF). Returns only when that failed, with errno set.
 */
void nca_spawn_exec(const struct nca_spawn *s);

/* As the user for good, real, effective, saved and groups, no privilege to be gained again; 0, or
 * -1 with errno. */
int nca_spawn_drop(const struct nca_spawn *s);

/*
 * May this program be run by slurmstepd? Absolute, and neither it, nor a directory above it, nor a
 * symbolic link on the way, nor where that leads can be changed by others than root and us: each
 * belongs to one of the two and cannot be written by others (a sticky directory such as /tmp cannot
 * be used to replace what is not one's own). -EACCES or -errno with the offending path.
 */
int nca_spawn_check(const char *path, struct nca_error *err);

#endif
