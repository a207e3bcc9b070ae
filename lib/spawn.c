/* SPDX-License-Identifier: Apache-2.0 */
/* Starting our program from a process of somebody else's. Linked into the plugin: libc only. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <nca/spawn.h>

/* Links that lead to one another, from the helper's path to the program: as many as a packager may
 * need, and each takes a page of the stack. */
#define LINKS_MAX 8

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

/* As slurmstepd sets it for the tasks, whose HCAs the agent tests, hard limit included (slurm
 * src/slurmd/slurmstepd/ulimits.c); infinity is written as the largest number. */
static void set_memlock(const char *text)
{
	struct rlimit limit;
	char *end = NULL;
	rlim_t value = text ? strtoull(text, &end, 10) : 0;

	if (!text || end == text || *end || getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	limit.rlim_cur = value;
	if (limit.rlim_max < value)
		limit.rlim_max = value;
	setrlimit(RLIMIT_MEMLOCK, &limit);
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
		set_memlock(s->memlock);
		if (nca_spawn_drop(s) < 0 || chdir("/") < 0)
			return;
		/* A change of user has cleared it (prctl(2), PR_SET_PDEATHSIG). */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return;
	}
	execve(s->path, argv, envp);
}

/* Whoever can change what stands there, or a directory or a link on the way to it, chooses what is
 * run. */
static int check_one(const char *path, const struct stat *st, struct nca_error *err)
{
	if (st->st_uid != 0 && st->st_uid != getuid())
		return nca_fail(err, -EACCES,
				"helper %s: its owner is neither root nor the Slurm user", path);
	if (!S_ISLNK(st->st_mode) && st->st_mode & (S_IWGRP | S_IWOTH) &&
	    !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX))
		return nca_fail(err, -EACCES, "helper %s: others can write it", path);
	return 0;
}

/* A path below the directory at, which is free of links, as at is when this returns. */
static int walk(char at[PATH_MAX], const char *path, int links, struct nca_error *err);

static int step(char at[PATH_MAX], const char *name, size_t n, int links, struct nca_error *err)
{
	size_t len = strlen(at);
	char target[PATH_MAX];
	struct stat st;
	ssize_t got;
	int rc;

	if (n == 1 && name[0] == '.')
		return 0;
	if (n == 2 && name[0] == '.' && name[1] == '.') {
		at[len ? strrchr(at, '/') - at : 0] = '\0';
		return 0;
	}
	if (snprintf(at + len, PATH_MAX - len, "/%.*s", (int)n, name) >= (int)(PATH_MAX - len))
		return nca_fail(err, -ENAMETOOLONG, "helper %.40s...: too long a path", at);
	if (lstat(at, &st) < 0)
		return nca_fail(err, -errno, "helper %s: %m", at);
	rc = check_one(at, &st, err);
	if (rc || !S_ISLNK(st.st_mode))
		return rc;
	got = readlink(at, target, sizeof(target) - 1);
	if (got < 0 || links == LINKS_MAX)
		return nca_fail(err, -ELOOP, "helper %s: a link that leads nowhere", at);
	target[got] = '\0';
	at[len] = '\0';
	return walk(at, target, links + 1, err);
}

static int walk(char at[PATH_MAX], const char *path, int links, struct nca_error *err)
{
	int rc = 0;
	size_t n;

	if (path[0] == '/')
		at[0] = '\0';
	for (; !rc && *(path += strspn(path, "/")); path += n) {
		n = strcspn(path, "/");
		rc = step(at, path, n, links, err);
	}
	return rc;
}

int nca_spawn_check(const char *path, struct nca_error *err)
{
	char at[PATH_MAX] = "";
	struct stat st;
	int rc;

	if (path[0] != '/')
		return nca_fail(err, -EINVAL, "helper %s: not an absolute path", path);
	if (lstat("/", &st) < 0)
		return nca_fail(err, -errno, "helper %s: %m", path);
	rc = check_one("/", &st, err);
	rc = rc ? rc : walk(at, path, 0, err);
	if (rc)
		return rc;
	if (lstat(at, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IXOTH))
		return nca_fail(err, -EACCES, "helper %s: not a program that every user may run",
				at);
	return 0;
}
