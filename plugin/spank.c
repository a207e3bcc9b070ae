/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's callbacks: which of them matter where. */
#include <errno.h>
#include <stdio.h>

#include "plugin.h"

SPANK_PLUGIN(nccl_autoconf, 1)

struct nca_plugin nca_plugin = {.life_fd = -1};

static bool is_submit_side(void)
{
	return spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR;
}

/*
 * Refuses a bad word where the user can correct it. In slurmstepd the same option arrives again,
 * on 22.05 twice and once without argument (plugstack.c, _do_option_cb): nothing of it
 * is needed there.
 */
static int on_option(int val, const char *arg, int remote)
{
	struct nca_options opt;
	struct nca_error err;

	(void)val;
	if (remote || !is_submit_side())
		return 0;
	/* From salloc and sbatch a missing argument arrives as printf() writes it (22.05,
	 * plugstack.c, _option_setenv). */
	if (arg && streq(arg, "(null)"))
		arg = NULL;
	nca_options_init(&opt);
	if (nca_options_parse(&opt, arg, NCA_FROM_USER, &err)) {
		slurm_error("nccl-autoconf: --%s: %s", NCA_OPTION_NAME, err.text);
		return -1;
	}
	if (snprintf(nca_plugin.user, sizeof(nca_plugin.user), "%s", arg ? arg : "") >=
	    (int)sizeof(nca_plugin.user)) {
		slurm_error("nccl-autoconf: --%s: the list is too long", NCA_OPTION_NAME);
		return -1;
	}
	nca_plugin.asked = true;
	return 0;
}

static struct spank_option option = {
	.name = NCA_OPTION_NAME,
	.arginfo = "[LIST]",
	.usage = "find the network, HCAs and rendezvous of this step and give them to NCCL "
		 "(LIST: check, explain, layout=, off, ...; see nccl-autoconf --help)",
	.has_arg = 2,
	.cb = on_option,
};

void nca_plugin_options(struct nca_options *opt)
{
	const char *env = is_submit_side() ? getenv(NCA_OPTION_VARIABLE) : NULL;
	struct nca_error err;
	int i;

	nca_options_init(opt);
	for (i = 0; i < nca_plugin.argc; i++)
		if (nca_option_set(opt, nca_plugin.argv[i], NCA_FROM_PLUGSTACK, &err) &&
		    is_submit_side())
			slurm_error("nccl-autoconf: plugstack.conf: %s (ignored)", err.text);
	if (env && env[0] && nca_options_parse(opt, env, NCA_FROM_ENV, &err))
		slurm_error("nccl-autoconf: %s=%.80s: %s (ignored)", NCA_OPTION_VARIABLE, env,
			    err.text);
	if (nca_plugin.asked)
		nca_options_parse(opt, nca_plugin.user, NCA_FROM_USER, NULL);
	nca_options_finish(opt);
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	if (spank_context() == S_CTX_SLURMD || spank_context() == S_CTX_JOB_SCRIPT)
		return 0;
	nca_plugin.listed++;
	nca_plugin.argc = ac;
	nca_plugin.argv = av;
	spank_option_register(sp, &option);
	return 0;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	(void)sp, (void)ac, (void)av;
	nca_plugin.components++;
	return 0;
}

int slurm_spank_local_user_init(spank_t sp, int ac, char **av)
{
	(void)ac, (void)av;
	if (!nca_plugin.started)
		nca_submit_start(sp);
	nca_plugin.started = true;
	return 0;
}

int slurm_spank_user_init(spank_t sp, int ac, char **av)
{
	(void)ac, (void)av;
	if (spank_remote(sp) == 1)
		nca_node_start(sp);
	return 0;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	(void)ac, (void)av;
	/* The return value of an optional plugin is ignored (plugstack.c, _do_call_stack): this is
	 * the task's process. */
	if (nca_plugin.box && !nca_plugin.started && nca_task_start(sp))
		_exit(1);
	nca_plugin.started = true;
	return 0;
}

int slurm_spank_exit(spank_t sp, int ac, char **av)
{
	(void)sp, (void)ac, (void)av;
	if (spank_context() == S_CTX_LOCAL)
		nca_submit_end();
	else if (spank_context() == S_CTX_REMOTE)
		nca_watcher_end();
	return 0;
}

__attribute__((destructor)) static void unload(void)
{
	if (spank_context() == S_CTX_LOCAL)
		nca_submit_unload();
}
