/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin in srun and sbatch: when it starts the hub, and what it says. */
#include "../unit/table.h"

#include <stdio.h>

#include "check.h"
#include "host.h"

#define STARTED "1:*"
#define NOT_STARTED "(none)"
#define IGNORED " (ignored)\n"
#define AS_WITHOUT "; the step runs as without --nccl-autoconf\n"

/* What a line of srun is: words that end with NUL. */
#define CMDLINE(words) .cmdline = "srun\0" words, .size = sizeof("srun\0" words)

struct row {
	const char *name;
	const char *option; /* NULL: not given; "": without a list */
	const char *launch; /* the variable for the step; fnmatch(3) */
	const char *log;    /* everything that is said; fnmatch(3) */
	uint32_t nnodes, ntasks;
	const char *words[3]; /* of plugstack.conf */
	const char *env[4];
	const char *cmdline;
	size_t size;
	const char *helper;
	int components, listed;
	spank_context_t context; /* S_CTX_ERROR: srun */
	uint32_t step;
	bool refused, async;
	spank_item_t no_item;
	bool has_no_item;
};

#define ASKED(n, t) .option = "", .nnodes = (n), .ntasks = (t)
#define SITE(n, t) .words = {"default=on"}, .nnodes = (n), .ntasks = (t)
#define STARTS .launch = STARTED, .log = ""
#define NOTHING .launch = NOT_STARTED, .log = ""
#define REFUSED(text) .refused = true, .launch = "", .log = "error: nccl-autoconf: " text
#define FAILS(text) .launch = NOT_STARTED, .log = "error: nccl-autoconf: " text AS_WITHOUT

#define ASYNC .async = true, .launch = ""
#define LEFT "info: nccl-autoconf: a step that srun does not wait for is left as it is\n"

static char long_list[1100] = "trainer=";
static char long_env[70000] = "NCCL_AUTOCONF=save=x";

