/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of two and three nodes in a few words, and what a plan of one must be. */
#ifndef NCA_TEST_SMALL_STEPS_H
#define NCA_TEST_SMALL_STEPS_H

#include "table.h"

#include <nca/plan.h>

#include "document.h"

#define JOB(n, nodes) "{'schema': 'job/1', 'nnodes': " #n ", 'nodes': [" nodes "]}"
#define NODE(name, links, routes, hcas, more)                                                      \
	"{'schema': 'hwdesc/1', 'name': '" name "', 'interfaces': [" links "], 'routes': [" routes \
	"], 'hcas': [" hcas "]" more "}"
#define LINK(name, addr, more)                                                                     \
	"{'name': '" name "', 'kind': 'ether', 'addresses': [{'family': 'inet', 'addr': '" addr    \
	"', 'prefixlen': 24, 'scope': 'global'}]" more "}"
#define ROUTE(dst, dev) "{'family': 'inet', 'dst': '" dst "', 'dev': '" dev "'}"
#define IB(name, state, rate)                                                                      \
	"{'name': '" name "', 'pci': '" name "', 'ports': [{'port': 1, 'state': '" state           \
	"', 'link_layer': 'InfiniBand', 'rate_gbps': " rate "}]}"
#define ETH(name)                                                                                  \
	"{'name': '" name "', 'ports': [{'port': 1, 'state': 'ACTIVE', 'link_layer': "             \
	"'Ethernet'}]}"

/* Two nodes with eth0 10.0.0.1 and .2, and what a row adds. */
#define TWO(links1, links2, hcas1, hcas2, more1, more2)                                            \
	JOB(2, NODE("a", LINK("eth0", "10.0.0.1", "") links1,                                      \
		    ROUTE("10.0.0.0/24", "eth0") "," ROUTE("10.1.0.0/24", "eth1"), hcas1,          \
		    more1) "," NODE("b", LINK("eth0", "10.0.0.2", "") links2,                      \
				    ROUTE("10.0.0.0/24", "eth0") "," ROUTE("10.1.0.0/24", "eth1"), \
				    hcas2, more2))
#define ETH1(last, more) "," LINK("eth1", "10.1.0." last, more)
#define HCAS(more) TWO("", "", IB("m0", "ACTIVE", "200"), IB("m0", "ACTIVE", "200"), "", more)
#define USER(more) ", 'environment_origin': 'user', 'environment': {" more "}"
#define BGP(last)                                                                                  \
	"{'name': 'dummy0', 'kind': 'dummy', 'addresses': [{'family': 'inet', 'addr': "            \
	"'10.255.0." last "', 'prefixlen': 32, 'scope': 'global'}]}, {'name': 'lan0', 'kind': "    \
	"'ether', 'addresses': []}, {'name': 'lan1', 'kind': 'ether', 'addresses': []}"
#define HOP(dev) "{'family': 'inet', 'dst': 'default', 'dev': '" dev "', 'metric': 20}"
#define V2(last)                                                                                   \
	"{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:0a00:" last                            \
	"', 'type': 'RoCE v2', 'ndev': 'eth0'}"
#define RNIC(gids)                                                                                 \
	"{'name': 'e0', 'node_type': '4: RNIC', 'ports': [{'port': 1, 'state': 'ACTIVE', "         \
	"'link_layer': 'Ethernet', 'netdev': 'eth0', 'gids': [" gids "]}]}"
/* RoCE rails in networks of their own. */
#define RAIL(n, last, more) "," LINK("r" n, "10." n ".0." last, more)
#define ROCE(n, state, gids)                                                                       \
	"{'name': 'm" n "', 'ports': [{'port': 1, 'state': '" state                                \
	"', 'link_layer': 'Ethernet', 'netdev': 'r" n "', 'rate_gbps': 200, 'gids': [" gids "]}]}"
#define GID(n, last)                                                                               \
	"{'index': 1, 'gid': '0000:0000:0000:0000:0000:ffff:0a0" n ":000" last                     \
	"', 'type': 'RoCE v2', 'ndev': 'r" n "'}"
/* Three nodes with what a row gives each. */
#define ON(n, hcas) NODE(#n, LINK("eth0", "10.0.0." #n, ""), ROUTE("10.0.0.0/24", "eth0"), hcas, "")
#define THREE(hcas1, hcas2, hcas3) JOB(3, ON(1, hcas1) "," ON(2, hcas2) "," ON(3, hcas3))
#define BOTH IB("m0", "ACTIVE", "200") "," IB("m1", "ACTIVE", "200")
#define FIREWALL(ports)                                                                            \
	USER("'MASTER_PORT': '29500'")                                                             \
	", 'ip_local_port_range': [40000, 40001], 'firewall': {'input': 'drop', 'accept': "        \
	"[{'proto': 'tcp', 'ports': [" ports "]}]}"

/* A row of a table of plans. */
struct plan {
	const char *name, *job;
	const char *verdict, *net;
	const char *ifname[4];
	const char *hcas[4]; /* with commas */
	const char *warning; /* code of one; NULL: there is none */
	int missing_rail_fail, min_rails, fallback_fail;
	const char *bans;    /* "NODE HCA:PORT", with commas; NULL: none */
	const char *says;    /* a part of that warning's text; NULL: any */
	const char *summary; /* a part of it; NULL: any */
};

/* Plans the row's job. */
void plan_make(struct nca_pool *pool, const struct plan *row, struct nca_plan **plan,
	       const struct nca_job **job);

/* A test of a row of struct plan. */
void check_plan(void **state);

#endif
