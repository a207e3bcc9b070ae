/* SPDX-License-Identifier: Apache-2.0 */
/* What one of the hub's connections says. */
#include <ctype.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <sodium.h>

#include <nca/clock.h>

#include "member.h"

int nca_member_watch(struct nca_hub *hub, int op, int fd, uint32_t events, void *data)
{
	struct epoll_event ev = {.events = events, .data.ptr = data};

	return epoll_ctl(hub->epoll, op, fd, &ev) < 0 ? -errno : 0;
}

int nca_member_set_nodes(struct nca_hub *hub, size_t nnodes)
{
	hub->nodes = calloc(nnodes, sizeof(*hub->nodes));
	if (!hub->nodes)
		return -ENOMEM;
	hub->nnodes = nnodes;
	hub->pending = nnodes;
	return 0;
}

void nca_member_drop(struct nca_hub *hub, struct nca_member *m)
{
	struct nca_member **p;

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

int nca_member_flush(struct nca_hub *hub, struct nca_member *m)
{
	int rc = nca_channel_flush(&m->ch);
	bool out = rc == -EAGAIN;

	if (rc && !out)
		return rc;
	if (out == m->watched_out)
		return 0;
	m->watched_out = out;
	return nca_member_watch(hub, EPOLL_CTL_MOD, m->ch.fd, EPOLLIN | (out ? EPOLLOUT : 0), m);
}

static int on_hello(struct nca_hub *hub, struct nca_member *m, const struct nca_frame *f,
		    struct nca_error *err)
{
	const struct nca_hello *hello;
	void *object;
	int rc = nca_schema_parse(&nca_hello_shape, f->payload, f->len, "hello", hub->pool, &object,
				  err);

	if (rc)
		return rc;
	hello = object;
	if (!hub->nnodes && (hello->nnodes < 1 || nca_member_set_nodes(hub, (size_t)hello->nnodes)))
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

static int on_report(struct nca_hub *hub, struct nca_member *m, const struct nca_frame *f,
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

int nca_member_dismiss(struct nca_hub *hub, struct nca_member *m)
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
	return rc ? rc : nca_member_flush(hub, m);
}

/* Other nodes may still owe their DONE: it is kept. A warning that there is no memory for is not
 * worth the step. */
static int on_found(struct nca_hub *hub, const struct nca_frame *f)
{
	free(hub->found);
	hub->found = strndup(f->payload, f->len);
	return 0;
}

static int on_frame(struct nca_hub *hub, struct nca_member *m, const struct nca_frame *f,
		    struct nca_error *err)
{
	if (hub->dismissed)
		return f->type == NCA_MSG_HELLO ? nca_member_dismiss(hub, m) : 0;
	if (m->hello && f->type == NCA_MSG_FAIL)
		return nca_fail(err, -EIO, "%s", f->payload);
	if (!m->hello && f->type == NCA_MSG_HELLO)
		return on_hello(hub, m, f, err);
	if (m->hello && !m->report && f->type == NCA_MSG_REPORT)
		return on_report(hub, m, f, err);
	if (m->report && f->type == NCA_MSG_FOUND)
		return on_found(hub, f);
	if (!m->report || f->type != hub->awaited || m->answer)
		return nca_fail(err, -EPROTO, "a message of type %u was not asked for", f->type);
	m->answer = strndup(f->payload, f->len);
	hub->pending--;
	return m->answer ? 0 : nca_fail_memory(err);
}

static bool is_excuse(const struct nca_member *m)
{
	size_t n = strlen(NCA_EXCUSE_MAGIC);

	return !m->ch.ready && m->ch.in.used >= n &&
	       memcmp(m->ch.in.data, NCA_EXCUSE_MAGIC, n) == 0;
}

/* 0: the rest of the line has not come. */
static int on_excuse(struct nca_hub *hub, struct nca_member *m, struct nca_error *err)
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
		nca_member_dismiss(hub, m);
	return nca_fail(err, -EHOSTDOWN, "%s", line + NCA_EXCUSE_HEX + 1);
}

static int read_member(struct nca_hub *hub, struct nca_member *m, struct nca_error *err)
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
int nca_member_event(struct nca_hub *hub, struct nca_member *m, uint32_t events,
		     struct nca_error *err)
{
	struct nca_error why = {""};
	int rc = 0;

	if (events & EPOLLOUT)
		rc = nca_member_flush(hub, m);
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
		nca_member_drop(hub, m);
	return rc;
}
