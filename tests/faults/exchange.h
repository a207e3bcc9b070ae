/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of exchange share: what the command line says, the hub, and how a process of
 * ours is started. */
#ifndef NCA_TEST_EXCHANGE_H
#define NCA_TEST_EXCHANGE_H

#include <sys/types.h>

#include <nca/util.h>

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define NODES 2

extern const char *faulty, *host, *nets[NODES], *roots[NODES];

_Noreturn void die(const char *what);

/* As the plugin starts it, with descriptors from 3 on, each a node of its own name; only one has
 * the fault. fd4: -1 where there is none. */
_Noreturn void run(const char *verb, const char *role, int fd3, int fd4);

/* The hub's listener is closed here, as in srun; *life is its only tie to us, -1 where it was gone
 * before it had its order: then srun starts no agent. */
pid_t start_hub(int *port, int *life);

/* The hub's words: where nothing is set, srun lives on until somebody has said why. */
void await_words(void);

/* Passes on what the hub says until it has said what the program of the first task has, or for a
 * while. */
void await_found(int timeout_ms);

/* Passes on the rest. True: the hub has said what that program has. */
bool await_end(void);

#endif
