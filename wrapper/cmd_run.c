/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf run -- PROGRAM: in each task, without a plugin; becomes PROGRAM. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include <nca/start.h>

#include "commands.h"
#include "exchange.h"
#include "sibling.h"

static const char help[] =
	"usage: nccl-autoconf run -- PROGRAM [ARGUMENT...]\n\n"
	"What `nccl-autoconf srun` starts in every task: waits for the agreement of the\n"
	"nodes, sets the variables and becomes PROGRAM. Not to be typed by hand.\n";

extern char **environ;

/* The task's descriptors are its own: who keeps its output open keeps srun waiting. Returns the
 * listener's new number. */
static int detach(int listener)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	for (i = 0; null >= 0 && i <= 2; i++)
		dup2(null, i);
	dup2(listener, 3);
	close_range(4, ~0U, 0);
	return 3;
}

static void be_agent(const struct nca_agent_input *in, int listener)
{
	static char records[NCA_MAILBOX_SIZE];
	struct nca_agent a;
	size_t size = 0;

	listener = detach(listener);
	nca_exchange_run(in, &a, records, sizeof(records));
	while (nca_record_next(records, sizeof(records), &size))
		continue;
	nca_sibling_serve(listener, in->tasks, records, size + 1, a.ch.fd, nca_exchange_stays(&a));
	nca_exchange_end(&a);
	_exit(0);
}

/* Forked twice, so that the user's program has no child that it does not know. */
static void fork_agent(const struct nca_agent_input *in, int listener)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		be_agent(in, listener);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void mark(const char *name)
{
	const char *list = getenv(NCA_MARKER_VARIABLE);
	char longer[1024];

	snprintf(longer, sizeof(longer), "%s%s%s", list ? list : "", list ? "," : "", name);
	setenv(NCA_MARKER_VARIABLE, longer, 1);
}

static void set(const char *record)
{
	char name[NCA_TASK_NAME_MAX];
	const char *value = nca_task_assignment(record, name);

	if (value && record[0] == NCA_TASK_COPY)
		value = getenv(value);
	if (!value || (getenv(name) && record[0] != NCA_TASK_REPLACE))
		return;
	if (setenv(name, value, 1) == 0)
		mark(name);
}

/* -1: the task must not run. */
static int apply(const char *records, size_t size, bool first)
{
	const char *record;
	size_t pos = 0;

	while ((record = nca_record_next(records, size, &pos))) {
		if (record[0] == NCA_TASK_STOP)
			return -1;
		if (record[0] == NCA_TASK_SAY && first)
			nca_say("%s", record + 1);
		else if (record[0] == NCA_TASK_COPY || strchr(NCA_TASK_VALUES, record[0]))
			set(record);
	}
	return 0;
}

/* What the tasks of the step have in common, as far as one of them can know: not its ranks, unless
 * the step began with them. NULL when memory is short. */
static const char **step_environment(void)
{
	bool given = getenv(NCA_RANKS_VARIABLE);
	const char **env;
	size_t n = 0;
	char **e;

	for (e = environ; *e; e++)
		n++;
	env = calloc(n + 1, sizeof(*env));
	for (n = 0, e = environ; env && *e; e++)
		if (given || !(nca_has_prefix(*e, "RANK=") || nca_has_prefix(*e, "LOCAL_RANK=")))
			env[n++] = *e;
	unsetenv(NCA_RANKS_VARIABLE);
	return env;
}

/* -1: the task must not run. Whatever else goes wrong is one warning of the node's first task. */
static int join(const char *launch)
{
	static char records[NCA_MAILBOX_SIZE];
	const char *host = getenv("SLURM_LAUNCH_NODE_IPADDR"), *local = getenv("SLURM_LOCALID");
	nca_autofree const char **env = step_environment();
	char hub[256], name[80];
	struct nca_agent_input in;
	struct nca_error err = {"what the hub left in the environment is malformed"};
	bool first = nca_same(local, "0");
	int seconds = 0, listener = -1;
	int rc = nca_start_read(launch, host ? host : "", hub, sizeof(hub), &seconds);

	if (!rc && !env)
		rc = nca_fail_memory(&err);
	rc = rc ? rc : nca_agent_input_task(hub, env, &in, &err);
	if (!rc) {
		snprintf(name, sizeof(name), "%s.%s.%d", getenv("SLURM_JOB_ID"),
			 getenv("SLURM_STEP_ID"), in.nodeid);
		listener = nca_sibling_claim(name, &err);
		if (listener >= 0)
			fork_agent(&in, listener);
		if (listener >= 0)
			close(listener);
		rc = nca_sibling_ask(name, (seconds + NCA_GRACE_SECONDS) * 1000, records,
				     sizeof(records), &err);
	}
	if (!rc)
		return apply(records, sizeof(records), first);
	if (first)
		nca_say("%s; the task runs as without us", err.text);
	return 0;
}

int cmd_run(int argc, char **argv)
{
	const char *launch = getenv(NCA_RUN_VARIABLE);
	char *copy;
	int rc;

	if (argc > 1 && streq(argv[1], "--help")) {
		fputs(help, stdout);
		return 0;
	}
	if (argc < 3 || !streq(argv[1], "--")) {
		nca_say("run: name a program, as in: nccl-autoconf srun -N2 -- ./train");
		return 2;
	}
	if (!launch) {
		nca_say("run: there is no hub; type: nccl-autoconf srun OPTIONS -- %s", argv[2]);
		return 2;
	}
	copy = strdup(launch);
	unsetenv(NCA_RUN_VARIABLE);
	if (copy && join(copy) < 0)
		return 1;
	free(copy);
	execvp(argv[2], argv + 2);
	rc = errno == ENOENT ? 127 : 126;
	nca_say("%s: %m", argv[2]);
	return rc;
}
