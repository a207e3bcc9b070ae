/* SPDX-License-Identifier: Apache-2.0 */
/* The side that listens: test connections and the rendezvous port. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nca/listen.h>
#include <nca/reach.h>
#include <nca/rendezvous.h>

/* Every search step binds for real: a node where so many ports are taken is out of order. */
#define TRIES 200

static int watch(struct nca_reach *r, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

int nca_reach_open(struct nca_reach *r, struct nca_error *err)
{
	size_t i;

	r->lock = -1;
	for (i = 0; i < ARRAY_SIZE(r->held); i++)
		r->held[i] = -1;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->listener = nca_listen(0);
	r->port = r->listener < 0 ? -1 : nca_listen_port(r->listener);
	if (r->epoll >= 0 && r->port > 0 && watch(r, r->listener) == 0)
		return 0;
	nca_reach_close(r);
	return nca_fail(err, -EIO, "cannot listen for test connections: %m");
}

static void unlisten(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* An abstract name belongs to the network namespace, as a port does, and needs no file system. */
static int take_name(int port)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "nccl-autoconf/port/%d", port);

	if (fd >= 0 &&
	    bind(fd, (struct sockaddr *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int hold_at(struct nca_reach *r, int port, int count)
{
	int i;

	r->lock = take_name(port);
	for (i = 0; r->lock >= 0 && i < count; i++) {
		r->held[i] = nca_listen(port + i);
		if (r->held[i] < 0 || watch(r, r->held[i]))
			break;
	}
	if (i == count)
		return 0;
	for (i = 0; i < count; i++)
		unlisten(&r->held[i]);
	unlisten(&r->lock);
	return -EADDRINUSE;
}

static int hold_one(struct nca_reach *r, int port, struct nca_error *err)
{
	return hold_at(r, port, 1) ? nca_fail(err, -EADDRINUSE, "port %d is in use", port) : port;
}

int nca_reach_hold(struct nca_reach *r, const struct nca_hold *hold, struct nca_node *node,
		   struct nca_pool *pool, struct nca_error *err)
{
	struct nca_options opt;
	int i, port, *taken;

	nca_options_init(&opt);
	opt.port_first = hold->first;
	opt.port_last = hold->last;
	if (hold->first > 0 && hold->first == hold->last)
		return hold_one(r, hold->first, err);
	for (i = 0; i < TRIES; i++) {
		port = nca_rendezvous_port(node, &opt, hold->seed);
		if (port < 0 || hold_at(r, port, NCA_REACH_PORTS) == 0)
			return port < 0 ? nca_fail(err, -EADDRINUSE, "no three free ports in a row")
					: port;
		taken = NCA_APPEND(pool, node->ports_in_use);
		if (!taken)
			return nca_fail_memory(err);
		*taken = port;
	}
	return nca_fail(err, -EADDRINUSE, "no three free ports in a row after %d tries", TRIES);
}

static bool is_listener(const struct nca_reach *r, int fd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(r->held); i++)
		if (fd == r->held[i])
			return true;
	return fd == r->listener;
}

void nca_reach_serve(struct nca_reach *r)
{
	struct epoll_event ev;

	while (epoll_wait(r->epoll, &ev, 1, 0) > 0) {
		int fd = ev.data.fd, new;

		if (!is_listener(r, fd)) {
			close(fd);
			continue;
		}
		new = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (new >= 0 && watch(r, new))
			close(new);
	}
}

void nca_reach_release(struct nca_reach *r)
{
	size_t i;

	nca_reach_serve(r);
	for (i = 0; i < ARRAY_SIZE(r->held); i++)
		unlisten(&r->held[i]);
	unlisten(&r->listener);
}

void nca_reach_close(struct nca_reach *r)
{
	if (r->epoll >= 0)
		nca_reach_release(r);
	unlisten(&r->epoll);
	unlisten(&r->lock);
}
