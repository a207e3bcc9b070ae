/* SPDX-License-Identifier: Apache-2.0 */
/* What agents do. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "helper.h"

static struct nca_mailbox *box;
static size_t used;

static void put(const char *record)
{
	size_t n = strlen(record) + 1;

	if (used + n > sizeof(box->out))
		return;
	memcpy(box->out + used, record, n);
	used += n;
}

static void publish(uint32_t state)
{
	atomic_store(&box->state, state);
	syscall(SYS_futex, &box->state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void do_state(void)
{
	char text[1024] = "=NCCL_STATE=";

	describe(text + strlen(text), sizeof(text) - strlen(text));
	put(text);
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_empty(void)
{
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_vars(void)
{
	put("=NCCL_SOCKET_IFNAME==eth0");
	put("#NCCL_IB_HCA==mlx5_0");
	put("=MASTER_PORT=29500");
	put("<RANK=SLURM_PROCID");
	put("<LOCAL_RANK=SLURM_NOT_SET");
	put("-node1: one warning");
	publish(NCA_MAILBOX_PUBLISHED);
}

/* What a container's plugin may have set before. */
static void do_top(void)
{
	put("^NCCL_SOCKET_IFNAME==eth0");
	put("^NCCL_IB_HCA==mlx5_0");
	put("=MASTER_PORT=29500");
	publish(NCA_MAILBOX_PUBLISHED);
}

/* A socket at a name of the kernel's choice, which goes to the tasks. */
static int offer_socket(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(a.sun_family);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char record[sizeof(a.sun_path) + 1] = "?";

	bind(fd, (struct sockaddr *)&a, len);
	listen(fd, 1);
	len = sizeof(a);
	getsockname(fd, (struct sockaddr *)&a, &len);
	strncat(record, a.sun_path + 1, len - offsetof(struct sockaddr_un, sun_path) - 1);
	put(record);
	return fd;
}

/* Copies the environment of the connection's process, once the connection has ended; then the
 * process may go on. Nothing is copied, and it waits on, if the connection does not end by its
 * exec. */
static void do_look(void)
{
	char path[256], text[16384];
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);
	int listener = offer_socket(), fd;
	ssize_t n = 0;

	do_top();
	alarm(20);
	fd = accept(listener, NULL, NULL);
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	if (read(fd, text, sizeof(text)) != 0)
		_exit(95);
	snprintf(path, sizeof(path), "/proc/%d/environ", cred.pid);
	/* It can be read a moment later. */
	while (n == 0 && (fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
		n = read(fd, text, sizeof(text));
		close(fd);
	}
	snprintf(path, sizeof(path), "%s.seen", self);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (n < 0 || write(fd, text, (size_t)n) != n)
		_exit(96);
	snprintf(path, sizeof(path), "%s.fifo", self);
	close(open(path, O_WRONLY | O_CLOEXEC));
}

/* Only when all tasks of the node wait: the host opens the other end. */
static void do_gate(void)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s.fifo", self);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		do_vars();
}

static void do_exit0(void)
{
}

static void do_exit1(void)
{
	_exit(1);
}

static void do_exit44(void)
{
	put("=NCCL_SOCKET_IFNAME==eth0"); /* and nothing is published */
	_exit(44);
}

static void do_killed(void)
{
	raise(SIGKILL);
}

/* Above every deadline of the tests, should nobody end us. Deaf: asking is not enough. */
static void do_hang(void)
{
	signal(SIGTERM, SIG_IGN);
	alarm(20);
	for (;;)
		pause();
}

/* Once its parent is dead, nobody would see the end of this agent; not before the parent has become
 * the user is it ours to kill. */
static void do_orphan(void)
{
	pid_t parent = getppid();

	while (kill(parent, SIGKILL) < 0 && errno == EPERM)
		sched_yield();
	do_hang();
}

