/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole exchange without Slurm: plays what the plugin does in srun and on two nodes around one
 * hub and two agents, one of which may have a fault preloaded.
 *
 * usage: exchange hub|agent0|agent1|none HOST NET0 NET1 [ROOT0 ROOT1]: our address as the nodes see
 * it, and their network namespaces; with NCCL_AUTOCONF, FAULT_SO and what fail.c reads. With roots,
 * where their HCAs stand, the step is one that checks RDMA.
 *
 * The first node's task becomes a program in which a variable has another value.
 *
 * Prints how each process ended, how many variables each node got and whether the hub has said what
 * that program has. Exit status: 0 all nodes got
 * the same names, or none any, or the step was ended; 1 they differ; 2 something crashed or did not
 * end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <nca/clock.h>
#include <nca/launch.h>

#include "exchange.h"

/* Above every limit of the program's own, the longest of which is an agent's for its hub. */
#define ANSWER_MS 15000

/* For the hub to say what the program of the first task has; less where it may never come. */
#define FOUND_MS 2000

struct node {
	struct nca_mailbox *box;
	int fd;
	pid_t watcher;
};

const char *faulty, *host, *nets[NODES], *roots[NODES];

static void make_mailbox(struct node *n, int i, int port)
{
	static const char *const env[] = {"SLURM_JOB_ID=1", "SLURM_STEP_ID=0",
					  "SLURM_STEP_NUM_NODES=2", "SLURM_STEP_NODELIST=n[1-2]"};
	char hub[128], number[2] = {(char)('0' + i), '\0'};
	size_t used = 0, k;

	n->fd = memfd_create("mailbox", MFD_CLOEXEC);
	if (n->fd < 0 || ftruncate(n->fd, sizeof(*n->box)) < 0)
		die("memfd_create");
	n->box = mmap(NULL, sizeof(*n->box), PROT_READ | PROT_WRITE, MAP_SHARED, n->fd, 0);
	if (n->box == MAP_FAILED)
		die("mmap");
	snprintf(hub, sizeof(hub), "%s %d " SECRET " 2", host, port);
	nca_record_add(n->box->in, NCA_MAILBOX_SIZE, &used, NCA_AGENT_HUB, hub);
	nca_record_add(n->box->in, NCA_MAILBOX_SIZE, &used, NCA_AGENT_NODEID, number);
	nca_record_add(n->box->in, NCA_MAILBOX_SIZE, &used, NCA_AGENT_TASKS, "1");
	nca_record_add(n->box->in, NCA_MAILBOX_SIZE, &used, NCA_AGENT_FIRST, number);
	for (k = 0; k < ARRAY_SIZE(env); k++)
		nca_record_add(n->box->in, NCA_MAILBOX_SIZE, &used, NCA_AGENT_ENV, env[k]);
}

