/* SPDX-License-Identifier: Apache-2.0 */
/* The device node of an HCA. */
#include <errno.h>
#include <fcntl.h>

#include "verbs.h"

/* The name of the device node: the uverbsN whose ibdev file names the HCA. */
static char *uverbs_name(int root, struct nca_pool *pool, const char *hca)
{
	nca_strs nodes = {0};
	char **node;

	if (nca_sysroot_list(root, pool, &nodes, "sys/class/infiniband_verbs"))
		return NULL;
	NCA_FOREACH(node, nodes) {
		char *ibdev =
			nca_sysroot_text(root, pool, "sys/class/infiniband_verbs/%s/ibdev", *node);

		if (nca_same(ibdev, hca))
			return *node;
	}
	return NULL;
}

/* sysfs shows a container all HCAs of the machine, whatever it may open. */
static const char *open_hint(int root, int error)
{
	switch (error) {
	case ENOENT:
		return nca_probe_container(root) ? " is not visible here: the container hides it"
						 : " is not visible here";
	case EPERM:
		return " is refused by the device cgroup, or belongs to another network namespace";
	default:
		return "";
	}
}

/* Not access(2): it does not see the device cgroup. */
int nca_uverbs_try(int root, struct nca_pool *pool, const char *hca, char **why)
{
	const char *name = uverbs_name(root, pool, hca);
	char *path = nca_pool_printf(pool, "dev/infiniband/%s", name ? name : "uverbs*");
	int fd;

	*why = NULL;
	if (!path)
		return -ENOMEM;
	fd = name ? nca_sysroot_open(root, path, O_RDWR) : -ENOENT;
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	*why = nca_pool_printf(pool, "%s: /%s%s", strerror(-fd), path, open_hint(root, -fd));
	return *why ? fd : -ENOMEM;
}