static void do_stop(void)
{
	put("!");
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_late_stop(void)
{
	put("=NCCL_SOCKET_IFNAME==eth0");
	put("!");
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_unterminated(void)
{
	memset(box->out, 'A', sizeof(box->out));
	publish(NCA_MAILBOX_PUBLISHED);
}

/* A good one, then one that has no end. */
static void do_tail(void)
{
	put("=NCCL_DEBUG=INFO");
	memcpy(box->out + used, "=NCCL_IB_HCA=", 13);
	memset(box->out + used + 13, 'A', sizeof(box->out) - used - 13);
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_full(void)
{
	char text[32];
	int i;

	for (i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "=NCCL_V%d=%d", i, i);
		put(text);
	}
	memset(box->out + used, 'A', sizeof(box->out) - used);
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_names(void)
{
	static const char *const records[] = {
		"=LD_PRELOAD=/tmp/x.so",
		"#LD_PRELOAD=/tmp/x.so",
		"<LD_PRELOAD=HOME",
		"=PATH=/tmp",
		"=BASH_ENV=/tmp/x",
		"==empty",
		"#=empty",
		"=",
		"#",
		"<",
		"-",
		"=NCCL_DEBUG",
		"=RANKS=1",
		"=xNCCL_DEBUG=INFO",
		"=SLURM_JOB_ID=1",
		"=NCCL_AUTOCONF_VARS=PATH,HOME",
		"?what",
		"~=NCCL_DEBUG=x",
		"+NCCL_DEBUG=x",
		"=NCCL_A=1",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(records); i++)
		put(records[i]);
	publish(NCA_MAILBOX_PUBLISHED);
}

/* The longest name and value that pass, and one byte more of each. */
static void do_long(void)
{
	char text[16384];
	int name, value;

	for (name = 63; name <= 64; name++) {
		snprintf(text, sizeof(text), "=NCCL_%0*d=1", name - 5, name);
		put(text);
	}
	for (value = 8191; value <= 8192; value++) {
		snprintf(text, sizeof(text), "=NCCL_V%d=%0*d", value, value, value);
		put(text);
	}
	publish(NCA_MAILBOX_PUBLISHED);
}

/* More names than the list of them can hold. */
static void do_many(void)
{
	char text[64];
	int i;

	for (i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "=NCCL_A_NAME_OF_THIRTY_BYTES_%d=1", i);
		put(text);
	}
	publish(NCA_MAILBOX_PUBLISHED);
}

static void do_state7(void)
{
	publish(7);
}

/* The file is sealed: what slurmstepd has mapped stays. */
static void do_shrink(void)
{
	put(ftruncate(NCA_AGENT_MAILBOX_FD, 0) < 0 && errno == EPERM ? "=NCCL_SHRINK=refused"
								     : "=NCCL_SHRINK=done");
	publish(NCA_MAILBOX_PUBLISHED);
}

/* Which records came, one variable each, so that the test reads them. */
static void do_echo(void)
{
	char text[512];
	size_t at = 0;
	int n = 0;

	for (; box->in[at]; at += strlen(box->in + at) + 1) {
		snprintf(text, sizeof(text), "=NCCL_IN_%02d=%.400s", n++, box->in + at);
		put(text);
	}
	publish(NCA_MAILBOX_PUBLISHED);
}

/* How it ends after its answer does not count. */
static void do_twice(void)
{
	do_vars();
	raise(SIGKILL);
}

static const struct {
	const char *name;
	void (*run)(void);
} deeds[] = {
	{"state", do_state},   {"empty", do_empty},	    {"vars", do_vars},
	{"top", do_top},       {"look", do_look},	    {"gate", do_gate},
	{"exit0", do_exit0},   {"exit1", do_exit1},	    {"exit44", do_exit44},
	{"killed", do_killed}, {"hang", do_hang},	    {"orphan", do_orphan},
	{"stop", do_stop},     {"late-stop", do_late_stop}, {"unterminated", do_unterminated},
	{"tail", do_tail},     {"full", do_full},	    {"names", do_names},
	{"long", do_long},     {"many", do_many},	    {"state7", do_state7},
	{"shrink", do_shrink}, {"echo", do_echo},	    {"twice", do_twice},
};

int run_agent(const char *name)
{
	size_t i;

	box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED, NCA_AGENT_MAILBOX_FD, 0);
	if (box == MAP_FAILED)
		return 93;
	for (i = 0; i < ARRAY_SIZE(deeds); i++)
		if (streq(name, deeds[i].name)) {
			deeds[i].run();
			return 0;
		}
	return 94;
}
