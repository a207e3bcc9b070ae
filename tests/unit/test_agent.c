/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's answers to a preflight's messages, all of which the hub has sent before. */
#include "table.h"

#include <errno.h>
#include <sys/socket.h>

#include "wrapper/agent.h"

#define ANSWERS_MAX 5

struct message {
	uint32_t type;
	const char *text;
};

/* Inside braces: a message and its payload, or how it starts. */
#define OPEN NCA_MSG_OPEN, "{\"ports\":[{\"hca\":\"no_hca\",\"port\":1}],\"sets\":1,\"qps\":1}"
#define LINK NCA_MSG_LINK, "{\"partners\":[{\"port\":0,\"set\":0,\"end\":{\"qpns\":[7]}}]}"
#define PING NCA_MSG_PING, ""
#define PART NCA_MSG_PART, "{\"records\":[]}"
#define DROP NCA_MSG_DROP, ""
#define OPENED NCA_MSG_OPENED, "{\"ends\":[{\"why\":\"No such file or directory: /dev/infiniband"
#define LINKED NCA_MSG_LINKED, "{\"partners\":[{\"error\":2}]}"
#define PINGED                                                                                     \
	NCA_MSG_PINGED, "{\"partners\":[{\"partner\":0,\"failed\":1,\"received\":0}],\"risen\":[]"
#define ACK NCA_MSG_ACK, ""

struct row {
	const char *name;
	struct message messages[6];
	int rc;
	const char *why;
	struct message answers[ANSWERS_MAX]; /* how they start */
};

static const struct row rows[] = {
	{"a preflight, then the part",
	 {{OPEN}, {LINK}, {PING}, {PART}, {DROP}},
	 0,
	 NULL,
	 {{OPENED}, {LINKED}, {PINGED}, {ACK}}},
	{"two preflights",
	 {{OPEN}, {OPEN}, {LINK}, {DROP}},
	 0,
	 NULL,
	 {{OPENED}, {OPENED}, {LINKED}}},
	{"nothing is open", {{LINK}}, -EPROTO, "nothing is open", {}},
	{"nothing is open any more",
	 {{OPEN}, {PART}, {PING}},
	 -EPROTO,
	 "nothing is open",
	 {{OPENED}, {ACK}}},
	{"nothing is connected",
	 {{OPEN}, {PING}},
	 -EPROTO,
	 "no queue pairs are connected",
	 {{OPENED}}},
	{"connected twice",
	 {{OPEN}, {LINK}, {LINK}},
	 -EPROTO,
	 "connected already",
	 {{OPENED}, {LINKED}}},
	{"no message", {{NCA_MSG_OPEN, "{\"ports\":1}"}}, -EINVAL, "message of the hub", {}},
};

static void pump(struct nca_channel *from, struct nca_channel *to)
{
	assert_int_equal(nca_channel_flush(from), 0);
	assert_int_equal(nca_channel_read(to), 0);
}

static void open_pair(struct nca_channel *hub, struct nca_agent *a)
{
	static const uint8_t key[NCA_SECRET_BYTES] = {1};
	int fds[2];

	*a = (struct nca_agent){.reach = {.epoll = -1}, .pool = nca_pool_new()};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(nca_channel_open(hub, fds[0], NCA_SIDE_HUB, key, NULL), 0);
	assert_int_equal(nca_channel_open(&a->ch, fds[1], NCA_SIDE_AGENT, key, NULL), 0);
	pump(hub, &a->ch);
	pump(&a->ch, hub);
	assert_int_equal(nca_channel_greet(&a->ch, NULL), 1);
	assert_int_equal(nca_channel_greet(hub, NULL), 1);
}

static void check_answers(struct nca_channel *hub, const struct message *want)
{
	struct nca_frame f;

	assert_int_equal(nca_channel_read(hub), want->text ? 0 : -EAGAIN);
	for (; want->text; want++) {
		assert_int_equal(nca_channel_next(hub, &f, NULL), 1);
		assert_int_equal(f.type, want->type);
		assert_memory_equal(f.payload, want->text, strlen(want->text));
	}
	assert_int_equal(nca_channel_next(hub, &f, NULL), 0);
}

static void check_row(void **state)
{
	const struct row *r = *state;
	const struct message *m;
	struct nca_channel hub;
	struct nca_agent a;
	struct nca_error err = {""};

	open_pair(&hub, &a);
	for (m = r->messages; m->text; m++)
		assert_int_equal(nca_channel_send(&hub, m->type, m->text, strlen(m->text), NULL),
				 0);
	assert_int_equal(nca_channel_flush(&hub), 0);
	assert_int_equal(nca_agent_serve(&a, &err), r->rc);
	if (r->why)
		assert_non_null(strstr(err.text, r->why));
	else
		assert_null(a.pinger);
	check_answers(&hub, r->answers);
	nca_pinger_close(a.pinger);
	nca_channel_close(&a.ch);
	nca_channel_close(&hub);
	nca_pool_free(a.pool);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_row);
	return _cmocka_run_group_tests("agent", tests, n, NULL, NULL);
}
