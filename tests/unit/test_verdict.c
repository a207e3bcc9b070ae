/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>

#include <nca/verdict.h>

/* rtr_errno, status, large, received, roce, mac_is_peers, peer_has_gid, qps, qps_failed */
#define PING(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

struct row {
	const char *name;
	struct nca_ping ping;
	const char *word;
	enum nca_where where;
};

static const struct row rows[] = {
	{"healthy", PING(0, 0, 0, 1, 1, 1, 1, 4, 0), "ok", NCA_WHERE_NONE},
	{"nothing else is known", PING(0, 0, -1, -1, -1, -1, -1, -1, -1), "ok", NCA_WHERE_NONE},
	{"not heard of", PING(-1, -1, -1, -1, -1, -1, -1, -1, -1), "unheard", NCA_WHERE_NONE},
	{"own address removed", PING(EINVAL, -1, -1, -1, 1, -1, 1, 4, 0), "gid-gone",
	 NCA_WHERE_LOCAL},
	{"own entry gone", PING(ENODATA, -1, -1, -1, 1, -1, 1, 4, 0), "gid-gone", NCA_WHERE_LOCAL},
	{"InfiniBand has none", PING(EINVAL, -1, -1, -1, 0, -1, 1, 4, 0), "not-connected",
	 NCA_WHERE_LOCAL},
	{"peer's address removed", PING(EINVAL, -1, -1, -1, 1, -1, 0, 4, 0), "peer-gid-empty",
	 NCA_WHERE_PEER},
	{"netdev down", PING(ENETUNREACH, -1, -1, -1, 1, -1, 1, 4, 0), "no-route", NCA_WHERE_LOCAL},
	{"no ARP", PING(ETIMEDOUT, -1, -1, -1, 1, -1, 1, 4, 0), "peer-silent", NCA_WHERE_PATH},
	{"another errno", PING(ENOMEM, -1, -1, -1, 1, -1, 1, 4, 0), "not-connected",
	 NCA_WHERE_LOCAL},
	{"all dropped", PING(0, 12, 12, 0, 1, 1, 1, 4, 4), "forward-dead", NCA_WHERE_FORWARD},
	{"only answers dropped", PING(0, 12, 12, 1, 1, 1, 1, 4, 4), "return-dead",
	 NCA_WHERE_RETURN},
	{"the peer does not say", PING(0, 12, 12, -1, 1, 1, 1, 4, 4), "dead", NCA_WHERE_PATH},
	{"another MAC", PING(0, 12, 12, 0, 1, 0, 1, 4, 4), "wrong-neighbour", NCA_WHERE_PEER},
	{"another MAC, and it works", PING(0, 0, 0, 1, 1, 0, 1, 4, 0), "ok", NCA_WHERE_NONE},
	{"some queue pairs", PING(0, 12, 12, 0, 1, 1, 1, 4, 1), "some-paths-dead", NCA_WHERE_PATH},
	{"all but one", PING(0, 12, 12, 0, 1, 1, 1, 4, 3), "some-paths-dead", NCA_WHERE_PATH},
	{"one queue pair is no bond", PING(0, 12, 12, 0, 1, 1, 1, 1, 1), "forward-dead",
	 NCA_WHERE_FORWARD},
	{"only large ones dropped", PING(0, 0, 12, 1, 1, 1, 1, 4, 4), "mtu-black-hole",
	 NCA_WHERE_FORWARD},
	{"not ready for large ones", PING(0, 0, 13, 1, 1, 1, 1, 4, 4), "peer-stalled",
	 NCA_WHERE_NONE},
	{"fatal after small ones", PING(0, 0, 19, 1, 1, 1, 1, 4, 4), "device-fatal",
	 NCA_WHERE_LOCAL},
	{"not ready", PING(0, 13, -1, -1, 1, 1, 1, 4, 4), "peer-stalled", NCA_WHERE_NONE},
	{"protection", PING(0, 4, -1, -1, 1, 1, 1, 4, 4), "test-fault", NCA_WHERE_NONE},
	{"remote access", PING(0, 10, -1, -1, 1, 1, 1, 4, 4), "test-fault", NCA_WHERE_NONE},
	{"flush", PING(0, 5, -1, -1, 1, 1, 1, 4, 4), "consequence", NCA_WHERE_NONE},
	{"fatal", PING(0, 19, -1, -1, 1, 1, 1, 4, 4), "device-fatal", NCA_WHERE_LOCAL},
	{"a status of the future", PING(0, 99, -1, -1, 1, 1, 1, 4, 4), "dead", NCA_WHERE_PATH},
};

static void check(void **state)
{
	const struct row *r = *state;
	const struct nca_verdict *v = nca_verdict_find(&r->ping);

	assert_string_equal(v->word, r->word);
	assert_int_equal(v->where, r->where);
}

static const struct nca_ping healthy = PING(0, 0, 0, 1, 1, 1, 1, 4, 0);
static const struct nca_ping forward = PING(0, 12, 12, 0, 1, 1, 1, 4, 4);
static const struct nca_ping unknown = PING(0, 12, 12, -1, 1, 1, 1, 4, 4);
static const struct nca_ping gone = PING(EINVAL, -1, -1, -1, 1, -1, 1, 4, 0);

struct join {
	const char *name;
	const struct nca_ping *a, *b;
	const char *word;
	enum nca_where where;
};

static const struct join joins[] = {
	{"both well", &healthy, &healthy, "ok", NCA_WHERE_NONE},
	{"one is not heard of", &healthy, NULL, "ok", NCA_WHERE_NONE},
	{"the other is not", NULL, &healthy, "ok", NCA_WHERE_NONE},
	{"neither is", NULL, NULL, "unheard", NCA_WHERE_NONE},
	{"a sees it", &forward, &healthy, "forward-dead", NCA_WHERE_FORWARD},
	{"b sees it, so it is the way back", &healthy, &forward, "forward-dead", NCA_WHERE_RETURN},
	{"a cause beats a direction", &forward, &gone, "gid-gone", NCA_WHERE_PEER},
	{"whichever end has it", &gone, &forward, "gid-gone", NCA_WHERE_LOCAL},
	{"a direction beats the path", &unknown, &forward, "forward-dead", NCA_WHERE_RETURN},
	{"only b is heard of", NULL, &unknown, "dead", NCA_WHERE_PATH},
};

static void check_join(void **state)
{
	const struct join *j = *state;
	struct nca_verdict v = nca_verdict_join(j->a, j->b);

	assert_string_equal(v.word, j->word);
	assert_int_equal(v.where, j->where);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	TABLE_ADD(tests, n, joins, check_join);
	return _cmocka_run_group_tests("verdict", tests, n, NULL, NULL);
}
