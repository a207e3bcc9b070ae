/* SPDX-License-Identifier: Apache-2.0 */
/* Listening TCP sockets. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <nca/listen.h>
#include <nca/util.h>

/* As many as the kernel lets wait (net.core.somaxconn): all nodes of a large step may come at once.
 */
#define BACKLOG 4096

static int listen_family(int family, int port)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	bool v6 = family == AF_INET6;
	nca_autoclose int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int off = 0;

	if (fd < 0)
		return -errno;
	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in4,
		 v6 ? sizeof(in6) : sizeof(in4)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return -errno;
	return nca_steal_fd(&fd);
}

int nca_listen(int port)
{
	int fd = listen_family(AF_INET6, port);

	return fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL ? listen_family(AF_INET, port) : fd;
}

int nca_listen_port(int fd)
{
	struct sockaddr_in6 a;
	socklen_t len = sizeof(a);

	/* The port lies at the same place in both families. */
	return getsockname(fd, (struct sockaddr *)&a, &len) < 0 ? -errno : ntohs(a.sin6_port);
}
