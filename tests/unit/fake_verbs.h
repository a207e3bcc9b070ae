/* SPDX-License-Identifier: Apache-2.0 */
/* A libibverbs in the place of lib/verbs_load.c, with two HCAs that do what a test says. */
#ifndef NCA_TEST_FAKE_VERBS_H
#define NCA_TEST_FAKE_VERBS_H

#include <pthread.h>

#include <infiniband/verbs.h>

#include <nca/util.h>

#define FAKE_QPS 32
#define FAKE_QPN 100 /* of the first queue pair */

/* What one queue pair does, by the order in which they are made; zero: it works. */
struct fake_qp {
	int rtr;	   /* errno of the move to RTR */
	bool hangs;	   /* the move to RTR does not return before fake_release() */
	int small, large;  /* status of the sends */
	bool silent;	   /* no send ever completes */
	bool silent_large; /* likewise, of large ones */
	bool unheard;	   /* nothing comes from the partner */
	bool slow;	   /* what comes from the partner comes 50 ms after our sends are over */
	int post;	   /* errno of posting a send */
};

/* errno of each call on an HCA, by its number. */
struct fake_hca {
	int open, pd, reg, channel, cq, qp;
	bool fatal; /* the first send brings DEVICE_FATAL and nothing else */
	bool gone;  /* the events of the completion queue cannot be read */
	int dmabuf;
	bool infiniband;
	bool grh; /* the port needs a GRH */
};

extern struct fake {
	struct fake_hca hcas[2];
	struct fake_qp qps[FAKE_QPS];
	int listed, opened; /* calls */
	int alive;	    /* objects that were made and not destroyed */
	struct ibv_qp_attr rtr[FAKE_QPS], rts[FAKE_QPS];
} fake;

void fake_reset(void);

/* Lets the moves that hang go on. */
void fake_release(void);

#endif
