/* SPDX-License-Identifier: Apache-2.0 */
/* What may explain a failure: counters that rise meanwhile, and settings that differ. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>

#include <nca/clock.h>

#include "pinger_parts.h"

#define PORT "sys/class/infiniband/%s/ports/%d/"

/* The kernel's, where a port does not say (linux-6.1 core/sysfs.c). Root can set up to 10 s there,
 * but the hub does not wait for a hint: then a counter that rose may be missed. */
#define LIFESPAN_MS 10
#define LIFESPAN_MAX_MS 100

/*
 * Packets that were lost, damaged or sent again: linux-6.1 core/sysfs.c, hw/mlx5/counters.c,
 * sw/rxe/rxe_hw_counters.c. Not those that rise where all is well: port_xmit_wait and the ECN and
 * CNP counters with any congestion, out_of_sequence with adaptive routing.
 */
static const struct nca_pinger_counter watched[] = {
	{"counters", "symbol_error", -1},
	{"counters", "link_error_recovery", -1},
	{"counters", "link_downed", -1},
	{"counters", "port_rcv_errors", -1},
	{"counters", "port_xmit_discards", -1},
	{"counters", "local_link_integrity_errors", -1},
	{"counters", "excessive_buffer_overrun_errors", -1},
	{"hw_counters", "packet_seq_err", -1},
	{"hw_counters", "local_ack_timeout_err", -1},
	{"hw_counters", "implied_nak_seq_err", -1},
	{"hw_counters", "rnr_nak_retry_err", -1},
	{"hw_counters", "duplicate_request", -1},
	{"hw_counters", "out_of_buffer", -1},
	{"hw_counters", "roce_adp_retrans_to", -1},
	{"hw_counters", "rx_icrc_encapsulated", -1},
	{"hw_counters", "rcvd_seq_err", -1},
	{"hw_counters", "retry_exceeded_err", -1},
	{"hw_counters", "send_err", -1},
};

/* They have 64 bits. */
static long long read_counter(const struct nca_pinger *p, const struct nca_pinger_port *port,
			      const struct nca_pinger_counter *c)
{
	char path[256], text[32], *end;
	long long value;

	snprintf(path, sizeof(path), PORT "%s/%s", port->device->name, port->number, c->dir,
		 c->name);
	if (nca_sysroot_read(p->root_fd, path, text, sizeof(text)) <= 0)
		return -1;
	value = strtoll(text, &end, 10);
	return end == text ? -1 : value;
}

int nca_pinger_count(struct nca_pinger *p, struct nca_pinger_port *port)
{
	struct nca_pinger_counter *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(watched); i++) {
		long long value = read_counter(p, port, &watched[i]);

		if (value < 0)
			continue;
		c = NCA_APPEND(p->pool, port->counters);
		if (!c)
			return -ENOMEM;
		*c = watched[i];
		c->value = value;
	}
	p->counted_ms = nca_clock_ms();
	return 0;
}

/* What was read is given again for so long; no event tells when that is over. */
static void wait_fresh(const struct nca_pinger *p)
{
	const struct nca_pinger_port *port;
	long long left = p->counted_ms - nca_clock_ms();
	int most = LIFESPAN_MS, ms;

	NCA_FOREACH(port, p->ports) {
		ms = nca_sysroot_int(p->root_fd, PORT "hw_counters/lifespan", port->device->name,
				     port->number);
		most = ms > most ? ms : most;
	}
	most = most > LIFESPAN_MAX_MS ? LIFESPAN_MAX_MS : most;
	if (left + most > 0)
		poll(NULL, 0, (int)(left + most));
}

static int add_risen(struct nca_pinger *p, const struct nca_pinger_port *port,
		     struct nca_pool *pool, struct nca_pinged *answer)
{
	const struct nca_pinger_counter *c;
	struct nca_risen *risen;

	NCA_FOREACH(c, port->counters) {
		long long by = read_counter(p, port, c) - c->value;

		if (by <= 0)
			continue;
		risen = NCA_APPEND(pool, answer->risen);
		if (!risen)
			return -ENOMEM;
		*risen = (struct nca_risen){.port = (int)(port - p->ports.v),
					    .name = (char *)c->name,
					    .by = by > INT_MAX ? INT_MAX : (int)by};
	}
	return 0;
}

