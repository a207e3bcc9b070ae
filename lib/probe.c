/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the probes, and what they share. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "probe_parts.h"

int nca_probe_note(const struct nca_probe *p, const char *why, const char *fmt, ...)
{
	struct nca_pair *pair = NCA_APPEND(p->pool, p->node->unknown);
	char path[256];
	va_list ap;

	if (!pair)
		return -ENOMEM;
	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	pair->key = nca_pool_strdup(p->pool, path);
	pair->value = nca_pool_strdup(p->pool, why);
	return pair->key && pair->value ? 0 : -ENOMEM;
}

struct nca_link *nca_probe_link(const struct nca_probe *p, int ifindex)
{
	struct nca_link *l;

	if (ifindex <= 0)
		return NULL;
	NCA_FOREACH(l, p->node->interfaces)
		if (l->ifindex == ifindex)
			return l;
	return NULL;
}

/* dddd:bb:dd.f; a domain above 0xffff has more digits. */
static bool is_pci_addr(const char *s, size_t n)
{
	unsigned int domain, bus, dev, fn;
	int used = 0;

	return n >= 12 && isxdigit((unsigned char)s[0]) &&
	       sscanf(s, "%x:%2x:%2x.%1x%n", &domain, &bus, &dev, &fn, &used) == 4 &&
	       (size_t)used == n;
}

char *nca_pci_of_path(struct nca_pool *pool, const char *path)
{
	const char *end = path + strlen(path);

	while (end > path) {
		const char *start = end;

		while (start > path && start[-1] != '/')
			start--;
		if (is_pci_addr(start, (size_t)(end - start)))
			return nca_pool_strndup(pool, start, (size_t)(end - start));
		end = start > path ? start - 1 : path;
	}
	return NULL;
}

char *nca_probe_pci_of(const struct nca_probe *p, const char *fmt, ...)
{
	char path[256], real[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (nca_sysroot_realpath(p->src->root_fd, path, real))
		return NULL;
	return nca_pci_of_path(p->pool, real);
}

/* As Slurm names nodes, by default. */
static int set_name(const struct nca_probe *p, struct nca_error *err)
{
	const char *given = p->src->node_name;
	char *name = given ? nca_pool_strdup(p->pool, given)
			   : nca_sysroot_text(p->src->root_fd, p->pool, "proc/sys/kernel/hostname");

	if (!name && !given)
		name = nca_sysroot_text(p->src->root_fd, p->pool, "etc/hostname");
	if (name && !given)
		name[strcspn(name, ".")] = '\0';
	if (!name || !nca_name_ok(name))
		return nca_fail(err, -EINVAL,
				"node name: \"%s\" is not 1 to 63 letters, digits and _.:@-",
				name ? name : "");
	p->node->name = name;
	return 0;
}

static int empty_lists(const struct nca_probe *p)
{
	p->node->interfaces.v = nca_pool_alloc(p->pool, 0);
	p->node->hcas.v = nca_pool_alloc(p->pool, 0);
	return p->node->interfaces.v && p->node->hcas.v ? 0 : -ENOMEM;
}

static const struct {
	int (*run)(const struct nca_probe *);
	nca_probe_part name;
} parts[] = {
	{empty_lists, NULL},
	{nca_probe_host, "the kernel's settings"},
	{nca_probe_environment, "nccl.conf and the user's own"},
	{nca_probe_network, "the network interfaces"},
	{nca_probe_hcas, "the HCAs"},
	{nca_probe_arp, "the kernel's ARP settings"},
	{nca_probe_gpus, "the GPUs"},
	{nca_probe_pci, "the PCI tree"},
};

int nca_probe(const struct nca_source *src, struct nca_pool *pool, struct nca_node **ret,
	      struct nca_error *err)
{
	const struct nca_probe p = {src, pool, nca_schema_new(pool, &nca_node_shape)};
	int rc = p.node ? set_name(&p, err) : nca_fail_memory(err);
	size_t i;

	if (rc)
		return rc;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (src->part)
			__atomic_store_n(src->part, parts[i].name, __ATOMIC_RELEASE);
		if (parts[i].run(&p))
			return nca_fail_memory(err);
	}
	*ret = p.node;
	return 0;
}
