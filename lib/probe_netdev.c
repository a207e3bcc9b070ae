/* SPDX-License-Identifier: Apache-2.0 */
/* What only sysfs knows of an interface: its speed and the device behind it. */
#include <errno.h>

#include "probe_parts.h"

#define NETDEV "sys/class/net/%s/"

/* Drivers of USB network functions that a board's management controller offers its host; adapters
 * that people plug in have drivers of their own, but for cdc_ncm. */
static const char *const bmc_drivers[] = {"cdc_ether", "cdc_eem", "cdc_subset", "rndis_host"};

static int is_bmc_usb(const char *driver)
{
	size_t i;

	if (!driver)
		return -1;
	for (i = 0; i < ARRAY_SIZE(bmc_drivers); i++)
		if (streq(driver, bmc_drivers[i]))
			return 1;
	return 0;
}

/* A virtual function whose physical function is on this machine. */
static int set_vf(const struct nca_probe *p, struct nca_link *l)
{
	int root = p->src->root_fd;
	nca_strs pfs = {0};

	if (nca_sysroot_list(root, p->pool, &pfs, NETDEV "device/physfn/net", l->name) || !pfs.n)
		return 0;
	l->vf = nca_pool_alloc(p->pool, sizeof(*l->vf));
	if (!l->vf)
		return -ENOMEM;
	l->vf->index = -1;
	l->vf->pf = pfs.v[0];
	return 0;
}

static int probe_netdev(const struct nca_probe *p, struct nca_link *l)
{
	int root = p->src->root_fd;

	/* A mount of sysfs belongs to the network namespace in which it was made. */
	if (nca_sysroot_int(root, NETDEV "ifindex", l->name) != l->ifindex)
		return nca_probe_note(p, "sysfs does not show this network namespace",
				      "interfaces[%s].speed_mbps", l->name);
	/* Of a bond or VLAN too: the kernel adds up what is below. -1 in the file is unknown. */
	l->speed_mbps = nca_sysroot_int(root, NETDEV "speed", l->name);
	if (!nca_sysroot_exists(root, NETDEV "device", l->name))
		return 0;
	l->driver = nca_sysroot_target(root, p->pool, NETDEV "device/driver", l->name);
	l->pci = nca_probe_pci_of(p, NETDEV "device", l->name);
	l->bmc_usb = is_bmc_usb(l->driver);
	/* The link to the radio that cfg80211 makes (net/wireless/core.c, NETDEV_REGISTER). */
	l->wireless = nca_sysroot_exists(root, NETDEV "phy80211", l->name);
	return set_vf(p, l);
}

int nca_probe_netdevs(const struct nca_probe *p)
{
	struct nca_link *l;
	int rc = 0;

	NCA_FOREACH(l, p->node->interfaces)
		if (!rc && !nca_same(l->kind, "loopback"))
			rc = probe_netdev(p, l);
	return rc;
}
