/* SPDX-License-Identifier: Apache-2.0 */
/* A node as a picture: GPUs, HCA ports and interfaces, how they hang together, and what a plan made
 * of them. Pure. */
#ifndef NCA_PICTURE_H
#define NCA_PICTURE_H

#include <nca/plan.h>

/*
 * The i-th node of a job and its plan as SVG 1.1: GPUs and HCA ports by NUMA node, a line where
 * they share a PCIe switch; interfaces with what stands on them (bonds over their legs, VLANs over
 * their lower device) and a line to the HCA whose traffic leaves by them; chosen or why not; the
 * variables. `headline` stands on top. NULL when memory is short.
 */
char *nca_picture_node(const struct nca_job *job, const struct nca_plan *plan, size_t i,
		       const char *headline, struct nca_pool *pool);

#endif
