/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs: PCI devices that compute, and which of them the step was given. */
#include <errno.h>
#include <stdio.h>

#include <nca/number.h>

#include "probe_parts.h"

#define DEVICE "sys/bus/pci/devices/%s/"

/* No machine has more; a range beyond it is a mistake. */
#define GPUS_MAX 1024

struct found {
	struct nca_gpu gpu;
	char *uuid; /* NVIDIA's */
};

typedef NCA_LIST(struct found) found_list;

/* Display controllers of the makers of GPUs that NCCL or RCCL drive, without boards' own graphics:
 * NVIDIA and AMD 03xx, AMD also as 1200 (processing accelerator), Intel only 0380. */
static bool is_gpu(int class, int vendor)
{
	int base = class >> 16, sub = class >> 8;

	switch (vendor) {
	case 0x10de:
		return base == 0x03;
	case 0x1002:
		return base == 0x03 || sub == 0x1200;
	case 0x8086:
		return sub == 0x0380;
	default:
		return false;
	}
}

/* The value after "key:" and blanks on a line of /proc/driver/nvidia/gpus/ADDR/information. */
static char *info_value(struct nca_pool *pool, const char *info, const char *key)
{
	const char *at = info ? strstr(info, key) : NULL;

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, ": \t");
	return nca_pool_strndup(pool, at, strcspn(at, "\n"));
}

static int add_found(const struct nca_probe *p, found_list *all, char *addr)
{
	struct found *f = NCA_APPEND(p->pool, *all);
	int root = p->src->root_fd;
	char *info;

	if (!f)
		return -ENOMEM;
	nca_schema_init(&nca_gpu_shape, &f->gpu);
	f->gpu.index = (int)all->n - 1;
	f->gpu.pci = addr;
	f->gpu.vendor = nca_sysroot_text(root, p->pool, DEVICE "vendor", addr);
	f->gpu.device = nca_sysroot_text(root, p->pool, DEVICE "device", addr);
	f->gpu.numa = nca_sysroot_int(root, DEVICE "numa_node", addr);
	info = nca_sysroot_text(root, p->pool, "proc/driver/nvidia/gpus/%s/information", addr);
	f->gpu.model = info_value(p->pool, info, "Model");
	f->uuid = info_value(p->pool, info, "GPU UUID");
	return 0;
}

/* In order of the PCI address, as the drivers number them. */
static int find_all(const struct nca_probe *p, found_list *all)
{
	int root = p->src->root_fd, rc;
	nca_strs addrs = {0};
	char **addr;

	all->v = nca_pool_alloc(p->pool, 0);
	rc = nca_sysroot_list(root, p->pool, &addrs, "sys/bus/pci/devices");
	if (rc == -ENOMEM || !all->v)
		return -ENOMEM;
	if (rc)
		return rc == -ENOENT ? 0 : nca_probe_note(p, strerror(-rc), "gpus");
	NCA_FOREACH(addr, addrs) {
		int class = nca_sysroot_int(root, DEVICE "class", *addr);

		if ((class >> 16 != 0x03 && class >> 16 != 0x12) ||
		    !is_gpu(class, nca_sysroot_int(root, DEVICE "vendor", *addr)))
			continue;
		rc = add_found(p, all, *addr);
		if (rc)
			return rc;
	}
	return 0;
}

/* The step's next GPU: one that was found, or only a number where PCI shows none. */
static int give(const struct nca_probe *p, const struct found *f, int index)
{
	struct nca_gpu *gpu = NCA_APPEND(p->pool, p->node->gpus);

	if (!gpu)
		return -ENOMEM;
	nca_schema_init(&nca_gpu_shape, gpu);
	if (f)
		*gpu = f->gpu;
	else
		gpu->index = index;
	return 0;
}

static int give_range(const struct nca_probe *p, const found_list *all, unsigned int first,
		      unsigned int last)
{
	unsigned int i;
	int rc = 0;

	for (i = first; !rc && i <= last; i++)
		rc = give(p, i < all->n ? &all->v[i] : NULL, (int)i);
	return rc;
}

/* CUDA takes the start of a UUID too. */
static const struct found *find_uuid(const found_list *all, const char *uuid)
{
	const struct found *f;

	NCA_FOREACH(f, *all)
		if (f->uuid && nca_has_prefix(f->uuid, uuid))
			return f;
	return NULL;
}

static int give_token(const struct nca_probe *p, const found_list *all, char *token)
{
	char *dash = strchr(token, '-');
	unsigned int first, last;
	const struct found *f;

	if (nca_parse_u32(token, 0, GPUS_MAX, &first) == 0)
		return give_range(p, all, first, first);
	if (dash && token[0] >= '0' && token[0] <= '9') {
		*dash = '\0';
		if (nca_parse_u32(token, 0, GPUS_MAX, &first) == 0 &&
		    nca_parse_u32(dash + 1, 0, GPUS_MAX, &last) == 0)
			return give_range(p, all, first, last);
		*dash = '-';
	}
	f = find_uuid(all, token);
	return give(p, f, (int)p->node->gpus.n);
}

static int give_list(const struct nca_probe *p, const found_list *all)
{
	char *list = nca_pool_strdup(p->pool, p->src->gpus);
	char *token, *save = NULL;
	int rc = list ? 0 : -ENOMEM;

	for (token = rc ? NULL : strtok_r(list, ",", &save); !rc && token;
	     token = strtok_r(NULL, ",", &save))
		rc = give_token(p, all, token);
	return rc;
}

int nca_probe_gpus(const struct nca_probe *p)
{
	found_list all = {0};
	int rc = find_all(p, &all);

	p->node->gpus.v = nca_pool_alloc(p->pool, 0);
	if (rc || !p->node->gpus.v)
		return rc ? rc : -ENOMEM;
	if (p->src->gpus)
		return give_list(p, &all);
	return all.n ? give_range(p, &all, 0, (unsigned int)all.n - 1) : 0;
}
