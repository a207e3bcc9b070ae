/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step while it is decided: for every node what is still possible and why the rest is not. Each
 * stage of the planner (links, ports, rails, networks, variables, checks) reads what the stages
 * before it left and writes its own part; see nca_plan_make().
 */
#ifndef NCA_STEP_H
#define NCA_STEP_H

#include <nca/plan.h>
#include <nca/route.h>
#include <nca/topo.h>

#include "rules.h"

/* MAX_IB_DEVS (src/transport/net_ib/common.h, 32 since 2.18.5). */
#define NCA_RAILS_MAX 32

struct nca_link_state {
	const struct nca_link *link;
	enum nca_rule rule; /* NONE: still a candidate */
	const char *text;
	bool is_default; /* the default route leaves by it: of IPv4, without one of IPv6 */
	bool *uses;	 /* by port, of links that are default or have candidates */
};

/* Values by which networks are compared: those of the rules FAMILY to DEFAULT_ROUTE. */
#define NCA_VALUES (NCA_RULE_FIRST - NCA_RULE_FAMILY)

/* An address over which NCCL would use an interface if told its name. */
struct nca_candidate {
	struct nca_link_state *state;
	struct nca_ip ip;
	struct nca_prefix net;
	bool duplicate;
	bool local; /* IPv4 link-local: only if somebody names it, or nothing else joins the nodes
		     */
	int value[NCA_VALUES]; /* bigger is better; -1 unknown */
};

enum nca_layer { NCA_LAYER_UNKNOWN, NCA_LAYER_IB, NCA_LAYER_ETHERNET, NCA_LAYER_OTHER };

struct nca_port_state {
	const struct nca_hca *hca;
	const struct nca_port *port;
	enum nca_rule rule; /* NONE: still a candidate */
	const char *text;
	nca_strs netdevs;	      /* nca_topo_netdevs() */
	const struct nca_gid *gid[2]; /* best IPv4 and best IPv6 GID, NULL where there is none */
	struct nca_ip ip[2];	      /* of these */
	struct nca_prefix net[2];     /* of these; family 0 unknown */
	/* By family (4, or what NCCL_IB_ADDR_FAMILY says), what NCCL 2.21 and newer take by
	 * themselves: the first routable RoCE v2 GID (ncclUpdateGidIndex()); NULL: index 0. */
	const struct nca_gid *automatic[2];
	enum nca_layer layer;
	bool software;	      /* soft-RoCE */
	bool v1;	      /* its GIDs are of RoCE v1 only */
	bool local;	      /* of its usable GIDs none is routable: IPv4 link-local */
	bool several;	      /* it has usable GIDs of more than one network of a family */
	double rate;	      /* Gb/s, -1 unknown */
	enum nca_level level; /* of the nearest GPU */
	int place;	      /* in the site's rail-hca=, -1: none */
	bool keep;	      /* by the filter that is being applied */
};

/* May the port still be chosen? */
static inline bool nca_port_is_open(const struct nca_port_state *port)
{
	return port->rule == NCA_RULE_NONE;
}

struct nca_node_state {
	const struct nca_node *node;
	const struct nca_routes *routes; /* nodes with the same routes share them */
	NCA_LIST(struct nca_link_state) links;
	NCA_LIST(struct nca_candidate) candidates;
	NCA_LIST(struct nca_port_state) ports;
	NCA_LIST(struct nca_port_state *) rails; /* in rail order */
	const struct nca_candidate *chosen;
	bool user_ifname;  /* NCCL_SOCKET_IFNAME is set and works */
	bool user_address; /* it holds an address, whose interface is meant: its name replaces it */
	bool user_hcas;	   /* NCCL_IB_HCA is set and works */
	bool fixed_hcas;   /* that, or the site's rail-hca=: nobody has to choose */
	bool duplicates;   /* it has an address that another node has too */
	struct nca_prefix rail_subnet; /* the site's; family 0: none */
};

/* Warnings of one cause are one, which names its nodes. */
struct nca_cause {
	const char *code, *key;
	size_t warning; /* index in plan->warnings */
	NCA_LIST(const char *) nodes;
};

