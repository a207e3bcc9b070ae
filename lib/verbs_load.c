/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libibverbs, loaded when the first device is asked for: it brings libnl, and a start with them
 * costs twice as much as one without, in the hub and on every node, most of which open no HCA. A
 * machine without it has none that opens.
 *
 * The functions that verbs.c calls stand here under their own names, so that the header's types and
 * inline functions hold.
 */
#include <dlfcn.h>
#include <errno.h>

#include <infiniband/verbs.h>

#undef ibv_query_port

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
