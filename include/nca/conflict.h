/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is set already, or is started, and breaks a layout: a table, so that the test of every row
 * and the list of variables that a snapshot must record follow from it. Pure.
 */
#ifndef NCA_CONFLICT_H
#define NCA_CONFLICT_H

#include <stddef.h>

#include <nca/option.h>

enum nca_conflict_when {
	NCA_WHEN_SET,	  /* the variable is set, to whatever */
	NCA_WHEN_UNSET,	  /* it is not */
	NCA_WHEN_TRUE,	  /* as LLaMA-Factory and torch read it: "1", "true", "True", "y", "yes" */
	NCA_WHEN_FALSE,	  /* it is set and none of these */
	NCA_WHEN_OTHER,	  /* it is set to another value than the layout's on this node */
	NCA_WHEN_DYNAMIC, /* it names another rendezvous of torchrun's than "static" */
	NCA_WHEN_STARTED, /* the program is a launcher of one of the trainers; no variable */
	NCA_WHEN_LACKS,	  /* likewise, without the word `variable` on its command line */
	NCA_WHEN_ANY,	  /* without a condition */
};

struct nca_conflict {
	const char *code;	/* stable word, documented with its cure */
	enum nca_layout layout; /* auto: both */
	const char *trainers;	/* names by spaces; NULL: any */
	const char *except;	/* likewise: not these */
	const char *variable;
	enum nca_conflict_when when;
	enum { NCA_ALWAYS, NCA_MANY_TASKS, NCA_MANY_NODES } only; /* tasks: of some node */
	const char *text; /* what comes of it, and the remedy */
};

extern const struct nca_conflict nca_conflicts[];
extern const size_t nca_conflict_count;

#endif