struct nca_step {
	const struct nca_job *job;
	const struct nca_options *opt;
	const nca_bans *bans;
	struct nca_pool *pool;
	struct nca_plan *plan;
	NCA_LIST(struct nca_node_state) nodes;
	NCA_LIST(struct nca_cause) causes;
	int family;	   /* that NCCL_SOCKET_FAMILY asks for, else 4 */
	int gid_family;	   /* of the rails: 4 or 6, 0 on InfiniBand */
	bool any_v1;	   /* some port has RoCE v1 only */
	bool any_local;	   /* some port has IPv4 link-local GIDs only */
	bool fast_sockets; /* Slingshot: its interfaces carry IP as fast, and HPE wants them named
			    */
	bool rdma_lost;	   /* RDMA was there and is not used, against nobody's wish */
	bool rdma_refused; /* somebody set NCCL_NET=Socket, NCCL_IB_DISABLE=1 or, where a plug-in is
			    * all there is, NCCL_NET_PLUGIN=none */
	bool foreign;	   /* NCCL_NET names a plug-in of another kind on all nodes */
	struct {
		bool family6; /* IPv6 although some interface has IPv4 too */
		bool apart;   /* rails do not reach each other */
		bool lag;     /* all rails are */
		bool tcp;     /* is agreed, though NCCL could try something else */
		int mesh_len; /* length of the subnets of direct cables; 0: there are none */
	} env;
	bool no_memory;
};

/* A formatted text of the step's pool; NULL, noted in no_memory, where memory is short. */
char *nca_step_text(struct nca_step *step, const char *fmt, ...) NCA_PRINTF(2, 3);

/* The strings one after the other, ended by NULL, at most NCA_JOIN_MAX: what stands in every row of
 * every node is not worth a format. NULL, noted in no_memory, where memory is short. */
#define NCA_JOIN_MAX (4 * NCA_RAILS_MAX)
#define nca_step_join(step, ...) nca_step_join_list(step, (const char *const[]){__VA_ARGS__, NULL})
char *nca_step_join_list(struct nca_step *step, const char *const *parts);

/* Room for an int as text. */
#define NCA_INT_TEXT 12
const char *nca_step_int(int value, char *buf);

/* Decides a link or a port, unless it is decided already. */
void nca_step_judge_link(struct nca_step *step, struct nca_link_state *link, enum nca_rule rule,
			 char *text);
void nca_step_judge_port(struct nca_step *step, struct nca_port_state *port, enum nca_rule rule,
			 char *text);

/* Decides a link with a text of its addresses, why and value. */
void nca_link_reject(struct nca_step *step, struct nca_link_state *link, enum nca_rule rule,
		     const char *why, const char *value);

/*
 * Warns once per code and key; the text is the first node's, and "{nodes}" in it stands for the
 * names of all nodes of the cause. Node NULL: the whole step.
 */
void nca_step_warn(struct nca_step *step, const char *code, const char *key, const char *node,
		   char *text);

/* As nca_step_warn(), and the plan is unsure: the text must say what would settle it and the pin
 * that fixes it. */
void nca_step_unsure(struct nca_step *step, const char *code, const char *node, char *text);

/*
 * Warns once where the values of the nodes (in their order, NULL: not known, so not compared) are
 * not equal: "WHAT differs: A on node[1-7], B on node8; CURE", the majority first. The warning's
 * node is one of the minority, NULL where none is. True: they differ.
 */
bool nca_step_differ(struct nca_step *step, const char *code, const char *what,
		     const char *const *values, const char *cure);

/*
 * 1 where the values of the nodes (NULL: not known, so not compared) are not equal: *text is "A on
 * node[1-7], B on node8", the majority first, *odd one of the minority, NULL where none is. 0;
 * -ENOMEM.
 */
int nca_differ_text(struct nca_pool *pool, const char *const *names, const char *const *values,
		    size_t n, char **text, const char **odd);

/* Software, firmware and NCCL's version, compared across the nodes; refuses where NCCL would. */
void nca_step_check_versions(struct nca_step *step);

