/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs from INIT to RTS, each partner's in a thread of its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <nca/clock.h>

#include "pinger_parts.h"

/*
 * 4.096 us * 2^16 * (3 + 1): a queue pair gives up after 1.1 to 1.3 s. Shorter ones gave false
 * alarms on a healthy slow path, and with retry_cnt 7 it never ended (measured on soft-RoCE). The
 * two numbers for RNR are 0.64 ms, three times: receives are posted before any partner sends.
 */
#define TIMEOUT 16
#define RETRIES 3
#define RNR_TIMER 12
#define RNR_RETRIES 3

/* As NCCL 2.30 (src/transport/net_ib/connect.cc): routed RoCE needs more than one hop. */
#define HOPS 255

#define FLOW_LABEL_MAX 0xfffff

/* Providers call no deep functions; glibc puts thread-local memory there too. */
#define STACK (256 * 1024)

static enum ibv_mtu path_mtu(int a, int b)
{
	int bytes = b > 0 && b < a ? b : a;
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 128 << (mtu + 1) <= bytes)
		mtu++;
	return mtu;
}

/* As NCCL 2.30 (src/transport/net_ib/connect.cc, ncclIbQpRtr()). */
static void address_infiniband(const struct nca_pinger_partner *t, struct ibv_ah_attr *ah)
{
	union ibv_gid own;
	bool known = t->port->gid && t->gid_text && inet_pton(AF_INET6, t->port->gid, &own) == 1;
	bool other = known && !nca_pinger_gid_same_subnet(&own, &t->gid);
	int flid = other ? nca_pinger_gid_flid(&t->gid) : 0;

	ah->dlid = (uint16_t)(flid ? flid : t->lid < 0 ? 0 : t->lid);
	ah->is_global = other || t->port->grh;
}

static int to_rtr(const struct nca_pinger_partner *t, struct ibv_qp *qp, int remote)
{
	const struct nca_pinger_port *port = t->port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = path_mtu(port->mtu, t->mtu),
		.dest_qp_num = (uint32_t)remote,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = {.sl = (uint8_t)(port->sl < 0 ? 0 : port->sl),
			    .port_num = (uint8_t)port->number,
			    .is_global = port->roce},
	};
	uint32_t label = qp->qp_num & FLOW_LABEL_MAX;

	if (!port->roce)
		address_infiniband(t, &attr.ah_attr);
	if (attr.ah_attr.is_global)
		attr.ah_attr.grh = (struct ibv_global_route){
			.dgid = t->gid,
			/* Distinct, so that the queue pairs of a partner take several of a bond's
			 * ports and of the fabric's paths. */
			.flow_label = label ? label : FLOW_LABEL_MAX,
			.sgid_index = (uint8_t)port->gid_index,
			.hop_limit = HOPS,
			.traffic_class = (uint8_t)(port->tc < 0 ? 0 : port->tc),
		};
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = RNR_RETRIES,
		.max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* All queue pairs of a set go to the same peer: where one fails, the next would take as long. */
static void connect_set(struct nca_pinger_partner *t)
{
	int i, rc = 0;

	for (i = 0; !rc && i < t->pinger->qps; i++) {
		rc = to_rtr(t, t->qps[i].qp, t->qpns[i]);
		rc = rc ? rc : to_rts(t->qps[i].qp);
	}
	t->outcome = rc < 0 ? EIO : rc;
	atomic_store(&t->done, true);
}

static void *run(void *arg)
{
	struct nca_pinger_partner *t = arg;
	int event = t->pinger->event;

	connect_set(t);
	eventfd_write(event, 1);
	return NULL;
}

