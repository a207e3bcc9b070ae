/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>
#include <sys/socket.h>

#include <nca/channel.h>

struct pair {
	struct nca_channel hub, agent;
};

static const uint8_t key[NCA_SECRET_BYTES] = {1, 2, 3};
static const uint8_t other_key[NCA_SECRET_BYTES] = {1, 2, 4};

static void pump(struct nca_channel *from, struct nca_channel *to)
{
	assert_int_equal(nca_channel_flush(from), 0);
	assert_int_equal(nca_channel_read(to), 0);
}

static void open_pair(struct pair *p, const uint8_t *hub_key)
{
	struct nca_frame f;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(nca_channel_open(&p->hub, fds[0], NCA_SIDE_HUB, hub_key, NULL), 0);
	assert_int_equal(nca_channel_open(&p->agent, fds[1], NCA_SIDE_AGENT, key, NULL), 0);
	pump(&p->hub, &p->agent);
	pump(&p->agent, &p->hub);
	assert_int_equal(nca_channel_next(&p->agent, &f, NULL), 0);
	assert_int_equal(nca_channel_next(&p->hub, &f, NULL), 0);
	assert_true(p->hub.ready && p->agent.ready);
}

static void close_pair(struct pair *p)
{
	nca_channel_close(&p->hub);
	nca_channel_close(&p->agent);
}

struct row {
	const char *name;
	size_t len;
};

static const struct row sizes[] = {
	{"empty", 0},
	{"one byte", 1},
	{"a page", 4096},
	{"a page and one", 4097},
	{"two of everything", 40000},
};

static void check_size(void **state)
{
	const struct row *r = *state;
	char *text = malloc(r->len + 1);
	struct nca_frame f = {0};
	struct pair p;
	int rc = 0, i;

	memset(text, 'x', r->len);
	text[r->len] = '\0';
	open_pair(&p, key);
	/* Twice, so that a second message follows a first that is still handed out. */
	for (i = 0; i < 2; i++)
		assert_int_equal(nca_channel_send(&p.agent, 7 + (uint32_t)i, text, r->len, NULL),
				 0);
	for (i = 0; i < 2; i++) {
		while ((rc = nca_channel_next(&p.hub, &f, NULL)) == 0) {
			nca_channel_flush(&p.agent);
			nca_channel_read(&p.hub);
		}
		assert_int_equal(rc, 1);
		assert_int_equal(f.type, 7 + i);
		assert_int_equal(f.len, r->len);
		assert_string_equal(f.payload, text);
	}
	assert_int_equal(nca_channel_next(&p.hub, &f, NULL), 0);
	close_pair(&p);
	free(text);
}

/* Every single byte of a message, changed on the way, is found out. */
static void check_changed(void **state)
{
	size_t at = 0, len = 1;

	(void)state;
	for (at = 0; at < len; at++) {
		struct nca_frame f;
		struct pair p;
		int rc;

		open_pair(&p, key);
		assert_int_equal(nca_channel_send(&p.agent, 1, "hello", 5, NULL), 0);
		len = p.agent.out.used;
		p.agent.out.data[at] ^= 0x01;
		pump(&p.agent, &p.hub);
		rc = nca_channel_next(&p.hub, &f, NULL);
		/* A longer length field only waits for bytes that never come. */
		assert_true(rc == -EBADMSG || (at < 4 && rc == 0));
		close_pair(&p);
	}
	assert_int_equal(len, 8 + 5 + 32);
}

static void check_replayed(void **state)
{
	uint8_t copy[45];
	struct nca_frame f;
	struct pair p;

	(void)state;
	open_pair(&p, key);
	nca_channel_send(&p.agent, 1, "hello", 5, NULL);
	memcpy(copy, p.agent.out.data, sizeof(copy));
	pump(&p.agent, &p.hub);
	assert_int_equal(nca_channel_next(&p.hub, &f, NULL), 1);
	assert_int_equal(send(p.agent.fd, copy, sizeof(copy), 0), sizeof(copy));
	nca_channel_read(&p.hub);
	assert_int_equal(nca_channel_next(&p.hub, &f, NULL), -EBADMSG);
	close_pair(&p);
}

/* A message of the hub's own, sent back to it. */
static void check_reflected(void **state)
{
	uint8_t copy[45];
	struct nca_frame f;
	struct pair p;

	(void)state;
	open_pair(&p, key);
	nca_channel_send(&p.hub, 1, "hello", 5, NULL);
	memcpy(copy, p.hub.out.data, sizeof(copy));
	assert_int_equal(send(p.agent.fd, copy, sizeof(copy), 0), sizeof(copy));
	nca_channel_read(&p.hub);
	assert_int_equal(nca_channel_next(&p.hub, &f, NULL), -EBADMSG);
	close_pair(&p);
}

static void check_other_secret(void **state)
{
	struct nca_frame f;
	struct pair p;

	(void)state;
	open_pair(&p, other_key);
	nca_channel_send(&p.agent, 1, "hello", 5, NULL);
	pump(&p.agent, &p.hub);
	assert_int_equal(nca_channel_next(&p.hub, &f, NULL), -EBADMSG);
	close_pair(&p);
}

struct opening {
	const char *name;
	const char *bytes;
	size_t len;
	int rc;
};

static const struct opening openings[] = {
	{"nothing yet", "", 0, 0},
	{"a part", "NCA\1aaaa", 8, 0},
	{"a web browser", "GET / HTTP/1.1\r\n\r\n....", 20, -EBADMSG},
	{"zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, -EBADMSG},
	{"another version", "NCA\2aaaaaaaaaaaaaaaa", 20, -EPROTONOSUPPORT},
	{"ours", "NCA\1aaaaaaaaaaaaaaaa", 20, 0},
	{"a huge message", "NCA\1aaaaaaaaaaaaaaaa\xff\xff\xff\xff\0\0\0\1", 28, -EBADMSG},
};

static void check_opening(void **state)
{
	const struct opening *r = *state;
	struct nca_channel hub;
	struct nca_frame f;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(nca_channel_open(&hub, fds[0], NCA_SIDE_HUB, key, NULL), 0);
	assert_int_equal(send(fds[1], r->bytes, r->len, 0), (ssize_t)r->len);
	nca_channel_read(&hub);
	assert_int_equal(nca_channel_next(&hub, &f, NULL), r->rc);
	close(fds[1]);
	nca_channel_close(&hub);
}

static void check_closed(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, key);
	nca_channel_close(&p.agent);
	assert_int_equal(nca_channel_read(&p.hub), -ECONNRESET);
	nca_channel_close(&p.hub);
}

struct secret {
	const char *name;
	const char *hex;
	int rc;
};

#define HEX62 "00112233445566778899aabbccddeeff00112233445566778899aabbccddee"

static const struct secret secrets[] = {
	{"64 digits", HEX62 "ff", 0},	   {"63 digits", HEX62 "f", -EINVAL},
	{"62 digits", HEX62, -EINVAL},	   {"66 digits", HEX62 "ffff", -EINVAL},
	{"a letter", HEX62 "fg", -EINVAL}, {"empty", "", -EINVAL},
};

static void check_secret(void **state)
{
	const struct secret *r = *state;
	uint8_t out[NCA_SECRET_BYTES];

	assert_int_equal(nca_key_parse(r->hex, out), r->rc);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, sizes, check_size);
	TABLE_ADD(tests, n, openings, check_opening);
	TABLE_ADD(tests, n, secrets, check_secret);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_changed);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_replayed);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_reflected);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_other_secret);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_closed);
	return _cmocka_run_group_tests("channel", tests, n, NULL, NULL);
}
