/* SPDX-License-Identifier: Apache-2.0 */
/* Messages both ways, and what became of them. */
#include <errno.h>
#include <poll.h>

#include <nca/clock.h>

#include "pinger_parts.h"

/*
 * When a message of a partner is given up, although all of ours are over: above what its queue pair
 * tries for (see pinger_link.c), so that one that came late is not taken for one that did not come.
 */
#define STRAGGLER_MS 2000

#define WC_AT_ONCE 16

/* A queue pair on which the small message failed is in the error state. */
static bool is_large_next(const struct nca_pinger_qp *qp)
{
	return qp->status[NCA_SEND_SMALL] == IBV_WC_SUCCESS &&
	       qp->status[NCA_SEND_LARGE] == NCA_WORK_NONE;
}

static void post_send(struct nca_pinger *p, const struct nca_pinger_port *port,
		      struct nca_pinger_qp *qp, enum nca_work work)
{
	const struct nca_pinger_device *d = port->device;
	struct ibv_sge sge = {.addr = (uintptr_t)d->memory,
			      .length =
				      work == NCA_SEND_SMALL ? NCA_PINGER_SMALL : NCA_PINGER_LARGE,
			      .lkey = d->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = nca_pinger_id(p, port, qp, work),
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND},
			   *bad;

	/* Only a device that is out of order refuses. */
	qp->status[work] = ibv_post_send(qp->qp, &wr, &bad) ? IBV_WC_GENERAL_ERR : NCA_WORK_PENDING;
}

/*
 * The large messages of a set go one after the other: on all queue pairs at once they overrun a
 * queue on the way where many rails meet in one machine, as in a virtual one, and resends do not
 * help. After one that failed the others go at once, since each may take as long to fail.
 */
static void send_large(struct nca_pinger *p, const struct nca_pinger_port *port,
		       struct nca_pinger_qp *set)
{
	bool pending = false, failed = false;
	struct nca_pinger_qp *qp;

	for (qp = set; qp < set + p->qps; qp++) {
		pending |= qp->status[NCA_SEND_LARGE] == NCA_WORK_PENDING;
		failed |= qp->status[NCA_SEND_LARGE] > IBV_WC_SUCCESS;
	}
	for (qp = set; qp < set + p->qps && (failed || !pending); qp++)
		if (is_large_next(qp)) {
			post_send(p, port, qp, NCA_SEND_LARGE);
			pending |= qp->status[NCA_SEND_LARGE] == NCA_WORK_PENDING;
			failed |= qp->status[NCA_SEND_LARGE] > IBV_WC_SUCCESS;
		}
}

static void complete(struct nca_pinger *p, const struct ibv_wc *wc)
{
	size_t all = (size_t)(p->sets * p->qps), n = wc->wr_id / NCA_WORKS;
	enum nca_work work = wc->wr_id % NCA_WORKS;
	struct nca_pinger_port *port;
	struct nca_pinger_qp *qp;

	if (n / all >= p->ports.n)
		return;
	port = &p->ports.v[n / all];
	qp = &port->qps[n % all];
	qp->status[work] = (int)wc->status;
	if (wc->status && work <= NCA_SEND_LARGE)
		qp->vendor = (int)wc->vendor_err;
	if (work <= NCA_SEND_LARGE)
		send_large(p, port, &port->qps[n % all / (size_t)p->qps * (size_t)p->qps]);
}

static void drain(struct nca_pinger *p, const struct nca_pinger_device *d)
{
	struct ibv_wc wc[WC_AT_ONCE];
	int i, n;

	while ((n = ibv_poll_cq(d->cq, WC_AT_ONCE, wc)) > 0)
		for (i = 0; i < n; i++)
			complete(p, &wc[i]);
}

/* Events are for what comes after they were asked for, so what is there is taken afterwards. A
 * device that was taken away is always readable and has no event. */
static void take(struct nca_pinger *p, struct nca_pinger_device *d)
{
	struct ibv_cq *cq;
	void *context;

	while (ibv_get_cq_event(d->channel, &cq, &context) == 0)
		ibv_ack_cq_events(cq, 1);
	d->fatal |= errno != EAGAIN;
	ibv_req_notify_cq(d->cq, 0);
	drain(p, d);
}

static void take_async(struct nca_pinger_device *d)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(d->context, &event) == 0) {
		d->fatal |= event.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&event);
	}
	d->fatal |= errno != EAGAIN;
}

static bool is_sending(const struct nca_pinger_qp *qp)
{
	return qp->status[NCA_SEND_SMALL] == NCA_WORK_PENDING || is_large_next(qp) ||
	       qp->status[NCA_SEND_LARGE] == NCA_WORK_PENDING;
}

static bool is_receiving(const struct nca_pinger_qp *qp)
{
	return qp->status[NCA_RECV_SMALL] == NCA_WORK_PENDING;
}

/* Is any queue pair of the partners that are connected like that? */
static bool any(const struct nca_pinger *p, bool (*is)(const struct nca_pinger_qp *))
{
	const struct nca_pinger_partner *t;
	int i;

	NCA_FOREACH(t, p->partners)
		for (i = 0; !t->error && !t->port->device->fatal && i < p->qps; i++)
			if (is(&t->qps[i]))
				return true;
	return false;
}

/* Milliseconds that are left to wait; 0: it is over. */
static int left(const struct nca_pinger *p, long long start)
{
	long long now = nca_clock_ms(), end;

	if (any(p, is_sending))
		end = start + NCA_PINGER_MS;
	else if (any(p, is_receiving))
		end = start + STRAGGLER_MS;
	else
		return 0;
	return end > now ? (int)(end - now) : 0;
}

