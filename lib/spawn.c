/* SPDX-License-Identifier: Apache-2.0 */
/* Starting our program from a process of somebody else's. Linked into the plugin: libc only. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <nca/spawn.h>

static int move_fds(const struct nca_spawn *s)
{
	int high[ARRAY_SIZE(s->fds)], i;

	/* First out of the way of 3 and 4, which may be among them. */
	for (i = 0; i < s->nfds; i++) {
		high[i] = fcntl(s->fds[i], F_DUPFD, 16);
		if (high[i] < 0)
			return -1;
	}
	for (i = 0; i < s->nfds; i++)
		if (dup2(high[i], 3 + i) < 0)
			return -1;
	return (int)syscall(SYS_close_range, 3U + (unsigned int)s->nfds, ~0U, 0U);
}

/*
 * In slurmstepd standard error is the first task's (slurmstepd/mgr.c, _slurmd_job_log_init):
 * whoever keeps it open keeps the step's output, and so srun, waiting. In srun it is the terminal
 * that the hub writes to.
 */
static void replace_stdio(bool all)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int i;

	if (fd < 0)
		return;
	/* A daemon may run without 1 and 2: what we open must not take their place. */
	for (i = 0; i <= 2; i++)
		if (all || i == 0 || fcntl(i, F_GETFD) < 0)
			dup2(fd, i);
}

/* slurmstepd runs at -1000: our program is an ordinary process for the kernel's killer. */
static void reset_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "0", 1) < 0)
		errno = 0;
	close(fd);
}

static void reset_signals(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		sigaction(i, &act, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int nca_spawn_drop(const struct nca_spawn *s)
{
	/* Slurm's daemons may run as one ordinary user, who then has nothing to drop. */
	if (getuid() == s->uid && geteuid() == s->uid && s->uid != 0)
		return 0;
	if (seteuid(0) < 0 || setgroups((size_t)s->ngroups, s->groups) < 0)
		return -1;
	if (setresgid(s->gid, s->gid, s->gid) < 0 || setresuid(s->uid, s->uid, s->uid) < 0)
		return -1;
	if (s->uid != 0 && setuid(0) == 0) {
		errno = EPERM;
		return -1;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Where Slurm's own tools find the cluster, for the hub; NULL: nowhere else than by default. */
static char *slurm_conf(void)
{
	char **e;

	for (e = environ; *e; e++)
		if (nca_has_prefix(*e, "SLURM_CONF="))
			return *e;
	return NULL;
}

void nca_spawn_exec(const struct nca_spawn *s)
{
	char *const argv[] = {(char *)s->path, (char *)s->verb, NULL};
	char *const envp[] = {s->drop ? NULL : slurm_conf(), NULL};

	replace_stdio(s->drop);
	reset_signals();
	if (move_fds(s) < 0)
		return;
	if (s->drop) {
		pid_t parent = getppid();

		reset_oom();
		if (nca_spawn_drop(s) < 0 || chdir("/") < 0)
			return;
		/* A change of user has cleared it (prctl(2), PR_SET_PDEATHSIG). */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return;
	}
	execve(s->path, argv, envp);
}

static int check_one(const char *path, bool is_program, struct nca_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return nca_fail(err, -errno, "helper %s: %m", path);
	if (st.st_uid != 0 && st.st_uid != getuid())
		return nca_fail(err, -EACCES,
				"helper %s: its owner is neither root nor the Slurm user", path);
	if (st.st_mode & (S_IWGRP | S_IWOTH) && (is_program || !(st.st_mode & S_ISVTX)))
		return nca_fail(err, -EACCES, "helper %s: others can write it", path);
	if (is_program && (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXOTH)))
		return nca_fail(err, -EACCES, "helper %s: not a program that every user may run",
				path);
	return 0;
}

int nca_spawn_check(const char *path, struct nca_error *err)
{
	char buf[PATH_MAX];
	size_t len = strlen(path), i;
	int rc = 0;

	if (path[0] != '/' || len >= sizeof(buf))
		return nca_fail(err, -EINVAL, "helper %s: not an absolute path", path);
	memcpy(buf, path, len + 1);
	for (i = 1; !rc && i < len; i++) {
		if (buf[i] != '/')
			continue;
		buf[i] = '\0';
		rc = check_one(buf, false, err);
		buf[i] = '/';
	}
	return rc ? rc : check_one(path, true, err);
}
