/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the rendezvous: a step with its layout and its trainer's contract. */
#ifndef NCA_RENDEZVOUS_PARTS_H
#define NCA_RENDEZVOUS_PARTS_H

#include <nca/contract.h>
#include <nca/rendezvous.h>

/* More than any cell and the row "auto" have together. */
#define NCA_SETTINGS_MAX 32

struct nca_meeting {
	const struct nca_job *job;
	const struct nca_options *opt;
	struct nca_plan *plan; /* with the rendezvous' address and port */
	struct nca_pool *pool;
	enum nca_layout layout;		     /* task or node */
	const struct nca_contract *contract; /* named by trainer=, or recognized, or "auto" */
	const struct nca_cell *cell;	     /* of the contract, for the layout */
	bool named;			     /* by trainer= */
	const struct nca_setting *settings[NCA_SETTINGS_MAX]; /* what is to be set */
	size_t nsettings;
	int tasks;	     /* of the step; -1 unknown */
	int *workers_before; /* by node: workers of the nodes before it; behind the last: of all */
};

/* Counts tasks and workers, once: a large step has no time to do it for every node. -ENOMEM. */
int nca_meeting_count(struct nca_meeting *m);

/*
 * What is to be set: where a trainer is named, what its cell lists and nothing else. Otherwise
 * what "auto" has, with what the recognized trainer needs besides and without what it must not
 * find.
 */
void nca_meeting_list(struct nca_meeting *m);

/*
 * The value of a setting on node i; unknown, and so not to be set: NULL. Of a setting whose value
 * differs from task to task: the name of Slurm's variable. -ENOMEM.
 */
int nca_meeting_value(const struct nca_meeting *m, const struct nca_setting *s, size_t i,
		      const char **ret);

/* Adds the settings to every node of the plan; what somebody has set stays. -ENOMEM. */
int nca_meeting_fill(const struct nca_meeting *m);

/* Warns of what is set already, or is started, and breaks the layout. -ENOMEM. */
int nca_conflicts_warn(const struct nca_meeting *m);

/* Warns of a MASTER_ADDR that lies elsewhere than where the nodes meet. -ENOMEM. */
int nca_master_check(const struct nca_meeting *m);

/* The port that is set on the first node, -1 where it is none. Warns where it needs privileges or
 * is taken; refuses the step where the firewall closes it. -ENOMEM. */
int nca_master_port(const struct nca_meeting *m, const char *set, int *ret);

#endif