static const struct row rows[] = {
	/* The table of doc/design.md, "what is done where" */
	{"not asked", .nnodes = 2, .ntasks = 2, NOTHING},
	{"asked, one node and one task", ASKED(1, 1), NOTHING},
	{"asked, one node and two tasks", ASKED(1, 2), STARTS},
	{"asked, two nodes", ASKED(2, 2), STARTS},
	{"asked, very many nodes", ASKED(20000, 160000), STARTS},
	{"asked, one task and a GPU in the environment", ASKED(1, 1), STARTS,
	 .env = {"SLURM_JOB_GPUS=0"}},
	{"asked, one task and a GPU on the command line", ASKED(1, 1), STARTS, CMDLINE("-G1\0a")},
	{"asked, one task and a GPU in the program's words", ASKED(1, 1), NOTHING,
	 CMDLINE("a\0--gpus=2")},
	{"asked, one task and a layout", .option = "layout=task", .nnodes = 1, .ntasks = 1, STARTS},
	{"asked, one task and a trainer", .option = "trainer=torch", .nnodes = 1, .ntasks = 1,
	 STARTS},
	{"asked in the environment", .nnodes = 2, .ntasks = 2, STARTS, .env = {"NCCL_AUTOCONF=on"}},
	{"asked in the environment without a word", .nnodes = 2, .ntasks = 2, NOTHING,
	 .env = {"NCCL_AUTOCONF="}},
	{"off", .option = "off", .nnodes = 2, .ntasks = 2, NOTHING},
	{"off replaces the environment", .option = "off", .nnodes = 2, .ntasks = 2, NOTHING,
	 .env = {"NCCL_AUTOCONF=check"}},
	{"the environment's off replaces the site", SITE(2, 2), NOTHING,
	 .env = {"NCCL_AUTOCONF=off", "SLURM_JOB_GPUS=0"}},
	{"site default, no trace of GPUs", SITE(2, 2), NOTHING},
	{"site default, GPUs of the job", SITE(2, 2), STARTS, .env = {"SLURM_JOB_GPUS=0,1"}},
	{"site default, GPUs per node", SITE(2, 2), STARTS, .env = {"SLURM_GPUS_PER_NODE=8"}},
	{"site default, gres in a value", SITE(2, 2), STARTS, .env = {"SLURM_TRES_PER_TASK=gpu:1"}},
	{"site default, another's variable", SITE(2, 2), NOTHING, .env = {"MY_GPUS=8"}},
	{"site default, --gpus-per-node", SITE(2, 2), STARTS, CMDLINE("--gpus-per-node=8\0a")},
	{"site default, --gres", SITE(2, 2), STARTS, CMDLINE("-N2\0--gres=gpu:8\0a")},
	{"site default, -G", SITE(2, 2), STARTS,
	 CMDLINE("-G\0"
		 "16\0a")},
	{"site default, a program called gpu", SITE(2, 2), NOTHING, CMDLINE("-N2\0gpu-burn")},
	{"site default, one node", SITE(1, 8), NOTHING, .env = {"SLURM_JOB_GPUS=0"}},
	{"site default, asked too", .option = "", .words = {"default=on"}, .nnodes = 2, .ntasks = 2,
	 STARTS},
	{"het step, asked", ASKED(1, 1), .components = 2, .launch = NOT_STARTED,
	 .log = "info: nccl-autoconf: a heterogeneous step is left as it is\n"},
	{"het step of three, asked", ASKED(2, 2), .components = 3, .launch = NOT_STARTED,
	 .log = "info: *\n"},
	{"het step, site default", SITE(2, 2), NOTHING, .components = 2,
	 .env = {"SLURM_JOB_GPUS=0"}},
	{"het step, off", .option = "off", .nnodes = 1, .ntasks = 1, NOTHING, .components = 2},

	/* srun ends without a step of its own */
	{"--async, asked", ASKED(2, 2), ASYNC, .log = LEFT, CMDLINE("-N2\0--async\0a")},
	{"--async, asked, listed twice", ASKED(2, 2), ASYNC, .log = LEFT, .listed = 2,
	 CMDLINE("--async\0a")},
	{"--async, site default", SITE(2, 2), ASYNC, .log = "", CMDLINE("--async\0a"),
	 .env = {"SLURM_JOB_GPUS=0"}},
	{"--async, off", .option = "off", ASYNC, .log = "", CMDLINE("--async\0a")},
	{"--async, a bad word", .option = "chekc", .async = true, REFUSED("*chekc*\n"),
	 CMDLINE("--async\0a")},
	{"no step", ASKED(2, 2), ASYNC, .log = "", CMDLINE("-N2\0a")},
	{"the program's own --async", ASKED(2, 2), STARTS, CMDLINE("a\0--async")},

	/* The wrapper is at work */
	{"the wrapper's step", ASKED(2, 2), NOTHING, .env = {"SLURM_NCCL_AUTOCONF_RUN=1:2:3:4:5"}},
	{"the wrapper's step, by site default", .nnodes = 2, .ntasks = 2, NOTHING,
	 .words = {"default=on"}, .env = {"SLURM_JOB_GPUS=0", "SLURM_NCCL_AUTOCONF_RUN=1:2:3:4:5"}},

	/* plugstack.conf names the plugin twice: everything comes twice, once is enough */
	{"listed twice", ASKED(2, 2), STARTS, .listed = 2},
	{"listed twice, not asked", .nnodes = 2, .ntasks = 2, NOTHING, .listed = 2},
	{"listed twice, het step", ASKED(1, 1), .components = 2, .listed = 2, .launch = NOT_STARTED,
	 .log = "info: *heterogeneous*\n"},
	{"listed twice, a bad word", ASKED(2, 2), .listed = 2, .words = {"nonsense"},
	 .launch = STARTED, .log = "error: *\"nonsense\"" IGNORED},

	/* Bad words */
	{"bad word in plugstack.conf, not asked", .nnodes = 2, .ntasks = 2, .words = {"nonsense"},
	 .launch = NOT_STARTED,
	 .log = "error: nccl-autoconf: plugstack.conf: unknown word \"nonsense\"" IGNORED},
	{"bad word in plugstack.conf, asked", ASKED(2, 2), .words = {"timeout=never"},
	 .launch = STARTED, .log = "error: *takes a number from 1 to 3600" IGNORED},
	{"a near word in plugstack.conf", ASKED(2, 2), .words = {"defualt=on"}, .launch = STARTED,
	 .log = "error: *did you mean default=[?]" IGNORED},
	{"bad word in the environment", .nnodes = 2, .ntasks = 2, .env = {"NCCL_AUTOCONF=on,chekc"},
	 .launch = NOT_STARTED,
	 .log = "error: nccl-autoconf: NCCL_AUTOCONF=on,chekc: *did you mean check=[?]" IGNORED},
	{"bad word in the environment, asked", ASKED(2, 2), .env = {"NCCL_AUTOCONF=default=on"},
	 .launch = STARTED, .log = "error: *only in plugstack.conf" IGNORED},
	{"a very long environment", .nnodes = 2, .ntasks = 2, .env = {long_env},
	 .launch = NOT_STARTED, .log = "error: *characters is too long" IGNORED},
	{"bad word of the option", .option = "chekc", .nnodes = 2, .ntasks = 2,
	 REFUSED("--nccl-autoconf: unknown word \"chekc\", did you mean check=[?]\n")},
	{"bad value of the option", .option = "on,timeout=0", .nnodes = 2, .ntasks = 2,
	 REFUSED("--nccl-autoconf: timeout=0: takes a number from 1 to 3600\n")},
	{"a word of the site's as option", .option = "helper=/bin/sh", .nnodes = 2, .ntasks = 2,
	 REFUSED("--nccl-autoconf: helper= may stand only in plugstack.conf\n")},
	{"an option of 1100 characters", .option = long_list, .nnodes = 2, .ntasks = 2,
	 REFUSED("--nccl-autoconf: *too long\n")},
	{"an option of many words", .option = ",,on,,on,", .nnodes = 2, .ntasks = 2, STARTS},

	/* What an outer step left */
	{"a stale launch variable, not asked", .nnodes = 2, .ntasks = 2, .launch = "", .log = "",
	 .env = {"SLURM_NCCL_AUTOCONF=1:1:2:3"}},
	{"a stale launch variable, asked", ASKED(2, 2), STARTS,
	 .env = {"SLURM_NCCL_AUTOCONF=9:1:2:3"}},
	{"an empty launch variable", .nnodes = 1, .ntasks = 1, .launch = "", .log = "",
	 .env = {"SLURM_NCCL_AUTOCONF="}},

	/* Helpers */
	{"helper: missing", ASKED(2, 2), .helper = "/nowhere/nccl-autoconf",
	 FAILS("helper /nowhere/nccl-autoconf: No such file or directory")},
	{"helper: not executable", ASKED(2, 2), .helper = "/etc/passwd",
	 FAILS("helper /etc/passwd: Permission denied")},
	{"helper: ends at once", ASKED(2, 2), .helper = "/bin/false", .launch = "*", .log = "*"},
	{"helper: missing, not asked", .nnodes = 2, .ntasks = 2, NOTHING, .helper = "/nowhere/x"},

	/* Who calls */
	{"sbatch", ASKED(2, 2), .context = S_CTX_ALLOCATOR, .launch = "", .log = ""},
	{"sbatch, a bad word", .option = "chekc", .context = S_CTX_ALLOCATOR, REFUSED("*\n")},
	{"slurmd", ASKED(2, 2), .context = S_CTX_SLURMD, .launch = "", .log = ""},
	{"a prolog", ASKED(2, 2), .context = S_CTX_JOB_SCRIPT, .launch = "", .log = ""},
	{"no number of tasks", ASKED(2, 2), NOTHING, .no_item = S_JOB_TOTAL_TASK_COUNT,
	 .has_no_item = true},
	{"no words of the program", ASKED(2, 2), NOTHING, .no_item = S_JOB_ARGV,
	 .has_no_item = true},
};

