/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes to measure with, and how figures are printed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "node.h"

static void add(char *buf, size_t size, const char *fmt, ...) NCA_PRINTF(3, 4);

static void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}

static void add_link(char *buf, size_t size, const char *name, int rail, size_t i)
{
	add(buf, size,
	    "{\"name\": \"%s\", \"ifindex\": %d, \"kind\": \"ether\", \"mtu\": 9000, "
	    "\"flags\": [\"UP\", \"LOWER_UP\"], \"carrier\": 1, \"speed_mbps\": 400000, "
	    "\"pci\": \"0000:%02x:00.0\", \"addresses\": [{\"family\": \"inet\", "
	    "\"addr\": \"10.%d.%zu.%zu\", \"prefixlen\": 16, \"scope\": \"global\"}]}",
	    name, rail + 3, 0x10 + rail, rail + 1, i / 250, i % 250 + 1);
}

static void add_hca(char *buf, size_t size, bool roce, int rail, size_t i)
{
	add(buf, size,
	    "{\"name\": \"mlx5_%d\", \"pci\": \"0000:%02x:00.0\", \"driver\": \"mlx5_core\", "
	    "\"node_type\": \"1: CA\", \"uverbs_opens\": true, \"ports\": [{\"port\": 1, "
	    "\"state\": \"ACTIVE\", \"phys_state\": \"LinkUp\", \"link_layer\": \"%s\", "
	    "\"rate_gbps\": 400, \"active_mtu\": 4096, \"lid\": %zu, \"sm_lid\": 1, "
	    "\"netdev\": \"rail%d\", \"gids\": [{\"index\": 0, \"gid\": "
	    "\"fe80:0000:0000:0000:0000:0000:%04zx:%04x\", \"type\": \"RoCE v2\", "
	    "\"ndev\": \"rail%d\"}",
	    rail, 0x10 + rail, roce ? "Ethernet" : "InfiniBand", i + 2, rail, i, rail, rail);
	if (roce)
		add(buf, size,
		    ", {\"index\": 3, \"gid\": "
		    "\"0000:0000:0000:0000:0000:ffff:0a%02x:%02zx%02zx\", "
		    "\"type\": \"RoCE v2\", \"ndev\": \"rail%d\"}",
		    rail + 1, i / 250, i % 250 + 1, rail);
	add(buf, size, "]}]}");
}

void bench_write_node(char *buf, size_t size, bool roce, size_t i)
{
	int rail;

	buf[0] = 0;
	add(buf, size,
	    "{\"schema\": \"hwdesc/1\", \"name\": \"node%zu\", \"memlock_kb\": 67108864, "
	    "\"nccl_version\": \"2.27.3\", \"ip_local_port_range\": [32768, 60999], "
	    "\"interfaces\": [{\"name\": \"lo\", \"ifindex\": 1, \"kind\": \"loopback\", "
	    "\"addresses\": [{\"family\": \"inet\", \"addr\": \"127.0.0.1\", \"prefixlen\": 8, "
	    "\"scope\": \"host\"}]}, {\"name\": \"bond0\", \"ifindex\": 2, \"kind\": \"bond\", "
	    "\"mtu\": 1500, \"carrier\": 1, \"flags\": [\"UP\"], \"addresses\": [{\"family\": "
	    "\"inet\", \"addr\": \"10.200.%zu.%zu\", \"prefixlen\": 16, \"scope\": "
	    "\"global\"}]}",
	    i, i / 250, i % 250 + 1);
	for (rail = 0; rail < BENCH_RAILS; rail++) {
		char name[16];

		snprintf(name, sizeof(name), "rail%d", rail);
		add(buf, size, ", ");
		add_link(buf, size, name, rail, i);
	}
	add(buf, size,
	    "], \"routes\": [{\"family\": \"inet\", \"dst\": \"default\", \"dev\": \"bond0\", "
	    "\"gateway\": \"10.200.255.254\"}, {\"family\": \"inet\", \"dst\": "
	    "\"10.200.0.0/16\", \"dev\": \"bond0\"}");
	for (rail = 0; rail < BENCH_RAILS; rail++)
		add(buf, size,
		    ", {\"family\": \"inet\", \"dst\": \"10.%d.0.0/16\", \"dev\": \"rail%d\"}",
		    rail + 1, rail);
	add(buf, size, "], \"hcas\": [");
	for (rail = 0; rail < BENCH_RAILS; rail++) {
		add(buf, size, "%s", rail ? ", " : "");
		add_hca(buf, size, roce, rail, i);
	}
	add(buf, size, "]}");
}

double bench_per_doubling(double factor, int doublings)
{
	double low = 0, high = factor > 1 ? factor : 1;
	int i, k;

	for (i = 0; i < 60; i++) {
		double root = (low + high) / 2, power = 1;

		for (k = 0; k < doublings; k++)
			power *= root;
		*(power < factor ? &low : &high) = root;
	}
	return high;
}

void bench_print(const char *name, double value, const char *unit, const char *baseline,
		 double goal)
{
	printf("%s\t%.3f\t%s\t%s\t%g %s\t%s\n", name, value, unit, baseline, goal, unit,
	       value <= goal ? "met" : "missed");
}