/* Large ones, too, into the same place: nobody looks at what comes. */
static int post_receives(const struct nca_pinger_partner *t)
{
	const struct nca_pinger_device *d = t->port->device;
	struct ibv_sge sge = {.addr = (uintptr_t)d->memory + NCA_PINGER_LARGE,
			      .length = NCA_PINGER_LARGE,
			      .lkey = d->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	int i, rc = 0;
	enum nca_work work;

	for (i = 0; !rc && i < t->pinger->qps; i++)
		for (work = NCA_RECV_SMALL; !rc && work <= NCA_RECV_LARGE; work++) {
			wr.wr_id = nca_pinger_id(t->pinger, t->port, &t->qps[i], work);
			rc = ibv_post_recv(t->qps[i].qp, &wr, &bad);
			if (!rc)
				t->qps[i].status[work] = NCA_WORK_PENDING;
		}
	return rc < 0 ? EIO : rc;
}

/* What a peer has published is no message of the hub's: a bad one fails this partner alone, as the
 * kernel would have it. */
static int check_end(const struct nca_pinger *p, const struct nca_end *end,
		     struct nca_pinger_partner *t)
{
	t->gid_text = nca_pool_strdup(p->pool, end->gid);
	t->lid = end->lid;
	t->mtu = end->mtu;
	t->qpns = nca_pool_alloc(p->pool, (size_t)p->qps * sizeof(*t->qpns));
	if (!t->qpns || (end->gid && !t->gid_text))
		return -ENOMEM;
	if (t->port->error)
		t->error = t->port->error;
	else if (end->qpns.n != (size_t)p->qps ||
		 (end->gid ? inet_pton(AF_INET6, end->gid, &t->gid) != 1 : t->port->roce))
		t->error = EINVAL;
	else
		memcpy(t->qpns, end->qpns.v, end->qpns.n * sizeof(*t->qpns));
	return 0;
}

static int add_partner(struct nca_pinger *p, const struct nca_partner *asked, struct nca_error *err)
{
	struct nca_pinger_partner *t;
	struct nca_pinger_port *port;

	if (asked->port < 0 || (size_t)asked->port >= p->ports.n || asked->set < 0 ||
	    asked->set >= p->sets)
		return nca_fail(err, -EPROTO, "a partner at set %d of port %d, which is not open",
				asked->set, asked->port);
	port = &p->ports.v[asked->port];
	if (port->used[asked->set])
		return nca_fail(err, -EPROTO, "two partners at set %d of port %d", asked->set,
				asked->port);
	port->used[asked->set] = true;
	t = NCA_APPEND(p->pool, p->partners);
	if (!t)
		return nca_fail_memory(err);
	t->pinger = p;
	t->port = port;
	t->qps = &port->qps[asked->set * p->qps];
	if (check_end(p, asked->end, t))
		return nca_fail_memory(err);
	if (!t->error)
		t->error = post_receives(t);
	return 0;
}

/* Where no thread can be had, here: that takes longer, but is as good while there is time. */
static void start(struct nca_pinger *p, struct nca_pinger_partner *t, const pthread_attr_t *attr,
		  long long deadline)
{
	int rc = p->event < 0 ? EAGAIN : pthread_create(&t->thread, attr, run, t);

	t->started = rc == 0;
	if (rc && nca_clock_ms() < deadline)
		connect_set(t);
	else if (rc)
		t->error = rc;
}

static void wait_done(const struct nca_pinger *p, uint64_t n, long long deadline)
{
	struct pollfd fd = {.fd = p->event, .events = POLLIN};
	uint64_t done = 0, more;
	long long left;

	while (done < n && (left = deadline - nca_clock_ms()) > 0) {
		if (poll(&fd, 1, (int)left) > 0 && eventfd_read(p->event, &more) == 0)
			done += more;
	}
}

static void join(struct nca_pinger *p, struct nca_pinger_partner *t)
{
	if (t->error)
		return;
	if (atomic_load(&t->done)) {
		t->error = t->outcome;
		if (t->started)
			pthread_join(t->thread, NULL);
		return;
	}
	t->error = EINPROGRESS;
	pthread_detach(t->thread);
	p->hung = true;
}

static void connect_all(struct nca_pinger *p)
{
	long long deadline = nca_clock_ms() + NCA_PINGER_MS;
	struct nca_pinger_partner *t;
	pthread_attr_t attr;
	uint64_t n = 0;

	p->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	NCA_FOREACH(t, p->partners) {
		if (t->error)
			continue;
		start(p, t, &attr, deadline);
		n += t->started;
	}
	pthread_attr_destroy(&attr);
	wait_done(p, n, deadline);
	NCA_FOREACH(t, p->partners)
		join(p, t);
}

static int add_one(const struct nca_pinger_partner *t, struct nca_pool *pool,
		   struct nca_linked *answer)
{
	struct nca_linked_one *one = NCA_APPEND(pool, answer->partners);

	if (!one)
		return -ENOMEM;
	*one = (struct nca_linked_one){.error = t->error ? t->error : -1};
	return 0;
}

int nca_pinger_link(struct nca_pinger *p, const struct nca_link_up *link, struct nca_pool *pool,
		    struct nca_linked *answer, struct nca_error *err)
{
	const struct nca_partner *asked;
	struct nca_pinger_partner *t;
	int rc = 0;

	if (p->linked)
		return nca_fail(err, -EPROTO, "the queue pairs are connected already");
	p->linked = true;
	NCA_FOREACH(asked, link->partners)
		rc = rc ? rc : add_partner(p, asked, err);
	if (rc)
		return rc;
	connect_all(p);
	*answer = (struct nca_linked){.partners.v = nca_pool_alloc(pool, 0)};
	rc = answer->partners.v ? 0 : -ENOMEM;
	NCA_FOREACH(t, p->partners)
		rc = rc ? rc : add_one(t, pool, answer);
	rc = rc ? rc : nca_pinger_neighbours(p, pool, answer);
	return rc ? nca_fail_memory(err) : 0;
}
