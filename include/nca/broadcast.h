/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launchers that copy one node's environment to all others (DeepSpeed's pdsh runner, Ray,
 * mpirun -x): what is different on a node would be wrong on the others. Pure.
 */
#ifndef NCA_BROADCAST_H
#define NCA_BROADCAST_H

#include <nca/option.h>
#include <nca/plan.h>

/*
 * What broadcast= says; where it says nothing, the step if trainer= names a trainer that copies
 * (nca/contract.h). A trainer that is only recognized changes nothing: its program may be what
 * copies to other nodes, or what a node's own daemon has started there.
 */
enum nca_broadcast nca_broadcast_wanted(const struct nca_options *opt);

/*
 * Makes env the same on all nodes. A variable that differs goes, if it is NCCL's, into ->conf, the
 * lines of a file that each node writes at one path, and env gets NCCL_CONF_FILE with that path;
 * NCCL reads it since 2.23.4 (src/misc/param.cc), and what the environment has comes first. Where
 * an older NCCL is known or the version is not, NCCL_SOCKET_IFNAME becomes the names of all nodes
 * if no node has one of the others. What cannot be said so is left out and warned of; node ranks
 * are left to the launcher, which knows them. Needs plan->nodes with all of env. -ENOMEM.
 *
 * The path lies in the site's conf-dir=, else in the nodes' conf_dir if all have the same, else in
 * /var/tmp: /tmp and /dev/shm are a job's own where Slurm makes them so (job_container/tmpfs), and
 * a login by ssh does not see them.
 */
int nca_broadcast_apply(const struct nca_job *job, const struct nca_options *opt,
			struct nca_plan *plan, struct nca_pool *pool);

#endif
