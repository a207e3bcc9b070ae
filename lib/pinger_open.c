/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and their queue pairs, up to INIT. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "pinger_parts.h"
#include "verbs.h"

/* A hub asks for a few rounds and paths; more is no message of ours. */
#define SETS_MAX 1024
#define QPS_MAX 64
#define PORT_MAX 255
#define PKEY_INDEX_MAX 65535
#define SL_MAX 15
#define TC_MAX 255

/* The kernel has more (soft-RoCE 1024), but ibv_global_route has eight bits for it. */
#define GID_INDEX_MAX 255

static int make_qp(struct nca_pinger_port *port, struct nca_pinger_qp *qp)
{
	struct ibv_qp_init_attr init = {
		.send_cq = port->device->cq,
		.recv_cq = port->device->cq,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = (uint16_t)(port->pkey_index < 0 ? 0 : port->pkey_index),
		.port_num = (uint8_t)port->number,
	};

	qp->qp = ibv_create_qp(port->device->pd, &init);
	if (!qp->qp)
		return errno ? errno : EIO;
	return ibv_modify_qp(qp->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int make_qps(struct nca_pinger *p, struct nca_pinger_port *port)
{
	int i, rc = 0;

	for (i = 0; !rc && i < p->sets * p->qps; i++)
		rc = make_qp(port, &port->qps[i]);
	return rc;
}

static void fail(struct nca_pinger *p, struct nca_pinger_port *port, int error, const char *what)
{
	port->error = nca_pinger_why(p->pool, &port->why, error, port->device->name, what);
}

/* What partners must know of it. */
static void read_port(struct nca_pinger *p, struct nca_pinger_port *port)
{
	struct ibv_port_attr attr = {0};
	int rc = ibv_query_port(port->device->context, (uint8_t)port->number, &attr);
	char what[32];

	if (rc) {
		fail(p, port, rc, "no such port");
		return;
	}
	port->roce = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	port->lid = attr.lid;
	port->mtu = nca_verbs_mtu(attr.active_mtu);
	port->grh = attr.flags & IBV_QPF_GRH_REQUIRED;
	nca_pinger_gid_read(p, port);
	if (port->roce && !port->gid) {
		snprintf(what, sizeof(what), "no GID at index %d", port->gid_index);
		fail(p, port, ENOENT, what);
	}
}

static void fill_port(struct nca_pinger *p, struct nca_pinger_port *port)
{
	int rc;

	port->error = port->device->error;
	port->why = port->device->why;
	if (port->error)
		return;
	if (port->gid_index > GID_INDEX_MAX)
		fail(p, port, ERANGE, "verbs have no GID index above 255");
	else
		read_port(p, port);
	rc = port->error ? 0 : make_qps(p, port);
	if (rc)
		fail(p, port, rc, "no queue pair");
}

/* Ports of one HCA share it. */
static struct nca_pinger_device *find_device(struct nca_pinger *p, const char *name)
{
	struct nca_pinger_device *d;

	NCA_FOREACH(d, p->devices)
		if (streq(d->name, name))
			return d;
	return NULL;
}

static int add_devices(struct nca_pinger *p, const struct nca_open *open)
{
	const struct nca_open_port *asked;
	struct nca_pinger_device *d;

	NCA_FOREACH(asked, open->ports) {
		if (find_device(p, asked->hca))
			continue;
		d = NCA_APPEND(p->pool, p->devices);
		if (!d)
			return -ENOMEM;
		d->name = nca_pool_strdup(p->pool, asked->hca);
		if (!d->name)
			return -ENOMEM;
	}
	return 0;
}

static void reset(struct nca_pinger_qp *qp)
{
	int i;

	for (i = 0; i < NCA_WORKS; i++)
		qp->status[i] = NCA_WORK_NONE;
}

static int add_port(struct nca_pinger *p, const struct nca_open_port *asked)
{
	size_t i, n = (size_t)(p->sets * p->qps);
	struct nca_pinger_port *port = NCA_APPEND(p->pool, p->ports);

	if (!port)
		return -ENOMEM;
	port->device = find_device(p, asked->hca);
	port->number = asked->port;
	port->gid_index = asked->gid_index;
	port->pkey_index = asked->pkey_index;
	port->sl = asked->sl;
	port->tc = asked->tc;
	port->lid = port->mtu = -1;
	port->qps = nca_pool_alloc(p->pool, n * sizeof(*port->qps));
	port->used = nca_pool_alloc(p->pool, (size_t)p->sets * sizeof(*port->used));
	for (i = 0; port->qps && i < n; i++)
		reset(&port->qps[i]);
	return port->qps && port->used ? 0 : -ENOMEM;
}

static int ports_of(const struct nca_pinger *p, const struct nca_pinger_device *d)
{
	const struct nca_pinger_port *port;
	int n = 0;

	NCA_FOREACH(port, p->ports)
		n += port->device == d;
	return n;
}

static int fill(struct nca_pinger *p, const struct nca_open *open)
{
	const struct nca_open_port *asked;
	struct nca_pinger_device *d;
	struct nca_pinger_port *port;
	int rc = add_devices(p, open);

	NCA_FOREACH(asked, open->ports)
		rc = rc ? rc : add_port(p, asked);
	if (rc)
		return rc;
	NCA_FOREACH(d, p->devices)
		nca_pinger_device_open(p, d, ports_of(p, d) * p->sets * p->qps * NCA_WORKS);
	if (p->list)
		ibv_free_device_list(p->list);
	p->list = NULL;
	NCA_FOREACH(port, p->ports) {
		fill_port(p, port);
		rc = rc || port->error ? rc : nca_pinger_count(p, port);
	}
	return rc;
}

static int add_end(const struct nca_pinger *p, const struct nca_pinger_port *port,
		   struct nca_pool *pool, struct nca_opened *answer)
{
	struct nca_end *end = NCA_APPEND(pool, answer->ends);
	int i, *qpn;

	if (!end)
		return -ENOMEM;
	*end = (struct nca_end){.why = nca_pool_strdup(pool, port->why),
				.error = port->error ? port->error : -1,
				.lid = port->lid,
				.mtu = port->mtu,
				.gid = nca_pool_strdup(pool, port->gid),
				.mac = nca_pool_strdup(pool, port->mac)};
	for (i = 0; !port->error && i < p->sets * p->qps; i++) {
		qpn = NCA_APPEND(pool, end->qpns);
		if (!qpn)
			return -ENOMEM;
		*qpn = (int)port->qps[i].qp->qp_num;
	}
	return 0;
}

static int check(const struct nca_open *open, struct nca_error *err)
{
	const struct nca_open_port *port;

	if (open->sets < 1 || open->sets > SETS_MAX || open->qps < 1 || open->qps > QPS_MAX)
		return nca_fail(err, -EPROTO, "%d sets of %d queue pairs are asked for", open->sets,
				open->qps);
	NCA_FOREACH(port, open->ports)
		if (port->port < 1 || port->port > PORT_MAX || port->pkey_index > PKEY_INDEX_MAX ||
		    port->sl > SL_MAX || port->tc > TC_MAX)
			return nca_fail(err, -EPROTO,
					"port %d of %s with pkey %d, sl %d, tc %d is asked for",
					port->port, port->hca, port->pkey_index, port->sl,
					port->tc);
	return 0;
}

int nca_pinger_open(const struct nca_open *open, int root_fd, struct nca_pool *pool,
		    struct nca_opened *answer, struct nca_pinger **ret, struct nca_error *err)
{
	struct nca_pool *own;
	struct nca_pinger *p;
	struct nca_pinger_port *port;
	int rc = check(open, err);

	*ret = NULL;
	if (rc)
		return rc;
	own = nca_pool_new();
	p = own ? nca_pool_alloc(own, sizeof(*p)) : NULL;
	if (!p) {
		nca_pool_free(own);
		return nca_fail_memory(err);
	}
	p->pool = own;
	p->sets = open->sets;
	p->qps = open->qps;
	p->event = -1;
	p->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	rc = p->root_fd < 0 ? -errno : fill(p, open);
	*answer = (struct nca_opened){.ends.v = nca_pool_alloc(pool, 0)};
	NCA_FOREACH(port, p->ports)
		rc = rc ? rc : add_end(p, port, pool, answer);
	rc = rc || answer->ends.v ? rc : -ENOMEM;
	if (rc) {
		nca_pinger_close(p);
		return nca_fail(err, rc, "preflight: %s", strerror(-rc));
	}
	*ret = p;
	return 0;
}

void nca_pinger_close(struct nca_pinger *p)
{
	struct nca_pinger_device *d;
	struct nca_pinger_port *port;
	int i;

	if (!p || p->hung)
		return;
	NCA_FOREACH(port, p->ports)
		for (i = 0; i < p->sets * p->qps; i++)
			if (port->qps && port->qps[i].qp)
				ibv_destroy_qp(port->qps[i].qp);
	NCA_FOREACH(d, p->devices)
		nca_pinger_device_close(d);
	if (p->event >= 0)
		close(p->event);
	if (p->root_fd >= 0)
		close(p->root_fd);
	nca_pool_free(p->pool);
}
