/* SPDX-License-Identifier: Apache-2.0 */
/* How the plugin starts the hub in srun: what it tells it, where it listens, what it leaves. */
#include "../unit/table.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "check.h"
#include "host.h"

#define STARTED "1:*"
#define NOT_STARTED "(none)"
#define AS_WITHOUT "; the step runs as without --nccl-autoconf\n"

static size_t read_file(const char *suffix, char *buf, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/hub.%s", host_dir, suffix);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, buf, size - 1);
	assert_true(n >= 0);
	close(fd);
	buf[n] = '\0';
	return (size_t)n;
}

static bool has(const char *order, size_t n, const char *record)
{
	size_t at;

	for (at = 0; at < n && order[at]; at += strlen(order + at) + 1)
		if (fnmatch(record, order + at, 0) == 0)
			return true;
	return false;
}

static void script(void)
{
	static const char *const program[] = {"a", NULL}, *const env[] = {"NCCL_AUTOCONF=check",
									  NULL};

	host_reset(S_CTX_LOCAL);
	host->words[0] = host_helper("hub");
	host->words[1] = "default=off";
	host->words[2] = "timeout=77";
	host->option = "explain,quiet";
	host->env = env;
	host->argv = program;
	host->nnodes = 3;
	host->ntasks = 12;
}

/* The hub gets every source of words, who asks, and the secret that the nodes get. */
static void check_order(void **state)
{
	static const char *const want[] = {
		"step=4711.5",		"nnodes=3",	 "plugstack=default=off",
		"plugstack=timeout=77", "env=check",	 "user=explain,quiet",
		"arg=torchrun",		"arg=--nnodes=2"};
	static const char *const words[] = {"torchrun", "--nnodes=2", NULL};
	char order[65536], secret[128] = "secret=", text[64];
	size_t n, i;

	(void)state;
	script();
	host->argv = words;
	host->step = 5;
	host_walk();
	check_clean();
	n = read_file("order", order, sizeof(order));
	for (i = 0; i < ARRAY_SIZE(want); i++)
		if (!has(order, n, want[i]))
			fail_msg("the order lacks %s", want[i]);
	snprintf(text, sizeof(text), "srun=%d", host->pid);
	assert_true(has(order, n, text));
	assert_int_equal(sscanf(host->launch, "1:%*d:%64[0-9a-f]:77", secret + 7), 1);
	assert_true(has(order, n, secret));
}

/* A command line of any length: its first words are enough. */
static void check_long_program(void **state)
{
	static char word[40000];
	static const char *const words[] = {"torchrun", word, word, word, NULL};
	char order[70000];
	size_t n;

	(void)state;
	memset(word, 'w', sizeof(word) - 1);
	script();
	host->argv = words;
	host_walk();
	check_clean();
	check_match("launch", STARTED, host->launch);
	n = read_file("order", order, sizeof(order));
	assert_true(has(order, n, "arg=torchrun"));
	assert_true(n <= 65536);
}

/* Two steps never share a secret. */
static void check_secrets_differ(void **state)
{
	char first[256];

	(void)state;
	script();
	host_walk();
	strcpy(first, host->launch);
	script();
	host_walk();
	assert_string_not_equal(first, host->launch);
}

/* Of srun's the hub has the terminal and the two sockets, a session of its own and no variables. */
static void check_state(void **state)
{
	char text[1024];
	int sid = 0;

	(void)state;
	script();
	host_walk();
	check_clean();
	read_file("state", text, sizeof(text));
	check_match("state",
		    "fds=5 env=0 null=1[01][01] uid=* mask=0000000000000000 "
		    "ignored=0000000[01][08]0000000 *",
		    text);
	assert_int_equal(sscanf(strstr(text, " sid="), " sid=%d", &sid), 1);
	assert_int_not_equal(sid, getsid(0));
	assert_int_not_equal(sid, 0);
}

static int bind_port(uint16_t *port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
		close(fd);
		return -1;
	}
	*port = ntohs(a.sin6_port);
	return fd;
}

/* SrunPortRange: one port that is taken, many, none configured. */
static void check_port_range(void **state)
{
	uint16_t range[2] = {0, 0};
	int fd = bind_port(&range[0]), port = 0;

	(void)state;
	if (fd < 0)
		skip();
	range[1] = range[0];
	script();
	host->port_range = range;
	host_walk();
	check_clean();
	check_match("log", "error: *SrunPortRange *" AS_WITHOUT, host->log);
	assert_string_equal(host->launch, NOT_STARTED);
	close(fd);
	range[0] = 21000;
	range[1] = 21999;
	script();
	host->port_range = range;
	host_walk();
	check_clean();
	assert_int_equal(sscanf(host->launch, "1:%d:", &port), 1);
	assert_in_range(port, range[0], range[1]);
	range[0] = range[1] = 0;
	script();
	host->port_range = range;
	host_walk();
	check_match("launch", STARTED, host->launch);
}

static void check_only_exit(void **state)
{
	(void)state;
	script();
	host->only_exit = true;
	host_walk();
	check_clean();
	assert_int_equal(host->orphans, 0);
}

static int begin(void **state)
{
	(void)state;
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
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_order),		cmocka_unit_test(check_long_program),
		cmocka_unit_test(check_secrets_differ), cmocka_unit_test(check_state),
		cmocka_unit_test(check_port_range),	cmocka_unit_test(check_only_exit),
	};

	host_begin();
	alarm(120);
	return cmocka_run_group_tests_name("start", tests, begin, end);
}