static const char *const program[] = {"a", NULL};

static void script(const struct row *r, const char *helper)
{
	static char word[128];
	size_t i, n = 0;

	host_reset(r->context ? r->context : S_CTX_LOCAL);
	snprintf(word, sizeof(word), "helper=%s", r->helper);
	host->words[n++] = r->helper ? word : host_helper(helper);
	for (i = 0; i < ARRAY_SIZE(r->words) && r->words[i]; i++)
		host->words[n++] = r->words[i];
	host->option = r->option;
	host->env = r->env;
	host->argv = program;
	host->cmdline = r->cmdline ? r->cmdline : "srun\0a";
	host->cmdline_size = r->cmdline ? r->size : sizeof("srun\0a");
	host->nnodes = r->nnodes;
	host->ntasks = r->ntasks;
	host->step = r->step;
	host->components = r->components ? r->components : 1;
	host->listed = r->listed ? r->listed : 1;
	host->async = r->async;
	host->no_item = r->no_item;
	host->has_no_item = r->has_no_item;
}

/* A hub is one process and one descriptor in srun, and both end with srun. */
static void check(void **state)
{
	const struct row *r = *state;
	bool srun = !r->context;

	script(r, "hub");
	host_walk();
	check_match("log", r->log, host->log);
	check_match("launch", r->launch, host->launch);
	check_clean();
	assert_true(host->orphans <= 1);
	assert_int_equal(host->orphan_signal, 0);
	assert_int_equal(host->option_rc, r->refused ? -1 : 0);
	if (srun && !r->helper) {
		assert_int_equal(host->new_fds, streq(r->launch, STARTED));
		assert_int_equal(host->orphans, streq(r->launch, STARTED));
	}
	assert_int_equal(host->options,
			 r->context != S_CTX_SLURMD && r->context != S_CTX_JOB_SCRIPT);
}

static int begin(void **state)
{
	(void)state;
	memset(long_list + strlen(long_list), 'x', sizeof(long_list) - 1 - strlen(long_list));
	memset(long_env + strlen(long_env), 'x', sizeof(long_env) - 1 - strlen(long_env));
	host_helpers();
	return 0;
}

static int end(void **state)
{
	(void)state;
	host_helpers_remove();
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	host_begin();
	TABLE_ADD(tests, n, rows, check);
	alarm(120);
	return _cmocka_run_group_tests("submit", tests, n, begin, end);
}
