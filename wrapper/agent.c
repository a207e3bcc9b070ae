/* SPDX-License-Identifier: Apache-2.0 */
/* One node's side of the exchange. */
#include <errno.h>
#include <poll.h>

#include <nca/clock.h>
#include <nca/sockaddr.h>

#include "agent.h"
#include "agent_ping.h"
#include "nccl_conf.h"

/* What does not answer in a second on a cluster's own network is no network for a job. */
#define CONNECT_MS 1000

/* Waits for the hub while test connections are served. */
static int wait_readable(struct nca_agent *a, int timeout_ms)
{
	struct pollfd p[2] = {
		{.fd = a->ch.fd, .events = POLLIN},
		{.fd = a->reach.epoll, .events = POLLIN},
	};
	int n = poll(p, ARRAY_SIZE(p), timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[1].revents)
		nca_reach_serve(&a->reach);
	return n ? 0 : -ETIMEDOUT;
}

/* What is queued is small against a socket's buffer; where it does not fit, the hub is not reading
 * and the rest can wait. */
static int flush(struct nca_agent *a)
{
	struct pollfd p = {.fd = a->ch.fd, .events = POLLOUT};
	int rc;

	while ((rc = nca_channel_flush(&a->ch)) == -EAGAIN)
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return -errno;
	return rc;
}

static int wait_connected(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	long long deadline = nca_clock_ms() + timeout_ms, left = timeout_ms;
	socklen_t len = sizeof(int);
	int e = 0, n;

	/* A step that is suspended and resumed interrupts it (signal(7)). */
	while ((n = poll(&p, 1, (int)left)) < 0 && errno == EINTR) {
		left = deadline - nca_clock_ms();
		left = left > 0 ? left : 0;
	}
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0 ? -errno : -e;
}

static int dial(const char *host, int port, int timeout_ms, struct nca_error *err)
{
	struct sockaddr_storage to;
	socklen_t len;
	nca_autoclose int fd = -1;
	int rc = nca_sockaddr_parse(host, port, &to, &len, err);

	if (rc)
		return rc;
	fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return nca_fail(err, -errno, "socket: %m");
	if (connect(fd, (struct sockaddr *)&to, len) < 0)
		rc = errno == EINPROGRESS ? wait_connected(fd, timeout_ms) : -errno;
	if (rc)
		return nca_fail(err, rc, "cannot reach srun at %s port %d: %s", host, port,
				strerror(-rc));
	return nca_steal_fd(&fd);
}

int nca_agent_connect(struct nca_agent *a, const char *host, int port,
		      const uint8_t key[NCA_SECRET_BYTES], int timeout_ms, struct nca_error *err)
{
	long long deadline = nca_clock_ms() + timeout_ms;
	int fd = dial(host, port, timeout_ms, err), rc;

	if (fd < 0)
		return fd;
	rc = nca_channel_open(&a->ch, fd, NCA_SIDE_AGENT, key, err);
	if (!rc && flush(a))
		rc = nca_fail(err, -ECONNRESET, "srun at %s port %d has closed the connection",
			      host, port);
	while (!rc && !a->ch.ready) {
		long long left = deadline - nca_clock_ms();

		rc = left > 0 ? wait_readable(a, (int)left) : -ETIMEDOUT;
		if (!rc)
			rc = nca_channel_read(&a->ch);
		if (rc == -EAGAIN)
			rc = 0;
		else if (rc)
			nca_fail(err, rc, "no hub at %s port %d: %s", host, port, strerror(-rc));
		if (!rc)
			rc = nca_channel_greet(&a->ch, err);
		rc = rc > 0 ? 0 : rc;
	}
	return rc;
}

int nca_agent_answer(struct nca_agent *a, uint32_t type, const struct nca_shape *shape,
		     const void *object, unsigned int flags, struct nca_error *err)
{
	nca_autofree char *text = shape ? nca_schema_print(shape, object, flags, 0) : strdup("");
	int rc;

	if (!text)
		return nca_fail_memory(err);
	rc = nca_channel_send(&a->ch, type, text, strlen(text), err);
	if (!rc && flush(a))
		rc = nca_fail(err, -ECONNRESET, "srun has ended");
	return rc;
}

int nca_agent_hello(struct nca_agent *a, const struct nca_hello *hello, struct nca_error *err)
{
	return nca_agent_answer(a, NCA_MSG_HELLO, &nca_hello_shape, hello, 0, err);
}

