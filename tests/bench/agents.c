/* SPDX-License-Identifier: Apache-2.0 */
/* One process that speaks for all agents over loopback. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <nca/digest.h>

#include "agents.h"
#include "node.h"

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define BACKLOG 4096

static size_t report_bytes; /* of the last node */

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int listen_any(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)at, len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)at, &len) < 0)
		die("listen");
	return fd;
}

static void write_order(int fd, const struct bench_step *s)
{
	char buf[1024], pid[16], nnodes[16];
	size_t used = 0;

	snprintf(pid, sizeof(pid), "%d", getpid());
	snprintf(nnodes, sizeof(nnodes), "%zu", s->nodes);
	if (nca_record_add(buf, sizeof(buf), &used, NCA_HUB_SECRET, SECRET) ||
	    nca_record_add(buf, sizeof(buf), &used, NCA_HUB_STEP, "1.0") ||
	    nca_record_add(buf, sizeof(buf), &used, NCA_HUB_NNODES, nnodes) ||
	    nca_record_add(buf, sizeof(buf), &used, NCA_HUB_SRUN, pid) ||
	    nca_record_add(buf, sizeof(buf), &used, NCA_HUB_PLUGSTACK, "conf=/dev/null") ||
	    nca_record_add(buf, sizeof(buf), &used, NCA_HUB_USER, s->words) ||
	    send(fd, buf, used + 1, MSG_NOSIGNAL) != (ssize_t)used + 1)
		die("order");
}

/* With the listener and the tie to srun where the plugin puts them; *life is our end of the tie. */
static pid_t start_hub(const struct bench_step *s, struct sockaddr_in *at, int *life)
{
	int listener = listen_any(at), ends[2];
	char *argv[] = {(char *)s->program, "hub", NULL};
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 || (pid = fork()) < 0)
		die("fork");
	if (!pid) {
		if (s->said >= 0)
			dup2(s->said, STDERR_FILENO);
		listener = fcntl(listener, F_DUPFD, 16);
		ends[0] = fcntl(ends[0], F_DUPFD, 16);
		dup2(listener, NCA_HUB_LISTEN_FD);
		dup2(ends[0], NCA_HUB_LIFE_FD);
		closefrom(NCA_HUB_LIFE_FD + 1);
		execv(s->program, argv);
		_exit(127);
	}
	close(listener);
	close(ends[0]);
	*life = ends[1];
	write_order(*life, s);
	return pid;
}

void bench_say(struct nca_channel *ch, enum nca_message type, const char *text)
{
	int rc = nca_channel_send(ch, type, text, strlen(text), NULL);

	/* What is left goes out with the next one; a socket's buffer holds far more than a report.
	 */
	rc = rc ? rc : nca_channel_flush(ch);
	if (rc && rc != -EAGAIN) {
		fprintf(stderr, "the hub has ended: %s\n", strerror(-rc));
		exit(1);
	}
}

/* What the agent of node i reports: the digest. */
static char *make_report(size_t i, size_t nodes)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_report report = {.first_task = (int)i, .listen_port = 1, .step = "1.0"};
	static char node[BENCH_NODE_MAX];
	struct nca_error err = {"out of memory"};
	char *text = NULL;
	void *read;

	bench_write_node(node, sizeof(node), true, i);
	if (pool &&
	    !nca_schema_parse(&nca_node_shape, node, strlen(node), "node", pool, &read, &err)) {
		report.node = read;
		report.nodelist = nca_pool_printf(pool, "node[0-%zu]", nodes - 1);
		text = nca_digest_prepare(read, pool)
			       ? NULL
			       : nca_schema_print(&nca_report_shape, &report, NCA_DIGEST, 0);
	}
	if (!text) {
		fprintf(stderr, "report: %s\n", err.text);
		exit(1);
	}
	return text;
}

