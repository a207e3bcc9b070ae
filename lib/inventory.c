/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of hwdesc/1 and job/1: one table for reading, writing and the digest. */
#include <nca/inventory.h>

#include "schema_field.h"

/* Read by a rule, so part of the digest; required; both, and a name. */
#define D NCA_DIGEST
#define R NCA_REQUIRED
#define N (NCA_DIGEST | NCA_REQUIRED | NCA_NAME)

static const struct nca_field host_fields[] = {
	F(nca_host, vendor, NCA_STR, D),
	F(nca_host, product, NCA_STR, D),
	F(nca_host, arch, NCA_STR, D),
	{"virtual", NCA_BOOL, D, offsetof(struct nca_host, virtual_machine), NULL},
};
SHAPE(nca_host_shape, nca_host, host_fields);

static const struct nca_field pci_fields[] = {
	F(nca_pci, addr, NCA_STR, R),	    F(nca_pci, parent, NCA_STR, 0),
	F(nca_pci, kind, NCA_STR, 0),	    F(nca_pci, class, NCA_STR, 0),
	F(nca_pci, vendor, NCA_STR, 0),	    F(nca_pci, device, NCA_STR, 0),
	F(nca_pci, driver, NCA_STR, 0),	    F(nca_pci, physfn, NCA_STR, 0),
	F(nca_pci, numa, NCA_INT, 0),	    F(nca_pci, link_gts, NCA_NUM, 0),
	F(nca_pci, link_width, NCA_INT, 0), F(nca_pci, link_gbytes, NCA_NUM, 0),
	F(nca_pci, vpd, NCA_MAP, 0),
};
SHAPE(nca_pci_shape, nca_pci, pci_fields);

static const struct nca_field gpu_fields[] = {
	F(nca_gpu, index, NCA_INT, D),	F(nca_gpu, pci, NCA_STR, D),
	F(nca_gpu, vendor, NCA_STR, 0), F(nca_gpu, device, NCA_STR, 0),
	F(nca_gpu, model, NCA_STR, 0),	F(nca_gpu, numa, NCA_INT, D),
};
SHAPE(nca_gpu_shape, nca_gpu, gpu_fields);

static const struct nca_field addr_fields[] = {
	F(nca_addr, family, NCA_STR, D | R),
	F(nca_addr, addr, NCA_STR, D | R),
	F(nca_addr, prefixlen, NCA_INT, D),
	F(nca_addr, scope, NCA_STR, D),
};
SHAPE(nca_addr_shape, nca_addr, addr_fields);

static const struct nca_field bond_fields[] = {
	F(nca_bond, mode, NCA_STR, D),
	F(nca_bond, miimon, NCA_INT, 0),
	F(nca_bond, xmit_hash_policy, NCA_STR, 0),
	F(nca_bond, lacp_rate, NCA_STR, 0),
	F(nca_bond, active_slave, NCA_STR, D),
	F(nca_bond, mii_status, NCA_STR, D),
	F(nca_bond, slaves, NCA_STRS, D),
};
SHAPE(nca_bond_shape, nca_bond, bond_fields);

static const struct nca_field bridge_fields[] = {F(nca_bridge, ports, NCA_STRS, D)};
SHAPE(nca_bridge_shape, nca_bridge, bridge_fields);

static const struct nca_field vlan_fields[] = {F(nca_vlan, id, NCA_INT, D)};
SHAPE(nca_vlan_shape, nca_vlan, vlan_fields);

static const struct nca_field vf_fields[] = {F(nca_vf, index, NCA_INT, 0),
					     F(nca_vf, pf, NCA_STR, D)};
static SHAPE(vf_shape, nca_vf, vf_fields);

static const struct nca_field link_fields[] = {
	F(nca_link, name, NCA_STR, N),
	F(nca_link, ifindex, NCA_INT, D),
	F(nca_link, kind, NCA_STR, D),
	F(nca_link, arphrd, NCA_INT, 0),
	F(nca_link, mac, NCA_STR, 0),
	F(nca_link, mtu, NCA_INT, D),
	F(nca_link, flags, NCA_STRS, D),
	F(nca_link, operstate, NCA_STR, D),
	F(nca_link, carrier, NCA_INT, D),
	F(nca_link, speed_mbps, NCA_INT, D),
	F(nca_link, pci, NCA_STR, D),
	F(nca_link, driver, NCA_STR, D),
	F(nca_link, master, NCA_STR, D),
	F(nca_link, link, NCA_STR, D),
	OBJ(nca_link, addresses, NCA_OBJS, D, &nca_addr_shape),
	OBJ(nca_link, bond, NCA_OBJ, D, &nca_bond_shape),
	OBJ(nca_link, bridge, NCA_OBJ, D, &nca_bridge_shape),
	OBJ(nca_link, vlan, NCA_OBJ, D, &nca_vlan_shape),
	OBJ(nca_link, vf, NCA_OBJ, D, &vf_shape),
	F(nca_link, altnames, NCA_STRS, D),
	F(nca_link, bmc_usb, NCA_BOOL, D),
	F(nca_link, wireless, NCA_BOOL, D),
	F(nca_link, netns_peer, NCA_BOOL, D),
};
SHAPE(nca_link_shape, nca_link, link_fields);