/* Puts the names of the nodes into the warnings that hold for several: "node3,node7 (2 of 16)". */
void nca_step_count(struct nca_step *step);

/* "node3,node7,node[9-11]": runs of three and more are one range, as Slurm reads it. NULL where
 * memory is short. */
char *nca_step_names(struct nca_step *step, const char *const *names, size_t n);

/* "refuse" wins over "fallback", "fallback" over "choose". */
void nca_step_verdict(struct nca_step *step, const char *verdict);

/* Sets a variable of a node's tasks. What somebody has set stays; nca_step_replace() is for values
 * that cannot work, after a warning. */
void nca_step_setenv(struct nca_step *step, size_t node, const char *name, char *value);
void nca_step_replace(struct nca_step *step, size_t node, const char *name, char *value);

/* The network of a RoCE rail's GID; NULL: not known. */
const struct nca_prefix *nca_rail_network(const struct nca_step *step,
					  const struct nca_port_state *rail);

/* Does a route of the node lead to ip over the interface of the rail's GID, which has a network? */
bool nca_rail_reaches(const struct nca_step *step, const struct nca_node_state *node,
		      const struct nca_port_state *rail, const struct nca_ip *ip);

/* The node's address that another node has too, over which they do not meet; NULL: none is ip. */
const struct nca_candidate *nca_node_duplicate(const struct nca_node_state *node,
					       const struct nca_ip *ip);

/* Down as far as it is known: an unknown carrier is not down. */
bool nca_link_is_down(const struct nca_link *link);

/* What somebody set (NCCL_SOCKET_IFNAME) is kept if it can work: then nothing but its first match
 * is left. */
void nca_link_judge_user(struct nca_step *step, struct nca_node_state *node);

/* What concerns one node alone, in this order; node by node, because a large step does not fit into
 * a cache. */
int nca_links_judge_node(struct nca_step *step, struct nca_node_state *node);
int nca_ports_judge_node(struct nca_step *step, struct nca_node_state *node);
int nca_network_values_node(struct nca_step *step, struct nca_node_state *node);
void nca_ports_filter_node(struct nca_step *step, struct nca_node_state *node);

/* Rejects a port for a reason, before which its name is put; NULL: memory is short. */
void nca_port_reject(struct nca_step *step, struct nca_port_state *port, enum nca_rule rule,
		     const char *text);

/* What somebody set (NCCL_IB_HCA) is kept if it can work on the node. */
void nca_port_judge_user(struct nca_step *step, struct nca_node_state *node);

/* What somebody set and takes no port on one node is kept on none: what the others would have by it
 * and this one without would be different rails. */
void nca_ports_settle_user(struct nca_step *step);

/* What the site's file pins, where nobody has set something else and it leaves something. */
void nca_pins_judge_links(struct nca_step *step, struct nca_node_state *node);
void nca_pins_read_node(struct nca_node_state *node);
void nca_pins_judge_ports(struct nca_step *step, struct nca_node_state *node);
int nca_pins_family(struct nca_step *step);
void nca_pins_count(struct nca_step *step, const struct nca_node_state *node);

/* Then the stages, in this order. */
int nca_links_judge_duplicates(struct nca_step *step);
int nca_links_judge(struct nca_step *step);
void nca_gids_agree(struct nca_step *step);
void nca_ports_filter(struct nca_step *step);
void nca_ports_judge_bans(struct nca_step *step);
void nca_ports_doubt(struct nca_step *step);
int nca_rails_agree(struct nca_step *step);
void nca_transport_choose(struct nca_step *step);
int nca_network_agree(struct nca_step *step);
void nca_checks_run(struct nca_step *step);
void nca_ends_check(struct nca_step *step);
void nca_peers_check(struct nca_step *step);
void nca_env_check(struct nca_step *step);
void nca_env_check_lists(struct nca_step *step, const struct nca_node_state *node);
void nca_env_check_values(struct nca_step *step, const struct nca_node_state *node);
void nca_env_check_same(struct nca_step *step);
void nca_env_prepare(struct nca_step *step);

