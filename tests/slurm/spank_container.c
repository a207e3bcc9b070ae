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
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(container, 1)

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

		if (!av[i][len] || len >= sizeof(name) || strncmp(av[i], "keep=", 5) == 0)
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

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	if (import(sp, ac, av)) {
		copy(sp, "SLURM_PROCID", "RANK");
		copy(sp, "SLURM_LOCALID", "LOCAL_RANK");
	}
	if (!enter(has_word(ac, av, "net")))
		slurm_error("container: no namespaces: %m");
	return 0;
}
