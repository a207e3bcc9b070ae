/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does to a task what pyxis does (pyxis 0.24.0, pyxis_slurmstepd.c, slurm_spank_task_init): imports
 * a container's environment over what is set, sets the ranks where the image holds PyTorch, and
 * joins other namespaces. There is no container: what its image and hooks would set stands in
 * plugstack.conf.
 *
 * arguments: NAME=VALUE   of the container's environment
 *            keep=NAME    as srun --container-env=NAME: what is set holds; repeated
 *            net          as srun --container-unshare=net
 *            hide=PATH    a file or a directory of devices that the container does not have;
 * repeated memlock=N    bytes that its tasks may lock on=NODE      only there; elsewhere it does
 * nothing
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(container, 1)

/* Not of the container's environment. */
static bool is_ours(const char *word)
{
	static const char *const ours[] = {"keep=", "hide=", "memlock=", "on="};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (strncmp(word, ours[i], strlen(ours[i])) == 0)
			return true;
	return false;
}

static bool is_kept(int ac, char **av, const char *name)
{
	for (int i = 0; i < ac; i++)
		if (strncmp(av[i], "keep=", 5) == 0 && strcmp(av[i] + 5, name) == 0)
			return true;
	return false;
}

/* spank_import_container_env */
static bool import(spank_t sp, int ac, char **av)
{
	char name[128];

	for (int i = 0; i < ac; i++) {
		size_t len = strcspn(av[i], "=");

		if (!av[i][len] || len >= sizeof(name) || is_ours(av[i]))
			continue;
		memcpy(name, av[i], len);
		name[len] = '\0';
		spank_setenv(sp, name, av[i] + len + 1, !is_kept(ac, av, name));
	}
	return spank_getenv(sp, "PYTORCH_VERSION", name, sizeof(name)) == ESPANK_SUCCESS;
}

/* pytorch_setup */
static void copy(spank_t sp, const char *from, const char *to)
{
	char value[64];

	if (spank_getenv(sp, from, value, sizeof(value)) == ESPANK_SUCCESS)
		spank_setenv(sp, to, value, 1);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool has_word(int ac, char **av, const char *word)
{
	for (int i = 0; i < ac; i++)
		if (strcmp(av[i], word) == 0)
			return true;
	return false;
}

/* The user stays who he is. */
static bool enter(bool net)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "%u %u 1", geteuid(), geteuid());
	snprintf(gids, sizeof(gids), "%u %u 1", getegid(), getegid());
	/* Else the files in /proc are root's; the program's start decides it anew. */
	prctl(PR_SET_DUMPABLE, 1);
	return unshare(CLONE_NEWUSER | CLONE_NEWNS | (net ? CLONE_NEWNET : 0)) == 0 &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", uids) && write_file("/proc/self/gid_map", gids);
}

static const char *value_of(int ac, char **av, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < ac; i++)
		if (strncmp(av[i], name, len) == 0)
			return av[i] + len;
	return NULL;
}

static bool is_elsewhere(int ac, char **av)
{
	const char *on = value_of(ac, av, "on=");
	char name[128];

	return on && (gethostname(name, sizeof(name)) < 0 || strcmp(name, on) != 0);
}

/* An empty file as a place for one of the outer /dev. */
static int bind_file(int from, int to, const char *name)
{
	char source[64], target[64];
	int in = openat(from, name, O_PATH | O_CLOEXEC);
	int out = openat(to, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	int rc = -1;

	if (in >= 0 && out >= 0) {
		snprintf(source, sizeof(source), "/proc/self/fd/%d", in);
		snprintf(target, sizeof(target), "/proc/self/fd/%d", out);
		rc = mount(source, target, NULL, MS_BIND, NULL);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return rc;
}

/* Another directory in its place, with all files but one. */
static int hide_file(const char *directory, const char *hidden)
{
	DIR *from = opendir(directory);
	int to = -1, rc = from ? mount("container", directory, "tmpfs", 0, "mode=755") : -1;
	const struct dirent *e;

	if (rc == 0)
		to = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	while (rc == 0 && to >= 0 && (e = readdir(from)))
		if (e->d_type == DT_CHR && strcmp(e->d_name, hidden) != 0)
			rc = bind_file(dirfd(from), to, e->d_name);
	if (to >= 0)
		close(to);
	if (from)
		closedir(from);
	return to < 0 ? -1 : rc;
}

static int hide(const char *path)
{
	char directory[128];
	const char *slash = strrchr(path, '/');

	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
	return hide_file(directory, slash + 1);
}

static bool limit(const char *bytes)
{
	struct rlimit r = {strtoul(bytes, NULL, 10), strtoul(bytes, NULL, 10)};

	return setrlimit(RLIMIT_MEMLOCK, &r) == 0;
}

/* What the container does not have, and what its tasks may not. */
static bool take_away(int ac, char **av)
{
	const char *bytes = value_of(ac, av, "memlock=");
	bool ok = !bytes || limit(bytes);

	for (int i = 0; i < ac; i++)
		if (strncmp(av[i], "hide=", 5) == 0)
			ok = ok && hide(av[i] + 5) == 0;
	return ok;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	if (is_elsewhere(ac, av))
		return 0;
	if (import(sp, ac, av)) {
		copy(sp, "SLURM_PROCID", "RANK");
		copy(sp, "SLURM_LOCALID", "LOCAL_RANK");
	}
	if (!enter(has_word(ac, av, "net")))
		slurm_error("container: no namespaces: %m");
	else if (!take_away(ac, av))
		slurm_error("container: nothing can be hidden: %m");
	return 0;
}
