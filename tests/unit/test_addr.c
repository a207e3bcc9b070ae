/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <nca/addr.h>

struct text {
	const char *name;
	int family; /* 0: not an address */
	const char *want;
};

static const struct text texts[] = {
	{"10.0.0.1", 4, "10.0.0.1"},
	{"0.0.0.0", 4, "0.0.0.0"},
	{"255.255.255.255", 4, "255.255.255.255"},
	{"::", 6, "::"},
	{"fe80::1%eth0", 6, "fe80::1"},
	{"2001:0DB8::0001", 6, "2001:db8::1"},
	{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{"", 0, NULL},
	{"10.0.0", 0, NULL},
	{"10.0.0.256", 0, NULL},
	{"10.0.0.1/24", 0, NULL},
	{"10.0.0.1 ", 0, NULL},
	{"node1", 0, NULL},
	{"1:2:3:4:5:6:7:8:9", 0, NULL},
	{"0000:0000:0000:0000:0000:0000:0000:00000000000000", 0, NULL},
};

static void check_text(void **state)
{
	const struct text *r = *state;
	struct nca_ip ip = {0};
	char buf[NCA_ADDR_TEXT];

	assert_int_equal(nca_ip_parse(r->name, &ip) == 0, r->family != 0);
	assert_int_equal(ip.family, r->family);
	if (r->family)
		assert_string_equal(nca_ip_text(&ip, buf), r->want);
}

struct gid {
	const char *name;
	const char *want; /* NULL: not a GID */
};

static const struct gid gids[] = {
	{"0000:0000:0000:0000:0000:ffff:0a14:010b", "10.20.1.11"},
	{"0000:0000:0000:0000:0000:ffff:0000:0000", "0.0.0.0"},
	{"0000:0000:0000:0000:0000:fffe:0a14:010b", "::fffe:a14:10b"},
	{"fe80:0000:0000:0000:966d:aeff:fe2f:f280", "fe80::966d:aeff:fe2f:f280"},
	{"fd93:16d3:59b6:0002:0000:0000:0000:0001", "fd93:16d3:59b6:2::1"},
	{"0000:0000:0000:0000:0000:0000:0000:0000", "::"},
	{"10.0.0.1", NULL},
	{"", NULL},
};

static void check_gid(void **state)
{
	const struct gid *r = *state;
	struct nca_ip ip = {0};
	char buf[NCA_ADDR_TEXT];

	assert_int_equal(nca_ip_parse_gid(r->name, &ip) == 0, r->want != NULL);
	if (r->want)
		assert_string_equal(nca_ip_text(&ip, buf), r->want);
}

struct class
{
	const char *name;
	bool loopback, link_local;
};

static const struct class classes[] = {
	{"126.255.255.255", false, false},
	{"127.0.0.0", true, false},
	{"127.255.255.255", true, false},
	{"128.0.0.0", false, false},
	{"169.253.255.255", false, false},
	{"169.254.0.0", false, true},
	{"169.254.255.255", false, true},
	{"169.255.0.0", false, false},
	{"::1", true, false},
	{"::2", false, false},
	{"fe7f:ffff::1", false, false},
	{"fe80::", false, true},
	{"febf:ffff::1", false, true},
	{"fec0::1", false, false},
	{"fd00::1", false, false},
};

static void check_class(void **state)
{
	const struct class *r = *state;
	struct nca_ip ip;

	assert_int_equal(nca_ip_parse(r->name, &ip), 0);
	assert_int_equal(nca_ip_is_loopback(&ip), r->loopback);
	assert_int_equal(nca_ip_is_link_local(&ip), r->link_local);
}

struct prefix {
	const char *name;
	int family;
	const char *in, *last, *out; /* in NULL: not a prefix; out NULL: nothing is outside */
};

static const struct prefix prefixes[] = {
	{"default", 4, "255.1.2.3", "255.255.255.255", NULL},
	{"0.0.0.0/0", 4, "0.0.0.0", "255.255.255.255", NULL},
	{"0.0.0.0/1", 4, "127.255.255.255", "127.255.255.255", "128.0.0.0"},
	{"128.0.0.0/1", 4, "128.0.0.0", "255.255.255.255", "127.255.255.255"},
	{"10.1.2.3/24", 4, "10.1.2.0", "10.1.2.255", "10.1.3.0"},
	{"10.168.192.88/31", 4, "10.168.192.89", "10.168.192.89", "10.168.192.90"},
	{"10.0.0.6/32", 4, "10.0.0.6", "10.0.0.6", "10.0.0.7"},
	{"10.0.0.6", 4, "10.0.0.6", "10.0.0.6", "10.0.0.7"},
	{"default", 6, "2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"8000::/1", 6, "8000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "7fff::"},
	{"fd00:1148::ff00/120", 6, "fd00:1148::ffff", "fd00:1148::ffff", "fd00:1148::1:0"},
	{"fd00::/127", 6, "fd00::1", "fd00::1", "fd00::2"},
	{"fd00::1/128", 6, "fd00::1", "fd00::1", "fd00::"},
	{"10.0.0.0/33", 4, NULL, NULL, NULL},
	{"10.0.0.0/-1", 4, NULL, NULL, NULL},
	{"10.0.0.0/", 4, NULL, NULL, NULL},
	{"fd00::/129", 6, NULL, NULL, NULL},
	{"fd00::/64", 4, NULL, NULL, NULL},
	{"", 4, NULL, NULL, NULL},
};

static void check_prefix(void **state)
{
	const struct prefix *r = *state;
	struct nca_prefix prefix;
	struct nca_ip ip;
	char buf[NCA_ADDR_TEXT];

	assert_int_equal(nca_prefix_parse(r->name, r->family, &prefix) == 0, r->in != NULL);
	if (!r->in)
		return;
	assert_int_equal(nca_ip_parse(r->in, &ip), 0);
	assert_true(nca_prefix_has(&prefix, &ip));
	ip = nca_prefix_last(&prefix);
	assert_string_equal(nca_ip_text(&ip, buf), r->last);
	if (r->out) {
		assert_int_equal(nca_ip_parse(r->out, &ip), 0);
		assert_false(nca_prefix_has(&prefix, &ip));
	}
}

/* An unknown length is the whole address; the other family is never inside. */
static void check_unknown_length(void **state)
{
	struct nca_ip a, b;
	struct nca_prefix prefix;

	(void)state;
	assert_int_equal(nca_ip_parse("10.0.0.1", &a), 0);
	assert_int_equal(nca_ip_parse("a00:1::", &b), 0);
	prefix = nca_ip_prefix(&a, -1);
	assert_int_equal(prefix.len, 32);
	assert_int_equal(nca_prefix_parse("default", 4, &prefix), 0);
	assert_false(nca_prefix_has(&prefix, &b));
	assert_true(nca_ip_compare(&a, &b) < 0);
	assert_int_equal(nca_ip_compare(&a, &a), 0);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, texts, check_text);
	TABLE_ADD(tests, n, gids, check_gid);
	TABLE_ADD(tests, n, classes, check_class);
	TABLE_ADD(tests, n, prefixes, check_prefix);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_unknown_length);
	return _cmocka_run_group_tests("addr", tests, n, NULL, NULL);
}
