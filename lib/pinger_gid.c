/* SPDX-License-Identifier: Apache-2.0 */
/* The GID by which a port is reached, and what InfiniBand's routers make of it. */
#include <arpa/inet.h>

#include "pinger_parts.h"

#define PORT "sys/class/infiniband/%s/ports/%d"

/* Where a router's subnet manager puts the GID with a FLID; NCCL_IB_ROUTABLE_FLID_GID_INDEX. */
#define ROUTED 1

static char *text(const struct nca_pinger *p, const struct nca_pinger_port *port, int index)
{
	return nca_sysroot_text(p->root_fd, p->pool, PORT "/gids/%d", port->device->name,
				port->number, index);
}

static void read_infiniband(const struct nca_pinger *p, struct nca_pinger_port *port)
{
	char *routed = text(p, port, ROUTED);
	union ibv_gid gid;

	if (routed && inet_pton(AF_INET6, routed, &gid) == 1 && nca_pinger_gid_flid(&gid)) {
		port->gid_index = ROUTED;
		port->gid = routed;
	} else {
		port->gid_index = 0;
		port->gid = text(p, port, 0);
	}
}

void nca_pinger_gid_read(const struct nca_pinger *p, struct nca_pinger_port *port)
{
	if (!port->roce) {
		read_infiniband(p, port);
		return;
	}
	port->gid_index = port->gid_index < 0 ? 0 : port->gid_index;
	port->gid = text(p, port, port->gid_index);
	port->ndev = nca_sysroot_text(p->root_fd, p->pool, PORT "/gid_attrs/ndevs/%d",
				      port->device->name, port->number, port->gid_index);
	if (port->ndev)
		port->mac = nca_sysroot_text(p->root_fd, p->pool, "sys/class/net/%s/address",
					     port->ndev);
}

int nca_pinger_gid_flid(const union ibv_gid *gid)
{
	return gid->raw[4] << 8 | gid->raw[5];
}

bool nca_pinger_gid_same_subnet(const union ibv_gid *a, const union ibv_gid *b)
{
	return memcmp(&a->raw[6], &b->raw[6], 2) == 0;
}
