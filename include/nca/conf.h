/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A site's configuration file: lines of words (as --nccl-autoconf= takes them), pins and variables
 * (<nca/pin.h>), for all nodes or, below "[nodes=HOSTLIST]", for some. Pure: the text comes from
 * the caller.
 */
#ifndef NCA_CONF_H
#define NCA_CONF_H

#include <nca/inventory.h>
#include <nca/option.h>

struct nca_conf_line {
	char *nodes; /* host list; NULL: all */
	char *key;
	char *value; /* NULL: a word without one */
	bool is_word;
};

struct nca_conf {
	NCA_LIST(struct nca_conf_line) lines;
	nca_strs bad; /* what was ignored: "PATH line N: why" */
};

/*
 * Reads a text: # begins a comment, blanks around "=" do not count, a later line replaces an
 * earlier one. A bad line is ignored and said in ->bad; a section whose host list is bad is ignored
 * as a whole. The text may be changed; the result belongs to the pool. -ENOMEM.
 */
int nca_conf_parse(char *text, const char *path, struct nca_pool *pool, struct nca_conf *ret);

/* Sets the words that hold for a step: those for all nodes, and those of sections that have every
 * one of the n names. */
void nca_conf_words(const struct nca_conf *conf, char *const *names, size_t n,
		    struct nca_options *opt);

/* Fills node->site with the pins and variables that hold for the node. -ENOMEM. */
int nca_conf_site(const struct nca_conf *conf, struct nca_pool *pool, struct nca_node *node);

#endif