static const struct nca_field gid_fields[] = {
	F(nca_gid, index, NCA_INT, D | R),
	F(nca_gid, gid, NCA_STR, D | R),
	F(nca_gid, type, NCA_STR, D),
	F(nca_gid, ndev, NCA_STR, D),
};
SHAPE(nca_gid_shape, nca_gid, gid_fields);

static const struct nca_field port_fields[] = {
	F(nca_port, port, NCA_INT, D | R),   F(nca_port, state, NCA_STR, D),
	F(nca_port, phys_state, NCA_STR, D), F(nca_port, link_layer, NCA_STR, D),
	F(nca_port, rate_gbps, NCA_NUM, D),  F(nca_port, rate, NCA_STR, 0),
	F(nca_port, max_mtu, NCA_INT, 0),    F(nca_port, active_mtu, NCA_INT, D),
	F(nca_port, lid, NCA_INT, D),	     F(nca_port, sm_lid, NCA_INT, D),
	F(nca_port, netdev, NCA_STR, D),     OBJ(nca_port, gids, NCA_OBJS, D, &nca_gid_shape),
	F(nca_port, counters, NCA_MAP, D),
};
SHAPE(nca_port_shape, nca_port, port_fields);

static const struct nca_field lag_fields[] = {F(nca_lag, bond, NCA_STR, D),
					      F(nca_lag, slaves, NCA_STRS, D)};
static SHAPE(lag_shape, nca_lag, lag_fields);

static const struct nca_field hca_fields[] = {
	F(nca_hca, name, NCA_STR, N),
	F(nca_hca, pci, NCA_STR, D),
	F(nca_hca, numa, NCA_INT, D),
	F(nca_hca, driver, NCA_STR, D),
	F(nca_hca, node_type, NCA_STR, D),
	F(nca_hca, transport, NCA_STR, 0),
	F(nca_hca, vendor_id, NCA_STR, D),
	F(nca_hca, vendor_part_id, NCA_INT, D),
	F(nca_hca, hca_type, NCA_STR, 0),
	F(nca_hca, board_id, NCA_STR, 0),
	F(nca_hca, fw_ver, NCA_STR, D),
	F(nca_hca, node_guid, NCA_STR, 0),
	F(nca_hca, sys_image_guid, NCA_STR, D),
	F(nca_hca, is_vf, NCA_BOOL, D),
	F(nca_hca, physfn, NCA_STR, D),
	OBJ(nca_hca, lag, NCA_OBJ, D, &lag_shape),
	F(nca_hca, phys_port, NCA_INT, 0),
	F(nca_hca, altname, NCA_STR, 0),
	F(nca_hca, vpd, NCA_MAP, D),
	F(nca_hca, uverbs_opens, NCA_BOOL, D),
	F(nca_hca, uverbs_error, NCA_STR, D),
	OBJ(nca_hca, ports, NCA_OBJS, D | R, &nca_port_shape),
};
SHAPE(nca_hca_shape, nca_hca, hca_fields);

static const struct nca_field nexthop_fields[] = {
	F(nca_nexthop, via, NCA_STR, D),
	F(nca_nexthop, dev, NCA_STR, D),
};
static SHAPE(nexthop_shape, nca_nexthop, nexthop_fields);

static const struct nca_field route_fields[] = {
	F(nca_route, family, NCA_STR, D | R), F(nca_route, dst, NCA_STR, D | R),
	F(nca_route, dev, NCA_STR, D),	      F(nca_route, table, NCA_STR, D),
	F(nca_route, gateway, NCA_STR, D),    F(nca_route, metric, NCA_INT, D),
	F(nca_route, prefsrc, NCA_STR, D),    F(nca_route, scope, NCA_STR, 0),
	F(nca_route, protocol, NCA_STR, 0),   OBJ(nca_route, nexthops, NCA_OBJS, D, &nexthop_shape),
};
SHAPE(nca_route_shape, nca_route, route_fields);

static const struct nca_field peer_fields[] = {
	F(nca_peer, name, NCA_STR, D),
	F(nca_peer, addresses, NCA_STRS, D),
};
static SHAPE(peer_shape, nca_peer, peer_fields);

