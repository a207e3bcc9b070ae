/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's connections: gathers one report of every node, asks all nodes something and collects
 * the answers. What is asked and decided is the caller's business. One thread, epoll, no limit of
 * its own on the number of nodes.
 */
#ifndef NCA_HUB_H
#define NCA_HUB_H

#include <nca/channel.h>
#include <nca/message.h>

struct nca_hub;

/*
 * Takes over the listening socket. nnodes 0: the first node to come says how many they are. life_fd
 * is watched and never closed: when it ends, srun has ended. -errno.
 */
int nca_hub_open(int listen_fd, int life_fd, const uint8_t key[NCA_SECRET_BYTES], size_t nnodes,
		 struct nca_hub **ret, struct nca_error *err);

/* What a node's excuse begins with (nca/launch.h); lives as long as the hub. Without it none is
 * believed. */
void nca_hub_set_excuse(struct nca_hub *hub, const char *excuse);

/* How many nodes the step has; 0 while that is unknown. */
size_t nca_hub_nodes(const struct nca_hub *hub);

/* Closes all connections; NULL is allowed. */
void nca_hub_close(struct nca_hub *hub);

/*
 * Waits for one report of every node: without limit for the first to come, since nodes may start
 * minutes after srun, then for timeout_ms. A connection without the secret is closed and forgotten.
 * 0; -ETIMEDOUT: some are missing; -ECANCELED: srun has ended; -EPROTONOSUPPORT: a node runs
 * another version; -EPROTO: two nodes claim one place; -EHOSTDOWN: a node says why it has no agent.
 * Nodes and excuses can come until nca_hub_linger().
 */
int nca_hub_gather(struct nca_hub *hub, int timeout_ms, struct nca_error *err);

/* The node's report, NULL where it has not come. Lives as long as the hub. */
const struct nca_report *nca_hub_report(const struct nca_hub *hub, size_t node);

/*
 * Sends to each node its payload (NULL in payloads: this node is not asked; payloads NULL: an empty
 * message to all) and waits for one answer of type `answer` from each, or only sends where answer
 * is 0. 0; -ETIMEDOUT, -ECONNRESET, -EIO (it has said why): the text names the node; -ECANCELED:
 * srun has ended.
 */
int nca_hub_ask(struct nca_hub *hub, uint32_t type, char *const *payloads, uint32_t answer,
		int timeout_ms, struct nca_error *err);

/* The payload of the node's last answer, "" for an empty one, NULL for none. Lives until the next
 * nca_hub_ask(). */
const char *nca_hub_answer(const struct nca_hub *hub, size_t node);

/*
 * Tells every node that is here and every one that still comes to publish this part, or nothing
 * where it is NULL, and does nothing else until srun has ended (0), the time is over (-ETIMEDOUT;
 * timeout_ms -1: no limit) or a node says why it has no agent (-EHOSTDOWN). Nothing but this may
 * follow.
 */
int nca_hub_dismiss(struct nca_hub *hub, const char *part, int timeout_ms, struct nca_error *err);

/*
 * Stops listening, closes the connections of the nodes that hold nothing until the step ends, and
 * waits until srun has ended (0), the time is over (-ETIMEDOUT; timeout_ms -1: no limit) or a node
 * has found something (1), for which this may be called again. The first node holds the rendezvous
 * port and looks at a program; all: every one holds something.
 */
int nca_hub_linger(struct nca_hub *hub, bool all, int timeout_ms);

/* What a node has found, in words; the caller frees it. NULL: nothing, or nothing new. */
char *nca_hub_found(struct nca_hub *hub);

#endif
