/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

void node_script(const struct row *r, const char *env[16])
{
	static char launch[1024];
	size_t n = 0, i;

	host_reset(S_CTX_REMOTE);
	snprintf(launch, sizeof(launch), "SLURM_NCCL_AUTOCONF=%s", r->launch ? r->launch : LAUNCH);
	for (i = 0; i < ARRAY_SIZE(r->env) && r->env[i]; i++)
		env[n++] = r->env[i];
	if (!r->launch || !streq(r->launch, NO_LAUNCH))
		env[n++] = launch;
	env[n++] = "SLURM_SRUN_COMM_HOST=127.0.0.1";
	if (!r->env[0] || !nca_has_prefix(r->env[0], "SLURM_STEP_NUM_NODES"))
		env[n++] = "SLURM_STEP_NUM_NODES=2";
	env[n] = NULL;
	host->env = env;
	host->option = "";
	host->step = r->step;
	host->nodeid = r->nodeid;
	host->ntasks = r->ntasks ? r->ntasks : 2;
	host->listed = r->listed ? r->listed : 1;
	host->speed = r->speed;
	host->jumps = r->jumps;
	host->contained = r->contained;
	host->no_item = r->no_item;
	host->has_no_item = r->has_no_item;
	host->words[0] = host_helper(r->helper);
	host->words[1] = r->words[0];
	host->words[2] = r->words[1];
	host->imports[0] = r->imports[0];
	host->imports[1] = r->imports[1];
}

void node_check_tasks(const struct row *r)
{
	uint32_t i;

	for (i = 0; i < host->ntasks; i++) {
		assert_true(WIFEXITED(host->tasks[i].status));
		assert_int_equal(WEXITSTATUS(host->tasks[i].status), r->status);
		check_match("environment", r->diff, host->tasks[i].diff);
	}
}

void node_check(void **state)
{
	const struct row *r = *state;
	const char *env[16];
	char fifo[128];

	node_script(r, env);
	snprintf(fifo, sizeof(fifo), "%s/gate.fifo", host_dir);
	host->gate = streq(r->helper, "gate") ? fifo : NULL;
	host_walk();
	check_clean();
	assert_int_equal(host->option_rc, 0);
	assert_int_equal(host->new_fds, 0);
	check_match("log", r->log, host->log);
	node_check_tasks(r);
	/* It did not end by itself some time later. */
	if (r->lingers && host->orphans)
		assert_int_equal(host->orphan_signal, SIGKILL);
}

int node_begin(void **state)
{
	char fifo[128];

	(void)state;
	host_helpers();
	snprintf(fifo, sizeof(fifo), "%s/gate.fifo", host_dir);
	/* Tasks and agent, another user than we, open it. */
	return mkfifo(fifo, 0666) || chmod(fifo, 0666);
}

int node_end(void **state)
{
	(void)state;
	host_helpers_remove();
	return 0;
}
