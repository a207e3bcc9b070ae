/* SPDX-License-Identifier: Apache-2.0 */
/* In srun: is the step one of ours? Then start the hub. */
#include <limits.h>
#include <stdio.h>

#include <nca/number.h>
#include <nca/start.h>

#include "plugin.h"

/* Exported by libslurm and libslurmfull; weak, so that a release without it leaves the kernel's
 * choice. */
extern uint16_t *slurm_get_srun_port_range(void) __attribute__((weak));

struct step {
	uint32_t job, step, nnodes, ntasks;
	char **argv;
	int argc;
};

static bool step_get(spank_t sp, struct step *s)
{
	return spank_get_item(sp, S_JOB_ID, &s->job) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_STEPID, &s->step) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_NNODES, &s->nnodes) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_TOTAL_TASK_COUNT, &s->ntasks) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_ARGV, &s->argc, &s->argv) == ESPANK_SUCCESS;
}

/* A word of srun's own command line that can ask for GPUs: --gpus, --gres=gpu, --tres-per-task=…,
 * -G. */
static bool asks_for_gpus(const char *word)
{
	return nca_has_prefix(word, "-G") || (word[0] == '-' && strstr(word, "gpu"));
}

/* getopt_long() takes a beginning that no other option shares. */
static bool asks_for_terminal(const char *word)
{
	return streq(word, "--pty") || streq(word, "--pt") || nca_has_prefix(word, "--pty=");
}

/* "The step starts the daemons of an mpirun" (srun of Slurm 23.11 and newer). */
static bool asks_for_launcher(const char *word)
{
	return nca_has_prefix(word, "--external");
}

/*
 * Does a word of srun's own command line, before the program's, say this? srun itself does not
 * tell (22.05 leaves nothing in its environment).
 */
static bool srun_says(const struct step *s, bool (*says)(const char *word))
{
	FILE *in = fopen("/proc/self/cmdline", "re");
	size_t size = 0, n = 0, i;
	char *word = NULL;
	bool found = false;

	while (in && getdelim(&word, &size, '\0', in) > 0)
		n++;
	n -= n < (size_t)s->argc ? n : (size_t)s->argc;
	if (in)
		rewind(in);
	for (i = 0; !found && i < n && getdelim(&word, &size, '\0', in) > 0; i++)
		found = i > 0 && says(word);
	if (in)
		fclose(in);
	free(word);
	return found;
}

/* May this step have GPUs? A trace of them in the job's environment or on the command line: only a
 * reason to look, what the nodes were given decides. */
static bool may_have_gpus(const struct step *s)
{
	char **e;

	for (e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');

		if (nca_has_prefix(*e, "SLURM_") && equals &&
		    (memmem(*e, (size_t)(equals - *e), "GPU", 3) || strstr(equals, "gpu:") ||
		     strstr(equals, "gpu=")))
			return true;
	}
	return srun_says(s, asks_for_gpus);
}

/*
 * Open MPI's mpirun in a batch script starts daemons on the other nodes only, and is itself the
 * daemon of its own, where we are not: half of the nodes would be configured.
 */
static bool is_part_of_mpirun(const struct step *s)
{
	const char *all = getenv("SLURM_JOB_NUM_NODES");
	unsigned int n;

	return s->argc > 0 && nca_is_mpi_daemon(s->argv[0]) && getenv("SLURMD_NODENAME") && all &&
	       !nca_parse_u32(all, 1, UINT_MAX, &n) && s->nnodes < n;
}

static void say_left(const struct nca_options *opt, const char *what)
{
	if (!nca_options_by_site(opt))
		slurm_info("nccl-autoconf: %s is left as it is", what);
}

/* The table of doc/design.md, "what is done where", as far as srun can see it. */
static bool is_wanted(const struct nca_options *opt, const struct step *s)
{
	if (!opt->on || s->step >= NCA_FIRST_SPECIAL_STEP)
		return false;
	if (nca_plugin.components > nca_plugin.listed)
		return say_left(opt, "a heterogeneous step"), false;
	if (is_part_of_mpirun(s))
		return say_left(opt, "a program that mpirun starts here and on other nodes"), false;
	if (nca_options_by_site(opt))
		return s->nnodes > 1 && may_have_gpus(s) && !srun_says(s, asks_for_terminal);
	if (s->nnodes > 1 || s->ntasks > 1 || may_have_gpus(s))
		return true;
	return opt->layout != NCA_LAYOUT_AUTO || opt->trainer[0];
}

/* Where the site lets srun listen, so that its firewall lets the nodes in. */
static void set_ports(struct nca_start *start)
{
	const uint16_t *range = slurm_get_srun_port_range ? slurm_get_srun_port_range() : NULL;

	if (range) {
		start->port_first = range[0];
		start->port_last = range[1];
	}
}

/* What runs in the tasks are no workers of a training, unless the user says so. */
static bool is_only_network(const struct step *s)
{
	return srun_says(s, asks_for_terminal) || srun_says(s, asks_for_launcher);
}

static int start_hub(const struct nca_options *opt, const struct step *s, struct nca_error *err)
{
	const char *env = getenv(NCA_OPTION_VARIABLE);
	char step[32], value[NCA_START_VALUE];
	struct nca_start start = {
		.helper = opt->helper[0] ? opt->helper : NCA_HELPER,
		.step = step,
		.nnodes = s->nnodes,
		.plugstack = nca_plugin.argv,
		.nplugstack = nca_plugin.argc,
		.env = env && env[0] ? env : NULL,
		.user = nca_plugin.asked ? nca_plugin.user : NULL,
		.argv = s->argv,
		.argc = s->argc,
		.seconds = opt->timeout,
		.net = is_only_network(s),
	};

	snprintf(step, sizeof(step), "%u.%u", s->job, s->step);
	set_ports(&start);
	nca_plugin.life_fd = nca_start_hub(&start, value, err);
	if (nca_plugin.life_fd < 0)
		return nca_plugin.life_fd;
	return setenv(NCA_LAUNCH_VARIABLE, value, 1) < 0 ? nca_fail_memory(err) : 0;
}

void nca_submit_start(spank_t sp)
{
	struct nca_options opt;
	struct nca_error err;
	struct step s = {0};

	/* srun merges its environment into the step's and so cannot take anything away: an empty
	 * value does for a stale one. */
	if (getenv(NCA_LAUNCH_VARIABLE))
		setenv(NCA_LAUNCH_VARIABLE, "", 1);
	/* The wrapper has a hub for this step, and what we set would look as if the user had. */
	if (getenv(NCA_RUN_VARIABLE))
		return;
	nca_plugin_options(&opt);
	if (!step_get(sp, &s) || !is_wanted(&opt, &s))
		return;
	if (start_hub(&opt, &s, &err))
		slurm_error("nccl-autoconf: %s; the step runs as without --%s", err.text,
			    NCA_OPTION_NAME);
}

static bool asks_for_async(const char *word)
{
	return nca_has_prefix(word, "--async");
}

void nca_submit_unload(void)
{
	const struct step unknown = {0};
	struct nca_options opt;

	if (nca_plugin.started || !nca_plugin.components || !srun_says(&unknown, asks_for_async))
		return;
	nca_plugin_options(&opt);
	if (opt.on)
		say_left(&opt, "a step that srun does not wait for");
}

void nca_submit_end(void)
{
	if (nca_plugin.life_fd >= 0)
		close(nca_plugin.life_fd);
	nca_plugin.life_fd = -1;
}
