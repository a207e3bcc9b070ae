/* SPDX-License-Identifier: Apache-2.0 */
/* A libibverbs of two HCAs; each has one completion queue, and events by an eventfd. */
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "fake_verbs.h"

#undef ibv_query_port
#undef ibv_reg_mr

#define WCS_MAX 256

/* Under tests/faults this one call fails. */
bool fault_comes(const char *function) __attribute__((weak));

struct fake fake;

static struct queue {
	struct ibv_context context;
	struct ibv_pd pd;
	struct ibv_mr mr;
	struct ibv_comp_channel channel;
	struct ibv_cq cq;
	struct ibv_wc wcs[WCS_MAX];
	int head, tail;
	bool armed;
	pthread_t slow; /* completes slow_id after a while */
	uint64_t slow_id;
} queues[2];

static struct qp {
	struct ibv_qp qp;
	uint64_t recvs[2];
	int posted, taken;
	bool broken;
} qps[FAKE_QPS];

static int nqps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static bool release;

static struct ibv_device devices[] = {{.name = "mlx5_0"}, {.name = "mlx5_1"}};
static struct ibv_device *list[] = {&devices[0], &devices[1], NULL};

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(queues, 0, sizeof(queues));
	memset(qps, 0, sizeof(qps));
	nqps = 0;
	release = false;
}

void fake_release(void)
{
	pthread_mutex_lock(&lock);
	release = true;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&lock);
}

static bool fails(const char *function)
{
	return fault_comes && fault_comes(function);
}

/* A failure as libibverbs has it: no object, and errno. */
static void *make(const char *function, int error, void *object)
{
	errno = error;
	if (!error && fails(function))
		error = errno;
	fake.alive += !error;
	return error ? NULL : object;
}

static int destroy(void)
{
	fake.alive--;
	return 0;
}

static void *unmake(void)
{
	fake.alive--;
	return NULL;
}

static struct queue *queue_of(const struct ibv_context *context)
{
	return &queues[context->device - devices];
}

static struct fake_hca *hca_of(const struct ibv_context *context)
{
	return &fake.hcas[context->device - devices];
}

struct ibv_device **ibv_get_device_list(int *n)
{
	fake.listed++;
	if (n)
		*n = 2;
	return fails(__func__) ? NULL : list;
}

