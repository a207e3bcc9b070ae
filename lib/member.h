/* SPDX-License-Identifier: Apache-2.0 */
/* The hub and its members, as lib/hub.c (the loop) and lib/member.c (what one connection says) see
 * them. */
#ifndef NCA_MEMBER_H
#define NCA_MEMBER_H

#include <nca/hub.h>

struct nca_member {
	struct nca_channel ch;
	const struct nca_hello *hello; /* NULL: not yet one of ours */
	const struct nca_report *report;
	char *answer;
	bool watched_out; /* epoll waits for room to write */
	bool excused;	  /* waits to hear whether the step runs */
	struct nca_member *next;
};

struct nca_hub {
	int epoll, listen_fd;
	uint8_t key[NCA_SECRET_BYTES];
	size_t nnodes, nopen;
	struct nca_member *all;	   /* every open connection */
	struct nca_member **nodes; /* by node, NULL: not yet here */
	struct nca_pool *pool;	   /* of the reports */
	uint32_t awaited;	   /* type of the answer, 0: reports */
	size_t pending;
	long long deadline; /* 0: none */
	int gather_ms;
	bool ended;
	const char *excuse; /* NULL: none is believed */
	bool dismissed;	    /* all that come are only told so */
	const char *part;   /* what they are to publish, NULL: nothing */
	char *found;	    /* what a node has found, NULL: nothing */
};

/* Room for so many nodes, all awaited. -ENOMEM. */
int nca_member_set_nodes(struct nca_hub *hub, size_t nnodes);

/* epoll_ctl(), with data as what the event brings. -errno. */
int nca_member_watch(struct nca_hub *hub, int op, int fd, uint32_t events, void *data);

/* Writes what is queued; where it does not fit, epoll waits for room. -errno: the connection is
 * lost. */
int nca_member_flush(struct nca_hub *hub, struct nca_member *m);

/* Reads and writes as the events say. 0, or what the step must know: see nca_hub_gather(); the
 * member may be gone then. */
int nca_member_event(struct nca_hub *hub, struct nca_member *m, uint32_t events,
		     struct nca_error *err);

/* Tells one that is here, or has excused itself, how it ends: hub->part, or nothing. Not 0: it is
 * to be dropped. */
int nca_member_dismiss(struct nca_hub *hub, struct nca_member *m);

/* Closes and frees it. */
void nca_member_drop(struct nca_hub *hub, struct nca_member *m);

#endif
