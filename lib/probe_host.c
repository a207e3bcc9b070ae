/* SPDX-License-Identifier: Apache-2.0 */
/* The machine, its kernel settings and the versions of its software. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <nca/topo.h>

#include "probe_parts.h"

/* Enough for the first processor; the whole file takes milliseconds on a large machine. */
#define CPUINFO_MAX 4096

/* Unknown values are left out. */
#define ADD(p, list, key, value)                                                                   \
	((value) ? set_pair(p, NCA_APPEND((p)->pool, list), key, value) : 0)

static int set_pair(const struct nca_probe *p, struct nca_pair *pair, const char *key, char *value)
{
	if (!pair)
		return -ENOMEM;
	pair->key = nca_pool_strdup(p->pool, key);
	pair->value = value;
	return pair->key ? 0 : -ENOMEM;
}

/* x86 says so in every guest. Elsewhere only the names of products that exist as guests alone. */
static int is_virtual(const struct nca_probe *p, const char *vendor, const char *product)
{
	char cpuinfo[CPUINFO_MAX];
	const char *flags;

	if (nca_sysroot_read(p->src->root_fd, "proc/cpuinfo", cpuinfo, sizeof(cpuinfo)) < 0)
		return -1;
	flags = strstr(cpuinfo, "\nflags\t");
	if (flags)
		return !!memmem(flags, strcspn(flags + 1, "\n") + 1, " hypervisor", 11);
	if (nca_same(vendor, "QEMU") || nca_same(product, "Google Compute Engine") ||
	    nca_same(product, "Virtual Machine") || nca_same(product, "KVM Virtual Machine"))
		return 1;
	return -1;
}

static int probe_machine(const struct nca_probe *p)
{
	struct nca_host *h = nca_schema_new(p->pool, &nca_host_shape);
	int root = p->src->root_fd;
	struct utsname uts;

	if (!h)
		return -ENOMEM;
	h->vendor = nca_sysroot_text(root, p->pool, "sys/class/dmi/id/sys_vendor");
	h->product = nca_sysroot_text(root, p->pool, "sys/class/dmi/id/product_name");
	if (p->src->live && uname(&uts) == 0)
		h->arch = nca_pool_strdup(p->pool, uts.machine);
	h->virtual_machine = is_virtual(p, h->vendor, h->product);
	p->node->host = h;
	return 0;
}

static int probe_sysctl(const struct nca_probe *p)
{
	static const char *const keys[] = {"arp_ignore", "arp_announce", "rp_filter"};
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < ARRAY_SIZE(keys); i++) {
		char *value = nca_sysroot_text(p->src->root_fd, p->pool,
					       "proc/sys/net/ipv4/conf/all/%s", keys[i]);

		rc = ADD(p, p->node->sysctl, keys[i], value);
	}
	return rc;
}

/* The larger one of "all" and of the interface holds (linux IN_DEV_MAXCONF), so zero says nothing
 * more. */
static int probe_arp(const struct nca_probe *p, const char *name)
{
	char *key = nca_pool_printf(p->pool, "arp_ignore/%s", name), *value;

	if (!key)
		return -ENOMEM;
	if (nca_pairs_get(p->node->sysctl, key))
		return 0;
	value = nca_sysroot_text(p->src->root_fd, p->pool, "proc/sys/net/ipv4/conf/%s/arp_ignore",
				 name);
	return value && !streq(value, "0") ? ADD(p, p->node->sysctl, key, value) : 0;
}

int nca_probe_arp(const struct nca_probe *p)
{
	const struct nca_hca *h;
	const struct nca_port *port;
	size_t i;
	int rc = 0;

	NCA_FOREACH(h, p->node->hcas)
		NCA_FOREACH(port, h->ports) {
			nca_strs names = {0};

			if (!nca_same(port->link_layer, "Ethernet"))
				continue;
			rc = rc ? rc : nca_topo_netdevs(h, port, p->pool, &names);
			for (i = 0; !rc && i < names.n; i++)
				rc = probe_arp(p, names.v[i]);
		}
	return rc;
}

static int probe_port_range(const struct nca_probe *p)
{
	nca_ints *range = &p->node->ip_local_port_range;
	int first, last, *v;
	char text[64];

	if (nca_sysroot_read(p->src->root_fd, "proc/sys/net/ipv4/ip_local_port_range", text,
			     sizeof(text)) < 0 ||
	    sscanf(text, "%5d %5d", &first, &last) != 2)
		return 0;
	v = nca_pool_alloc(p->pool, 2 * sizeof(*v));
	if (!v)
		return -ENOMEM;
	v[0] = first;
	v[1] = last;
	range->v = v;
	range->n = 2;
	return 0;
}

static int probe_software(const struct nca_probe *p)
{
	static const struct {
		const char *key, *path;
	} files[] = {
		{"kernel", "proc/sys/kernel/osrelease"},
		{"ofed", "sys/module/mlx5_core/version"},
		{"gpu_driver", "sys/module/nvidia/version"},
		{"gpu_driver", "sys/module/amdgpu/version"},
	};
	const struct nca_node *node = p->node;
	char *version = nca_pool_strdup(p->pool, p->src->version);
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < ARRAY_SIZE(files); i++) {
		char *value =
			nca_pairs_get(node->software, files[i].key)
				? NULL
				: nca_sysroot_text(p->src->root_fd, p->pool, "%s", files[i].path);

		rc = ADD(p, p->node->software, files[i].key, value);
	}
	return rc ? rc : ADD(p, p->node->software, "nccl_autoconf", version);
}

/* Slurm passes an unlimited value as all ones or as -1. */
static int memlock_kb(const char *text)
{
	unsigned long long bytes;
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	return *end || errno || bytes / 1024 > INT_MAX ? -1 : (int)(bytes / 1024);
}

static char *rdma_netns_mode(const struct nca_probe *p)
{
	char *shared = nca_sysroot_text(p->src->root_fd, p->pool,
					"sys/module/ib_core/parameters/netns_mode");

	if (!shared)
		return NULL;
	return nca_pool_strdup(p->pool, streq(shared, "Y") ? "shared" : "exclusive");
}

/* Made by the site for us (contrib/tmpfiles.d); every job of the node sees it, and every login. */
#define CONF_DIR "run/nccl-autoconf"

int nca_probe_host(const struct nca_probe *p)
{
	int rc = probe_machine(p);

	rc = rc ? rc : probe_sysctl(p);
	rc = rc ? rc : probe_port_range(p);
	rc = rc ? rc : probe_software(p);
	p->node->memlock_kb = memlock_kb(p->src->memlock);
	p->node->rdma_netns_mode = rdma_netns_mode(p);
	if (nca_sysroot_exists(p->src->root_fd, CONF_DIR))
		p->node->conf_dir = "/" CONF_DIR;
	p->node->in_container = p->src->live ? nca_probe_container(p->src->root_fd) : -1;
	return rc;
}
