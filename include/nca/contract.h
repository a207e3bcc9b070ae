/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of every trainer and launcher: which variables it reads in which layout, which must
 * not be there, and how it is started. From this table follow what is injected, the values of
 * trainer=, the listing of `nccl-autoconf trainers`, the table of the manual page, and the tests.
 *
 * Pure and libc only: the plugin links it too, for the words of trainer=.
 */
#ifndef NCA_CONTRACT_H
#define NCA_CONTRACT_H

#include <stddef.h>

#include <nca/option.h>

/* Where a value comes from. */
enum nca_value {
	NCA_VALUE_SLURM,       /* each task copies the variable of Slurm's that text names */
	NCA_VALUE_TEXT,	       /* text itself */
	NCA_VALUE_ADDRESS,     /* address of the node of task 0 on the agreed network */
	NCA_VALUE_PORT,	       /* port that is free there */
	NCA_VALUE_ENDPOINT,    /* both: "10.0.0.1:29512", "[fd00::1]:29512" */
	NCA_VALUE_OWN_ADDRESS, /* this node's address on the agreed network */
	NCA_VALUE_INTERFACE,   /* its interface, a plain name */
	NCA_VALUE_TASKS,       /* tasks of the step */
	NCA_VALUE_LOCAL_TASKS, /* tasks on this node */
	NCA_VALUE_NODES,       /* nodes of the step */
	NCA_VALUE_NODE_RANK,   /* this node's place in the step, from 0 */
	NCA_VALUE_NPROC,       /* workers on this node: nproc=, or its visible GPUs */
	NCA_VALUE_WORKERS,     /* workers of the step */
	NCA_VALUE_FIRST,       /* workers on the nodes before this one */
	NCA_VALUE_DEVICES,     /* "0,1,2": a number per worker of this node */
	NCA_VALUE_JOB,	       /* "JOBID.STEPID" */
	NCA_VALUE_IS_HOST, /* "is_host=1" on the node of task 0, "is_host=0" elsewhere; behind what
			      the user has set, if that does not say it */
};

struct nca_setting {
	const char *name;
	enum nca_value value;
	const char *text; /* see SLURM and TEXT */
};

enum nca_cell_state {
	NCA_CELL_NO,	  /* not supported: `note` says what to do instead */
	NCA_CELL_NETWORK, /* the trainer makes its own rendezvous: only the network's variables */
	NCA_CELL_YES,
};

/* A trainer in one layout. */
struct nca_cell {
	enum nca_cell_state state;
	const struct nca_setting *settings[5]; /* what it needs of us: lists, each ended by a NULL
						  name */
	const char *never;  /* names, by spaces, "PET_*" a beginning: must not be set; NULL: none */
	const char *start;  /* as it is typed behind srun's options; NULL: python train.py */
	const char *note;   /* what else it needs, or what to do instead; NULL: nothing to say */
	const char *source; /* file and function of the trainer that read it */
};

struct nca_contract {
	const char *name; /* value of trainer= */
	const char *title;
	const char *programs; /* that start its workers, or modules after -m: names, by spaces */
	const char *setting, *value; /* of the environment: tell it from other rows with these
					programs, or where the program is not known */
	const char *known; /* how a step of it is known without trainer=; NULL: it is not */
	bool copies;	   /* one node's environment goes to all others: see nca/broadcast.h */
	struct nca_cell task, node;
};

/* The table; the first row is "auto": what is set for a step of which nothing is known. */
extern const struct nca_contract nca_contracts[];
extern const size_t nca_contract_count;

/* The row of a name, NULL where there is none; "" is "auto". */
const struct nca_contract *nca_contract_find(const char *name);

/* A row's cell for a layout; NULL for a layout that is neither task nor node. */
const struct nca_cell *nca_contract_cell(const struct nca_contract *c, enum nca_layout layout);

/* The cell's settings one by one, from 0; NULL behind the last. */
const struct nca_setting *nca_cell_setting(const struct nca_cell *cell, size_t i);

/* The one of this name; NULL: it has none. */
const struct nca_setting *nca_cell_find(const struct nca_cell *cell, const char *name);

/* The first row to which a program (without directories) or module of len characters belongs; NULL:
 * it starts no workers. */
const struct nca_contract *nca_contract_of_program(const char *name, size_t len);

#endif
