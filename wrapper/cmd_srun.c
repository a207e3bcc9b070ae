/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf srun: the same as srun --nccl-autoconf on a cluster without the plugin. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>

#include <nca/number.h>
#include <nca/option.h>
#include <nca/start.h>

#include "commands.h"

static const char help[] =
	"usage: nccl-autoconf srun [--nccl-autoconf=LIST] [SRUN OPTION...] -- PROGRAM "
	"[ARGUMENT...]\n\n"
	"Does what `srun --nccl-autoconf=LIST` does where the plugin is not installed: starts a "
	"hub,\n"
	"then srun, in whose tasks `nccl-autoconf run` waits for the agreement and becomes "
	"PROGRAM.\n"
	"This program must stand at the same path on every node. The exit status is srun's.\n";

struct request {
	const char *list; /* NULL: not given */
	bool pty, async;
	char **argv; /* srun's, with room for our words */
	int argc;
	char **program;
	int nprogram;
};

/* SrunPortRange, where the site limits on which ports srun may listen: Slurm's tool knows it. */
static void read_ports(struct nca_start *start)
{
	FILE *in = popen("exec scontrol show config 2>/dev/null", "re");
	unsigned int first, last;
	char line[512];

	if (!in)
		return;
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "SrunPortRange = %u-%u", &first, &last) == 2 && first &&
		    last <= 65535) {
			start->port_first = (uint16_t)first;
			start->port_last = (uint16_t)last;
		}
	pclose(in);
}

static int parse(int argc, char **argv, struct request *r)
{
	static const char name[] = "--nccl-autoconf";
	int i;

	r->argv = calloc((size_t)argc + 6, sizeof(*r->argv));
	if (!r->argv)
		return -ENOMEM;
	r->argv[r->argc++] = "srun";
	for (i = 1; i < argc && !streq(argv[i], "--"); i++) {
		size_t n = sizeof(name) - 1;

		if (strncmp(argv[i], name, n) == 0 && (argv[i][n] == '=' || !argv[i][n]))
			r->list = argv[i][n] ? argv[i] + n + 1 : "";
		else
			r->argv[r->argc++] = argv[i];
		r->pty = r->pty || streq(argv[i], "--pty") || nca_has_prefix(argv[i], "--pty=");
		r->async = r->async || nca_has_prefix(argv[i], "--async");
	}
	r->program = argv + i + (i < argc);
	r->nprogram = argc - i - (i < argc);
	return r->nprogram > 0 ? 0 : -EINVAL;
}

static int read_words(const struct request *r, struct nca_options *opt)
{
	const char *env = getenv(NCA_OPTION_VARIABLE);
	struct nca_error err;

	nca_options_init(opt);
	/* Whoever types our name wants us. */
	nca_options_parse(opt, "on", NCA_FROM_ENV, NULL);
	if (env && env[0] && nca_options_parse(opt, env, NCA_FROM_ENV, &err))
		nca_say("%s=%s: %s (ignored)", NCA_OPTION_VARIABLE, env, err.text);
	if (r->list && nca_options_parse(opt, r->list, NCA_FROM_USER, &err)) {
		nca_say("--nccl-autoconf: %s", err.text);
		return -EINVAL;
	}
	nca_options_finish(opt);
	return 0;
}

/* The descriptor stays open in srun: its end is the hub's. */
static int start_hub(const struct request *r, const struct nca_options *opt, const char *self)
{
	const char *env = getenv(NCA_OPTION_VARIABLE);
	struct nca_start start = {
		.helper = self,
		.env = env && env[0] ? env : NULL,
		.user = r->list ? r->list : "on",
		.argv = r->program,
		.argc = r->nprogram,
		.seconds = opt->timeout,
		.net = r->pty,
	};
	char value[NCA_START_VALUE];
	struct nca_error err;
	int fd;

	read_ports(&start);
	fd = nca_start_hub(&start, value, &err);
	if (fd < 0)
		return nca_say("%s; the step runs as without us", err.text), fd;
	fcntl(fd, F_SETFD, 0);
	if (getenv("RANK") || getenv("LOCAL_RANK"))
		setenv(NCA_RANKS_VARIABLE, "1", 1);
	else
		unsetenv(NCA_RANKS_VARIABLE);
	return setenv(NCA_RUN_VARIABLE, value, 1);
}

/* What an outer step gave us must not look as if the user had set it. */
static void forget_outer_step(void)
{
	char *list = getenv(NCA_MARKER_VARIABLE), *name;

	list = list ? strdup(list) : NULL;
	unsetenv(NCA_MARKER_VARIABLE);
	for (char *rest = list; (name = strsep(&rest, ","));)
		unsetenv(name);
	free(list);
}

static void add_program(struct request *r, const char *self)
{
	int i;

	r->argv = realloc(r->argv, ((size_t)r->argc + (size_t)r->nprogram + 4) * sizeof(*r->argv));
	if (self) {
		r->argv[r->argc++] = (char *)self;
		r->argv[r->argc++] = "run";
		r->argv[r->argc++] = "--";
	}
	for (i = 0; i < r->nprogram; i++)
		r->argv[r->argc++] = r->program[i];
	r->argv[r->argc] = NULL;
}

int cmd_srun(int argc, char **argv)
{
	struct request r = {0};
	struct nca_options opt;
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool with_us;

	if (argc > 1 && streq(argv[1], "--help")) {
		fputs(help, stdout);
		return 0;
	}
	if (parse(argc, argv, &r)) {
		nca_say("srun: name the program after \"--\", as in: nccl-autoconf srun -N2 -- "
			"./train");
		return 2;
	}
	if (read_words(&r, &opt))
		return 2;
	self[n > 0 ? n : 0] = '\0';
	forget_outer_step();
	/* The hub ends with srun. */
	if (opt.on && r.async)
		nca_say("a step that srun does not wait for is left as it is");
	with_us = opt.on && !r.async && n > 0 && start_hub(&r, &opt, self) == 0;
	add_program(&r, with_us ? self : NULL);
	execvp("srun", r.argv);
	nca_say("srun: %s", strerror(errno));
	return 127;
}
