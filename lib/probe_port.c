/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of an HCA and their GID tables, from sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include <nca/number.h>

#include "probe_parts.h"

#define PORT_MAX 255
#define GID_MAX 65535
#define PORT_FMT "sys/class/infiniband/%s/ports/%d"

/* "4: ACTIVE" -> "ACTIVE" */
static char *word_text(char *text)
{
	char *colon = text ? strstr(text, ": ") : NULL;

	return colon ? colon + 2 : text;
}

/* Kernels that do not know a speed (6.1 has no XDR) call it SDR: on real hardware that is unknown.
 */
static double rate_gbps(const struct nca_hca *h, const char *rate)
{
	double gbps;

	if (!rate || (h->pci && strstr(rate, "SDR")))
		return -1;
	gbps = strtod(rate, NULL);
	return gbps > 0 ? gbps : -1;
}

/* The one that a rule compares (linux core/sysfs.c); a software device has none. */
static int read_counters(const struct nca_probe *p, const struct nca_hca *h, struct nca_port *port)
{
	char *value = nca_sysroot_text(p->src->root_fd, p->pool, PORT_FMT "/counters/link_downed",
				       h->name, port->port);
	struct nca_pair *pair = value ? NCA_APPEND(p->pool, port->counters) : NULL;

	if (pair)
		*pair = (struct nca_pair){"link_downed", value};
	return value && !pair ? -ENOMEM : 0;
}

static int probe_port(const struct nca_probe *p, struct nca_hca *h, int number)
{
	struct nca_port *port = NCA_APPEND(p->pool, h->ports);
	int root = p->src->root_fd;

	if (!port)
		return -ENOMEM;
	nca_schema_init(&nca_port_shape, port);
	port->port = number;
	port->state =
		word_text(nca_sysroot_text(root, p->pool, PORT_FMT "/state", h->name, number));
	port->phys_state =
		word_text(nca_sysroot_text(root, p->pool, PORT_FMT "/phys_state", h->name, number));
	port->link_layer = nca_sysroot_text(root, p->pool, PORT_FMT "/link_layer", h->name, number);
	port->rate = nca_sysroot_text(root, p->pool, PORT_FMT "/rate", h->name, number);
	port->rate_gbps = rate_gbps(h, port->rate);
	port->lid = nca_sysroot_int(root, PORT_FMT "/lid", h->name, number);
	port->sm_lid = nca_sysroot_int(root, PORT_FMT "/sm_lid", h->name, number);
	if (!port->state)
		return nca_probe_note(p, strerror(errno), "hcas[%s].ports[%d].state", h->name,
				      number);
	return nca_same(port->state, "ACTIVE") ? read_counters(p, h, port) : 0;
}

int nca_probe_ports(const struct nca_probe *p, struct nca_hca *h)
{
	nca_strs names = {0};
	unsigned int number;
	char **name;
	int rc = nca_sysroot_list(p->src->root_fd, p->pool, &names, "sys/class/infiniband/%s/ports",
				  h->name);

	h->ports.v = nca_pool_alloc(p->pool, 0);
	if (rc == -ENOMEM || !h->ports.v)
		return -ENOMEM;
	if (rc)
		return nca_probe_note(p, strerror(-rc), "hcas[%s].ports", h->name);
	NCA_FOREACH(name, names) {
		if (!rc && nca_parse_u32(*name, 1, PORT_MAX, &number) == 0)
			rc = probe_port(p, h, (int)number);
	}
	return rc;
}

/* An empty entry reads as zeros, and its type and netdev cannot be read. */
static int read_gid(const struct nca_probe *p, struct nca_port *port, int dir, int gids,
		    const char *index)
{
	/* All of an entry, so that nobody has to read on to see that it ends. */
	char text[sizeof("0000:0000:0000:0000:0000:0000:0000:0000\n")];
	struct nca_gid *gid;
	unsigned int number;

	if (nca_parse_u32(index, 0, GID_MAX, &number) ||
	    nca_sysroot_read(gids, index, text, sizeof(text)) < 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (!text[strspn(text, "0:")])
		return 0;
	gid = NCA_APPEND(p->pool, port->gids);
	if (!gid)
		return -ENOMEM;
	gid->index = (int)number;
	gid->gid = nca_pool_strdup(p->pool, text);
	gid->type = nca_sysroot_text(dir, p->pool, "gid_attrs/types/%s", index);
	gid->ndev = nca_sysroot_text(dir, p->pool, "gid_attrs/ndevs/%s", index);
	return gid->gid ? 0 : -ENOMEM;
}

/* From the table's own directory: a path from the root would walk the same links for every entry,
 * of which a node may have thousands. */
static int read_gids(const struct nca_probe *p, const struct nca_hca *h, struct nca_port *port)
{
	nca_autoclose int dir = -1, gids = -1;
	char path[128], **name;
	nca_strs names = {0};
	int rc;

	snprintf(path, sizeof(path), PORT_FMT, h->name, port->port);
	dir = nca_sysroot_open(p->src->root_fd, path, O_RDONLY | O_DIRECTORY);
	gids = dir < 0 ? dir : nca_sysroot_open(dir, "gids", O_RDONLY | O_DIRECTORY);
	rc = gids < 0 ? gids : nca_sysroot_list(gids, p->pool, &names, ".");
	if (rc)
		return rc == -ENOMEM ? rc
				     : nca_probe_note(p, strerror(-rc), "hcas[%s].ports[%d].gids",
						      h->name, port->port);
	port->gids.v = nca_pool_alloc(p->pool, 0);
	rc = port->gids.v ? 0 : -ENOMEM;
	NCA_FOREACH(name, names)
		rc = rc ? rc : read_gid(p, port, dir, gids, *name);
	return rc;
}

int nca_probe_gids(const struct nca_probe *p, struct nca_hca *h)
{
	struct nca_port *port;
	int rc = 0;

	NCA_FOREACH(port, h->ports)
		if (!rc && !port->gids.v)
			rc = read_gids(p, h, port);
	return rc;
}