int nca_agent_report(struct nca_agent *a, const struct nca_report *report, struct nca_error *err)
{
	return nca_agent_answer(a, NCA_MSG_REPORT, &nca_report_shape, report, NCA_DIGEST, err);
}

int nca_agent_fail(struct nca_agent *a, const struct nca_error *why)
{
	int rc = a->ch.ready ? nca_channel_send(&a->ch, NCA_MSG_FAIL, why->text, strlen(why->text),
						NULL)
			     : -ENOTCONN;

	return rc ? rc : flush(a);
}

int nca_agent_confirm(struct nca_agent *a, struct nca_error *err)
{
	return nca_agent_answer(a, NCA_MSG_DONE, NULL, NULL, 0, err);
}

int nca_agent_found(struct nca_agent *a, const char *text)
{
	int rc = nca_channel_send(&a->ch, NCA_MSG_FOUND, text, strlen(text), NULL);

	return rc ? rc : flush(a);
}

static int on_hold(struct nca_agent *a, const struct nca_hold *hold, struct nca_error *err)
{
	struct nca_hold held = {-1, -1, NULL};
	int port = nca_reach_hold(&a->reach, hold, a->node, a->pool, NULL);

	if (port > 0)
		held.first = port;
	return nca_agent_answer(a, NCA_MSG_HELD, &nca_hold_shape, &held, 0, err);
}

static int on_test(struct nca_agent *a, const struct nca_test *test, struct nca_error *err)
{
	struct nca_result result = {0};
	int rc = nca_reach_connect(&a->reach, test, CONNECT_MS, a->pool, &result, err);

	return rc ? rc : nca_agent_answer(a, NCA_MSG_RESULT, &nca_result_shape, &result, 0, err);
}

static int on_part(struct nca_agent *a, const struct nca_part *part, struct nca_error *err)
{
	int rc;

	a->part = part;
	if (part->conf_path) {
		rc = nca_nccl_conf_write(part->conf_path, &part->conf, a->user_conf, err);
		if (rc)
			return rc;
		a->wrote_conf = true;
	}
	return nca_agent_answer(a, NCA_MSG_ACK, NULL, NULL, 0, err);
}

int nca_agent_parse(struct nca_agent *a, const struct nca_shape *shape, const struct nca_frame *f,
		    void **ret, struct nca_error *err)
{
	return nca_schema_parse(shape, f->payload, f->len, "message of the hub", a->pool, ret, err);
}

/* 1: publish; 0: go on; -ENODATA: publish nothing. */
static int on_frame(struct nca_agent *a, const struct nca_frame *f, struct nca_error *err)
{
	void *object = NULL;
	int rc;

	if (nca_agent_pings(f->type))
		return nca_agent_ping(a, f, err);
	/* All nodes have answered the last message by now. */
	nca_pinger_close(a->pinger);
	a->pinger = NULL;
	switch (f->type) {
	case NCA_MSG_HOLD:
		rc = nca_agent_parse(a, &nca_hold_shape, f, &object, err);
		return rc ? rc : on_hold(a, object, err);
	case NCA_MSG_TEST:
		rc = nca_agent_parse(a, &nca_test_shape, f, &object, err);
		return rc ? rc : on_test(a, object, err);
	case NCA_MSG_PART:
		rc = nca_agent_parse(a, &nca_part_shape, f, &object, err);
		return rc ? rc : on_part(a, object, err);
	case NCA_MSG_COMMIT:
		return a->part ? 1 : nca_fail(err, -EPROTO, "the hub commits nothing");
	case NCA_MSG_DROP:
		return -ENODATA;
	default:
		return nca_fail(err, -EPROTO, "message %u of the hub is unknown", f->type);
	}
}

int nca_agent_serve(struct nca_agent *a, struct nca_error *err)
{
	struct nca_frame f;
	int rc = 0;

	/* First what has come together with the opening. */
	for (;;) {
		while (!rc && (rc = nca_channel_next(&a->ch, &f, err)) > 0)
			rc = on_frame(a, &f, err);
		if (rc)
			break;
		rc = wait_readable(a, -1);
		rc = rc ? rc : nca_channel_read(&a->ch);
		if (rc == -EAGAIN)
			rc = 0;
		else if (rc)
			nca_fail(err, rc, "srun's side ended before it had decided");
	}
	return rc == -ENODATA ? 0 : rc;
}

void nca_agent_linger(struct nca_agent *a)
{
	int rc = 0;

	while (!rc || rc == -EAGAIN) {
		struct pollfd p = {.fd = a->ch.fd, .events = POLLIN};

		rc = poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : nca_channel_read(&a->ch);
	}
}
