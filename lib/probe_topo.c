/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where HCAs and GPUs sit in the PCI tree, by hwloc.
 *
 * Loading costs milliseconds and reads the configuration space of every device, so it is done only
 * where a distance can matter: with GPUs and more than one HCA port. Operating system devices stay
 * out: for them hwloc reads every GID of every port.
 */
#include <errno.h>
#include <stdio.h>

#include <hwloc.h>

#include "probe_parts.h"

#define DEVICE "sys/bus/pci/devices/%s/"
#define CLASS_NVSWITCH 0x0680

static int clear_hwloc_variables(void)
{
	char **e = environ;
	char name[64];

	while (e && *e) {
		size_t n = strcspn(*e, "=");

		if (!nca_has_prefix(*e, "HWLOC_") || n >= sizeof(name)) {
			e++;
			continue;
		}
		memcpy(name, *e, n);
		name[n] = '\0';
		if (unsetenv(name))
			return -errno;
		e = environ;
	}
	return 0;
}

/* Only the Linux component: the one for x86 binds threads to every processor in turn, others open
 * GPU drivers or displays. */
int nca_probe_prepare(const char *fsroot)
{
	int rc = clear_hwloc_variables();

	if (!rc && setenv("HWLOC_COMPONENTS", "linux,stop", 1))
		rc = -errno;
	if (!rc && fsroot && setenv("HWLOC_FSROOT", fsroot, 1))
		rc = -errno;
	return rc;
}

/* Distances, memory attributes and kinds of processors are slow to find and not read. */
static int configure(hwloc_topology_t t)
{
	const unsigned long flags =
		HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
		HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
	const enum hwloc_type_filter_e keep = HWLOC_TYPE_FILTER_KEEP_IMPORTANT;

	if (hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE) ||
	    hwloc_topology_set_type_filter(t, HWLOC_OBJ_PCI_DEVICE, keep) ||
	    hwloc_topology_set_type_filter(t, HWLOC_OBJ_BRIDGE, keep))
		return -1;
	return hwloc_topology_set_flags(t, flags);
}

static const struct nca_pci *find_pci(const struct nca_node *node, const char *addr)
{
	const struct nca_pci *pci;

	NCA_FOREACH(pci, node->pci)
		if (nca_same(pci->addr, addr))
			return pci;
	return NULL;
}

