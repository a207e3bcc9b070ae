/* SPDX-License-Identifier: Apache-2.0 */
/* What srun's plugin orders from the hub. */
#ifndef NCA_ORDER_H
#define NCA_ORDER_H

#include <nca/conf.h>
#include <nca/launch.h>
#include <nca/option.h>
#include <nca/plan.h>

struct nca_order {
	uint8_t key[NCA_SECRET_BYTES];
	size_t nnodes; /* 0: the nodes will tell */
	int srun;      /* process id */
	char *excuse;  /* NULL: no node can send one */
	char *step;    /* NULL: the nodes will tell */
	char *records; /* as they came */
	char *command; /* the task's command line, words joined by blanks */
	struct nca_conf conf;
	struct nca_options opt;
	NCA_LIST(struct nca_pair) words; /* what the user asked for, for a saved job */
};

/*
 * Reads the records from fd until the empty one, and the configuration file that they name or the
 * usual one: nca_conf_read(). The options are those that hold for every step. -EINVAL, -errno.
 */
int nca_order_read(int fd, struct nca_pool *pool, struct nca_order *ret, struct nca_error *err);

/* The nodes are known: the options again, with the words of the file's sections that hold all of
 * them. */
int nca_order_scope(struct nca_order *o, char *const *names, size_t n, struct nca_error *err);

#endif
