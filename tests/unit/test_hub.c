/* SPDX-License-Identifier: Apache-2.0 */
/* The hub with real connections over loopback; each node is a child process that follows a script.
 */
#include "table.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <nca/hub.h>

#define NODES 3
#define SHORT_MS 300
#define LONG_MS 20000

static const uint8_t key[NCA_SECRET_BYTES] = {42};
static const uint8_t wrong_key[NCA_SECRET_BYTES] = {43};

/* What a node does, a letter a step: h hello, r report, a answer one question, f has found
 * something, w wait for the end, g garbage, x another version, k uses the wrong key, 0 to 2 speaks
 * as that node from now on. Then it closes. */
struct row {
	const char *name;
	const char *scripts[NODES + 1]; /* NULL: this node does not come */
	int gather, ask;
	const char *text; /* part of the message of the first that fails */
};

static const struct row rows[] = {
	{"all come", {"0hraw", "1hraw", "2hraw"}, 0, 0, NULL},
	{"all come, a stranger too", {"0hraw", "1hraw", "2hraw", "gw"}, 0, 0, NULL},
	{"all come, one with the wrong secret too",
	 {"0hraw", "1hraw", "2hraw", "k1hrw"},
	 0,
	 0,
	 NULL},
	{"one never comes", {"0hraw", NULL, "2hraw"}, -ETIMEDOUT, 0, "no answer in time"},
	{"one with the wrong secret instead", {"0hraw", "k1hraw", "2hraw"}, -ETIMEDOUT, 0, NULL},
	{"one says hello and no more", {"0hraw", "1hw", "2hraw"}, -ETIMEDOUT, 0, NULL},
	{"one dies after hello",
	 {"0hw", "1h", "2hw"},
	 -ECONNRESET,
	 0,
	 "node1: the agent has ended"},
	{"one dies after its report", {"0hw", "1hr", "2hw"}, -ECONNRESET, 0, "node1"},
	{"one comes in another's place",
	 {"0hw", "1hw", "1hw"},
	 -EPROTO,
	 0,
	 "in the place of node1"},
	{"one is number 7 of 3", {"0hw", "1hw", "7hw"}, -EPROTO, 0, "node 7 of 3"},
	{"another version", {"0hw", "1hw", "xw"}, -EPROTONOSUPPORT, 0, "version 9"},
	{"one has found something before another answers",
	 {"0hrfaw", "1hraw", "2hraw"},
	 0,
	 0,
	 NULL},
	{"one has found something before its report",
	 {"0hfw", "1hw", "2hw"},
	 -ECONNRESET,
	 0,
	 "node0: a message of type 13 was not asked for"},
	{"reports twice", {"0hw", "1hrr", "2hw"}, -ECONNRESET, 0, "node1"},
	{"answers before it is asked", {"0hw", "1hra", "2hw"}, -ECONNRESET, 0, "node1"},
	{"one does not answer",
	 {"0hraw", "1hrw", "2hraw"},
	 0,
	 -ETIMEDOUT,
	 "node1: no answer in time"},
	{"one dies when asked", {"0hrqw", "1hrq", "2hrqw"}, 0, -ECONNRESET, "node1"},
};

static void wait_readable(struct nca_channel *ch)
{
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};

	poll(&p, 1, LONG_MS);
}

/* Until something but a part of a message has come; 0: the hub has closed. */
static int receive(struct nca_channel *ch, struct nca_frame *f)
{
	int rc;

	while ((rc = nca_channel_next(ch, f, NULL)) == 0) {
		wait_readable(ch);
		rc = nca_channel_read(ch);
		if (rc && rc != -EAGAIN)
			return 0;
	}
	return rc;
}

static void say(struct nca_channel *ch, uint32_t type, const char *text)
{
	struct nca_frame f;

	/* The hub may have ended before it had our opening: then nothing is left to say. */
	while (!ch->ready) {
		int rc;

		wait_readable(ch);
		rc = nca_channel_read(ch);
		if ((rc && rc != -EAGAIN) || nca_channel_next(ch, &f, NULL) < 0)
			_exit(0);
	}
	nca_channel_send(ch, type, text, strlen(text), NULL);
	nca_channel_flush(ch);
}

