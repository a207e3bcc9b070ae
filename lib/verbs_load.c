/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libibverbs, loaded when the first device is asked for: it brings libnl, and a start with them
 * costs twice as much as one without, in the hub and on every node, most of which open no HCA. A
 * machine without it has none that opens.
 *
 * The functions that verbs.c and the pinger call stand here under their own names, so that the
 * header's types and inline functions hold.
 */
#include <dlfcn.h>
#include <errno.h>

#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr

/* What rdma-core has installed since 2007; versions of functions are in the library. */
#define SONAME "libibverbs.so.1"

/* NULL with errno. Providers keep it loaded for good, and so do we. */
static void *find(const char *name)
{
	static void *library;
	void *function;

	if (!library)
		library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	function = library ? dlsym(library, name) : NULL;
	if (!function)
		errno = ENOSYS;
	return function;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **(*f)(int *) = find(__func__);

	return f ? f(n) : NULL;
}

void ibv_free_device_list(struct ibv_device **list)
{
	void (*f)(struct ibv_device **) = find(__func__);

	if (f)
		f(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	const char *(*f)(struct ibv_device *) = find(__func__);

	return f ? f(device) : NULL;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*f)(struct ibv_device *) = find(__func__);

	return f ? f(device) : NULL;
}

int ibv_close_device(struct ibv_context *context)
{
	int (*f)(struct ibv_context *) = find(__func__);

	return f ? f(context) : -1;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int (*f)(struct ibv_context *, struct ibv_device_attr *) = find(__func__);

	return f ? f(context, attr) : errno;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	int (*f)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *) = find(__func__);

	return f ? f(context, port, attr) : errno;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	ssize_t (*f)(struct ibv_context *, struct ibv_gid_entry *, size_t, uint32_t, size_t) =
		find(__func__);

	return f ? f(context, entries, max, flags, size) : -errno;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *(*f)(struct ibv_context *) = find(__func__);

	return f ? f(context) : NULL;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int (*f)(struct ibv_pd *) = find(__func__);

	return f ? f(pd) : errno;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *(*f)(struct ibv_pd *, void *, size_t, int) = find(__func__);

	return f ? f(pd, addr, length, access) : NULL;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	struct ibv_mr *(*f)(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int) = find(__func__);

	return f ? f(pd, offset, length, iova, fd, access) : NULL;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int (*f)(struct ibv_mr *) = find(__func__);

	return f ? f(mr) : errno;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *(*f)(struct ibv_context *) = find(__func__);

	return f ? f(context) : NULL;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int (*f)(struct ibv_comp_channel *) = find(__func__);

	return f ? f(channel) : errno;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *(*f)(struct ibv_context *, int, void *, struct ibv_comp_channel *, int) =
		find(__func__);

	return f ? f(context, cqe, cq_context, channel, vector) : NULL;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	int (*f)(struct ibv_cq *) = find(__func__);

	return f ? f(cq) : errno;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	int (*f)(struct ibv_comp_channel *, struct ibv_cq **, void **) = find(__func__);

	return f ? f(channel, cq, cq_context) : -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	void (*f)(struct ibv_cq *, unsigned int) = find(__func__);

	if (f)
		f(cq, n);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int (*f)(struct ibv_context *, struct ibv_async_event *) = find(__func__);

	return f ? f(context, event) : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	void (*f)(struct ibv_async_event *) = find(__func__);

	if (f)
		f(event);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp *(*f)(struct ibv_pd *, struct ibv_qp_init_attr *) = find(__func__);

	return f ? f(pd, init) : NULL;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*f)(struct ibv_qp *, struct ibv_qp_attr *, int) = find(__func__);

	return f ? f(qp, attr, mask) : errno;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int (*f)(struct ibv_qp *) = find(__func__);

	return f ? f(qp) : errno;
}
