/* SPDX-License-Identifier: Apache-2.0 */
/* The options of one command. */
#include <getopt.h>
#include <stdio.h>

#include <nca/near.h>

#include "arguments.h"

/* What getopt_long() returns for entry i; below, it is a short option, of which there are none. */
#define LONG 256
#define HELP (LONG + NCA_ARGUMENTS_MAX)

static int say_unknown(const char *command, const char *word, const struct nca_argument *list,
		       size_t n)
{
	char near[NCA_NEAR_MAX] = "", name[64], known[64];
	size_t i;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (i = 0; i < n; i++) {
		snprintf(known, sizeof(known), "--%s", list[i].name);
		nca_near_add(name, known, "", near);
	}
	nca_near_end(near);
	nca_say("%s: bad option %s%s", command, word, near);
	return 2;
}

static int say_bad(int c, char **argv, const struct nca_argument *list, size_t n)
{
	const char short_option[] = {'-', (char)optopt, '\0'};

	if (c == ':')
		nca_say("%s: --%s needs a value", argv[0], list[optopt - LONG].name);
	else if (optopt >= LONG)
		nca_say("%s: --%s takes no value", argv[0],
			optopt == HELP ? "help" : list[optopt - LONG].name);
	else
		return say_unknown(argv[0], optopt ? short_option : argv[optind - 1], list, n);
	return 2;
}

int nca_arguments_read(int argc, char **argv, const char *help, const struct nca_argument *list,
		       size_t n, char ***operands)
{
	struct option options[NCA_ARGUMENTS_MAX + 2] = {{"help", no_argument, NULL, HELP}};
	size_t i;
	int c;

	for (i = 0; i < n; i++)
		options[i + 1] =
			(struct option){list[i].name, list[i].value != NULL, NULL, LONG + (int)i};
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= LONG && c != HELP)
		if (list[c - LONG].flag)
			*list[c - LONG].flag = true;
		else
			*list[c - LONG].value = optarg;
	if (c == HELP)
		return fputs(help, stdout) < 0 ? 1 : 0;
	if (c != -1)
		return say_bad(c, argv, list, n);
	if (operands)
		*operands = argv + optind;
	else if (optind < argc)
		return nca_say("%s: takes no argument: %s", argv[0], argv[optind]), 2;
	return -1;
}