static bool is_host_bridge(hwloc_obj_t obj)
{
	return obj->type == HWLOC_OBJ_BRIDGE &&
	       obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

static char *addr_text(struct nca_pool *pool, hwloc_obj_t obj)
{
	const struct hwloc_pcidev_attr_s *a = &obj->attr->pcidev;

	if (is_host_bridge(obj))
		return nca_pool_printf(pool, "hostbridge:%04x:%02x",
				       obj->attr->bridge.downstream.pci.domain,
				       obj->attr->bridge.downstream.pci.secondary_bus);
	return nca_pool_printf(pool, "%04x:%02x:%02x.%01x", a->domain, a->bus, a->dev, a->func);
}

/* By the place below the host bridge: the port type is in a part of the configuration space that
 * only root reads. */
static const char *kind_text(hwloc_obj_t obj, const struct nca_pci *parent)
{
	if (is_host_bridge(obj))
		return "hostbridge";
	if (obj->type == HWLOC_OBJ_PCI_DEVICE)
		return "endpoint";
	if (!parent || streq(parent->kind, "hostbridge"))
		return "rootport";
	return streq(parent->kind, "upstream") ? "downstream" : "upstream";
}

static int set_device(const struct nca_probe *p, struct nca_pci *pci, hwloc_obj_t obj)
{
	const struct hwloc_pcidev_attr_s *a = &obj->attr->pcidev;
	int root = p->src->root_fd;

	pci->class = nca_pool_printf(p->pool, "%04x", a->class_id);
	pci->vendor = nca_pool_printf(p->pool, "%04x", a->vendor_id);
	pci->device = nca_pool_printf(p->pool, "%04x", a->device_id);
	pci->link_gbytes = a->linkspeed > 0 ? a->linkspeed : -1;
	if (obj->type != HWLOC_OBJ_PCI_DEVICE)
		return 0;
	pci->driver = nca_sysroot_target(root, p->pool, DEVICE "driver", pci->addr);
	if (nca_sysroot_exists(root, DEVICE "physfn", pci->addr))
		pci->physfn = nca_sysroot_target(root, p->pool, DEVICE "physfn", pci->addr);
	return 0;
}

/* The bridges above first, each once. */
static int add_object(const struct nca_probe *p, hwloc_obj_t obj, int numa)
{
	char *addr = addr_text(p->pool, obj);
	const struct nca_pci *parent = NULL;
	struct nca_pci *pci;
	char *up = NULL;
	int rc;

	if (!addr)
		return -ENOMEM;
	if (find_pci(p->node, addr))
		return 0;
	if (obj->parent && obj->parent->type == HWLOC_OBJ_BRIDGE) {
		rc = add_object(p, obj->parent, numa);
		up = addr_text(p->pool, obj->parent);
		if (rc || !up)
			return rc ? rc : -ENOMEM;
	}
	pci = NCA_APPEND(p->pool, p->node->pci);
	if (!pci)
		return -ENOMEM;
	parent = find_pci(p->node, up);
	nca_schema_init(&nca_pci_shape, pci);
	pci->addr = addr;
	pci->parent = up;
	pci->kind = nca_pool_strdup(p->pool, kind_text(obj, parent));
	pci->numa = numa;
	if (!pci->kind)
		return -ENOMEM;
	if (!is_host_bridge(obj))
		return set_device(p, pci, obj);
	pci->class = nca_pool_strdup(p->pool, "0600");
	return 0;
}

static bool is_wanted(const struct nca_probe *p, hwloc_obj_t obj, const char *addr)
{
	int base = obj->attr->pcidev.class_id >> 8;
	const struct nca_hca *h;

	if (base == 0x02 || base == 0x03 || base == 0x12 ||
	    obj->attr->pcidev.class_id == CLASS_NVSWITCH)
		return true;
	NCA_FOREACH(h, p->node->hcas)
		if (nca_same(h->pci, addr))
			return true;
	return false;
}

static int add_devices(const struct nca_probe *p, hwloc_topology_t t)
{
	hwloc_obj_t obj = NULL;
	int rc = 0;

	while (!rc && (obj = hwloc_get_next_pcidev(t, obj))) {
		char *addr = addr_text(p->pool, obj);

		if (!addr)
			return -ENOMEM;
		if (is_wanted(p, obj, addr))
			rc = add_object(p, obj,
					nca_sysroot_int(p->src->root_fd, DEVICE "numa_node", addr));
	}
	return rc;
}

/* Distances choose among ports. */
static bool has_choice(const struct nca_node *node)
{
	const struct nca_hca *h;
	size_t ports = 0;

	NCA_FOREACH(h, node->hcas)
		ports += h->ports.n;
	return ports > 1;
}

int nca_probe_pci(const struct nca_probe *p)
{
	hwloc_topology_t t;
	int rc;

	if (!p->node->gpus.n || !has_choice(p->node) ||
	    !nca_sysroot_exists(p->src->root_fd, "sys/bus/pci/devices"))
		return 0;
	if (hwloc_topology_init(&t))
		return nca_probe_note(p, strerror(errno), "pci");
	if (configure(t) || hwloc_topology_load(t))
		rc = nca_probe_note(p, strerror(errno), "pci");
	else if (!!hwloc_topology_is_thissystem(t) != p->src->live)
		rc = nca_probe_note(p, "hwloc was given another root", "pci");
	else
		rc = add_devices(p, t);
	hwloc_topology_destroy(t);
	return rc;
}
