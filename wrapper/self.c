/* SPDX-License-Identifier: Apache-2.0 */
/* This process and its machine. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <nca/probe.h>

#include "config.h"
#include "self.h"

/* The number of the first user namespace on every kernel (PROC_USER_INIT_INO of
 * include/linux/proc_ns.h). */
#define FIRST_USERS "user:[4026531837]"

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capget, &header, sets) == 0 &&
	       sets[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number);
}

static bool in_first_users(void)
{
	char users[64];
	ssize_t n = readlink("/proc/self/ns/user", users, sizeof(users) - 1);

	if (n < 0)
		return true;
	users[n] = '\0';
	return streq(users, FIRST_USERS);
}

const char *nca_self_memlock(char *buf, size_t size)
{
	struct rlimit limit;

	/* Whom the kernel does not hold to it: root, but not a container's, which may have neither
	 * (drivers/infiniband/core/umem.c, capable(CAP_IPC_LOCK)). */
	if ((has_capability(CAP_IPC_LOCK) && in_first_users()) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return NULL;
	if (limit.rlim_cur == RLIM_INFINITY)
		return "unlimited";
	snprintf(buf, size, "%llu", (unsigned long long)limit.rlim_cur);
	return buf;
}

int nca_self_probe(const char *sysroot, struct nca_pool *pool, struct nca_node **ret,
		   struct nca_error *err)
{
	const char *path = sysroot ? sysroot : "/";
	nca_autoclose int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct nca_source src = {.root_fd = root, .version = PACKAGE_VERSION};
	char memlock[32];
	int rc;

	if (root < 0)
		return nca_fail(err, -errno, "%s: %m", path);
	if (!sysroot) {
		src.live = true;
		src.env = environ;
		src.gpus = getenv("SLURM_STEP_GPUS");
		src.memlock = nca_self_memlock(memlock, sizeof(memlock));
	}
	rc = nca_probe_prepare(sysroot);
	return rc ? nca_fail(err, rc, "%s", strerror(-rc)) : nca_probe(&src, pool, ret, err);
}
