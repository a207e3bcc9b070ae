/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's connections. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <nca/clock.h>

#include "member.h"

/* Connections beyond one per node that may be open at once: port scanners, nodes that come twice.
 */
#define STRANGERS 64

size_t nca_hub_nodes(const struct nca_hub *hub)
{
	return hub->nnodes;
}

int nca_hub_open(int listen_fd, int life_fd, const uint8_t key[NCA_SECRET_BYTES], size_t nnodes,
		 struct nca_hub **ret, struct nca_error *err)
{
	struct nca_hub *hub = calloc(1, sizeof(*hub));

	if (!hub)
		return nca_fail_memory(err);
	hub->listen_fd = listen_fd;
	memcpy(hub->key, key, sizeof(hub->key));
	hub->epoll = epoll_create1(EPOLL_CLOEXEC);
	hub->pool = nca_pool_new();
	if (hub->epoll < 0 || !hub->pool || (nnodes && nca_member_set_nodes(hub, nnodes)) ||
	    nca_member_watch(hub, EPOLL_CTL_ADD, listen_fd, EPOLLIN, &hub->listen_fd) ||
	    nca_member_watch(hub, EPOLL_CTL_ADD, life_fd, EPOLLIN | EPOLLRDHUP, &hub->ended)) {
		nca_hub_close(hub);
		return nca_fail(err, -EIO, "cannot prepare the hub: %m");
	}
	*ret = hub;
	return 0;
}

void nca_hub_set_excuse(struct nca_hub *hub, const char *excuse)
{
	hub->excuse = excuse;
}

static void stop_listening(struct nca_hub *hub)
{
	if (hub->listen_fd >= 0)
		close(hub->listen_fd);
	hub->listen_fd = -1;
}

void nca_hub_close(struct nca_hub *hub)
{
	if (!hub)
		return;
	while (hub->all)
		nca_member_drop(hub, hub->all);
	stop_listening(hub);
	if (hub->epoll >= 0)
		close(hub->epoll);
	nca_pool_free(hub->pool);
	free(hub->nodes);
	free(hub->found);
	free(hub);
}

const struct nca_report *nca_hub_report(const struct nca_hub *hub, size_t node)
{
	return hub->nodes[node] ? hub->nodes[node]->report : NULL;
}

const char *nca_hub_answer(const struct nca_hub *hub, size_t node)
{
	return hub->nodes[node] ? hub->nodes[node]->answer : NULL;
}

static void on_accept(struct nca_hub *hub)
{
	struct nca_member *m = calloc(1, sizeof(*m));
	int fd = accept4(hub->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 || !m || hub->nopen >= hub->nnodes + STRANGERS) {
		if (fd >= 0)
			close(fd);
		free(m);
		return;
	}
	if (nca_channel_open(&m->ch, fd, NCA_SIDE_HUB, hub->key, NULL)) {
		free(m);
		return;
	}
	m->next = hub->all;
	hub->all = m;
	hub->nopen++;
	/* An opening of 20 bytes always fits into a new socket's buffer. */
	if (nca_channel_flush(&m->ch) || nca_member_watch(hub, EPOLL_CTL_ADD, fd, EPOLLIN, m))
		nca_member_drop(hub, m);
}

static int on_event(struct nca_hub *hub, const struct epoll_event *ev, struct nca_error *err)
{
	if (ev->data.ptr == &hub->listen_fd) {
		on_accept(hub);
		return 0;
	}
	if (ev->data.ptr == &hub->ended) {
		hub->ended = true;
		return nca_fail(err, -ECANCELED, "srun has ended");
	}
	return nca_member_event(hub, ev->data.ptr, ev->events, err);
}

/* One event at a time: what it drops cannot stand in the same list again. */
static int step(struct nca_hub *hub, struct nca_error *err)
{
	struct epoll_event ev;
	long long left = hub->deadline ? hub->deadline - nca_clock_ms() : -1;
	int n;

	if (hub->deadline && left < 0)
		left = 0;
	n = epoll_wait(hub->epoll, &ev, 1, (int)left);
	if (n < 0)
		return errno == EINTR ? 0 : nca_fail(err, -errno, "epoll_wait: %m");
	if (n == 0)
		return nca_fail(err, -ETIMEDOUT, "no answer in time");
	return on_event(hub, &ev, err);
}

