/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of one step on one node without a plugin: the first to come becomes the agent's parent,
 * all others ask it. They meet at an abstract socket, which belongs to the network namespace that
 * they share and needs no file system.
 */
#ifndef NCA_SIBLING_H
#define NCA_SIBLING_H

#include <nca/error.h>

/* A socket that listens under the name, or -EADDRINUSE: another task has it; -errno. */
int nca_sibling_claim(const char *name, struct nca_error *err);

/*
 * Reads the records of the one that listens, waiting for at most timeout_ms, into buf of the given
 * size. -ETIMEDOUT, -ECONNRESET: it has ended; -EPERM: it belongs to another user.
 */
int nca_sibling_ask(const char *name, int timeout_ms, char *buf, size_t size,
		    struct nca_error *err);

/*
 * Answers `count` tasks of this user with the records, or fewer where hub_fd ends first, as it does
 * with srun; waits for hub_fd alone afterwards if `stay`.
 */
void nca_sibling_serve(int listener, int count, const char *records, size_t size, int hub_fd,
		       bool stay);

#endif
