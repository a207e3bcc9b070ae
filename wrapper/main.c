/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf: the table of commands. */
#include <stdio.h>

#include <nca/option.h>
#include <nca/pin.h>

#include "commands.h"
#include "config.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args;
	const char *help; /* NULL: started by the plugin only */
};

static const struct command commands[] = {
	{"srun", cmd_srun, "OPTION... -- PROGRAM...",
	 "as srun --nccl-autoconf, without the plugin"},
	{"run", cmd_run, "-- PROGRAM...", "the part of it that runs in each task"},
	{"show", cmd_show, "[--json] [--conf=FILE]",
	 "this node: every interface and HCA port, chosen or why not"},
	{"snapshot", cmd_snapshot, "[--sysroot=DIR]",
	 "this node's links, HCAs and GPUs as JSON (hwdesc/1)"},
	{"plan", cmd_plan, "[--json|--explain] JOB.json|NODE.json...", "decide offline"},
	{"check", cmd_check, "[--json] [--svg=FILE]",
	 "in a job or a step: are all HCAs between its nodes fit for use?"},
	{"env", cmd_env, "[--format=shell|docker|json]",
	 "in a batch script: variables for a launcher that it starts itself"},
	{"hostfile", cmd_hostfile, "[--format=deepspeed|openmpi|mpich]",
	 "in a batch script: the nodes and their GPUs, for such a launcher"},
	{"trainers", cmd_trainers, "[--json] [NAME...]",
	 "the values of trainer= and what each of them sets"},
	{"hub", cmd_hub, "", NULL},
	{"agent", cmd_agent, "", NULL},
};

static void usage(FILE *out)
{
	const struct command *c;

	fprintf(out, "usage: nccl-autoconf COMMAND [ARGUMENT...]\n"
		     "       srun --nccl-autoconf[=LIST] ...\n\n"
		     "Finds the network, the HCAs and the rendezvous of a Slurm step and gives "
		     "them to NCCL.\n\n"
		     "commands:\n");
	for (c = commands; c < commands + ARRAY_SIZE(commands); c++)
		if (c->help)
			fprintf(out, "  %-10s %-38s %s\n", c->name, c->args, c->help);
	fprintf(out, "\nwords of LIST, separated by commas; also the value of NCCL_AUTOCONF, "
		     "arguments in\n"
		     "plugstack.conf and lines of /etc/nccl-autoconf.conf:\n");
	nca_options_print(out);
	fprintf(out,
		"\npins, in lines of /etc/nccl-autoconf.conf only, for all nodes or those of a "
		"section [nodes=HOSTLIST]:\n");
	nca_pins_print(out);
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (streq(argv[1], "--help") || streq(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (streq(argv[1], "--version")) {
		printf("nccl-autoconf %s\n", PACKAGE_VERSION);
		return 0;
	}
	for (c = commands; c < commands + ARRAY_SIZE(commands); c++)
		if (streq(argv[1], c->name))
			return c->run(argc - 1, argv + 1);
	nca_say("unknown command \"%.64s\"; nccl-autoconf --help lists them", argv[1]);
	return 2;
}
