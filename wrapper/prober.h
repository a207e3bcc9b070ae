/* SPDX-License-Identifier: Apache-2.0 */
/* A probe that nobody has to wait for. */
#ifndef NCA_PROBER_H
#define NCA_PROBER_H

#include <nca/probe.h>

/*
 * Probes this machine, as nca_probe() with source, but gives up once it has not run for timeout_ms:
 * a driver, firmware or file system that does not answer may block for ever, in a call that no
 * signal ends. A machine that is merely slow, or busy, lets it run a little all the time. The node
 * belongs to *pool, which is the caller's to free. src->root_fd is not used. nca_probe_prepare()
 * comes before. Where no thread can be started it takes as long as it takes.
 *
 * -ETIMEDOUT, with the part that does not answer in the text: the thread that reads is left behind,
 * *pool is NULL, and the process should end by _exit(), since that thread may hold the loader's
 * lock. Else as nca_probe().
 */
int nca_prober_run(const struct nca_source *src, int timeout_ms, struct nca_pool **pool,
		   struct nca_node **node, struct nca_error *err);

#endif
