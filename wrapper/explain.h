/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people: at most 100 columns where it is said, colours only on a terminal. */
#ifndef NCA_EXPLAIN_H
#define NCA_EXPLAIN_H

#include <stdio.h>

#include <nca/plan.h>

/*
 * The summary and the warnings, one per line; with all, in 100 columns, followed by every interface
 * and HCA port of every node.
 */
void nca_explain_print(FILE *out, const struct nca_plan *plan, const struct nca_job *job, bool all,
		       struct nca_pool *pool);

/* Its parts: a line, the warnings, the tables: outcome, rule and the values that decided, aligned,
 * the variables, and the pins that would give the same. */
void nca_explain_line(FILE *out, const char *line);
void nca_explain_warnings(FILE *out, const struct nca_plan *plan, bool wrap, struct nca_pool *pool);
void nca_explain_nodes(FILE *out, const struct nca_plan *plan, struct nca_pool *pool);

/* Prints text from column `at` on, continued in column `indent` of the next lines, in so many
 * columns. */
void nca_explain_wrapped(FILE *out, const char *text, size_t at, size_t indent, size_t columns);

/* One warning as one line, without prefix: "warning CODE: NODE text". NULL when memory is short. */
char *nca_explain_warning(const struct nca_warning *w, struct nca_pool *pool);

#endif
