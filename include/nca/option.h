/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table: every word that steers the product, once. From it follow the srun option and
 * its help, plugstack arguments, the configuration file, NCCL_AUTOCONF and the manual page's list.
 *
 * Pure and libc only: the plugin links it too.
 */
#ifndef NCA_OPTION_H
#define NCA_OPTION_H

#include <stdio.h>

#include <nca/error.h>

#define NCA_OPTION_TEXT_MAX 256

enum nca_origin {
	NCA_FROM_DEFAULT,
	NCA_FROM_FILE,	    /* /etc/nccl-autoconf.conf */
	NCA_FROM_PLUGSTACK, /* arguments in plugstack.conf */
	NCA_FROM_ENV,	    /* NCCL_AUTOCONF */
	NCA_FROM_USER,	    /* command line or #SBATCH header */
};

enum nca_layout { NCA_LAYOUT_AUTO, NCA_LAYOUT_TASK, NCA_LAYOUT_NODE, NCA_LAYOUT_NONE };
enum nca_check { NCA_CHECK_OFF, NCA_CHECK_RDMA, NCA_CHECK_BANDWIDTH, NCA_CHECK_NCCL };
enum nca_inject { NCA_INJECT_AUTO, NCA_INJECT_NET, NCA_INJECT_RDZV, NCA_INJECT_ALL };

enum nca_broadcast { NCA_BROADCAST_OFF, NCA_BROADCAST_STEP, NCA_BROADCAST_JOB };

/* Every int is -1 until some source sets it: nca_options_finish() puts the defaults. */
struct nca_options {
	int on;
	int inject; /* enum nca_inject */
	int layout; /* enum nca_layout */
	int nproc;
	char trainer[32]; /* a name of nca/contract.h; "": auto */
	int check;	  /* enum nca_check */
	int missing_rail_fail, min_rails, fallback_fail, strict;
	int broadcast; /* enum nca_broadcast */
	int quiet, explain;
	char save[NCA_OPTION_TEXT_MAX];
	int timeout; /* seconds */
	int port_first, port_last;
	int site_on; /* plugstack default= */
	char helper[NCA_OPTION_TEXT_MAX];
	char conf[NCA_OPTION_TEXT_MAX];
	char conf_dir[NCA_OPTION_TEXT_MAX];
	enum nca_origin on_from; /* who switched it on or off */
};

/* Everything unset. */
void nca_options_init(struct nca_options *opt);

/*
 * One word ("check", "timeout=30"). -ENOENT with a text that names the nearest known ones; -EINVAL
 * with one that says what the word takes; -EPERM: the word may not stand there. opt is changed
 * only on success. Call with sources in rising precedence: a later word replaces an earlier one.
 */
int nca_option_set(struct nca_options *opt, const char *word, enum nca_origin from,
		   struct nca_error *err);

/* The same for a word whose value stands apart; NULL: it has none. */
int nca_option_set_pair(struct nca_options *opt, const char *name, const char *value,
			enum nca_origin from, struct nca_error *err);

/* Collects the words that may stand there and are near to a word that is none: nca_near_add(). */
void nca_option_near(const char *word, enum nca_origin from, char *buf);

/* A comma list of words, as --nccl-autoconf= and NCCL_AUTOCONF take; empty or NULL means "on".
 * Stops at the first bad word. */
int nca_options_parse(struct nca_options *opt, const char *list, enum nca_origin from,
		      struct nca_error *err);

/* What no source set gets its default; the site default decides whether it is on. */
void nca_options_finish(struct nca_options *opt);

/* Is it on because the site's default says so, not because somebody asked? To be called after
 * nca_options_finish(). */
bool nca_options_by_site(const struct nca_options *opt);

/* One line per word: name, argument, help, default; for --help and the manual page. */
void nca_options_print(FILE *out);

#endif
