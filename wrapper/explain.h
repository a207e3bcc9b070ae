/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people. */
#ifndef NCA_EXPLAIN_H
#define NCA_EXPLAIN_H

#include <stdio.h>

#include <nca/plan.h>

/*
 * The summary and the warnings and, with all, every interface and HCA port of every node: outcome,
 * rule and the values that decided, aligned.
 */
void nca_explain_print(FILE *out, const struct nca_plan *plan, const struct nca_job *job, bool all,
		       struct nca_pool *pool);

/* One warning as one line, without prefix: "warning CODE: NODE: text". NULL when memory is short.
 */
char *nca_explain_warning(const struct nca_warning *w, struct nca_pool *pool);

#endif