static int wait(struct nca_pinger *p, struct pollfd *fds, long long start)
{
	struct nca_pinger_device *d;
	int ms;

	while ((ms = left(p, start)) > 0) {
		struct pollfd *fd = fds;

		NCA_FOREACH(d, p->devices) {
			bool open = !d->error && !d->fatal;

			*fd++ = (struct pollfd){open ? d->channel->fd : -1, POLLIN, 0};
			*fd++ = (struct pollfd){open ? d->context->async_fd : -1, POLLIN, 0};
		}
		if (poll(fds, 2 * p->devices.n, ms) < 0 && errno != EINTR)
			return -errno;
		fd = fds;
		NCA_FOREACH(d, p->devices) {
			if (fd++->revents)
				take(p, d);
			if (fd++->revents)
				take_async(d);
		}
	}
	return 0;
}

static void send_all(struct nca_pinger *p)
{
	struct nca_pinger_partner *t;
	struct nca_pinger_device *d;
	int i;

	NCA_FOREACH(t, p->partners)
		for (i = 0; !t->error && i < p->qps; i++)
			post_send(p, t->port, &t->qps[i], NCA_SEND_SMALL);
	/* What was received before is taken, too. */
	NCA_FOREACH(d, p->devices)
		if (!d->error)
			take(p, d);
}

/* The first queue pair whose message failed by itself, else one whose was flushed; NULL: none. */
static const struct nca_pinger_qp *first_failed(const struct nca_pinger_partner *t, int work)
{
	const struct nca_pinger_qp *flushed = NULL;
	int i;

	for (i = 0; i < t->pinger->qps; i++) {
		const struct nca_pinger_qp *qp = &t->qps[i];

		if (qp->status[work] > IBV_WC_SUCCESS && qp->status[work] != IBV_WC_WR_FLUSH_ERR)
			return qp;
		if (qp->status[work] == IBV_WC_WR_FLUSH_ERR && !flushed)
			flushed = qp;
	}
	return flushed;
}

static struct nca_pinged_one sum(const struct nca_pinger_partner *t, int partner)
{
	const struct nca_pinger_qp *small = first_failed(t, NCA_SEND_SMALL),
				   *large = first_failed(t, NCA_SEND_LARGE);
	struct nca_pinged_one ret = {.partner = partner, .failed = 0, .received = 0};
	int i;

	ret.status = small ? small->status[NCA_SEND_SMALL] : -1;
	ret.large = large ? large->status[NCA_SEND_LARGE] : -1;
	ret.vendor = small ? small->vendor : large ? large->vendor : -1;
	for (i = 0; i < t->pinger->qps; i++) {
		ret.failed += t->qps[i].status[NCA_SEND_LARGE] != IBV_WC_SUCCESS;
		ret.received += t->qps[i].status[NCA_RECV_SMALL] == IBV_WC_SUCCESS;
	}
	return ret;
}

/* What is not over by now: from a device that has failed nothing more comes, another one tries on
 * for an answer. */
static void give_up(struct nca_pinger_partner *t)
{
	int i, status = t->port->device->fatal ? IBV_WC_FATAL_ERR : IBV_WC_RETRY_EXC_ERR;

	for (i = 0; i < t->pinger->qps; i++) {
		struct nca_pinger_qp *qp = &t->qps[i];

		if (qp->status[NCA_SEND_SMALL] == NCA_WORK_PENDING)
			qp->status[NCA_SEND_SMALL] = status;
		else if (is_sending(qp))
			qp->status[NCA_SEND_LARGE] = status;
	}
}

static int add_one(struct nca_pinger *p, int partner, struct nca_pool *pool,
		   struct nca_pinged *answer)
{
	struct nca_pinger_partner *t = &p->partners.v[partner];
	struct nca_pinged_one one, *kept;

	give_up(t);
	one = sum(t, partner);
	if (!one.failed && one.received == p->qps)
		return 0;
	kept = NCA_APPEND(pool, answer->partners);
	if (!kept)
		return -ENOMEM;
	*kept = one;
	kept->failed = one.failed ? one.failed : -1;
	kept->received = one.received < p->qps ? one.received : -1;
	return 0;
}

int nca_pinger_ping(struct nca_pinger *p, struct nca_pool *pool, struct nca_pinged *answer,
		    struct nca_error *err)
{
	long long start = nca_clock_ms();
	struct pollfd *fds = nca_pool_alloc(pool, 2 * p->devices.n * sizeof(*fds));
	size_t i;
	int rc;

	if (!p->linked || p->pinged)
		return nca_fail(err, -EPROTO, "no queue pairs are connected to send on");
	p->pinged = true;
	*answer = (struct nca_pinged){.partners.v = nca_pool_alloc(pool, 0),
				      .risen.v = nca_pool_alloc(pool, 0)};
	if (!fds || !answer->partners.v || !answer->risen.v)
		return nca_fail_memory(err);
	send_all(p);
	rc = wait(p, fds, start);
	if (rc)
		return nca_fail(err, rc, "poll: %s", strerror(-rc));
	for (i = 0; !rc && i < p->partners.n; i++)
		rc = add_one(p, (int)i, pool, answer);
	rc = rc ? rc : nca_pinger_hints(p, pool, answer);
	return rc ? nca_fail_memory(err) : 0;
}
