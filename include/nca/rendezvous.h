/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the workers of a step meet, and which of the two layouts the step has. Pure.
 */
#ifndef NCA_RENDEZVOUS_H
#define NCA_RENDEZVOUS_H

#include <nca/plan.h>

struct nca_contract;

/*
 * The layout that the step's shape shows, the same for all nodes; NCA_LAYOUT_NONE where it shows
 * none or is unknown.
 *
 * opt->layout decides where it is not auto, then a trainer= that has only one layout. Else, per
 * node: tasks = GPUs > 1: task; one task and more than one GPU: node; one task and at most one GPU:
 * node if the program is a launcher (nca_launcher_find()), else task; several tasks and no GPUs:
 * task; anything else, and nodes that differ: none, and *why says why.
 */
enum nca_layout nca_rendezvous_layout(const struct nca_job *job, const struct nca_options *opt,
				      struct nca_pool *pool, const char **why);

/*
 * The row of the contract to whose programs a word of the command line belongs, with or without a
 * path, or a module after python's -m: it starts the workers itself. NULL: no launcher is seen.
 */
const struct nca_contract *nca_launcher_find(const char *command);

/*
 * A port for the rendezvous on a node, of which the two after it are free too as far as the node's
 * facts tell: the node's tested rdzv_port, else within opt's rdzv-ports, else outside the node's
 * ephemeral range (net.ipv4.ip_local_port_range, from which any outgoing connection may take a port
 * first) and away from ports of well-known services; where that leaves nothing, any that are free:
 * a meeting place that somebody might take is better than none. The search begins at a place that
 * seed (the job's id) decides, so that steps differ. -1 where there is none.
 */
int nca_rendezvous_port(const struct nca_node *node, const struct nca_options *opt,
			const char *seed);

/*
 * Fills plan->rendezvous and, if opt->inject wants it, adds the variables of the trainer's contract
 * to every node: env for those that all tasks of a node share, task_env for those that differ.
 * What somebody has set is kept; where it breaks the layout a warning says so, with the remedy.
 * Needs plan->nodes with socket_addr. -ENOMEM.
 */
int nca_rendezvous_plan(const struct nca_job *job, const struct nca_options *opt,
			struct nca_plan *plan, struct nca_pool *pool, struct nca_error *err);

#endif
