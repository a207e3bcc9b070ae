/* SPDX-License-Identifier: Apache-2.0 */
/* Agents that do what no agent of ours would, and how the plugin starts them. */
#include "node.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include <nca/launch.h>

#include "check.h"

static const struct row rows[] = {
	/* Agents */
	{.name = "agent: exits with 0 and no answer", "exit0", "", NOTHING},
	{.name = "agent: exits with 1",
	 "exit1",
	 "error: nccl-autoconf: the agent ended with status 1" RUNS,
	 NOTHING},
	{.name = "agent: exits with 44 after writing",
	 "exit44",
	 "*ended with status 44" RUNS,
	 NOTHING},
	{.name = "agent: is killed", "killed", "*was ended by signal 9" RUNS, NOTHING},
	{.name = "agent: no deed of that name",
	 "unheard-of",
	 "*ended with status 94" RUNS,
	 NOTHING},
	{.name = "agent: never ends",
	 "hang",
	 "*no answer within 31 s" RUNS,
	 NOTHING,
	 .speed = FAST,
	 .lingers = true},
	{.name = "agent: never ends on another node than the first",
	 "hang",
	 "",
	 NOTHING,
	 .nodeid = 1,
	 .speed = FAST,
	 .lingers = true},
	{.name = "agent: never ends, and the clock is set back",
	 "hang",
	 "*no answer within 31 s" RUNS,
	 NOTHING,
	 .speed = FAST,
	 .jumps = -1,
	 .lingers = true},
	{.name = "agent: its parent is killed",
	 "orphan",
	 "*no answer within 31 s" RUNS,
	 NOTHING,
	 .speed = FAST,
	 .lingers = true},
	{.name = "agent: says stop", "stop", "", "", .status = 1},
	{.name = "agent: says stop after variables", "late-stop", "", "", .status = 1},
	{.name = "agent: bytes without an end", "unterminated", "", NOTHING},
	{.name = "agent: one good record, then no end",
	 "tail",
	 "",
	 LIST("NCCL_DEBUG") " +NCCL_DEBUG=INFO -SLURM_NCCL_AUTOCONF"},
	{.name = "agent: full to the last byte",
	 "full",
	 "",
	 LIST("NCCL_V0,NCCL_V1,*") " +NCCL_V0=0 *"},
	{.name = "agent: names that nobody may set",
	 "names",
	 "error: nccl-autoconf: \n",
	 "+NCCL_A=1 " LIST("NCCL_A") " -SLURM_NCCL_AUTOCONF"},
	{.name = "agent: names and values at their limits",
	 "long",
	 "",
	 "+NCCL_0*63=1 " LIST("NCCL_0*63,NCCL_V8191") " +NCCL_V8191=0*8191 -SLURM_NCCL_AUTOCONF"},
	{.name = "agent: more than the list of names holds",
	 "many",
	 "",
	 "*" LIST("*_BYTES_3?") " *"},
	{.name = "agent: a state that does not exist",
	 "state7",
	 "*no answer within 31 s" RUNS,
	 NOTHING},
	{.name = "agent: cannot shrink what slurmstepd has mapped",
	 "shrink",
	 "",
	 LIST("NCCL_SHRINK") " +NCCL_SHRINK=refused -SLURM_NCCL_AUTOCONF"},
	{.name = "agent: answers, then is killed", "twice", "*one warning\n", VARS},

	/* What it gets to know */
	{.name = "agent: gets what rules read and no more",
	 "echo",
	 "",
	 LIST("*") " +NCCL_IN_00=hub=127.0.0.1 40000 " SECRET
		   " 1 +NCCL_IN_01=nodeid=1 +NCCL_IN_02=tasks=2 +NCCL_IN_03=first=2"
		   " +NCCL_IN_04=env:NCCL_DEBUG=INFO +NCCL_IN_05=env:RANK=1"
		   " +NCCL_IN_06=env:SLURM_SRUN_COMM_HOST=127.0.0.1"
		   " +NCCL_IN_07=env:SLURM_STEP_NUM_NODES=2 -SLURM_NCCL_AUTOCONF",
	 .nodeid = 1,
	 .env = {"AWS_SECRET_ACCESS_KEY=x", "NCCL_DEBUG=INFO", "RANK=1", "RANKING=1"}},
};