/* The first line is the whole port's; the rest are exceptions of one connection each. */
static int add_fact(struct nca_pool *pool, struct nca_row *row, const char *name, char *value)
{
	char **fact;

	if (!value)
		return 0;
	value[strcspn(value, "\n")] = '\0';
	fact = NCA_APPEND(pool, row->values);
	if (!fact)
		return -ENOMEM;
	*fact = nca_pool_printf(pool, "%s %s", name, value);
	return *fact ? 0 : -ENOMEM;
}

/* Of all eight priorities, as one word. */
static char *ecn(const struct nca_pinger *p, struct nca_pool *pool, const char *ndev,
		 const char *point)
{
	char bits[9];
	int i;

	for (i = 0; i < 8; i++) {
		int on = nca_sysroot_int(p->root_fd, "sys/class/net/%s/ecn/%s/enable/%d", ndev,
					 point, i);

		if (on < 0)
			return NULL;
		bits[i] = on ? '1' : '0';
	}
	bits[8] = '\0';
	return nca_pool_strdup(pool, bits);
}

/* What NVIDIA's drivers (MLNX_OFED, DOCA) and the kernel's rdma_cm show; a fabric without packet
 * loss needs the same on all nodes. */
static int add_ethernet(const struct nca_pinger *p, const struct nca_pinger_port *port,
			struct nca_pool *pool, struct nca_row *row)
{
	const char *hca = port->device->name, *ndev = port->ndev;
	int root = p->root_fd, number = port->number, rc;

	rc = add_fact(pool, row, "traffic_class",
		      nca_sysroot_text(root, pool, "sys/class/infiniband/%s/tc/%d/traffic_class",
				       hca, number));
	rc = rc ? rc
		: add_fact(
			  pool, row, "default_roce_tos",
			  nca_sysroot_text(root, pool,
					   "sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_tos",
					   hca, number));
	if (rc || !ndev)
		return rc;
	rc = add_fact(pool, row, "netdev_mtu",
		      nca_sysroot_text(root, pool, "sys/class/net/%s/mtu", ndev));
	rc = rc ? rc
		: add_fact(pool, row, "pfc",
			   nca_sysroot_text(root, pool, "sys/class/net/%s/qos/pfc", ndev));
	rc = rc ? rc
		: add_fact(pool, row, "trust",
			   nca_sysroot_text(root, pool, "sys/class/net/%s/qos/trust", ndev));
	rc = rc ? rc : add_fact(pool, row, "ecn_np", ecn(p, pool, ndev, "roce_np"));
	return rc ? rc : add_fact(pool, row, "ecn_rp", ecn(p, pool, ndev, "roce_rp"));
}

/* As NCCL 2.30 looks for it (src/transport/net_ib/gdr.cc). */
static bool has_peermem(const struct nca_pinger *p)
{
	return nca_sysroot_exists(p->root_fd, "sys/module/nvidia_peermem/version") ||
	       nca_sysroot_exists(p->root_fd, "sys/kernel/mm/memory_peers/nv_mem/version") ||
	       nca_sysroot_exists(p->root_fd, "sys/kernel/mm/memory_peers/nv_mem_nc/version");
}

static int add_facts(const struct nca_pinger *p, const struct nca_pinger_port *port,
		     struct nca_pool *pool, struct nca_pinged *answer)
{
	struct nca_row *row = NCA_APPEND(pool, answer->facts);
	int dmabuf = nca_pinger_dmabuf(port->device), rc;

	if (!row)
		return -ENOMEM;
	row->key = nca_pool_printf(pool, "%s:%d", port->device->name, port->number);
	if (!row->key)
		return -ENOMEM;
	rc = add_fact(pool, row, "mtu", nca_pool_printf(pool, "%d", port->mtu));
	rc = rc ? rc
		: add_fact(pool, row, "peermem",
			   nca_pool_strdup(pool, has_peermem(p) ? "yes" : "no"));
	if (!rc && dmabuf >= 0)
		rc = add_fact(pool, row, "dmabuf", nca_pool_strdup(pool, dmabuf ? "yes" : "no"));
	return rc || !port->roce ? rc : add_ethernet(p, port, pool, row);
}

int nca_pinger_hints(struct nca_pinger *p, struct nca_pool *pool, struct nca_pinged *answer)
{
	const struct nca_pinger_port *port;
	int rc = 0;

	wait_fresh(p);
	NCA_FOREACH(port, p->ports) {
		if (rc || port->error)
			continue;
		rc = add_risen(p, port, pool, answer);
		rc = rc ? rc : add_facts(p, port, pool, answer);
	}
	return rc;
}
