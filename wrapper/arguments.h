/* SPDX-License-Identifier: Apache-2.0 */
/* The options of one command. */
#ifndef NCA_ARGUMENTS_H
#define NCA_ARGUMENTS_H

#include "commands.h"

/* --NAME, which sets *flag, or --NAME=VALUE: one of the two is there. */
struct nca_argument {
	const char *name;
	bool *flag;
	const char **value; /* points into argv; NULL stays where the option is not given */
};

/* At most so many of a command. */
#define NCA_ARGUMENTS_MAX 8

/*
 * Reads a command's line, as getopt_long() does: argv[0] is its name, --help prints `help`.
 * operands: what follows the options, ended by NULL; NULL for a command that takes nothing. Returns
 * -1 to go on; else the exit status: 0 after --help, 2 after one line about what is wrong.
 */
int nca_arguments_read(int argc, char **argv, const char *help, const struct nca_argument *list,
		       size_t n, char ***operands);

#endif
