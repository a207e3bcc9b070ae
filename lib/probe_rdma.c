/* SPDX-License-Identifier: Apache-2.0 */
/* HCAs: what sysfs tells without opening one, and whether the device node opens. */
#include <errno.h>
#include <stdio.h>

#include "probe_parts.h"
#include "verbs.h"

#define HCA "sys/class/infiniband/%s/"

/* Vital product data: where the rest is, and what stands in a value. */
#define VPD_MAX 1024
#define VPD_KEY "SMDL"
#define WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define PART_CONNECTX7 0x1021

/* The verbs vendor is an IEEE number; only Mellanox uses another one than PCI. */
static char *vendor_id(struct nca_pool *pool, const char *pci_vendor)
{
	return nca_pool_strdup(pool, nca_same(pci_vendor, "0x15b3") ? "0x02c9" : pci_vendor);
}

/* PCI numbers of virtual functions (kernel, drivers/net/ethernet/mellanox/mlx5/core/main.c): a
 * guest sees no physical function. */
static bool is_vf_part(const char *pci_vendor, int part)
{
	static const int parts[] = {0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3};
	size_t i;

	for (i = 0; nca_same(pci_vendor, "0x15b3") && i < ARRAY_SIZE(parts); i++)
		if (parts[i] == part)
			return true;
	return false;
}

/* As ibv_devinfo prints enum ibv_transport_type, by enum rdma_node_type. */
static char *transport(struct nca_pool *pool, const char *node_type)
{
	static const char *const texts[] = {
		NULL,	     "InfiniBand (0)", "InfiniBand (0)", "InfiniBand (0)",
		"iWARP (1)", "usNIC (2)",      "usNIC UDP (3)",	 "unspecified (4)",
	};
	int i = node_type ? node_type[0] - '0' : 0;

	return i > 0 && (size_t)i < ARRAY_SIZE(texts) ? nca_pool_strdup(pool, texts[i]) : NULL;
}

static void set_device(const struct nca_probe *p, struct nca_hca *h)
{
	int root = p->src->root_fd;
	char *vendor;

	/* A software device (rxe, siw) has none. */
	if (!nca_sysroot_exists(root, HCA "device", h->name)) {
		h->is_vf = 0;
		return;
	}
	h->pci = nca_probe_pci_of(p, HCA "device", h->name);
	h->numa = nca_sysroot_int(root, HCA "device/numa_node", h->name);
	h->driver = nca_sysroot_target(root, p->pool, HCA "device/driver", h->name);
	vendor = nca_sysroot_text(root, p->pool, HCA "device/vendor", h->name);
	h->vendor_id = vendor_id(p->pool, vendor);
	h->vendor_part_id = nca_sysroot_int(root, HCA "device/device", h->name);
	if (nca_sysroot_exists(root, HCA "device/physfn", h->name))
		h->physfn = nca_sysroot_target(root, p->pool, HCA "device/physfn", h->name);
	h->is_vf = h->physfn || is_vf_part(vendor, h->vendor_part_id);
}

static void set_identity(const struct nca_probe *p, struct nca_hca *h)
{
	int root = p->src->root_fd;
	struct nca_pool *pool = p->pool;

	h->node_type = nca_sysroot_text(root, pool, HCA "node_type", h->name);
	h->transport = transport(pool, h->node_type);
	h->hca_type = nca_sysroot_text(root, pool, HCA "hca_type", h->name);
	h->board_id = nca_sysroot_text(root, pool, HCA "board_id", h->name);
	h->fw_ver = nca_sysroot_text(root, pool, HCA "fw_ver", h->name);
	h->node_guid = nca_sysroot_text(root, pool, HCA "node_guid", h->name);
	h->sys_image_guid = nca_sysroot_text(root, pool, HCA "sys_image_guid", h->name);
}

static int try_uverbs(const struct nca_probe *p, struct nca_hca *h)
{
	int rc = nca_uverbs_try(p->src->root_fd, p->pool, h->name, &h->uverbs_error);

	h->uverbs_opens = !rc;
	return rc && !h->uverbs_error ? -ENOMEM : 0;
}

/*
 * The boards of B200 and B300 have ConnectX-7 that manage NVLink switches; their vital product data
 * says SMDL=SW_MNG (NVIDIA's nvlsm start script looks for it). The file is root's, and reading it
 * asks the device, so no other model is asked.
 */
static int probe_vpd(const struct nca_probe *p, struct nca_hca *h)
{
	char path[128], text[VPD_MAX], *at;
	struct nca_pair *pair;
	ssize_t n;

	if (h->vendor_part_id != PART_CONNECTX7 || h->is_vf == 1)
		return 0;
	snprintf(path, sizeof(path), HCA "device/vpd", h->name);
	n = nca_sysroot_read(p->src->root_fd, path, text, sizeof(text));
	at = n < 0 ? NULL : memmem(text, (size_t)n, VPD_KEY "=", strlen(VPD_KEY "="));
	if (!at)
		return 0;
	at += strlen(VPD_KEY "=");
	pair = NCA_APPEND(p->pool, h->vpd);
	if (!pair)
		return -ENOMEM;
	pair->key = VPD_KEY;
	pair->value = nca_pool_strndup(p->pool, at, strspn(at, WORD));
	return pair->value ? 0 : -ENOMEM;
}

static int probe_hca(const struct nca_probe *p, char *name)
{
	struct nca_hca *h = NCA_APPEND(p->pool, p->node->hcas);
	int rc;

	if (!h)
		return -ENOMEM;
	nca_schema_init(&nca_hca_shape, h);
	h->name = name;
	set_identity(p, h);
	set_device(p, h);
	rc = p->src->live ? try_uverbs(p, h) : 0;
	rc = rc ? rc : probe_vpd(p, h);
	return rc ? rc : nca_probe_ports(p, h);
}

static int complete(const struct nca_probe *p)
{
	struct nca_hca *h;
	int rc = p->src->live ? nca_verbs_fill(p) : 0;

	NCA_FOREACH(h, p->node->hcas) {
		rc = rc ? rc : nca_probe_gids(p, h);
		rc = rc ? rc : nca_probe_port_netdevs(p, h);
	}
	return rc;
}

int nca_probe_hcas(const struct nca_probe *p)
{
	nca_strs names = {0};
	char **name;
	int rc;

	rc = nca_sysroot_list(p->src->root_fd, p->pool, &names, "sys/class/infiniband");
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return rc == -ENOMEM ? rc : nca_probe_note(p, strerror(-rc), "hcas");
	NCA_FOREACH(name, names)
		if (nca_name_ok(*name) && (rc = probe_hca(p, *name)))
			return rc;
	if (names.n && p->src->live && !nca_sysroot_exists(p->src->root_fd, "dev/infiniband"))
		p->node->dev_infiniband = nca_pool_strdup(p->pool, "absent");
	return complete(p);
}
