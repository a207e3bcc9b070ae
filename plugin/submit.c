/* SPDX-License-Identifier: Apache-2.0 */
/* In srun: is the step one of ours? Then start the hub. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

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

/*
 * May this step have GPUs? srun itself does not say (22.05 leaves nothing in its environment), so:
 * a trace of them in the job's environment or on the command line. Only a reason to look: what the
 * nodes were given decides.
 */
static bool may_have_gpus(void)
{
	nca_autoclose int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char words[8192], **e;
	const char *word;
	size_t pos = 0;
	ssize_t n = fd < 0 ? 0 : read(fd, words, sizeof(words) - 2);

	for (e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');

		if (nca_has_prefix(*e, "SLURM_") && equals &&
		    (memmem(*e, (size_t)(equals - *e), "GPU", 3) || strstr(equals, "gpu:") ||
		     strstr(equals, "gpu=")))
			return true;
	}
	memset(words + (n > 0 ? n : 0), 0, 2);
	while ((word = nca_record_next(words, sizeof(words), &pos)))
		if (asks_for_gpus(word))
			return true;
	return false;
}

/* The table of doc/design.md, "what is done where", as far as srun can see it. */
static bool is_wanted(const struct nca_options *opt, const struct step *s)
{
	if (!opt->on)
		return false;
	if (nca_plugin.components > 1) {
		if (!nca_options_by_site(opt))
			slurm_info("nccl-autoconf: a heterogeneous step is left as it is");
		return false;
	}
	if (nca_options_by_site(opt))
		return s->nnodes > 1 && may_have_gpus();
	if (s->nnodes > 1 || s->ntasks > 1 || may_have_gpus())
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
	};

	snprintf(step, sizeof(step), "%u.%u", s->job, s->step);
	set_ports(&start);
	nca_plugin.life_fd = nca_start_hub(&start, value, err);
	if (nca_plugin.life_fd < 0)
		return nca_plugin.life_fd;
	return setenv(NCA_LAUNCH_VARIABLE, value, 1) < 0 ? nca_fail(err, -ENOMEM, "out of memory")
							 : 0;
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
	nca_plugin_options(&opt);
	if (!step_get(sp, &s) || !is_wanted(&opt, &s))
		return;
	if (start_hub(&opt, &s, &err))
		slurm_error("nccl-autoconf: %s; the step runs as without --%s", err.text,
			    NCA_OPTION_NAME);
}

void nca_submit_end(void)
{
	if (nca_plugin.life_fd >= 0)
		close(nca_plugin.life_fd);
	nca_plugin.life_fd = -1;
}
