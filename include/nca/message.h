/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hub and agents say to each other, each a JSON object by a table.
 *
 *   agent HELLO, REPORT -> hub; hub HOLD -> first node's agent, HELD back; hub TEST -> all, RESULT
 * back; for a preflight hub OPEN, LINK, PING -> all, OPENED, LINKED, PINGED back; hub PART -> all,
 * ACK back; hub COMMIT -> all, DONE back, or DROP -> all. An agent that cannot go on: FAIL -> hub.
 * The first node's agent, once a program runs: FOUND -> hub.
 */
#ifndef NCA_MESSAGE_H
#define NCA_MESSAGE_H

#include <nca/inventory.h>

enum nca_message {
	NCA_MSG_HELLO =
		1,	/* struct nca_hello: from now on the end of the connection is a failure */
	NCA_MSG_REPORT, /* struct nca_report */
	NCA_MSG_HOLD,	/* struct nca_hold */
	NCA_MSG_HELD,	/* struct nca_hold: first is the port, or unknown: none */
	NCA_MSG_TEST,	/* struct nca_test */
	NCA_MSG_RESULT, /* struct nca_result */
	NCA_MSG_PART,	/* struct nca_part */
	NCA_MSG_ACK,	/* no payload */
	NCA_MSG_COMMIT, /* no payload: publish the part */
	NCA_MSG_DROP,	/* no payload: publish nothing */
	NCA_MSG_DONE,	/* no payload: the part is about to be published; the agent may end */
	NCA_MSG_FAIL,	/* of an agent, at any time: why it ends, in words */
	NCA_MSG_FOUND,	/* after DONE, at most once: what a program has in the place of its part, in
			   words */
	NCA_MSG_OPEN,	/* struct nca_open: make queue pairs */
	NCA_MSG_OPENED, /* struct nca_opened */
	NCA_MSG_LINK,	/* struct nca_link_up: connect them; all nodes have theirs by then */
	NCA_MSG_LINKED, /* struct nca_linked */
	NCA_MSG_PING,	/* no payload: send; all nodes can receive by then. What was opened stays
			   until the next message, when all nodes have answered: a queue pair that
			   is gone looks like a dead path */
	NCA_MSG_PINGED, /* struct nca_pinged */
};

struct nca_hello {
	char *version; /* of the program */
	char *name;    /* of the node */
	int nodeid;
	int nnodes; /* of the step */
};

struct nca_report {
	int first_task;
	int listen_port; /* where the node takes test connections, on every address */
	char *nodelist;	 /* of the step, as Slurm writes it */
	char *step;	 /* "JOBID.STEPID" */
	char *leaf;	 /* switch of the node, as nca/leaf.h; unknown: not known */
	struct nca_node *node;
};

/* Find a port for the rendezvous, from first to last or, where unknown, by the node's own facts;
 * hold it for the step. */
struct nca_hold {
	int first, last;
	char *seed;
};

struct nca_target {
	char *node; /* whom we reach there */
	char *addr;
	int port;
};

struct nca_test {
	char *source; /* own address to connect from */
	NCA_LIST(struct nca_target) targets;
};

struct nca_outcome {
	char *why; /* unknown: the connection was made */
};

struct nca_result {
	NCA_LIST(struct nca_outcome) outcomes; /* in the order of the targets */
};

struct nca_part {
	nca_strs records; /* as nca/launch.h, NCA_TASK_… */
	char *conf_path;  /* a file to write before the ACK; unknown: none */
	int conf_keep;	  /* do not remove it when the step ends */
	nca_strs conf;	  /* its lines; what the user's own has follows them */
};

/* A rail of the node: how NCCL will use the port. */
struct nca_open_port {
	char *hca;
	int port;
	int gid_index; /* unknown: InfiniBand */
	int pkey_index, sl, tc;
};

/* Every port gets `sets` sets, one per partner, of `qps` queue pairs. */
struct nca_open {
	NCA_LIST(struct nca_open_port) ports;
	int sets, qps;
};

/* What a partner must know of a port. */
struct nca_end {
	char *why;     /* unknown: it is open */
	int error;     /* its errno */
	int lid, mtu;  /* of the port, now: bytes */
	char *gid;     /* 8 groups of 4 hex digits */
	char *mac;     /* of the netdev that the GID belongs to */
	nca_ints qpns; /* set by set */
};

struct nca_opened {
	NCA_LIST(struct nca_end) ends; /* in the order of the ports */
};

/* One test: a set of a port and the same set of the partner's. */
struct nca_partner {
	int port; /* index of nca_open.ports */
	int set;
	struct nca_end *end; /* with the qpns of this set only */
};

struct nca_link_up {
	NCA_LIST(struct nca_partner) partners;
};

struct nca_linked_one {
	int error; /* errno of the move to RTR, where RoCE resolves the peer; unknown: none */
	char *mac; /* of the neighbour that was resolved; unknown on InfiniBand */
};

struct nca_linked {
	NCA_LIST(struct nca_linked_one) partners; /* in the order of nca_link_up */
};

/* What is as it should be is left out. */
struct nca_pinged_one {
	int partner;  /* index of nca_link_up.partners */
	int status;   /* of the first small message that failed: enum ibv_wc_status;
			 IBV_WC_RETRY_EXC_ERR too where our own deadline ended it, not the HCA */
	int large;    /* likewise, of large ones */
	int vendor;   /* vendor_err of that: to print, not to decide on */
	int failed;   /* queue pairs that failed */
	int received; /* small messages that came from the partner */
};

/* A counter that rose meanwhile: a hint, never a verdict. */
struct nca_risen {
	int port; /* index of nca_open.ports */
	char *name;
	int by;
};

struct nca_pinged {
	NCA_LIST(struct nca_pinged_one) partners; /* those that failed */
	NCA_LIST(struct nca_risen) risen;
	NCA_LIST(struct nca_row)
	facts; /* port as "mlx5_0:1" -> "name value": settings that should
		  be the same on all nodes */
};

extern const struct nca_shape nca_hello_shape, nca_report_shape, nca_hold_shape, nca_test_shape,
	nca_result_shape, nca_part_shape, nca_open_shape, nca_opened_shape, nca_link_up_shape,
	nca_linked_shape, nca_pinged_shape;

#endif
