/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's side of the preflight: RC queue pairs on its HCA ports, connected to those of other
 * nodes, and one small and one large message on each in both directions.
 *
 * All tests of a node run at the same time, each on queue pairs of its own. An HCA, a port or a
 * partner that fails is part of the answer and stops no other; a function fails only when memory
 * is short, or when the message cannot be meant: -EPROTO.
 *
 * Strings of the answers belong to the pool that is given.
 */
#ifndef NCA_PINGER_H
#define NCA_PINGER_H

#include <nca/error.h>
#include <nca/message.h>

/* One that does not answer in that time is taken for dead: above the 1.1 to 1.3 s in which a queue
 * pair gives up, below what adaptive retransmission may take, on which no bound is documented. */
#define NCA_PINGER_MS 3000

struct nca_pinger;

/*
 * Opens what the message asks for and makes the queue pairs, in state INIT. The GIDs are read
 * now, from the port's table in sysfs below root_fd, and so are the counters. *ret is to be closed
 * by nca_pinger_close(); it is NULL where this fails.
 */
int nca_pinger_open(const struct nca_open *open, int root_fd, struct nca_pool *pool,
		    struct nca_opened *answer, struct nca_pinger **ret, struct nca_error *err);

/*
 * Posts the receives and moves the queue pairs to RTR and RTS, each partner's in a thread of its
 * own, since the kernel waits up to a second for a RoCE peer that does not answer ARP or ND
 * (linux-6.1 core/verbs.c, rdma_addr_find_l2_eth_by_grh()). Waits at most NCA_PINGER_MS; a move
 * that is not over by then is EINPROGRESS of that partner.
 */
int nca_pinger_link(struct nca_pinger *p, const struct nca_link_up *link, struct nca_pool *pool,
		    struct nca_linked *answer, struct nca_error *err);

/*
 * Sends to all partners that are connected and waits, at most NCA_PINGER_MS, until all sends are
 * over and what the partners send has come. The queue pairs go on answering the partners until they
 * are closed. A partner that could not be connected is among those that failed, with nothing
 * received.
 */
int nca_pinger_ping(struct nca_pinger *p, struct nca_pool *pool, struct nca_pinged *answer,
		    struct nca_error *err);

/* Destroys all; NULL is allowed. Where a thread still hangs in the kernel, everything that it may
 * touch stays until the process ends. */
void nca_pinger_close(struct nca_pinger *p);

#endif
