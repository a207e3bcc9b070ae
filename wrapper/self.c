/* SPDX-License-Identifier: Apache-2.0 */
/* This process and its machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include <nca/probe.h>

#include "config.h"
#include "self.h"

const char *nca_self_memlock(char *buf, size_t size)
{
	struct rlimit limit;

	/* The kernel does not hold root to it, unless that is a container's
	 * (drivers/infiniband/core/umem.c, CAP_IPC_LOCK). */
	if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit))
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