static int wait_all(struct nca_hub *hub, struct nca_error *err)
{
	int rc = 0;

	while (!rc && hub->pending)
		rc = step(hub, err);
	return rc;
}

int nca_hub_gather(struct nca_hub *hub, int timeout_ms, struct nca_error *err)
{
	hub->awaited = 0;
	hub->deadline = 0;
	hub->gather_ms = timeout_ms;
	/* Until the first has come, at least that one is awaited. */
	hub->pending = hub->nnodes ? hub->nnodes : 1;
	return wait_all(hub, err);
}

static int send_one(struct nca_hub *hub, size_t i, uint32_t type, const char *payload,
		    struct nca_error *err)
{
	struct nca_member *m = hub->nodes[i];
	int rc;

	if (!m)
		return 0;
	free(m->answer);
	m->answer = NULL;
	rc = nca_channel_send(&m->ch, type, payload, payload ? strlen(payload) : 0, err);
	if (!rc && nca_member_flush(hub, m))
		rc = nca_fail(err, -ECONNRESET, "the connection is lost");
	return rc ? nca_fail_in(err, rc, "%s", m->hello->name) : 0;
}

/* Which of those that were asked has not answered. */
static int name_silent(const struct nca_hub *hub, char *const *payloads, struct nca_error *err)
{
	size_t i;

	for (i = 0; i < hub->nnodes; i++)
		if (hub->nodes[i] && !hub->nodes[i]->answer && (!payloads || payloads[i]))
			break;
	if (i == hub->nnodes)
		return -ETIMEDOUT;
	return nca_fail_in(err, -ETIMEDOUT, "%s", hub->nodes[i]->hello->name);
}

int nca_hub_ask(struct nca_hub *hub, uint32_t type, char *const *payloads, uint32_t answer,
		int timeout_ms, struct nca_error *err)
{
	size_t i;
	int rc = 0;

	hub->awaited = answer ? answer : UINT32_MAX;
	hub->deadline = nca_clock_ms() + timeout_ms;
	hub->pending = 0;
	for (i = 0; !rc && i < hub->nnodes; i++) {
		if (payloads && !payloads[i])
			continue;
		rc = send_one(hub, i, type, payloads ? payloads[i] : NULL, err);
		hub->pending += answer != 0;
	}
	rc = rc ? rc : wait_all(hub, err);
	return rc == -ETIMEDOUT ? name_silent(hub, payloads, err) : rc;
}

/* 0: srun has ended; 1: a node has found something. */
static int wait_end(struct nca_hub *hub, int timeout_ms, struct nca_error *err)
{
	int rc = 0;

	hub->deadline = timeout_ms < 0 ? 0 : nca_clock_ms() + timeout_ms;
	while (!hub->ended && !hub->found && rc != -ETIMEDOUT && rc != -EHOSTDOWN)
		rc = step(hub, err);
	if (hub->found)
		return 1;
	return hub->ended ? 0 : rc;
}

char *nca_hub_found(struct nca_hub *hub)
{
	char *found = hub->found;

	hub->found = NULL;
	return found;
}

int nca_hub_dismiss(struct nca_hub *hub, const char *part, int timeout_ms, struct nca_error *err)
{
	struct nca_member *m, *next;

	/* Of what nobody has now. */
	free(hub->found);
	hub->found = NULL;
	hub->part = part;
	for (m = hub->all; m && !hub->dismissed; m = next) {
		next = m->next;
		if ((m->ch.ready || m->excused) && nca_member_dismiss(hub, m))
			nca_member_drop(hub, m);
	}
	hub->dismissed = true;
	return wait_end(hub, timeout_ms, err);
}

int nca_hub_linger(struct nca_hub *hub, bool all, int timeout_ms)
{
	struct nca_member *m, *next;

	stop_listening(hub);
	/* What could not be written at once is lost to a node that does not read: it has its own
	 * limit. */
	for (m = hub->all; m; m = next) {
		next = m->next;
		if (!all && m != hub->nodes[0])
			nca_member_drop(hub, m);
	}
	return wait_end(hub, timeout_ms, NULL);
}
