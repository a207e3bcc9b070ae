/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading this node, or a recorded one, into a snapshot (document hwdesc/1).
 *
 * What cannot be read is unknown, and `unknown` of the snapshot says why, by path
 * ("hcas[mlx5_0].ports[1].gids" -> "Permission denied"). Only facts: nothing is judged here. No
 * name is looked up, and nothing is written. Reading has no deadline of its own: a driver may block
 * for seconds, so a caller that must not wait runs it where it can be left behind.
 *
 * A recorded tree holds sys, proc and etc as the machine had them, and the kernel's answers to
 * RTM_GETLINK, RTM_GETADDR and RTM_GETROUTE as bytes in netlink/link, netlink/addr, netlink/route
 * and netlink/route6.
 */
#ifndef NCA_PROBE_H
#define NCA_PROBE_H

#include <nca/inventory.h>

/* What is being read, in words; for another thread, so __atomic_load_n(). NULL: nothing yet. */
typedef const char *nca_probe_part;

struct nca_source {
	int root_fd;	       /* directory: "/", or a recorded tree; stays the caller's */
	bool live;	       /* this machine: ask rtnetlink, open device nodes */
	const char *node_name; /* NULL: host name up to the first dot */
	char *const *env; /* variables of the task, "NAME=value", ended by NULL; NULL: not known */
	const char *gpus; /* GPUs given to the step: indices, ranges, UUIDs, by comma; NULL: all */
	const char *
		memlock; /* memory lock limit of the task: bytes, or "unlimited"; NULL: not known */
	const char *version;  /* of this program; NULL: not said */
	nca_probe_part *part; /* is kept up to date; NULL: nobody asks */
};

/*
 * Reads the node. The snapshot belongs to the pool and is written to *ret only on success. -ENOMEM;
 * -EINVAL where the node has no name that a document can carry. Every other failure leaves its
 * fact unknown.
 */
int nca_probe(const struct nca_source *src, struct nca_pool *pool, struct nca_node **ret,
	      struct nca_error *err);

/*
 * Puts hwloc's variables in the environment of the process right, once, before any thread is
 * started: hwloc takes its root and its components only from there, and a HWLOC_XMLFILE of the
 * user's would show us another machine. fsroot: path of the recorded tree, NULL for this machine.
 * A process that later becomes the user's program must not call it. 0 or -errno.
 */
int nca_probe_prepare(const char *fsroot);

#endif