static void say_hello(struct nca_channel *ch, int node)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "{\"version\":\"0\",\"name\":\"node%d\",\"nodeid\":%d,\"nnodes\":3}", node, node);
	say(ch, NCA_MSG_HELLO, text);
}

static void say_report(struct nca_channel *ch, int node)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"first_task\":%d,\"listen_port\":1,\"node\":{\"schema\":\"hwdesc/"
		 "1\",\"name\":\"node%d\","
		 "\"interfaces\":[],\"hcas\":[]}}",
		 node, node);
	say(ch, NCA_MSG_REPORT, text);
}

static void say_number(struct nca_channel *ch, int node)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", node);
	say(ch, NCA_MSG_ACK, text);
}

static void play(const char *script, int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), node = 0;
	bool bad_key = strchr(script, 'k');
	struct nca_channel ch;
	struct nca_frame f;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		_exit(1);
	nca_channel_open(&ch, fd, NCA_SIDE_AGENT, bad_key ? wrong_key : key, NULL);
	if (strchr(script, 'x'))
		ch.out.data[3] = 9;
	if (!strchr(script, 'g'))
		nca_channel_flush(&ch);
	for (; *script; script++) {
		if (*script >= '0' && *script <= '9')
			node = *script - '0';
		else if (*script == 'h')
			say_hello(&ch, node);
		else if (*script == 'r')
			say_report(&ch, node);
		else if (*script == 'f')
			say(&ch, NCA_MSG_FOUND, script);
		else if (*script == 'g' &&
			 send(fd, "GET / HTTP/1.0\r\n\r\n......", 24, MSG_NOSIGNAL) < 0)
			_exit(1);
		else if (*script == 'q')
			receive(&ch, &f);
		else if (*script == 'a') {
			if (script[1] == 'w')
				receive(&ch, &f);
			say_number(&ch, node);
		} else if (*script == 'w')
			while (receive(&ch, &f) > 0)
				continue;
	}
	_exit(0);
}

