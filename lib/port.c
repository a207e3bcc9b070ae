/* SPDX-License-Identifier: Apache-2.0 */
/* A port for the rendezvous. */
#include <stdint.h>

#include <nca/firewall.h>
#include <nca/rendezvous.h>

/* Megatron's restart in the process takes MASTER_PORT + 1 and + 2 (inprocess_restart.py). */
#define PORTS 3

struct range {
	int first, last;
};

/* Where no service of IANA's list that clusters run is usual; then the rest, with Linux's default
 * ephemeral ports last, which a node that has moved its own does not use. */
static const struct range preferred[] = {
	{20000, 32767}, {61000, 65535}, {10100, 19999}, {1024, 10099}, {32768, 60999}};

/* The last resort: a port that the kernel gives out too, but that is free, is better than none. */
static const struct range all = {1024, 65535};

/* Slurm, X11, NFS, Redis, Ray, HTTP proxies, databases, Jupyter: taken on some node sooner or
 * later. */
static const struct range services[] = {
	{2049, 2049}, {3306, 3306},   {5432, 5432},   {6000, 6063},   {6379, 6380},
	{6817, 6820}, {8000, 8100},   {8265, 8265},   {8443, 8443},   {8786, 8890},
	{9090, 9100}, {10001, 10001}, {27017, 27019}, {29400, 29400}, {29500, 29500}};

static bool in_range(int port, const struct range *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (port >= r[i].first && port <= r[i].last)
			return true;
	return false;
}

/* Linux's default, where the node's own is unknown. */
static struct range ephemeral(const struct nca_node *node)
{
	if (node->ip_local_port_range.n == 2)
		return (struct range){node->ip_local_port_range.v[0],
				      node->ip_local_port_range.v[1]};
	return (struct range){32768, 60999};
}

static bool all_free(const struct nca_node *node, int port, bool asked)
{
	struct range eph = ephemeral(node);
	int i;

	for (i = 0; i < PORTS; i++) {
		if (nca_node_port_is_taken(node, port + i))
			return false;
		if (!asked && (in_range(port + i, &eph, 1) ||
			       in_range(port + i, services, ARRAY_SIZE(services))))
			return false;
	}
	return nca_firewall_accepts(node, port);
}

/* FNV-1a: only spreads the starting points. */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; s && *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h;
}

static int search(const struct nca_node *node, const struct range *r, bool asked, uint32_t start)
{
	int n = (r->last - r->first + 1) / PORTS, i;

	for (i = 0; i < n; i++) {
		int port = r->first + (int)((start + (uint32_t)i) % (uint32_t)n) * PORTS;

		if (all_free(node, port, asked))
			return port;
	}
	return -1;
}

int nca_rendezvous_port(const struct nca_node *node, const struct nca_options *opt,
			const char *seed)
{
	const struct range asked = {opt->port_first, opt->port_last};
	int port = -1;
	size_t i;

	if (node->rdzv_port > 0)
		return node->rdzv_port;
	if (asked.first > 0)
		return search(node, &asked, true, hash(seed));
	for (i = 0; port < 0 && i < ARRAY_SIZE(preferred); i++)
		port = search(node, &preferred[i], false, hash(seed));
	return port < 0 ? search(node, &all, true, hash(seed)) : port;
}
