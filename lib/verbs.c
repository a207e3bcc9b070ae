/* SPDX-License-Identifier: Apache-2.0 */
/* What libibverbs tells of the HCAs that open. */
#include <arpa/inet.h>
#include <errno.h>

#include "verbs.h"

/* The length of an ioctl attribute has 16 bits: one entry more is EINVAL. */
#define GIDS_MAX 2047

static struct nca_port *find_port(const struct nca_hca *h, uint32_t number)
{
	struct nca_port *port;

	NCA_FOREACH(port, h->ports)
		if (port->port >= 0 && (uint32_t)port->port == number)
			return port;
	return NULL;
}

static void fill_port(struct ibv_context *context, struct nca_port *port)
{
	struct ibv_port_attr attr = {0};

	if (ibv_query_port(context, (uint8_t)port->port, &attr))
		return;
	port->max_mtu = nca_verbs_mtu(attr.max_mtu);
	port->active_mtu = nca_verbs_mtu(attr.active_mtu);
}

static char *gid_text(struct nca_pool *pool, const union ibv_gid *gid)
{
	uint16_t g[8];
	size_t i;

	memcpy(g, gid->raw, sizeof(g));
	for (i = 0; i < ARRAY_SIZE(g); i++)
		g[i] = ntohs(g[i]);
	return nca_pool_printf(pool, "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x", g[0], g[1], g[2],
			       g[3], g[4], g[5], g[6], g[7]);
}

static int add_gid(const struct nca_probe *p, struct nca_port *port, const struct ibv_gid_entry *e)
{
	const struct nca_link *l = nca_probe_link(p, (int)e->ndev_ifindex);
	struct nca_gid *gid = NCA_APPEND(p->pool, port->gids);

	if (!gid)
		return -ENOMEM;
	gid->index = (int)e->gid_index;
	gid->gid = gid_text(p->pool, &e->gid);
	gid->type = nca_pool_strdup(p->pool,
				    e->gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
	gid->ndev = l ? l->name : NULL;
	return gid->gid && gid->type ? 0 : -ENOMEM;
}

/* All ports in one call. Where it fails, the tables stay unknown and are read from sysfs. */
static int fill_gids(const struct nca_probe *p, struct ibv_context *context, struct nca_hca *h,
		     struct ibv_gid_entry *entries)
{
	ssize_t i, n = ibv_query_gid_table(context, entries, GIDS_MAX, 0);
	struct nca_port *port;
	int rc = 0;

	if (n < 0)
		return 0;
	NCA_FOREACH(port, h->ports) {
		port->gids.v = nca_pool_alloc(p->pool, 0);
		if (!port->gids.v)
			return -ENOMEM;
	}
	for (i = 0; !rc && i < n; i++) {
		port = find_port(h, entries[i].port_num);
		rc = port ? add_gid(p, port, &entries[i]) : 0;
	}
	return rc;
}

/* A software device has no PCI numbers. */
static void fill_vendor(const struct nca_probe *p, struct ibv_context *context, struct nca_hca *h)
{
	struct ibv_device_attr attr = {0};

	if (h->vendor_id || ibv_query_device(context, &attr))
		return;
	h->vendor_id = nca_pool_printf(p->pool, "0x%04x", attr.vendor_id);
	h->vendor_part_id = (int)attr.vendor_part_id;
}

static int fill_hca(const struct nca_probe *p, struct ibv_device *device, struct nca_hca *h,
		    struct ibv_gid_entry *entries)
{
	struct ibv_context *context = ibv_open_device(device);
	struct nca_port *port;
	int rc;

	if (!context)
		return nca_probe_note(p, strerror(errno), "hcas[%s].ports.active_mtu", h->name);
	NCA_FOREACH(port, h->ports)
		fill_port(context, port);
	fill_vendor(p, context, h);
	rc = fill_gids(p, context, h, entries);
	ibv_close_device(context);
	return rc;
}

static struct nca_hca *find_open(const struct nca_probe *p, const char *name)
{
	struct nca_hca *h;

	NCA_FOREACH(h, p->node->hcas)
		if (h->uverbs_opens == 1 && (!name || streq(h->name, name)))
			return h;
	return NULL;
}

int nca_verbs_fill(const struct nca_probe *p)
{
	struct ibv_gid_entry *entries;
	struct ibv_device **list;
	int i, n = 0, rc = 0;

	if (!find_open(p, NULL))
		return 0;
	entries = nca_pool_alloc(p->pool, GIDS_MAX * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	list = ibv_get_device_list(&n);
	if (!list)
		return nca_probe_note(p, strerror(errno), "hcas.ports.active_mtu");
	for (i = 0; !rc && i < n; i++) {
		struct nca_hca *h = find_open(p, ibv_get_device_name(list[i]));

		rc = h ? fill_hca(p, list[i], h, entries) : 0;
	}
	ibv_free_device_list(list);
	return rc;
}
