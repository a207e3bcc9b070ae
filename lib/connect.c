/* SPDX-License-Identifier: Apache-2.0 */
/* The side that connects. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>

#include <nca/sockaddr.h>
#include <nca/clock.h>
#include <nca/reach.h>

struct attempt {
	int fd; /* -1: over */
	char *why;
};

/* Never NULL, which would mean that the connection was made. */
static char *explain(struct nca_pool *pool, const struct nca_test *test, const struct nca_target *t,
		     const char *what)
{
	char *text = nca_pool_printf(pool, "%s port %d of %s from %s: %s", t->addr, t->port,
				     t->node, test->source, what);

	return text ? text : "not reached";
}

static int begin(const struct nca_test *test, const struct nca_target *t)
{
	struct sockaddr_storage from, to;
	socklen_t from_len, to_len;
	nca_autoclose int fd = -1;

	if (nca_sockaddr_parse(test->source, 0, &from, &from_len, NULL) ||
	    nca_sockaddr_parse(t->addr, t->port, &to, &to_len, NULL))
		return -EINVAL;
	fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&from, from_len) < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&to, to_len) < 0 && errno != EINPROGRESS)
		return -errno;
	return nca_steal_fd(&fd);
}

static int outcome_of(int fd)
{
	socklen_t len = sizeof(int);
	int e = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0 ? errno : e;
}

static void end(struct attempt *a, char *why)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	a->why = why;
}

static size_t fill_poll(const struct attempt *a, size_t n, struct pollfd *p)
{
	size_t i, open = 0;

	for (i = 0; i < n; i++) {
		p[i] = (struct pollfd){.fd = a[i].fd, .events = POLLOUT};
		open += a[i].fd >= 0;
	}
	return open;
}

static void wait_all(struct nca_reach *r, const struct nca_test *test, struct attempt *a,
		     struct pollfd *p, int timeout_ms, struct nca_pool *pool)
{
	long long deadline = nca_clock_ms() + timeout_ms, left;
	size_t i, n = test->targets.n;

	while (fill_poll(a, n, p) && (left = deadline - nca_clock_ms()) > 0) {
		p[n] = (struct pollfd){.fd = r->epoll, .events = POLLIN};
		if (poll(p, n + 1, (int)left) <= 0)
			continue;
		if (p[n].revents)
			nca_reach_serve(r);
		for (i = 0; i < n; i++) {
			int e = p[i].revents ? outcome_of(a[i].fd) : 0;

			if (p[i].revents)
				end(&a[i], e ? explain(pool, test, &test->targets.v[i], strerror(e))
					     : NULL);
		}
	}
	for (i = 0; i < n; i++)
		if (a[i].fd >= 0)
			end(&a[i], explain(pool, test, &test->targets.v[i], "no answer"));
}

int nca_reach_connect(struct nca_reach *r, const struct nca_test *test, int timeout_ms,
		      struct nca_pool *pool, struct nca_result *ret, struct nca_error *err)
{
	size_t i, n = test->targets.n;
	struct attempt *a = nca_pool_alloc(pool, n * sizeof(*a));
	struct pollfd *p = nca_pool_alloc(pool, (n + 1) * sizeof(*p));

	ret->outcomes.v = nca_pool_alloc(pool, n * sizeof(*ret->outcomes.v));
	if (!a || !p || !ret->outcomes.v)
		return nca_fail_memory(err);
	for (i = 0; i < n; i++) {
		a[i].fd = begin(test, &test->targets.v[i]);
		if (a[i].fd < 0)
			end(&a[i], explain(pool, test, &test->targets.v[i], strerror(-a[i].fd)));
	}
	wait_all(r, test, a, p, timeout_ms, pool);
	for (i = 0; i < n; i++)
		ret->outcomes.v[i].why = a[i].why;
	ret->outcomes.n = n;
	return 0;
}