static int listen_any(int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static void start(const struct row *r, pid_t pids[NODES + 1], int listener, int life, int port)
{
	int i;

	for (i = 0; i <= NODES; i++) {
		pids[i] = r->scripts[i] ? fork() : 0;
		if (r->scripts[i] && pids[i] == 0) {
			close(listener);
			close(life); /* srun's end must be the only one */
			play(r->scripts[i], port);
		}
	}
}

static void finish(const pid_t pids[NODES + 1])
{
	int i;

	for (i = 0; i <= NODES; i++)
		if (pids[i] > 0)
			waitpid(pids[i], NULL, 0);
}

static void check(void **state)
{
	const struct row *r = *state;
	struct nca_error err = {""};
	pid_t pids[NODES + 1];
	struct nca_hub *hub;
	int life[2], port, listener = listen_any(&port), rc;

	assert_int_equal(pipe(life), 0);
	start(r, pids, listener, life[1], port);
	assert_int_equal(nca_hub_open(listener, life[0], key, NODES, &hub, NULL), 0);
	rc = nca_hub_gather(hub, r->gather == -ETIMEDOUT ? SHORT_MS : LONG_MS, &err);
	assert_int_equal(rc, r->gather);
	if (!rc) {
		assert_string_equal(nca_hub_report(hub, 2)->node->name, "node2");
		rc = nca_hub_ask(hub, NCA_MSG_PART, NULL, NCA_MSG_ACK,
				 r->ask == -ETIMEDOUT ? SHORT_MS : LONG_MS, &err);
		assert_int_equal(rc, r->ask);
	}
	if (!rc)
		assert_string_equal(nca_hub_answer(hub, 1), "1");
	if (r->text && !strstr(err.text, r->text))
		fail_msg("\"%s\" does not contain \"%s\"", err.text, r->text);
	nca_hub_close(hub);
	finish(pids);
	close(life[0]);
	close(life[1]);
}

/* The wrapper starts the hub before srun, which has yet to find the nodes. */
static void check_unknown_count(void **state)
{
	static const struct row all = {.scripts = {"0hraw", "1hraw", "2hraw"}};
	pid_t pids[NODES + 1];
	struct nca_hub *hub;
	int life[2], port, listener = listen_any(&port);

	(void)state;
	assert_int_equal(pipe(life), 0);
	start(&all, pids, listener, life[1], port);
	assert_int_equal(nca_hub_open(listener, life[0], key, 0, &hub, NULL), 0);
	assert_int_equal(nca_hub_nodes(hub), 0);
	assert_int_equal(nca_hub_gather(hub, LONG_MS, NULL), 0);
	assert_int_equal(nca_hub_nodes(hub), NODES);
	nca_hub_close(hub);
	finish(pids);
	close(life[0]);
	close(life[1]);
}

/* srun's end is seen at once, whatever the hub waits for. */
static void check_srun_ends(void **state)
{
	static const struct row nobody = {.scripts = {"0hw", NULL, NULL}};
	pid_t pids[NODES + 1];
	struct nca_hub *hub;
	int life[2], port, listener = listen_any(&port);

	(void)state;
	assert_int_equal(pipe(life), 0);
	start(&nobody, pids, listener, life[1], port);
	assert_int_equal(nca_hub_open(listener, life[0], key, NODES, &hub, NULL), 0);
	close(life[1]);
	assert_int_equal(nca_hub_gather(hub, LONG_MS, NULL), -ECANCELED);
	assert_int_equal(nca_hub_linger(hub, false, -1), 0);
	nca_hub_close(hub);
	finish(pids);
	close(life[0]);
}

/* Whether it comes before or after the others' answers, it is told once, and the hub goes on. */
static void check_found(void **state)
{
	static const struct row all = {.scripts = {"0hrfawf", "1hraw", "2hraw"}};
	pid_t pids[NODES + 1];
	struct nca_hub *hub;
	int life[2], port, listener = listen_any(&port), i;

	(void)state;
	assert_int_equal(pipe(life), 0);
	start(&all, pids, listener, life[1], port);
	assert_int_equal(nca_hub_open(listener, life[0], key, NODES, &hub, NULL), 0);
	assert_int_equal(nca_hub_gather(hub, LONG_MS, NULL), 0);
	assert_int_equal(nca_hub_ask(hub, NCA_MSG_PART, NULL, NCA_MSG_ACK, LONG_MS, NULL), 0);
	assert_int_equal(nca_hub_linger(hub, false, LONG_MS), 1);
	for (i = 0; i < 2; i++) {
		nca_autofree char *found = nca_hub_found(hub);

		assert_true(i ? !found : streq(found, "fawf"));
	}
	assert_int_equal(nca_hub_linger(hub, false, 1), -ETIMEDOUT);
	close(life[1]);
	assert_int_equal(nca_hub_linger(hub, false, -1), 0);
	nca_hub_close(hub);
	finish(pids);
	close(life[0]);
}

/* What a node has found before all is off is nobody's business any more: the hub waits for srun's
 * end. */
static void check_found_in_vain(void **state)
{
	static const struct row all = {.scripts = {"0hrfaw", "1hraw", "2hraw"}};
	pid_t pids[NODES + 1];
	struct nca_hub *hub;
	int life[2], port, listener = listen_any(&port);

	(void)state;
	assert_int_equal(pipe(life), 0);
	start(&all, pids, listener, life[1], port);
	assert_int_equal(nca_hub_open(listener, life[0], key, NODES, &hub, NULL), 0);
	assert_int_equal(nca_hub_gather(hub, LONG_MS, NULL), 0);
	assert_int_equal(nca_hub_ask(hub, NCA_MSG_PART, NULL, NCA_MSG_ACK, LONG_MS, NULL), 0);
	assert_int_equal(nca_hub_dismiss(hub, NULL, 1, NULL), -ETIMEDOUT);
	close(life[1]);
	assert_int_equal(nca_hub_dismiss(hub, NULL, -1, NULL), 0);
	nca_hub_close(hub);
	finish(pids);
	close(life[0]);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_unknown_count);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_srun_ends);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_found);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_found_in_vain);
	return _cmocka_run_group_tests("hub", tests, n, NULL, NULL);
}