void ibv_free_device_list(struct ibv_device **l)
{
	(void)l;
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

static void complete(struct queue *q, uint64_t id, int status)
{
	pthread_mutex_lock(&lock);
	q->wcs[q->tail % WCS_MAX] =
		(struct ibv_wc){.wr_id = id,
				.status = (enum ibv_wc_status)status,
				.vendor_err = status == IBV_WC_RETRY_EXC_ERR ? 129 : 249};
	q->tail++;
	if (q->armed)
		eventfd_write(q->channel.fd, 1);
	q->armed = false;
	pthread_mutex_unlock(&lock);
}

static void *complete_slowly(void *arg)
{
	struct queue *q = arg;

	usleep(50000);
	complete(q, q->slow_id, IBV_WC_SUCCESS);
	return NULL;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct queue *q = queue_of(cq->context);
	int i;

	if (fails("ibv_poll_cq"))
		return -1;
	pthread_mutex_lock(&lock);
	for (i = 0; i < n && q->head < q->tail; i++)
		wc[i] = q->wcs[q->head++ % WCS_MAX];
	pthread_mutex_unlock(&lock);
	return i;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	if (fails("ibv_req_notify_cq"))
		return errno;
	pthread_mutex_lock(&lock);
	queue_of(cq->context)->armed = true;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct qp *q = &qps[qp->qp_num - FAKE_QPN];

	(void)bad;
	if (fails("ibv_post_recv"))
		return errno;
	q->recvs[q->posted++] = wr->wr_id;
	return 0;
}

static void flush(struct queue *queue, struct qp *q)
{
	q->broken = true;
	while (q->taken < q->posted)
		complete(queue, q->recvs[q->taken++], IBV_WC_WR_FLUSH_ERR);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct qp *q = &qps[qp->qp_num - FAKE_QPN];
	const struct fake_qp *script = &fake.qps[qp->qp_num - FAKE_QPN];
	struct queue *queue = queue_of(qp->context);
	bool small = wr->sg_list->length < 1024;
	int status = small ? script->small : script->large;

	(void)bad;
	if (script->post || fails("ibv_post_send"))
		return script->post ? script->post : errno;
	if (hca_of(qp->context)->fatal) {
		eventfd_write(qp->context->async_fd, 1);
		return 0;
	}
	if (script->slow && small) {
		queue->slow_id = q->recvs[q->taken++];
		if (pthread_create(&queue->slow, NULL, complete_slowly, queue))
			abort();
	} else if (!script->unheard && q->taken < q->posted)
		complete(queue, q->recvs[q->taken++], IBV_WC_SUCCESS);
	if (!script->silent && (small || !script->silent_large))
		complete(queue, wr->wr_id, q->broken ? IBV_WC_WR_FLUSH_ERR : status);
	if (status)
		flush(queue, q);
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct queue *q = &queues[d - devices];

	fake.opened++;
	q->context.device = d;
	q->context.ops.poll_cq = poll_cq;
	q->context.ops.req_notify_cq = req_notify_cq;
	q->context.ops.post_send = post_send;
	q->context.ops.post_recv = post_recv;
	if (!make(__func__, fake.hcas[d - devices].open, &q->context))
		return NULL;
	q->context.async_fd = eventfd(0, EFD_CLOEXEC);
	return q->context.async_fd < 0 ? unmake() : &q->context;
}

int ibv_close_device(struct ibv_context *c)
{
	close(c->async_fd);
	return destroy();
}

int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (void *)compat;

	if (port > 2)
		return EINVAL;
	if (fails(__func__))
		return errno;
	attr->active_mtu = IBV_MTU_4096;
	attr->lid = 7;
	attr->link_layer =
		hca_of(c)->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	attr->flags = hca_of(c)->grh ? IBV_QPF_GRH_REQUIRED : 0;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	queue_of(c)->pd.context = c;
	return make(__func__, hca_of(c)->pd, &queue_of(c)->pd);
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return destroy();
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)addr, (void)length, (void)access;
	return make(__func__, hca_of(pd->context)->reg, &queue_of(pd->context)->mr);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)offset, (void)length, (void)iova, (void)fd, (void)access;
	errno = hca_of(pd->context)->dmabuf;
	return NULL;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return destroy();
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	struct queue *q = queue_of(c);

	if (!make(__func__, hca_of(c)->channel, &q->channel))
		return NULL;
	q->channel.context = c;
	q->channel.fd = eventfd(0, EFD_CLOEXEC);
	return q->channel.fd < 0 ? unmake() : &q->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	return destroy();
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *data,
			     struct ibv_comp_channel *channel, int vector)
{
	(void)cqe, (void)data, (void)channel, (void)vector;
	queue_of(c)->cq.context = c;
	return make(__func__, hca_of(c)->cq, &queue_of(c)->cq);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (queue_of(cq->context)->slow_id)
		pthread_join(queue_of(cq->context)->slow, NULL);
	return destroy();
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **data)
{
	eventfd_t n;

	*cq = &queue_of(channel->context)->cq;
	*data = NULL;
	if (hca_of(channel->context)->gone) {
		errno = EIO;
		return -1;
	}
	if (fails(__func__))
		return -1;
	return eventfd_read(channel->fd, &n);
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq, (void)n;
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event)
{
	eventfd_t n;

	event->event_type = IBV_EVENT_DEVICE_FATAL;
	if (fails(__func__))
		return -1;
	return eventfd_read(c->async_fd, &n);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp *qp = &qps[nqps].qp;

	(void)init;
	if (hca_of(pd->context)->qp)
		return make(__func__, hca_of(pd->context)->qp, NULL);
	qp->context = pd->context;
	qp->qp_num = (uint32_t)(FAKE_QPN + nqps++);
	return make(__func__, 0, qp);
}

static int move_to_rtr(const struct fake_qp *script)
{
	pthread_mutex_lock(&lock);
	while (script->hangs && !release)
		pthread_cond_wait(&released, &lock);
	pthread_mutex_unlock(&lock);
	return script->rtr;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	uint32_t i = qp->qp_num - FAKE_QPN;

	if (attr->qp_state == IBV_QPS_RTR)
		fake.rtr[i] = *attr;
	if (attr->qp_state == IBV_QPS_RTS)
		fake.rts[i] = *attr;
	(void)mask;
	if (fails(__func__))
		return errno;
	return attr->qp_state == IBV_QPS_RTR ? move_to_rtr(&fake.qps[i]) : 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return destroy();
}
