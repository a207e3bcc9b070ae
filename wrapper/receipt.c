/* SPDX-License-Identifier: Apache-2.0 */
/* What the node's first program really got. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nca/file.h>
#include <nca/override.h>

#include "receipt.h"

/* execve() closes descriptors a moment before the new environment can be read, and a shell may be
 * at work on it then. There is no event for either's end (fs/exec.c, begin_new_exec();
 * fs/proc/base.c, environ_read()). */
#define READ_TRIES 1000

/* Where the records end; -1: no task sets anything. */
static ssize_t end_of(const char *records, size_t size)
{
	const char *record;
	bool sets = false;
	size_t pos = 0;

	while ((record = nca_record_next(records, size, &pos))) {
		if (record[0] == NCA_TASK_STOP)
			return -1;
		sets = sets || strchr(NCA_TASK_VALUES, record[0]);
	}
	return sets ? (ssize_t)pos : -1;
}

int nca_receipt_listen(char *records, size_t size)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(a.sun_family); /* unix(7), autobind */
	char prefix[2] = {NCA_TASK_SHOW, '\0'}, name[sizeof(a.sun_path)] = "";
	nca_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ssize_t end = end_of(records, size);
	size_t used = (size_t)end;

	if (fd < 0 || end < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 16) < 0)
		return -1;
	len = sizeof(a);
	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return -1;
	memcpy(name, a.sun_path + 1, len - offsetof(struct sockaddr_un, sun_path) - 1);
	return nca_record_add(records, size, &used, prefix, name) ? -1 : nca_steal_fd(&fd);
}

/* The process at the other end, 0: not one of this user, or not to be seen from here. */
static pid_t peer_of(int fd)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid != getuid())
		return 0;
	return cred.pid;
}

/* -errno once the hub has ended. */
static int wait_for(struct nca_agent *a, int fd)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = a->ch.fd, .events = POLLIN}};
	int rc = 0;

	while (!rc && !p[0].revents) {
		if (poll(p, ARRAY_SIZE(p), -1) < 0)
			rc = errno == EINTR ? 0 : -errno;
		else if (p[1].revents)
			rc = nca_channel_read(&a->ch);
		rc = rc == -EAGAIN ? 0 : rc;
	}
	return rc;
}

/* The process of the first task, once its program has started; 0: it never will. */
static pid_t await_program(struct nca_agent *a, int listener)
{
	pid_t pid = 0;
	int rc;

	while (!pid && (rc = wait_for(a, listener)) == 0) {
		nca_autoclose int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			return 0;
		pid = fd < 0 ? 0 : peer_of(fd);
		if (pid && wait_for(a, fd))
			return 0;
	}
	return pid;
}

static char *read_environment(pid_t pid, size_t *len)
{
	char path[64], *text = NULL;
	int i, rc;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	for (i = 0; i < READ_TRIES; i++) {
		rc = nca_file_read(path, &text, len, NULL);
		if (rc || nca_environment_is_whole(text, *len))
			return rc ? NULL : text;
		free(text);
		poll(NULL, 0, 1);
	}
	return NULL;
}

/* Containers of users have a user namespace; a private /tmp of Slurm's is none. */
static bool is_contained(pid_t pid)
{
	char path[64], own[64], other[64];
	ssize_t n = readlink("/proc/self/ns/user", own, sizeof(own)), m;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	m = readlink(path, other, sizeof(other));
	return n > 0 && m > 0 && (n != m || memcmp(own, other, (size_t)n) != 0);
}

/* Of who did not ask, what he exports is his affair, and its container's. */
static bool is_asked(const char *records, size_t size)
{
	const char *record;
	size_t pos = 0;

	while ((record = nca_record_next(records, size, &pos)))
		if (record[0] == NCA_TASK_TOP)
			return true;
	return false;
}

void nca_receipt_take(struct nca_agent *a, int socket, const struct nca_agent_input *in,
		      const char *records, size_t size)
{
	nca_autoclose int listener = socket;
	pid_t pid = await_program(a, listener);
	nca_overrides list;
	nca_autofree char *env = NULL;
	const char *text = NULL;
	size_t len = 0;

	env = pid ? read_environment(pid, &len) : NULL;
	if (!env || nca_overrides_find(records, size, is_asked(records, size) ? in->env : NULL, env,
				       len, a->pool, &list))
		return;
	if (list.n)
		text = nca_overrides_text(&list, a->name, is_contained(pid), a->pool);
	if (text)
		nca_agent_found(a, text);
}
