/* SPDX-License-Identifier: Apache-2.0 */
/* A trial while it is judged. */
#ifndef NCA_LIB_PREFLIGHT_H
#define NCA_LIB_PREFLIGHT_H

#include <nca/blame.h>
#include <nca/preflight.h>
#include <nca/verdict.h>

/* Directions that fail, as an end sees them. */
enum { NCA_WAY_OUT = 1, NCA_WAY_IN = 2, NCA_WAY_BOTH = 3 };

/* The same, as the other end sees them. */
static inline int nca_ways_turned(int ways)
{
	return (ways & NCA_WAY_OUT ? NCA_WAY_IN : 0) | (ways & NCA_WAY_IN ? NCA_WAY_OUT : 0);
}

/* How bad it is, the worst first. */
enum nca_harm {
	NCA_HARM_DEAD,	   /* NCCL would fail over it */
	NCA_HARM_DEGRADED, /* part of it works */
	NCA_HARM_UNHEARD,  /* the test says nothing */
	NCA_HARM_NONE,
};

/* A verdict word as a finding. */
struct nca_finding_kind {
	const char *word;
	const char *code;
	enum nca_harm harm;
	bool own;	     /* an end itself proves it */
	const char *what[4]; /* of an HCA port, by directions: none known, out, in, both */
	const char *pair;    /* between two, of which nobody knows whose fault it is */
	const char *cure;
};

/* Room for them. */
#define NCA_FINDING_KINDS 17
extern const struct nca_finding_kind nca_finding_kinds[NCA_FINDING_KINDS];

/* Never NULL: a word that is not in the table is one that says nothing. */
const struct nca_finding_kind *nca_finding_kind(const char *word);

/* One test, seen from node a. */
struct nca_try {
	size_t a, b, rail;
	const struct nca_finding_kind *kind; /* NULL: it works */
	int ways;			     /* of a */
	int error;			     /* errno of the move to RTR, 0: none */
};

/* Whom a finding blames. */
struct nca_blamed {
	struct nca_fault fault;
	const struct nca_finding_kind *kind;
	int ways; /* of the fault's node */
	size_t tests, failed;
	const char *why; /* of an end that did not open */
};

struct nca_judge {
	const struct nca_trial *t;
	struct nca_pool *pool;
	NCA_LIST(struct nca_try) tries;
	const struct nca_finding_kind **own; /* by end, what it proves itself; NULL: nothing */
	bool *banned;			     /* by end */
	bool *degraded;			     /* by end */
	const size_t *leaf; /* by node: the first node of its leaf switch; NULL: not known */
	NCA_LIST(struct nca_blamed) blamed;
};

static inline size_t nca_end_index(const struct nca_trial *t, size_t node, size_t rail)
{
	return node * t->rails + rail;
}

/* The node's end of a rail, NULL where it was not heard of. */
const struct nca_end *nca_trial_end(const struct nca_trial *t, size_t node, size_t rail);

/* Is it open, with all its queue pairs? */
bool nca_trial_is_open(const struct nca_trial *t, size_t node, size_t rail);

/* "mlx5_0:1"; NULL where memory is short. */
char *nca_trial_port(const struct nca_trial *t, size_t node, size_t rail, struct nca_pool *pool);

/* Every test with its verdict, and what ends prove themselves. -ENOMEM. */
int nca_judge_read(struct nca_judge *j);

/* Adds one who is to blame; NULL where memory is short. */
struct nca_blamed *nca_judge_add(struct nca_judge *j, const struct nca_fault *f,
				 const struct nca_finding_kind *kind);

/* Blames the ends that prove something themselves: one for a rail on all nodes, or for all rails of
 * a node. -ENOMEM. */
int nca_judge_own(struct nca_judge *j);

/* Is the node one of the fault's, where that names no single node? */
bool nca_fault_has(const struct nca_judge *j, const struct nca_fault *f, size_t node);

/* Blames all, and marks the ends that are dead or degraded by it. -ENOMEM. */
int nca_judge_blame(struct nca_judge *j);

/* One finding. -ENOMEM. */
int nca_finding_make(const struct nca_judge *j, const struct nca_blamed *b,
		     struct nca_finding *ret);

/* Counters that rose, settings and MTUs that differ. -ENOMEM. */
int nca_preflight_hint(const struct nca_trial *t, struct nca_pool *pool, nca_strs *hints);

#endif
