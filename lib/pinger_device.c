/* SPDX-License-Identifier: Apache-2.0 */
/* An HCA that is open for the preflight. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "pinger_parts.h"
#include "verbs.h"

/* As a function: the header's macro needs another one too where nothing is optimised away. */
#undef ibv_reg_mr

#define MEMORY (2 * (size_t)NCA_PINGER_LARGE)

int nca_pinger_why(struct nca_pool *pool, char **why, int error, const char *name, const char *what)
{
	/* All queues are locked, too. */
	const char *cure = error == ENOMEM ? ". Set LimitMEMLOCK=infinity for slurmd and "
					     "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf"
					   : "";

	error = error > 0 ? error : EIO;
	*why = nca_pool_printf(pool, "%s: %s: %s%s", name, what, strerror(error), cure);
	return error;
}

/* The list is fetched once for all, and only where a device node opens: the first time loads every
 * provider. */
static struct ibv_context *open_named(struct nca_pinger *p, const char *name)
{
	struct ibv_device **device;

	if (!p->list)
		p->list = ibv_get_device_list(NULL);
	for (device = p->list; device && *device; device++)
		if (streq(ibv_get_device_name(*device), name))
			return ibv_open_device(*device);
	if (device)
		errno = ENODEV;
	return NULL;
}

/* What is tried in turn; NULL: all is done. */
static const char *fill(struct nca_pinger *p, struct nca_pinger_device *d, int cqes)
{
	d->context = open_named(p, d->name);
	if (!d->context)
		return "cannot be opened";
	d->pd = ibv_alloc_pd(d->context);
	if (!d->pd)
		return "no protection domain";
	d->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (d->memory == MAP_FAILED) {
		d->memory = NULL;
		return "no memory";
	}
	d->mr = ibv_reg_mr(d->pd, d->memory, MEMORY, IBV_ACCESS_LOCAL_WRITE);
	if (!d->mr)
		return "cannot register memory";
	d->channel = ibv_create_comp_channel(d->context);
	if (!d->channel || fcntl(d->channel->fd, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(d->context->async_fd, F_SETFL, O_NONBLOCK) < 0)
		return "no completion channel";
	d->cq = ibv_create_cq(d->context, cqes, NULL, d->channel, 0);
	return d->cq ? NULL : "no completion queue";
}

void nca_pinger_device_open(struct nca_pinger *p, struct nca_pinger_device *d, int cqes)
{
	const char *what;
	int rc = nca_uverbs_try(p->root_fd, p->pool, d->name, &d->why);

	if (rc) {
		d->error = -rc;
		return;
	}
	errno = 0;
	what = fill(p, d, cqes);
	if (what)
		d->error = nca_pinger_why(p->pool, &d->why, errno, d->name, what);
}

int nca_pinger_dmabuf(const struct nca_pinger_device *d)
{
	errno = 0;
	/* The file descriptor is none, so that all but the lack of support is EBADF (NCCL 2.30,
	 * src/transport/net_ib/gdr.cc). */
	ibv_reg_dmabuf_mr(d->pd, 0, 0, 0, -1, 0);
	switch (errno) {
	case EBADF:
		return 1;
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
	case ENOSYS:
		return 0;
	default:
		return -1;
	}
}

void nca_pinger_device_close(struct nca_pinger_device *d)
{
	if (d->cq)
		ibv_destroy_cq(d->cq);
	if (d->channel)
		ibv_destroy_comp_channel(d->channel);
	if (d->mr)
		ibv_dereg_mr(d->mr);
	if (d->memory)
		munmap(d->memory, MEMORY);
	if (d->pd)
		ibv_dealloc_pd(d->pd);
	if (d->context)
		ibv_close_device(d->context);
}
