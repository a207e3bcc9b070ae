/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's connections. */
#include <ctype.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <sodium.h>

#include <nca/clock.h>
#include <nca/hub.h>

/* Connections beyond one per node that may be open at once: port scanners, nodes that come twice.
 */
#define STRANGERS 64

struct member {
	struct nca_channel ch;
	const struct nca_hello *hello; /* NULL: not yet one of ours */
	const struct nca_report *report;
	char *answer;
	bool watched_out; /* epoll waits for room to write */
	bool excused;	  /* waits to hear whether the step runs */
	struct member *next;
};

struct nca_hub {
	int epoll, listen_fd;
	uint8_t key[NCA_SECRET_BYTES];
	size_t nnodes, nopen;
	struct member *all;    /* every open connection */
	struct member **nodes; /* by node, NULL: not yet here */
	struct nca_pool *pool; /* of the reports */
	uint32_t awaited;      /* type of the answer, 0: reports */
	size_t pending;
	long long deadline; /* 0: none */
	int gather_ms;
	bool ended;
	const char *excuse; /* NULL: none is believed */
	bool dismissed;	    /* all that come are only told so */
	const char *part;   /* what they are to publish, NULL: nothing */
};

static int watch(struct nca_hub *hub, int op, int fd, uint32_t events, void *data)
{
	struct epoll_event ev = {.events = events, .data.ptr = data};

	return epoll_ctl(hub->epoll, op, fd, &ev) < 0 ? -errno : 0;
}

static int set_nodes(struct nca_hub *hub, size_t nnodes)
{
	hub->nodes = calloc(nnodes, sizeof(*hub->nodes));
	if (!hub->nodes)
		return -ENOMEM;
	hub->nnodes = nnodes;
	hub->pending = nnodes;
	return 0;
}

size_t nca_hub_nodes(const struct nca_hub *hub)
{
	return hub->nnodes;
}

int nca_hub_open(int listen_fd, int life_fd, const uint8_t key[NCA_SECRET_BYTES], size_t nnodes,
		 struct nca_hub **ret, struct nca_error *err)
{
	struct nca_hub *hub = calloc(1, sizeof(*hub));

