/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of one step on one node. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nca/clock.h>
#include <nca/launch.h>

#include "sibling.h"

static socklen_t address_of(const char *name, struct sockaddr_un *a)
{
	int n;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "nccl-autoconf/run/%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int nca_sibling_claim(const char *name, struct nca_error *err)
{
	nca_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;
	socklen_t len = address_of(name, &a);

	if (fd < 0)
		return nca_fail(err, -errno, "socket: %m");
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 4096) < 0)
		return nca_fail(err, -errno, "abstract socket of the step: %m");
	return nca_steal_fd(&fd);
}

static bool is_mine(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.uid == getuid();
}

/* Between bind and listen of the first there is a moment without a listener. */
static int dial(const char *name, long long deadline, struct nca_error *err)
{
	nca_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;
	socklen_t len = address_of(name, &a);
	int tries = 0;

	if (fd < 0)
		return nca_fail(err, -errno, "socket: %m");
	while (connect(fd, (struct sockaddr *)&a, len) < 0) {
		if (errno != ECONNREFUSED || tries++ > 100 || nca_clock_ms() > deadline)
			return nca_fail(err, -ECONNRESET, "the agent of this node has ended");
		poll(NULL, 0, 1);
	}
	if (!is_mine(fd))
		return nca_fail(err, -EPERM,
				"the name of this step is taken by another user's process");
	return nca_steal_fd(&fd);
}

static int read_some(int fd, long long deadline, char *buf, size_t size, struct nca_error *err)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	long long left = deadline - nca_clock_ms();
	ssize_t n;

	if (left <= 0 || poll(&p, 1, (int)left) == 0)
		return nca_fail(err, -ETIMEDOUT, "no answer in time");
	n = recv(fd, buf, size, 0);
	if (n < 0 && errno != EINTR)
		return nca_fail(err, -errno, "the agent of this node has ended");
	return n < 0 ? 0 : (int)n;
}

int nca_sibling_ask(const char *name, int timeout_ms, char *buf, size_t size, struct nca_error *err)
{
	long long deadline = nca_clock_ms() + timeout_ms;
	nca_autoclose int fd = dial(name, deadline, err);
	size_t used = 0;
	int n = 1;

	if (fd < 0)
		return fd;
	/* The records end with an empty one, so an end without it is a death. */
	while (used < size && (n = read_some(fd, deadline, buf + used, size - used, err)) > 0)
		used += (size_t)n;
	if (n < 0)
		return n;
	if (used == 0 || buf[used - 1])
		return nca_fail(err, -ECONNRESET, "the agent of this node has ended");
	return 0;
}

static void answer(int listener, const char *records, size_t size)
{
	nca_autoclose int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	/* Small against a socket's buffer; a task that is gone needs no answer. */
	if (fd >= 0 && is_mine(fd) && send(fd, records, size, MSG_NOSIGNAL) < 0)
		return;
}

void nca_sibling_serve(int listener, int count, const char *records, size_t size, int hub_fd,
		       bool stay)
{
	char drop[256];

	while (count > 0 || stay) {
		struct pollfd p[2] = {{.fd = count > 0 ? listener : -1, .events = POLLIN},
				      {.fd = hub_fd, .events = POLLIN}};

		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			return;
		if (p[0].revents) {
			answer(listener, records, size);
			count--;
		}
		if (p[1].revents && recv(hub_fd, drop, sizeof(drop), 0) == 0) {
			hub_fd = -1;
			stay = false;
		}
	}
}
