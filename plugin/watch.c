/* SPDX-License-Identifier: Apache-2.0 */
/* Beside slurmstepd: the watcher, which starts the agent and speaks for it when it cannot. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <nca/start.h>

#include "plugin.h"

/* What an agent that is told to end may take: it removes a file. */
#define END_MS 200

/* How the agent ended. Stopped, it would keep all nodes waiting, and nobody would let it go on. */
static int reap(pid_t agent)
{
	int status = 127 << 8;
	pid_t pid;

	do {
		pid = waitpid(agent, &status, WUNTRACED);
		if (pid > 0 && WIFSTOPPED(status))
			kill(agent, SIGKILL);
	} while (pid < 0 ? errno == EINTR : WIFSTOPPED(status));
	return status;
}

static void describe(const struct nca_spawn *spawn, int status, char *buf, size_t size)
{
	const struct nca_mailbox *box = nca_plugin.box;
	size_t pos = 0;
	const char *said = nca_record_next(box->out, sizeof(box->out), &pos);

	if (said && said[0] == NCA_TASK_SAY)
		snprintf(buf, size, "%s", said + 1);
	else if (WIFSIGNALED(status))
		snprintf(buf, size, "the agent was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127)
		snprintf(buf, size, "%s does not start: try it there", spawn->path);
	else
		snprintf(buf, size, "the agent ended with status %d", WEXITSTATUS(status));
}

/*
 * Tells the hub, so that no node waits for this one and one line says why. What the tasks do then:
 * DIED: the hub does not say it, so they must. Where it needs no node any more, it has seen the end
 * of the agent's connection; if it has ended, one node's word is enough.
 */
static enum nca_mailbox_state excuse(const struct nca_hub_address *hub, const char *why)
{
	struct nca_mailbox *box = nca_plugin.box;
	char text[NCA_EXCUSE_MAX], name[65] = "", stop[2] = {NCA_TASK_STOP, '\0'};
	size_t used = 0;
	int rc;

	gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = '\0';
	snprintf(text, sizeof(text), "%s: %.400s", name, why);
	rc = nca_start_excuse(hub->launch, hub->host, text);
	if (rc == 1) {
		nca_record_add(box->out, sizeof(box->out), &used, stop, "");
		return NCA_MAILBOX_PUBLISHED;
	}
	return !rc || (rc == -ECONNREFUSED && hub->nodeid != 0) ? NCA_MAILBOX_EXCUSED
								: NCA_MAILBOX_DIED;
}

/* Nothing of slurmstepd is needed in the watcher: not its descriptors, not its rights. */
static int become_watcher(const struct nca_spawn *spawn)
{
	syscall(SYS_close_range, 0U, ~0U, 0U);
	return nca_spawn_drop(spawn);
}

/*
 * Reaps the agent and wakes the tasks when it ended without an answer, however it ended: also where
 * its exec failed or a library is missing. A process of its own, since slurmstepd must not wait and
 * a task is not the agent's parent.
 */
static void watch(const struct nca_spawn *spawn, const struct nca_hub_address *hub)
{
	enum nca_mailbox_state state = NCA_MAILBOX_DIED;
	struct nca_mailbox *box = nca_plugin.box;
	pid_t me = getpid(), agent = fork();
	char why[NCA_EXCUSE_MAX];

	if (agent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == me)
			nca_spawn_exec(spawn);
		_exit(127);
	}
	box->status = 127 << 8;
	if (become_watcher(spawn) == 0) {
		box->status = reap(agent);
		describe(spawn, box->status, why, sizeof(why));
		if (atomic_load(&box->state) == NCA_MAILBOX_OPEN)
			state = excuse(hub, why);
	}
	nca_mailbox_close(box, state);
}

/* There is no agent. What the hub cannot be told is the first task's to say. */
static void apologise(const struct nca_spawn *spawn, const struct nca_hub_address *hub,
		      const char *why)
{
	char prefix[2] = {NCA_TASK_SAY, '\0'}, text[NCA_ERROR_MAX + 80];
	enum nca_mailbox_state state = NCA_MAILBOX_DIED;
	struct nca_mailbox *box = nca_plugin.box;
	size_t used = 0;

	if (become_watcher(spawn) == 0)
		state = excuse(hub, why);
	if (state == NCA_MAILBOX_DIED) {
		snprintf(text, sizeof(text), "%s; the tasks run as without us", why);
		nca_record_add(box->out, sizeof(box->out), &used, prefix, text);
		state = NCA_MAILBOX_PUBLISHED;
	}
	nca_mailbox_close(box, state);
}

static void be_watcher(const struct nca_spawn *spawn, const struct nca_hub_address *hub,
		       const char *why)
{
	signal(SIGTERM, SIG_IGN);
	if (why)
		apologise(spawn, hub, why);
	else
		watch(spawn, hub);
	nca_word_set(nca_plugin.over, 1);
	_exit(0);
}

/*
 * Forked twice: a child of slurmstepd's that ends before the last task costs the step 100 ms (22.05
 * mgr.c, _wait_for_all_tasks, sleeps when it has reaped one). The one between leads the group.
 */
int nca_watcher_start(const struct nca_spawn *spawn, const struct nca_hub_address *hub,
		      const char *why, struct nca_error *err)
{
	int status = 0;
	pid_t pid;

	nca_plugin.over = mmap(NULL, sizeof(*nca_plugin.over), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = nca_plugin.over == MAP_FAILED ? -1 : fork();
	if (pid == 0) {
		if (setsid() < 0 || (pid = fork()) < 0)
			_exit(1);
		if (pid == 0)
			be_watcher(spawn, hub, why);
		_exit(0);
	}
	if (pid < 0 || (waitpid(pid, &status, 0) == pid && status))
		return nca_fail(err, -EAGAIN, "cannot start a process");
	nca_plugin.watcher = pid;
	return 0;
}

/*
 * An agent may stay to hold the rendezvous port's name, or to remove the step's file; none may
 * outlive the step's cgroup. While the group lives its number is not given to another.
 */
void nca_watcher_end(void)
{
	if (nca_plugin.watcher > 0 && !atomic_load(nca_plugin.over)) {
		/* Nobody wants to hear any more why there is no agent. */
		nca_mailbox_close(nca_plugin.box, NCA_MAILBOX_DIED);
		kill(-nca_plugin.watcher, SIGTERM);
		if (!nca_word_wait(nca_plugin.over, END_MS))
			kill(-nca_plugin.watcher, SIGKILL);
	}
	nca_plugin.watcher = 0;
}
