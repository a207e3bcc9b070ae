/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision: job and options in, plan out. Pure: no file, socket, clock or environment, and the
 * same input gives the same plan in the hub, in `nccl-autoconf plan`, in tests and in a bug report.
 */
#ifndef NCA_PLAN_H
#define NCA_PLAN_H

#include <nca/inventory.h>
#include <nca/option.h>

struct nca_decision {
	char *subject; /* "eth0", "mlx5_0:1" */
	char *outcome; /* chosen rejected */
	char *rule;    /* stable word, see lib/rules.c */
	char *text;
};

struct nca_plan_hca {
	char *name;
	int port;
	int gid_index; /* -1 on InfiniBand */
	int rail;
};

struct nca_plan_node {
	char *name;
	char *socket_ifname, *socket_addr;
	NCA_LIST(struct nca_plan_hca)
	hcas;			       /* in rail order: entry i is the same rail on every node */
	NCA_LIST(struct nca_pair) env; /* for every task of the node */
	NCA_LIST(struct nca_pair)
	task_env; /* NAME -> variable of Slurm's whose value each task copies */
	NCA_LIST(struct nca_pair) conf; /* for NCCL_CONF_FILE instead: nca_broadcast_apply() */
	NCA_LIST(struct nca_decision) decisions; /* one for every interface and every HCA port */
};

struct nca_warning {
	char *code; /* stable word, documented with its cure */
	char *node; /* NULL: the whole step */
	char *text;
};

struct nca_rendezvous {
	char *master_addr;
	int master_port;
	char *layout; /* task, node, or none: no rendezvous variables */
};

struct nca_plan {
	char *verdict;	  /* choose fallback refuse */
	char *confidence; /* sure unsure */
	char *net;	  /* IB RoCE Socket plugin none */
	NCA_LIST(struct nca_plan_node) nodes;
	struct nca_rendezvous *rendezvous;
	NCA_LIST(struct nca_warning) warnings;
};

extern const struct nca_shape nca_plan_shape; /* plan/1 */

/* What a test proved useless for this step, so that the next plan goes without it. */
struct nca_ban {
	char *node;
	char *subject; /* as a decision's: an interface, or "mlx5_0:1" */
	char *why;
};

typedef NCA_LIST(struct nca_ban) nca_bans;

/*
 * Decides. The plan belongs to the pool and may point into the job. bans may be NULL. -EINVAL: the
 * job cannot be planned at all (no nodes, two nodes of one name); -ENOMEM. A step that cannot work
 * is no error but verdict "refuse".
 */
int nca_plan_make(const struct nca_job *job, const struct nca_options *opt, const nca_bans *bans,
		  struct nca_pool *pool, struct nca_plan **ret, struct nca_error *err);

/* Adds a warning; NULL node means the whole step. -ENOMEM when memory is short. */
int nca_plan_warn(struct nca_plan *plan, struct nca_pool *pool, const char *code, const char *node,
		  const char *fmt, ...) NCA_PRINTF(5, 6);

/* A decision's text without the device's name, where that stands beside it. */
const char *nca_decision_values(const struct nca_decision *d);

/* The one line that says what was agreed, without prefix; NULL when memory is short. */
char *nca_plan_summary(const struct nca_plan *plan, const struct nca_job *job,
		       struct nca_pool *pool);

#endif