/* As the user for good, and nothing of slurmstepd's: what a program inherits, one by one. */
static void check_state(void **state)
{
	static const struct row r = {"",  "state",     "",
				     "*", .ntasks = 1, .env = {"SLURM_RLIMIT_MEMLOCK=28672"}};
	const char *env[16];
	char want[512];
	uid_t u = getuid() ? getuid() : 65534;
	gid_t g = getuid() ? getgid() : 65534;

	(void)state;
	snprintf(want, sizeof(want),
		 "*+NCCL_STATE=fds=4 env=0 null=111 uid=%u/%u/%u gid=%u groups=%s "
		 "mask=0000000000000000 ignored=0000000[01][08]0000000 oom=0 nnp=%s cwd=/ "
		 "memlock=%s sid=*",
		 u, u, u, g, getuid() ? "*" : "1", getuid() ? "*" : "1", getuid() ? "*" : "28672");
	node_script(&r, env);
	signal(SIGPIPE, SIG_IGN);
	host_walk();
	signal(SIGPIPE, SIG_DFL);
	check_clean();
	check_match("environment", want, host->tasks[0].diff);
}

/* Where there is no agent, the hub hears why; nobody listens in the other tests. */
struct excuse {
	const char *name;
	const char *helper;
	const char *text; /* that the hub gets; fnmatch(3) */
	const char *log;
	const char *answer; /* of the hub */
	int status;	    /* of the tasks */
};

#define EXCUSE "0123456789abcdef0123456789abcdef"

static const struct excuse excuses[] = {
	{"excuse: the agent exits", "exit1", "NCX " EXCUSE " *: the agent ended with status 1\n",
	 "", "", 0},
	{"excuse: the agent is killed", "killed", "NCX * by signal 9\n", "", "", 0},
	{"excuse: no agent", "../none", "NCX " EXCUSE " *: No such file or directory\n", "", "", 0},
	{"excuse: the hub stops the step", "exit1", "NCX *\n", "", NCA_EXCUSE_STOP, 1},
	{"excuse: none after an answer", "empty", "", "", NCA_EXCUSE_STOP, 0},
};

static int listen_loopback(int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* Ends with the first connection, or when the test closes its listener. */
_Noreturn static void play_hub(int listener, const char *answer)
{
	int fd = accept(listener, NULL, NULL);
	size_t n = 0;
	ssize_t more;

	while (fd >= 0 && !memchr(host->excuse, '\n', n)) {
		more = recv(fd, host->excuse + n, sizeof(host->excuse) - 1 - n, 0);
		if (more <= 0)
			break;
		n += (size_t)more;
	}
	if (fd >= 0)
		send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	_exit(0);
}

static void check_excuse(void **state)
{
	const struct excuse *e = *state;
	struct row r = {.helper = e->helper, .log = e->log, .status = e->status};
	int port, listener = listen_loopback(&port);
	const char *env[16];
	char launch[256];
	pid_t hub;

	snprintf(launch, sizeof(launch), "1:%d:" SECRET ":1:" EXCUSE, port);
	r.launch = launch;
	r.diff = e->status ? "" : NOTHING;
	node_script(&r, env);
	fflush(NULL);
	hub = fork();
	if (hub == 0)
		play_hub(listener, e->answer);
	host->listener = listener;
	host->hub = hub;
	host_walk();
	close(listener);
	check_clean();
	check_match("log", r.log, host->log);
	check_match("excuse", e->text, host->excuse);
	node_check_tasks(&r);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	host_begin();
	TABLE_ADD(tests, n, rows, node_check);
	TABLE_ADD(tests, n, excuses, check_excuse);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_state);
	alarm(120);
	return _cmocka_run_group_tests("agent", tests, n, node_begin, node_end);
}