/* At last, node by node again: the variables, and the plan. */
void nca_env_node(struct nca_step *step, size_t i);
void nca_env_gid(struct nca_step *step, size_t i);
int nca_plan_fill_node(struct nca_step *step, size_t i);

/* Order of names, numbers as numbers: "mlx5_2" before "mlx5_10". */
int nca_name_compare(const char *a, const char *b);

/* What somebody set on the node, NULL where nobody did; empty counts as set. */
const char *nca_step_set(const struct nca_node_state *node, const char *variable);

/* Who set it: "the user", "the image", "nccl.conf". */
const char *nca_step_setter(const struct nca_node_state *node);

/* Was it the user, who can be told to write it otherwise? */
bool nca_step_is_user(const struct nca_node_state *node);

/* Are all GIDs of a port, as far as they are known, of RoCE v1? */
bool nca_gid_only_v1(const struct nca_port *port);

/* Reads a RoCE port's GIDs: the best routable RoCE v2 ones (v1 where it has no others; where none
 * is routable, IPv4 link-local ones, which NCCL takes too: validGid()), their networks, and NCCL's
 * choice. */
void nca_gids_read(const struct nca_node_state *node, struct nca_port_state *port);

/* Judges a RoCE port whose table is not known by the addresses of its netdev and of what lies over
 * it, of which the kernel makes GIDs; where these are not known either, it stays. */
void nca_gids_guess(struct nca_step *step, const struct nca_node_state *node,
		    struct nca_port_state *port);

/* Says so where rails of the node may be of no use, because their GIDs are not known: iWARP,
 * another network namespace, networks without a route. The rails are agreed. */
void nca_gids_doubt(struct nca_step *step, const struct nca_node_state *node);

/* May RoCE use the GID: of the port's version, routable, of this network namespace, and no address
 * that another node has? Then *ip and *net are its address and network (family 0: not known). */
bool nca_gid_read(const struct nca_node_state *node, const struct nca_port_state *port,
		  const struct nca_gid *gid, struct nca_ip *ip, struct nca_prefix *net);

/* Makes it the port's choice of its family. */
void nca_gid_take(struct nca_port_state *port, const struct nca_gid *gid, const struct nca_ip *ip,
		  const struct nca_prefix *net);

/*
 * The GID that NCCL 2.21 and newer take by themselves (ncclUpdateGidIndex()): the first
 * routable RoCE v2 GID (v1 where the port has no others) of the family in the range (NULL: any).
 * NULL: none, so index 0.
 */
const struct nca_gid *nca_gid_auto(const struct nca_port *port, int family,
				   const struct nca_prefix *range);

/* The agreed GID of a rail and its address, NULL on InfiniBand or where the table was not read. */
const struct nca_gid *nca_rail_gid(const struct nca_step *step, const struct nca_port_state *rail);
const struct nca_ip *nca_rail_ip(const struct nca_step *step, const struct nca_port_state *rail);

/* NCCL's version of a node as 10000 * major + 100 * minor + patch; -1 unknown. */
int nca_version_nccl(const struct nca_node *node);

/* Shares the port a PCIe switch with a GPU, as far as NCCL will see it? */
bool nca_port_is_near(const struct nca_node_state *node, const struct nca_port_state *p);

/* Is some port of the node that may be chosen near in this sense? */
bool nca_port_any_near(const struct nca_node_state *node);

/* Does IP run over the port? On InfiniBand that marks storage. */
bool nca_port_has_ip(const struct nca_node_state *node, const struct nca_port_state *p);

/* Would NCCL try the port: one of verbs that is not down? It does not look at iWARP
 * (src/transport/net_ib/init.cc). */
bool nca_port_is_live(const struct nca_port_state *port);

/* Is it InfiniBand that has a link, but no subnet manager has set it up? */
bool nca_port_is_unmanaged(const struct nca_port_state *port);
bool nca_port_is_plugin(const struct nca_hca *hca, const struct nca_port *port);

/* Has the node a device that only a vendor's plug-in can use: EFA, Slingshot? */
bool nca_node_has_plugin_fabric(const struct nca_node *node);

#endif