	if (!hub)
		return nca_fail(err, -ENOMEM, "out of memory");
	hub->listen_fd = listen_fd;
	memcpy(hub->key, key, sizeof(hub->key));
	hub->epoll = epoll_create1(EPOLL_CLOEXEC);
	hub->pool = nca_pool_new();
	if (hub->epoll < 0 || !hub->pool || (nnodes && set_nodes(hub, nnodes)) ||
	    watch(hub, EPOLL_CTL_ADD, listen_fd, EPOLLIN, &hub->listen_fd) ||
	    watch(hub, EPOLL_CTL_ADD, life_fd, EPOLLIN | EPOLLRDHUP, &hub->ended)) {
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

static void drop_member(struct nca_hub *hub, struct member *m)
{
	struct member **p;

	for (p = &hub->all; *p != m; p = &(*p)->next)
		continue;
	*p = m->next;
	if (m->hello)
		hub->nodes[m->hello->nodeid] = NULL;
	nca_channel_close(&m->ch);
	free(m->answer);
	free(m);
	hub->nopen--;
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
		drop_member(hub, hub->all);
	stop_listening(hub);
	if (hub->epoll >= 0)
		close(hub->epoll);
	nca_pool_free(hub->pool);
	free(hub->nodes);
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
	struct member *m = calloc(1, sizeof(*m));
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
	if (nca_channel_flush(&m->ch) || watch(hub, EPOLL_CTL_ADD, fd, EPOLLIN, m))
		drop_member(hub, m);
}

static int flush(struct nca_hub *hub, struct member *m)
{
	int rc = nca_channel_flush(&m->ch);
	bool out = rc == -EAGAIN;

	if (rc && !out)
		return rc;
	if (out == m->watched_out)
		return 0;
	m->watched_out = out;
	return watch(hub, EPOLL_CTL_MOD, m->ch.fd, EPOLLIN | (out ? EPOLLOUT : 0), m);
}

static int on_hello(struct nca_hub *hub, struct member *m, const struct nca_frame *f,
		    struct nca_error *err)
{
	const struct nca_hello *hello;
	void *object;
	int rc = nca_schema_parse(&nca_hello_shape, f->payload, f->len, "hello", hub->pool, &object,
				  err);

	if (rc)
		return rc;
	hello = object;
	if (!hub->nnodes && (hello->nnodes < 1 || set_nodes(hub, (size_t)hello->nnodes)))
		return nca_fail(err, -EPROTO, "%s comes from a step of %d nodes", hello->name,
				hello->nnodes);
	if (hello->nodeid < 0 || (size_t)hello->nodeid >= hub->nnodes)
		return nca_fail(err, -EPROTO, "%s comes as node %d of %zu", hello->name,
				hello->nodeid, hub->nnodes);
	if (hub->nodes[hello->nodeid])
		return nca_fail(err, -EPROTO, "%s comes in the place of %s", hello->name,
				hub->nodes[hello->nodeid]->hello->name);
	m->hello = hello;
	hub->nodes[hello->nodeid] = m;
	if (!hub->deadline)
		hub->deadline = nca_clock_ms() + hub->gather_ms;
	return 0;
}

static int on_report(struct nca_hub *hub, struct member *m, const struct nca_frame *f,
		     struct nca_error *err)
{
	void *object;
	int rc = nca_schema_parse(&nca_report_shape, f->payload, f->len, "report", hub->pool,
				  &object, err);

	if (rc)
		return rc;
	m->report = object;
	hub->pending--;
	return 0;
}

static int send_dismissal(struct nca_hub *hub, struct member *m)
{
	const char *part = hub->part, *stop = NCA_EXCUSE_STOP;
	int rc;

	if (m->excused)
		return part && send(m->ch.fd, stop, strlen(stop), MSG_NOSIGNAL) < 0 ? -errno
										    : -ENODATA;
	if (part)
		rc = nca_channel_send(&m->ch, NCA_MSG_PART, part, strlen(part), NULL)
			     ?: nca_channel_send(&m->ch, NCA_MSG_COMMIT, NULL, 0, NULL);
	else
		rc = nca_channel_send(&m->ch, NCA_MSG_DROP, NULL, 0, NULL);
	return rc ? rc : flush(hub, m);
}

static int on_frame(struct nca_hub *hub, struct member *m, const struct nca_frame *f,
		    struct nca_error *err)
{
	if (hub->dismissed)
		return f->type == NCA_MSG_HELLO ? send_dismissal(hub, m) : 0;
	if (m->hello && f->type == NCA_MSG_FAIL)
		return nca_fail(err, -EIO, "%s", f->payload);
	if (!m->hello && f->type == NCA_MSG_HELLO)
		return on_hello(hub, m, f, err);
	if (m->hello && !m->report && f->type == NCA_MSG_REPORT)
		return on_report(hub, m, f, err);
	if (!m->report || f->type != hub->awaited || m->answer)
		return nca_fail(err, -EPROTO, "a message of type %u was not asked for", f->type);
	m->answer = strndup(f->payload, f->len);
	hub->pending--;
	return m->answer ? 0 : nca_fail(err, -ENOMEM, "out of memory");
}

static bool is_excuse(const struct member *m)
{
	size_t n = strlen(NCA_EXCUSE_MAGIC);

	return !m->ch.ready && m->ch.in.used >= n &&
	       memcmp(m->ch.in.data, NCA_EXCUSE_MAGIC, n) == 0;
}

/* 0: the rest of the line has not come. */
static int on_excuse(struct nca_hub *hub, struct member *m, struct nca_error *err)
{
	size_t at = strlen(NCA_EXCUSE_MAGIC), len = m->ch.in.used - at;
	char line[NCA_EXCUSE_MAX], *c;

	if (len >= sizeof(line))
		return -EBADMSG;
	if (!memchr(m->ch.in.data + at, '\n', len))
		return 0;
	memcpy(line, m->ch.in.data + at, len);
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (!hub->excuse || strlen(hub->excuse) != NCA_EXCUSE_HEX ||
	    strlen(line) < NCA_EXCUSE_HEX + 1 ||
	    sodium_memcmp(line, hub->excuse, NCA_EXCUSE_HEX) != 0)
		return -EBADMSG;
	for (c = line; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	m->excused = true;
	if (hub->dismissed)
		send_dismissal(hub, m);
	return nca_fail(err, -EHOSTDOWN, "%s", line + NCA_EXCUSE_HEX + 1);
}

static int read_member(struct nca_hub *hub, struct member *m, struct nca_error *err)
{
	struct nca_frame f;
	int rc = nca_channel_read(&m->ch), more;

	if (rc == -EAGAIN)
		return 0;
	if (rc)
		return nca_fail(err, rc, "the agent has ended");
	if (is_excuse(m))
		return on_excuse(hub, m, err);
	while ((more = nca_channel_next(&m->ch, &f, err)) > 0) {
		rc = on_frame(hub, m, &f, err);
		if (rc)
			return rc;
	}
	return more;
}

/*
 * A stranger's error is his own; a node's error is the step's. Another version is the step's too:
 * it is one of ours that will never report.
 */
static int on_member(struct nca_hub *hub, struct member *m, uint32_t events, struct nca_error *err)
{
	struct nca_error why = {""};
	int rc = 0;

	if (events & EPOLLOUT)
		rc = flush(hub, m);
	if (!rc && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		rc = read_member(hub, m, &why);
	if (!rc)
		return 0;
	/* An agent that has said DONE may end. */
	if (hub->awaited == NCA_MSG_DONE && m->answer)
		rc = 0;
	else if (hub->dismissed)
		rc = rc == -EHOSTDOWN ? nca_fail(err, rc, "%s", why.text) : 0;
	else if (m->hello)
		rc = nca_fail(err, rc == -EIO ? rc : -ECONNRESET, "%s: %s", m->hello->name,
			      why.text[0] ? why.text : strerror(-rc));
	else if (rc == -EPROTONOSUPPORT || rc == -EPROTO || rc == -EHOSTDOWN)
		nca_fail(err, rc, "%s", why.text);
	else
		rc = 0;
	/* Those are to hear how it goes on: see nca_hub_dismiss(). */
	if (hub->dismissed || (rc != -EHOSTDOWN && rc != -EPROTO))
		drop_member(hub, m);
	return rc;
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
	return on_member(hub, ev->data.ptr, ev->events, err);
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
	struct member *m = hub->nodes[i];
	int rc;

	if (!m)
		return 0;
	free(m->answer);
	m->answer = NULL;
	rc = nca_channel_send(&m->ch, type, payload, payload ? strlen(payload) : 0, err);
	if (!rc && flush(hub, m))
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

/* 0: srun has ended. */
static int wait_end(struct nca_hub *hub, int timeout_ms, struct nca_error *err)
{
	int rc = 0;

	hub->deadline = timeout_ms < 0 ? 0 : nca_clock_ms() + timeout_ms;
	while (!hub->ended && rc != -ETIMEDOUT && rc != -EHOSTDOWN)
		rc = step(hub, err);
	return hub->ended ? 0 : rc;
}

int nca_hub_dismiss(struct nca_hub *hub, const char *part, int timeout_ms, struct nca_error *err)
{
	struct member *m, *next;

	hub->part = part;
	for (m = hub->all; m && !hub->dismissed; m = next) {
		next = m->next;
		if ((m->ch.ready || m->excused) && send_dismissal(hub, m))
			drop_member(hub, m);
	}
	hub->dismissed = true;
	return wait_end(hub, timeout_ms, err);
}

int nca_hub_linger(struct nca_hub *hub, int timeout_ms)
{
	struct member *m, *next;

	stop_listening(hub);
	/* What could not be written at once is lost to a node that does not read: it has its own
	 * limit. */
	for (m = hub->all; m; m = next) {
		next = m->next;
		if (m != hub->nodes[0])
			drop_member(hub, m);
	}
	return wait_end(hub, timeout_ms, NULL);
}
