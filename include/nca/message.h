/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hub and agents say to each other, each a JSON object by a table.
 *
 *   agent HELLO, REPORT -> hub; hub HOLD -> first node's agent, HELD back; hub TEST -> all, RESULT
 * back; hub PART -> all, ACK back; hub COMMIT -> all, DONE back, or DROP -> all. An agent that
 * cannot go on: FAIL -> hub. The first node's agent, once a program runs: FOUND -> hub.
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

extern const struct nca_shape nca_hello_shape, nca_report_shape, nca_hold_shape, nca_test_shape,
	nca_result_shape, nca_part_shape;

#endif
