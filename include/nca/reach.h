/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can nodes reach each other on a network? One side listens, the other connects; the side that
 * connects closes first, so that the port listened on is left without TIME_WAIT and the trainer can
 * bind it.
 */
#ifndef NCA_REACH_H
#define NCA_REACH_H

#include <nca/message.h>

/* Three in a row for the rendezvous: see nca_rendezvous_port(). */
#define NCA_REACH_PORTS 3

struct nca_reach {
	int epoll; /* readable when nca_reach_serve() has something to do */
	int listener;
	int port;
	int held[NCA_REACH_PORTS]; /* listening on the rendezvous port and the two behind it, -1
				      none */
	int lock;		   /* abstract socket named after the held port, -1 none */
};

/* Listens on every address, at a port of the kernel's choice. -errno; then nothing is left open. */
int nca_reach_open(struct nca_reach *r, struct nca_error *err);

/*
 * Finds a port for the rendezvous on this node by nca_rendezvous_port(), listens on it and the two
 * behind it (on one only where first == last: a port that the user chose) and takes a name for it,
 * so that no other step of this machine gets it while r is open. The facts of the node are the pure
 * search's start; what cannot be bound is added to them. Returns the port, or -EADDRINUSE.
 */
int nca_reach_hold(struct nca_reach *r, const struct nca_hold *hold, struct nca_node *node,
		   struct nca_pool *pool, struct nca_error *err);

/* Accepts what has come and closes what the other side has closed. Never waits. */
void nca_reach_serve(struct nca_reach *r);

/* Stops listening, so that the port is the trainer's; the name stays taken. */
void nca_reach_release(struct nca_reach *r);

/* Closes everything; r must have been opened. */
void nca_reach_close(struct nca_reach *r);

/*
 * Connects to all targets at once from test->source and closes each connection as soon as it is
 * made; r is served meanwhile. Waits at most timeout_ms. The result has one outcome per target, in
 * words where it failed. -ENOMEM.
 */
int nca_reach_connect(struct nca_reach *r, const struct nca_test *test, int timeout_ms,
		      struct nca_pool *pool, struct nca_result *ret, struct nca_error *err);

#endif
