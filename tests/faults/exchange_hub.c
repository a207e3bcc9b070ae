/* SPDX-License-Identifier: Apache-2.0 */
/* The hub of an exchange, and what it says. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include <nca/clock.h>
#include <nca/launch.h>

#include "exchange.h"

/* Above every limit of the hub's own. */
#define WORDS_MS 15000

_Noreturn void die(const char *what)
{
	perror(what);
	_exit(3);
}

_Noreturn void run(const char *verb, const char *role, int fd3, int fd4)
{
	const char *program = getenv("NCCL_AUTOCONF");
	char *argv[] = {(char *)program, (char *)verb, NULL};

	setenv("LD_PRELOAD", getenv("FAULT_SO"), 1);
	setenv("FAIL_NAME", role, 1);
	if (!streq(role, faulty))
		unsetenv("FAIL");
	fd3 = fcntl(fd3, F_DUPFD, 16);
	fd4 = fd4 < 0 ? -1 : fcntl(fd4, F_DUPFD, 16);
	dup2(fd3, 3);
	if (fd4 >= 0)
		dup2(fd4, 4);
	closefrom(fd4 < 0 ? 4 : 5);
	execv(program, argv);
	_exit(127);
}

static int listen_any(int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die("listen");
	*port = ntohs(a.sin_port);
	return fd;
}

static size_t write_order(char *buf, size_t size)
{
	size_t used = 0;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	nca_record_add(buf, size, &used, NCA_HUB_SECRET, SECRET);
	nca_record_add(buf, size, &used, NCA_HUB_STEP, "1.0");
	nca_record_add(buf, size, &used, NCA_HUB_NNODES, "2");
	nca_record_add(buf, size, &used, NCA_HUB_SRUN, pid);
	nca_record_add(buf, size, &used, NCA_HUB_PLUGSTACK, "conf=/dev/null");
	nca_record_add(buf, size, &used, NCA_HUB_USER,
		       roots[0] ? "all,layout=task,timeout=2,check" : "all,layout=task,timeout=2");
	return used + 1;
}

static int words[2];

void await_words(void)
{
	struct pollfd p = {.fd = words[0], .events = POLLIN};

	poll(&p, 1, WORDS_MS);
}

/* What the program of the first task has is among them. */
static bool found;

/* 0: the hub has said all. */
static ssize_t copy_words(void)
{
	char buf[4096];
	ssize_t n = read(words[0], buf, sizeof(buf) - 1);

	if (n <= 0 || write(2, buf, (size_t)n) < 0)
		return 0;
	buf[n] = '\0';
	found |= strstr(buf, "warning overridden: ") != NULL;
	return n;
}

void await_found(int timeout_ms)
{
	long long end = nca_clock_ms() + timeout_ms, left = timeout_ms;
	struct pollfd p = {.fd = words[0], .events = POLLIN};

	while (!found && left > 0 && poll(&p, 1, (int)left) > 0 && copy_words())
		left = end - nca_clock_ms();
}

bool await_end(void)
{
	while (copy_words())
		continue;
	return found;
}

pid_t start_hub(int *port, int *life)
{
	int listener = listen_any(port), ends[2];
	char order[4096];
	size_t len = write_order(order, sizeof(order));
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		die("socketpair");
	if (pipe2(words, O_CLOEXEC) < 0)
		die("pipe2");
	pid = fork();
	if (pid == 0 && dup2(words[1], 2) == 2)
		run("hub", "hub", listener, ends[0]);
	close(words[1]);
	close(listener);
	close(ends[0]);
	*life = ends[1];
	if (send(ends[1], order, len, MSG_NOSIGNAL) == (ssize_t)len)
		return pid;
	close(ends[1]);
	*life = -1;
	return pid;
}
