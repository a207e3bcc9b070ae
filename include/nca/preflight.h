/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preflight: what hub and agents ask each other to test the rails of a plan by RC pings, and
 * what the answers show. Pure.
 *
 * A node is only named where its own HCA says why, or after failing with two different partners.
 */
#ifndef NCA_PREFLIGHT_H
#define NCA_PREFLIGHT_H

#include <nca/message.h>
#include <nca/plan.h>

struct nca_finding {
	char *code;	 /* stable word, documented with its cure; as a warning's */
	char *node;	 /* to blame; unknown: no one node */
	char *hca;	 /* "mlx5_0:1"; unknown: all rails */
	char *peer;	 /* of a pair of which nothing tells whose fault it is: the other */
	char *direction; /* what fails, as the node sees it: in, out, both; unknown */
	char *text;	 /* what, where, why and the cure, to stand behind the node's name */
};

/* One HCA port that was tested. */
struct nca_tested {
	char *node, *hca;
	int port, rail;
	char *state; /* ok degraded failed untested */
	int tests, failed;
};

struct nca_preflight {
	char *verdict;	/* healthy degraded failed; untested: no test says anything */
	double seconds; /* that the tests took */
	NCA_LIST(struct nca_tested) ports;
	NCA_LIST(struct nca_finding) findings; /* the widest first */
	nca_strs hints;			       /* what else was seen: never a verdict */
	char *exclude; /* the nodes to blame, as --exclude takes them; unknown: none, or all */
};

extern const struct nca_shape nca_preflight_shape; /* preflight/1 */

/* The rails of a plan while they are tested; answers by node, NULL: not heard of. */
struct nca_trial {
	const struct nca_job *job;
	const struct nca_plan *plan;
	size_t nodes, rails, rounds, qps;
	const char **leaf; /* leaf switches by node, as nca/leaf.h; NULL: not known */
	struct nca_opened **opened;
	struct nca_linked **linked;
	struct nca_pinged **pinged;
};

/* Has the plan rails between nodes that can be tested? TCP was tested already, and what a plug-in
 * does we cannot know. */
bool nca_preflight_applies(const struct nca_plan *plan);

/* A trial without answers, of a plan to which it applies. -ENOMEM. */
int nca_trial_begin(const struct nca_job *job, const struct nca_plan *plan, struct nca_pool *pool,
		    struct nca_trial *ret);

/* What a node is asked: each port in rail order, as NCCL will use it by the plan's variables and by
 * what somebody has set. -ENOMEM. */
int nca_trial_open(const struct nca_trial *t, size_t node, struct nca_pool *pool,
		   struct nca_open *ret);

/*
 * With all nodes' `opened`: a partner for every test of the node, rail by rail, round by round; the
 * round is the set. Left out are tests for which either end did not open. -ENOMEM.
 */
int nca_trial_link(const struct nca_trial *t, size_t node, struct nca_pool *pool,
		   struct nca_link_up *ret);

/* Judges. bans get every HCA port without which the plan is to be made again. -ENOMEM. */
int nca_trial_judge(const struct nca_trial *t, struct nca_pool *pool, struct nca_preflight *ret,
		    nca_bans *bans);

/* Is every rail of a plan one of another plan, with the same port on every node? Then a test of
 * that plan holds for this one. */
bool nca_preflight_covers(const struct nca_plan *tested, const struct nca_plan *plan);

/*
 * Adds a later test of the same step to the result: its ports take the place of the same ones
 * before, its findings and hints follow, its verdict holds, but after findings it is "degraded" at
 * best. -ENOMEM.
 */
int nca_preflight_add(struct nca_preflight *to, const struct nca_preflight *later,
		      struct nca_pool *pool);

/* One warning per cause, with the names of its nodes, before those that the plan has: of a plan
 * that was made without what failed they are consequences. -ENOMEM. */
int nca_preflight_warn(const struct nca_preflight *pre, struct nca_plan *plan,
		       struct nca_pool *pool);

#endif