static void introduce(struct nca_channel *ch, size_t i, size_t nodes)
{
	nca_autofree char *report = make_report(i, nodes);
	char text[128];

	snprintf(text, sizeof(text),
		 "{\"version\":\"0\",\"name\":\"node%zu\",\"nodeid\":%zu,\"nnodes\":%zu}", i, i,
		 nodes);
	bench_say(ch, NCA_MSG_HELLO, text);
	bench_say(ch, NCA_MSG_REPORT, report);
	report_bytes = strlen(report);
}

/* True: the agent has nothing more to do. */
static bool reply(const struct bench_step *s, struct nca_channel *ch, size_t i,
		  const struct nca_frame *f)
{
	switch (f->type) {
	case NCA_MSG_HOLD:
		bench_say(ch, NCA_MSG_HELD, "{\"first\":29500}");
		return false;
	case NCA_MSG_TEST:
		bench_say(ch, NCA_MSG_RESULT, "{\"outcomes\":[{},{}]}");
		return false;
	case NCA_MSG_PART:
		bench_say(ch, NCA_MSG_ACK, "");
		return false;
	case NCA_MSG_COMMIT:
		bench_say(ch, NCA_MSG_DONE, "");
		return true;
	default:
		if (s->reply && s->reply(ch, i, f->type, f->payload))
			return false;
		fprintf(stderr, "the hub has not agreed\n");
		exit(1);
	}
}

/* True: done. */
static bool on_event(const struct bench_step *s, struct nca_channel *ch, size_t i)
{
	bool was_ready = ch->ready, done = false;
	struct nca_frame f;
	int rc = nca_channel_read(ch);

	if (rc && rc != -EAGAIN)
		die("the hub");
	rc = nca_channel_greet(ch, NULL);
	if (rc > 0 && !was_ready)
		introduce(ch, i, s->nodes);
	while (!done && rc >= 0 && (rc = nca_channel_next(ch, &f, NULL)) > 0)
		done = reply(s, ch, i, &f);
	return done;
}

static void dial(struct nca_channel *ch, const struct sockaddr_in *to, int epoll, size_t i,
		 const uint8_t *key)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = i};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 ||
	    nca_channel_open(ch, fd, NCA_SIDE_AGENT, key, NULL) || nca_channel_flush(ch) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		die("agent");
}

static void speak(const struct bench_step *s, struct nca_channel *agents,
		  const struct sockaddr_in *to)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), n;
	uint8_t key[NCA_SECRET_BYTES];
	size_t open = 0, done = 0;

	if (epoll < 0 || nca_key_parse(SECRET, key))
		die("epoll");
	while (done < s->nodes) {
		struct epoll_event ev;

		if (open < s->nodes) {
			dial(&agents[open], to, epoll, open, key);
			open++;
		}
		n = epoll_wait(epoll, &ev, 1, open < s->nodes ? 0 : -1);
		if (n > 0 && on_event(s, &agents[ev.data.u64], ev.data.u64)) {
			epoll_ctl(epoll, EPOLL_CTL_DEL, agents[ev.data.u64].fd, NULL);
			done++;
		}
	}
	close(epoll);
}

struct bench_cost bench_agree(const struct bench_step *s)
{
	struct nca_channel *agents = calloc(s->nodes, sizeof(*agents));
	struct rusage used;
	struct sockaddr_in at;
	int life, status;
	pid_t pid = start_hub(s, &at, &life);
	size_t i;

	if (!agents)
		die("agents");
	speak(s, agents, &at);
	close(life); /* srun ends */
	if (wait4(pid, &status, 0, &used) != pid || status) {
		fprintf(stderr, "the hub has ended with status %d\n", status);
		exit(1);
	}
	for (i = 0; i < s->nodes; i++)
		nca_channel_close(&agents[i]);
	free(agents);
	return (struct bench_cost){(double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
					   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) /
						   1e6,
				   (double)used.ru_maxrss / 1000, report_bytes};
}

void bench_raise_limit(size_t nodes)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		die("getrlimit");
	if (files.rlim_max < nodes + 64) {
		fprintf(stderr, "at most %lu open files (ulimit -Hn), needed are %zu\n",
			(unsigned long)files.rlim_max, nodes + 64);
		exit(1);
	}
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		die("setrlimit");
}
