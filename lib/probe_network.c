/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces, addresses and routes: which questions are asked, and where the answers come from. */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "probe_parts.h"
#include "rtnl.h"

/* No recorded answer comes near. */
#define RECORD_MAX ((off_t)32 << 20)

static int read_record(const struct nca_probe *p, const char *path, struct nca_dump *ret)
{
	nca_autoclose int fd = nca_sysroot_open(p->src->root_fd, path, O_RDONLY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > RECORD_MAX)
		return -EINVAL;
	ret->data = nca_pool_alloc(p->pool, (size_t)st.st_size);
	if (!ret->data)
		return -ENOMEM;
	n = read(fd, ret->data, (size_t)st.st_size);
	ret->len = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -errno : 0;
}

/* 1 with the answer, 0 where it is unknown, -ENOMEM. */
static int get_dump(const struct nca_probe *p, int type, int family, const char *path,
		    const char *what, struct nca_dump *ret)
{
	int rc = p->src->live ? nca_rtnl_dump(type, family, p->pool, ret)
			      : read_record(p, path, ret);

	if (rc == -ENOMEM)
		return rc;
	return rc ? nca_probe_note(p, strerror(-rc), "%s", what) : 1;
}

static int probe_routes(const struct nca_probe *p, int family, const char *path)
{
	struct nca_dump dump = {0};
	int rc = get_dump(p, RTM_GETROUTE, family, path,
			  family == AF_INET ? "routes.inet" : "routes.inet6", &dump);

	if (rc <= 0)
		return rc;
	if (!p->node->routes.v)
		p->node->routes.v = nca_pool_alloc(p->pool, 0);
	return p->node->routes.v ? nca_routes_parse(p, &dump, family) : -ENOMEM;
}

int nca_probe_network(const struct nca_probe *p)
{
	struct nca_dump dump = {0};
	int rc = get_dump(p, RTM_GETLINK, AF_UNSPEC, "netlink/link", "interfaces", &dump);

	if (rc > 0)
		rc = nca_links_parse(p, &dump);
	if (!rc)
		rc = get_dump(p, RTM_GETADDR, AF_UNSPEC, "netlink/addr", "interfaces.addresses",
			      &dump);
	if (rc > 0)
		rc = nca_addrs_parse(p, &dump);
	rc = rc ? rc : probe_routes(p, AF_INET, "netlink/route");
	rc = rc ? rc : probe_routes(p, AF_INET6, "netlink/route6");
	return rc ? rc : nca_probe_netdevs(p);
}