static const struct nca_field firewall_rule_fields[] = {
	F(nca_firewall_rule, proto, NCA_STR, D),
	F(nca_firewall_rule, ports, NCA_INTS, D),
};
static SHAPE(firewall_rule_shape, nca_firewall_rule, firewall_rule_fields);

static const struct nca_field firewall_fields[] = {
	F(nca_firewall, input, NCA_STR, D),
	OBJ(nca_firewall, accept, NCA_OBJS, D, &firewall_rule_shape),
};
static SHAPE(firewall_shape, nca_firewall, firewall_fields);

static const struct nca_field node_fields[] = {
	F(nca_node, name, NCA_STR, N),
	OBJ(nca_node, host, NCA_OBJ, D, &nca_host_shape),
	OBJ(nca_node, pci, NCA_OBJS, 0, &nca_pci_shape),
	OBJ(nca_node, gpus, NCA_OBJS, D, &nca_gpu_shape),
	OBJ(nca_node, interfaces, NCA_OBJS, D | R, &nca_link_shape),
	OBJ(nca_node, hcas, NCA_OBJS, D | R, &nca_hca_shape),
	OBJ(nca_node, routes, NCA_OBJS, D, &nca_route_shape),
	OBJ(nca_node, peers, NCA_OBJS, D, &peer_shape),
	F(nca_node, distances, NCA_MAPSTRS, D),
	F(nca_node, environment, NCA_MAP, D),
	F(nca_node, environment_origin, NCA_STR, D),
	F(nca_node, in_container, NCA_BOOL, D),
	F(nca_node, memlock_kb, NCA_INT, D),
	F(nca_node, sysctl, NCA_MAP, D),
	F(nca_node, ip_local_port_range, NCA_INTS, D),
	F(nca_node, dev_infiniband, NCA_STR, D),
	F(nca_node, rdma_netns_mode, NCA_STR, D),
	F(nca_node, tasks_per_node, NCA_INT, D),
	F(nca_node, nccl_version, NCA_STR, D),
	F(nca_node, nccl_net_plugin, NCA_STR, D),
	F(nca_node, hostname_resolves_to, NCA_STR, D),
	F(nca_node, ports_in_use, NCA_INTS, D),
	F(nca_node, rdzv_port, NCA_INT, D),
	F(nca_node, launcher, NCA_STR, D),
	OBJ(nca_node, firewall, NCA_OBJ, D, &firewall_shape),
	F(nca_node, software, NCA_MAP, D),
	F(nca_node, conf_dir, NCA_STR, D),
	F(nca_node, site, NCA_MAP, D),
	F(nca_node, unknown, NCA_MAP, 0),
};
const struct nca_shape nca_node_shape = {"hwdesc/1", sizeof(struct nca_node), node_fields,
					 ARRAY_SIZE(node_fields)};

static const struct nca_field job_fields[] = {
	F(nca_job, id, NCA_STR, D),
	F(nca_job, nnodes, NCA_INT, D | R),
	OBJ(nca_job, nodes, NCA_OBJS, D | R, &nca_node_shape),
	F(nca_job, options, NCA_MAP, D),
};
const struct nca_shape nca_job_shape = {"job/1", sizeof(struct nca_job), job_fields,
					ARRAY_SIZE(job_fields)};

const struct nca_link *nca_node_link(const struct nca_node *node, const char *name)
{
	const struct nca_link *l;

	if (!name)
		return NULL;
	NCA_FOREACH(l, node->interfaces)
		if (nca_same(l->name, name))
			return l;
	return NULL;
}

const struct nca_link *nca_node_holder(const struct nca_node *node, const struct nca_ip *ip)
{
	const struct nca_link *link;
	const struct nca_addr *a;
	struct nca_ip have;

	NCA_FOREACH(link, node->interfaces)
		NCA_FOREACH(a, link->addresses)
			if (!nca_ip_parse(a->addr, &have) && !nca_ip_compare(&have, ip))
				return link;
	return NULL;
}

bool nca_node_port_is_taken(const struct nca_node *node, int port)
{
	size_t i;

	for (i = 0; i < node->ports_in_use.n; i++)
		if (node->ports_in_use.v[i] == port)
			return true;
	return false;
}

const struct nca_hca *nca_node_hca(const struct nca_node *node, const char *name)
{
	const struct nca_hca *h;

	NCA_FOREACH(h, node->hcas)
		if (nca_same(h->name, name))
			return h;
	return NULL;
}

const char *nca_pairs_find(const struct nca_pair *v, size_t n, const char *key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (streq(v[i].key, key))
			return v[i].value;
	return NULL;
}

bool nca_node_is_named(const struct nca_node *node, const char *text)
{
	size_t n = strlen(node->name);

	return strncmp(text, node->name, n) == 0 && (!text[n] || text[n] == '.');
}
