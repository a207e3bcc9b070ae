/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with known faults, whose nodes answer as their HCAs would. */
#ifndef NCA_TEST_PREFLIGHT_CASE_H
#define NCA_TEST_PREFLIGHT_CASE_H

#include "table.h"

#include <nca/blame.h>
#include <nca/preflight.h>

/*
 * Faults: "WORD NODE.RAIL", "*" for all of them, or "pair A.B.RAIL", "cut A.RAIL" (nodes below A do
 * not reach the others), "lost NODE" (its last answer); with commas.
 * Findings: "CODE NODE HCA PEER DIRECTION", "-" for what there is none of; with semicolons.
 */
struct row {
	const char *name;
	size_t nodes, rails;
	const char *faults;
	const char *verdict, *findings;
	const char *exclude; /* NULL: none */
	const char *bans;    /* "NODE HCA", with commas */
	const char *text;    /* part of the first finding's; NULL: not looked at */
	const char *leaves;  /* a letter for each node's, "-": not known; NULL: none is */
};

struct sim {
	const struct row *row;
	struct nca_pool *pool;
	struct nca_job job;
	struct nca_plan plan;
	struct nca_trial trial;
};

/* The job and its plan, in the pool; and what all nodes answer to the trial. */
void sim_make(struct sim *s);
void sim_run(struct sim *s);

#endif
