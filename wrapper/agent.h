/* SPDX-License-Identifier: Apache-2.0 */
/* One node's side of the exchange: report, then answer the hub until it commits or drops. */
#ifndef NCA_AGENT_H
#define NCA_AGENT_H

#include <nca/channel.h>
#include <nca/message.h>
#include <nca/pinger.h>
#include <nca/reach.h>

struct nca_agent {
	char name[65]; /* of the node: its host name up to the first dot */
	struct nca_channel ch;
	struct nca_reach reach;
	struct nca_pinger *pinger; /* NULL: nothing is open for a preflight */
	struct nca_pool *pool;
	struct nca_pool *probed; /* the node's */
	struct nca_node *node;
	const char *user_conf;	     /* the user's own NCCL file, NULL: none */
	const struct nca_part *part; /* NULL until the hub has sent it */
	bool wrote_conf;	     /* the part's file is there */
	bool published;		     /* the tasks have the part */
	bool stuck;		     /* a thread reads the node and does not return: _exit() */
};

/* Connects to the hub and waits for its opening, for at most timeout_ms. -errno with the hub's
 * address in the text. */
int nca_agent_connect(struct nca_agent *a, const char *host, int port,
		      const uint8_t key[NCA_SECRET_BYTES], int timeout_ms, struct nca_error *err);

/* Sends what the hub must know before and after the probe. */
int nca_agent_hello(struct nca_agent *a, const struct nca_hello *hello, struct nca_error *err);
int nca_agent_report(struct nca_agent *a, const struct nca_report *report, struct nca_error *err);

/* Reads a message of the hub into the pool. */
int nca_agent_parse(struct nca_agent *a, const struct nca_shape *shape, const struct nca_frame *f,
		    void **ret, struct nca_error *err);

/* Sends an object; shape NULL: no payload. -ECONNRESET: the hub has ended. */
int nca_agent_answer(struct nca_agent *a, uint32_t type, const struct nca_shape *shape,
		     const void *object, unsigned int flags, struct nca_error *err);

/* Tells the hub why this node cannot take part. -errno: it does not know. */
int nca_agent_fail(struct nca_agent *a, const struct nca_error *why);

/*
 * Answers until the hub decides. 1: publish a->part; 0: publish nothing; -ECONNRESET: the hub has
 * ended first; -errno.
 */
int nca_agent_serve(struct nca_agent *a, struct nca_error *err);

/*
 * Tells the hub that the part is about to be published. Before it is, since the tasks may end, and
 * the agent with them, as soon as they have it. -ECONNRESET: the hub has not heard it, and nothing
 * may be published.
 */
int nca_agent_confirm(struct nca_agent *a, struct nca_error *err);

/* Tells the hub what a program has in the place of its part. -errno: it does not know. */
int nca_agent_found(struct nca_agent *a, const char *text);

/* Waits until the hub closes the connection, as it does when the step ends. */
void nca_agent_linger(struct nca_agent *a);

#endif
