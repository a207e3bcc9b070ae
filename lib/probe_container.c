/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process runs in a container. */
#include <fcntl.h>

#include "probe_parts.h"

/* Left by Docker, Podman, systemd-nspawn, Apptainer and Singularity. */
static const char *const markers[] = {
	".dockerenv",
	"run/.containerenv",
	"run/systemd/container",
	".singularity.d",
};

/* Parts of control group names; Kubernetes leaves no file. */
static const char *const groups[] = {"kubepods", "/docker/", "/docker-", "libpod-", "/lxc/"};

/* The numbers that the first namespaces of a machine have on every kernel (PROC_*_INIT_INO of
 * include/linux/proc_ns.h). */
static const struct {
	const char *path, *first;
} namespaces[] = {
	{"proc/self/ns/pid", "pid:[4026531836]"},
	{"proc/self/ns/user", "user:[4026531837]"},
	{"proc/self/ns/cgroup", "cgroup:[4026531835]"},
};

static bool is_marked(int root)
{
	char cgroups[4096];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(markers); i++)
		if (nca_sysroot_exists(root, "%s", markers[i]))
			return true;
	if (nca_sysroot_read(root, "proc/self/cgroup", cgroups, sizeof(cgroups)) < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (strstr(cgroups, groups[i]))
			return true;
	return false;
}

static bool in_first_namespaces(int root)
{
	char have[64];
	ssize_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(namespaces); i++) {
		n = readlinkat(root, namespaces[i].path, have, sizeof(have) - 1);
		if (n < 0)
			return false;
		have[n] = '\0';
		if (!streq(have, namespaces[i].first))
			return false;
	}
	return true;
}

int nca_probe_container(int root_fd)
{
	if (is_marked(root_fd))
		return 1;
	return in_first_namespaces(root_fd) ? 0 : -1;
}
