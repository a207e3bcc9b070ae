/* SPDX-License-Identifier: Apache-2.0 */
/* In a task: wait for the agent's answer and set variables. The user owns this process and the
 * mailbox. */
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <nca/variable.h>

#include "plugin.h"

#define VALUE_MAX 8192

/* Appends to the list of what was set; one that does not fit is only not listed. */
static void mark(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	if (n + strlen(name) + 2 > size)
		return;
	snprintf(list + n, size - n, "%s%s", n ? "," : "", name);
}

/* Did the step have it when it began? What we may set is all among what the agent is handed. */
static bool is_given(const char *name)
{
	size_t n = strlen(NCA_AGENT_ENV), len = strlen(name), pos = 0;
	const struct nca_mailbox *box = nca_plugin.box;
	const char *record;

	while ((record = nca_record_next(box->in, sizeof(box->in), &pos)))
		if (nca_has_prefix(record, NCA_AGENT_ENV) && nca_has_prefix(record + n, name) &&
		    record[n + len] == '=')
			return true;
	return false;
}

static void set(spank_t sp, const char *record, char *marked, size_t size)
{
	char name[NCA_TASK_NAME_MAX], value[VALUE_MAX];
	const char *text = nca_task_assignment(record, name);

	if (!text || !nca_variable_may_set(name) || strlen(text) >= sizeof(value))
		return;
	if (record[0] != NCA_TASK_COPY)
		snprintf(value, sizeof(value), "%s", text);
	else if (spank_getenv(sp, text, value, sizeof(value)) != ESPANK_SUCCESS)
		return;
	/* What the user has set holds, unless it was found to be impossible. */
	if (spank_setenv(sp, name, value,
			 record[0] == NCA_TASK_REPLACE ||
				 (record[0] == NCA_TASK_TOP && !is_given(name))) == ESPANK_SUCCESS)
		mark(marked, size, name);
}

static bool is_first(spank_t sp)
{
	int id;

	return spank_get_item(sp, S_TASK_ID, &id) == ESPANK_SUCCESS && id == 0;
}

/* What concerns all nodes alike is said by one. */
static bool is_first_of_all(spank_t sp)
{
	uint32_t node;

	return is_first(sp) && spank_get_item(sp, S_JOB_NODEID, &node) == ESPANK_SUCCESS &&
	       node == 0;
}

/*
 * Leaves a connection to the agent open that the start of the program closes. Nothing here waits,
 * and where the agent cannot be reached, as from a container with a network of its own, there is
 * none.
 */
static void show(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	int fd;

	if (len >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path + 1, name, len);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	len += offsetof(struct sockaddr_un, sun_path) + 1;
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, (socklen_t)len) < 0)
		close(fd);
}

static int apply(spank_t sp, const struct nca_mailbox *box)
{
	char marked[NCA_MARKER_MAX] = "";
	const char *socket_name = NULL;
	const char *record;
	size_t pos = 0;

	while ((record = nca_record_next(box->out, sizeof(box->out), &pos))) {
		if (record[0] == NCA_TASK_STOP)
			return -1;
		if (record[0] == NCA_TASK_SAY && is_first(sp))
			slurm_error("nccl-autoconf: %s", record + 1);
		if (record[0] == NCA_TASK_SHOW && is_first(sp))
			socket_name = record + 1;
		if (record[0] == NCA_TASK_COPY || strchr(NCA_TASK_VALUES, record[0]))
			set(sp, record, marked, sizeof(marked));
	}
	if (marked[0])
		spank_setenv(sp, NCA_MARKER_VARIABLE, marked, 1);
	/* Not before all is set: the program may be looked at from now on. */
	if (marked[0] && socket_name)
		show(socket_name);
	return 0;
}

static void say_died(int status)
{
	if (WIFSIGNALED(status))
		slurm_error("nccl-autoconf: the agent was ended by signal %d; the task runs as "
			    "without us",
			    WTERMSIG(status));
	else if (status)
		slurm_error("nccl-autoconf: the agent ended with status %d; the task runs as "
			    "without us",
			    WEXITSTATUS(status));
}

int nca_task_start(spank_t sp)
{
	switch (nca_mailbox_wait(nca_plugin.box, nca_plugin.wait_seconds * 1000)) {
	case NCA_MAILBOX_PUBLISHED:
		return apply(sp, nca_plugin.box);
	case NCA_MAILBOX_DIED:
		if (is_first(sp))
			say_died(nca_plugin.box->status);
		return 0;
	case NCA_MAILBOX_EXCUSED:
		return 0;
	default:
		if (is_first_of_all(sp))
			slurm_error(
				"nccl-autoconf: no answer within %d s; the task runs as without us",
				nca_plugin.wait_seconds);
		return 0;
	}
}