static int enter(const char *net)
{
	int fd = open(net, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		die(net);
	return close(fd);
}

/* Its wait status is the agent's: a signal of the agent's becomes 128 and the number. */
static void start_agent(struct node *n, int i, int life)
{
	static const char *const roles[NODES] = {"agent0", "agent1"};
	int status = 0;
	pid_t agent;

	n->watcher = fork();
	if (n->watcher)
		return;
	close(life); /* srun's end must be the only one */
	agent = fork();
	if (agent == 0 && roots[i])
		setenv("FAIL_ROOT", roots[i], 1);
	if (agent == 0 && enter(nets[i]) == 0)
		run("agent", roles[i], n->fd, -1);
	waitpid(agent, &status, 0);
	n->box->status = status;
	nca_mailbox_close(n->box, NCA_MAILBOX_DIED);
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static int end_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The hub ends the step by a signal to srun: then it does not matter what the nodes got. */
static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	ended = sig;
}

/* A task has said why. */
static int said;

/* A node's own: one whose table of GIDs cannot be read has none. */
static bool is_own(const char *record)
{
	return nca_has_prefix(record + 1, "NCCL_IB_GID_INDEX=");
}

/* Operations and names, without values, which differ by node; a node that is to stop has none. */
static int names(const struct node *n, char *buf, size_t size)
{
	const char *record;
	size_t pos = 0, len = 0;
	int count = 0;

	buf[0] = '\0';
	while (n->box->state == NCA_MAILBOX_PUBLISHED &&
	       (record = nca_record_next(n->box->out, NCA_MAILBOX_SIZE, &pos))) {
		if (record[0] == NCA_TASK_SAY) {
			said = fprintf(stderr, "%s\n", record + 1);
			continue;
		}
		if (record[0] == NCA_TASK_SHOW || is_own(record))
			continue;
		if (record[0] == NCA_TASK_STOP)
			len = 0;
		len += (size_t)snprintf(buf + len, size - len, "%.*s ",
					(int)strcspn(record + 1, "=") + 1, record);
		count++;
		if (record[0] == NCA_TASK_STOP)
			break;
	}
	return count;
}

static void read_arguments(int argc, char **argv)
{
	int i;

	if (argc != 3 + NODES && argc != 3 + 2 * NODES)
		_exit(3);
	faulty = argv[1];
	host = argv[2];
	for (i = 0; i < NODES; i++)
		nets[i] = argv[3 + i];
	for (i = 0; argc > 3 + NODES && i < NODES; i++)
		roots[i] = argv[3 + NODES + i];
}

/* What came of it; the hub's end is the last. */
struct result {
	char set[NODES][8192];
	int n[NODES], ends[NODES + 1];
	bool open;
};

/* Until the node has its answer, or srun has been told to end, which takes the tasks with it. */
static bool is_open(struct nca_mailbox *box)
{
	long long end = nca_clock_ms() + ANSWER_MS;

	while (nca_mailbox_wait(box, 20) == NCA_MAILBOX_OPEN)
		if (ended || nca_clock_ms() > end)
			return !ended;
	return false;
}

/* Tasks that have started run for a while: the hub has the time to hear that a node is lost. */
static void await_stop(void)
{
	long long end = nca_clock_ms() + ANSWER_MS;

	while (!ended && nca_clock_ms() < end)
		poll(NULL, 0, 20);
}

/* The name of the socket that a task shows its program by. */
static const char *socket_of(const struct node *n)
{
	const char *record;
	size_t pos = 0;

	while (n->box->state == NCA_MAILBOX_PUBLISHED &&
	       (record = nca_record_next(n->box->out, NCA_MAILBOX_SIZE, &pos)))
		if (record[0] == NCA_TASK_SHOW)
			return record + 1;
	return NULL;
}

/* As the plugin's task_init, and then an exec with a TaskProlog's change. Runs until `hold` is
 * closed. */
static pid_t start_program(const char *name, int hold[2])
{
	static char *const env[] = {NCA_MARKER_VARIABLE "=MASTER_PORT", "MASTER_PORT=1", NULL};
	static char *const argv[] = {"cat", NULL};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	enter(nets[0]);
	memcpy(a.sun_path + 1, name, strlen(name));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* An agent that has ended again is not there. */
	if (fd < 0 ||
	    (connect(fd, (struct sockaddr *)&a, (socklen_t)len) < 0 && errno != ECONNREFUSED))
		die("connect");
	dup2(hold[0], 0);
	execve("/bin/cat", argv, env);
	die("/bin/cat");
}

/* Until the hub has said what the program has, or for a while. */
static void run_program(const struct node *n)
{
	const char *name = socket_of(n);
	int hold[2];
	pid_t pid;

	if (!name || pipe2(hold, O_CLOEXEC) < 0)
		return;
	pid = start_program(name, hold);
	await_found(streq(faulty, "none") ? ANSWER_MS : FOUND_MS);
	close(hold[1]);
	close(hold[0]);
	waitpid(pid, NULL, 0);
}

static void run_nodes(int port, int life, struct result *r)
{
	struct node nodes[NODES];
	int i;

	for (i = 0; i < NODES; i++) {
		make_mailbox(&nodes[i], i, port);
		start_agent(&nodes[i], i, life);
	}
	for (i = 0; i < NODES; i++) {
		r->open |= is_open(nodes[i].box);
		r->n[i] = names(&nodes[i], r->set[i], sizeof(r->set[i]));
	}
	if (!r->n[0] && !r->n[1] && !said)
		await_words();
	else if (!streq(r->set[0], r->set[1]))
		await_stop();
	else
		run_program(&nodes[0]);
	close(life);
	for (i = 0; i < NODES; i++)
		r->ends[i] = end_of(nodes[i].watcher);
}

int main(int argc, char **argv)
{
	static struct result r;
	bool crashed = false, found;
	int port, life, i;
	pid_t hub;

	read_arguments(argc, argv);
	alarm(40);
	signal(SIGTERM, on_term);
	hub = start_hub(&port, &life);
	if (life >= 0)
		run_nodes(port, life, &r);
	r.ends[NODES] = end_of(hub);
	found = await_end();
	for (i = 0; i <= NODES; i++)
		crashed |= r.ends[i] > 1;
	printf("hub %d agents %d %d found %d variables %d %d%s\n", r.ends[NODES], r.ends[0],
	       r.ends[1], found, r.n[0], r.n[1], r.open ? " no answer" : "");
	return crashed || r.open ? 2 : !streq(r.set[0], r.set[1]) && !ended;
}
