/* SPDX-License-Identifier: Apache-2.0 */
/* The rules in tests/oracle, and the planner's own idea of them, against rows recorded from NCCL.
 */
#include "table.h"

#include <stdio.h>

#include <nca/file.h>
#include <nca/names.h>
#include <nca/plan.h>

#include "lib/step.h"
#include "tests/oracle/nccl_rules.h"

#define FIELDS_MAX 16
#define TABLE_LENGTH 16

struct row {
	char *field[FIELDS_MAX];
	size_t n;
};

/* Splits at every separator: empty fields count. */
static size_t split(char *text, const char *by, char **fields, size_t most)
{
	size_t n = 0;

	while (text && n < most)
		fields[n++] = strsep(&text, by);
	return n;
}

/* Calls check for every row with the recorded answer of each version; returns the rows. */
static size_t each_row(const char *file, size_t inputs,
		       void (*check)(const struct row *, int version, char *got, size_t size))
{
	nca_autofree char *text = NULL;
	struct nca_error err = {""};
	char *line, *rest, got[1024];
	size_t len, rows = 0, v;

	if (nca_file_read(file, &text, &len, &err))
		fail_msg("%s", err.text);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		struct row row = {.n = 0};

		if (!*line || *line == '#')
			continue;
		row.n = split(line, "\t", row.field, FIELDS_MAX);
		assert_int_equal(row.n, inputs + NCCL_VERSIONS);
		for (v = 0; v < NCCL_VERSIONS; v++) {
			check(&row, nccl_versions[v], got, sizeof(got));
			if (!streq(got, row.field[inputs + v]))
				fail_msg("%s: %s | %s: NCCL %s answers %s, not %s", file,
					 row.field[0], row.field[1], nccl_version_names[v],
					 row.field[inputs + v], got);
		}
		rows++;
	}
	return rows;
}

static const char *set(const char *field)
{
	return streq(field, "-") ? NULL : field;
}

static void append(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	snprintf(buf + n, size - n, "%s%s", n ? "," : "", text);
}

static void check_list(const struct row *row, int version, char *got, size_t size)
{
	char text[2048], *ports[64];
	size_t i, n;

	*got = 0;
	snprintf(text, sizeof(text), "%s", row->field[1]);
	n = split(text, " ", ports, ARRAY_SIZE(ports));
	for (i = 0; i < n; i++) {
		char name[128];
		int port = atoi(strchr(ports[i], ':') + 1);

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(ports[i], ":"), ports[i]);
		if (nccl_takes_port(set(row->field[0]), name, port, version))
			append(got, size, ports[i]);
	}
	if (!*got)
		append(got, size, "none");
}

static void test_lists(void **state)
{
	(void)state;
	assert_true(each_row(ORACLE_DIR "/lists.tsv", 2, check_list) >= 50);
}

static void check_interfaces(const struct row *row, int version, char *got, size_t size)
{
	char text[2048], *entries[64], addr[NCA_ADDR_TEXT];
	struct nccl_ifaddr ifs[64] = {{0}};
	size_t i, n, found[16], count;

	*got = 0;
	snprintf(text, sizeof(text), "%s", row->field[0]);
	n = split(text, " ", entries, ARRAY_SIZE(entries));
	for (i = 0; i < n; i++) {
		char *part[3];

		split(entries[i], "/", part, 3);
		ifs[i].name = part[0];
		ifs[i].running = strchr(part[1], 'R');
		assert_int_equal(nca_ip_parse(part[2], &ifs[i].ip), 0);
	}
	count = nccl_interfaces(ifs, n, set(row->field[1]), set(row->field[2]), version,
				(size_t)atoi(row->field[3]), found);
	for (i = 0; i < count; i++) {
		char one[128];

		snprintf(one, sizeof(one), "%s=%s", ifs[found[i]].name,
			 nca_ip_text(&ifs[found[i]].ip, addr));
		append(got, size, one);
	}
	if (!*got)
		append(got, size, "none");
}

static void test_interfaces(void **state)
{
	(void)state;
	assert_true(each_row(ORACLE_DIR "/interfaces.tsv", 4, check_interfaces) >= 100);
}

static void check_gids(const struct row *row, int version, char *got, size_t size)
{
	char text[2048], *entries[TABLE_LENGTH];
	struct nccl_gid gids[TABLE_LENGTH];
	size_t i, n;
	int index;

	snprintf(text, sizeof(text), "%s", row->field[0]);
	n = split(text, " ", entries, ARRAY_SIZE(entries));
	for (i = 0; i < n; i++) {
		char *part[3];
		struct nca_ip ip;

		split(entries[i], "/", part, 3);
		gids[i].index = atoi(part[0]);
		gids[i].roce = streq(part[1], "v1") ? 1 : 2;
		assert_int_equal(nca_ip_parse_gid(part[2], &ip), 0);
		nccl_gid_raw(&ip, gids[i].raw);
	}
	index = nccl_gid_index(gids, n, TABLE_LENGTH, set(row->field[1]), set(row->field[2]),
			       set(row->field[3]), version);
	if (index == NCCL_GID_ERROR || index == NCCL_GID_CRASH)
		snprintf(got, size, index == NCCL_GID_ERROR ? "error" : "crash");
	else
		snprintf(got, size, "%d", index);
}

static void test_gids(void **state)
{
	(void)state;
	assert_true(each_row(ORACLE_DIR "/gids.tsv", 4, check_gids) >= 200);
}

/* Lists whose meaning is our own business to know too: nca_names_match() reads them alike. */
static void check_names(const struct row *row, int version, char *got, size_t size)
{
	char text[2048], *ports[64], name[128];
	size_t i, n;

	check_list(row, version, got, size);
	snprintf(text, sizeof(text), "%s", row->field[1]);
	n = split(text, " ", ports, ARRAY_SIZE(ports));
	/* Ports that are no plain number differ between versions; behind the 32nd entry nothing is
	 * read. */
	if (n > 32 || strpbrk(row->field[0], ";") || strstr(row->field[0], ":-") ||
	    strstr(row->field[0], ": ") || strstr(row->field[0], ":+") ||
	    strstr(row->field[0], "::") || strchr(row->field[0], 0)[-(*row->field[0] != 0)] == ':')
		return;
	for (i = 0; i < n; i++) {
		bool want;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(ports[i], ":"), ports[i]);
		want = nccl_takes_port(set(row->field[0]), name, 1, version);
		if (set(row->field[0]) && nca_names_match(row->field[0], name, 1) != want)
			fail_msg("nca_names_match(%s, %s)", row->field[0], name);
	}
}

static void test_names(void **state)
{
	(void)state;
	each_row(ORACLE_DIR "/lists.tsv", 2, check_names);
}

/* The planner's own idea of the automatic choice: a RoCE v2 GID that it names is NCCL's, and where
 * it names none, NCCL ends at one that cannot work. */
static void check_auto(const struct row *row, int version, char *got, size_t size)
{
	char text[2048], *entries[TABLE_LENGTH], hex[TABLE_LENGTH][40];
	const char *range = set(row->field[3]);
	struct nca_gid gids[TABLE_LENGTH] = {{0}};
	struct nca_port port = {.gids = {gids, 0}};
	int family = streq(row->field[2], "AF_INET6") ? 6 : 4;
	const struct nca_gid *gid;
	struct nca_prefix prefix;
	size_t i, k;

	check_gids(row, version, got, size);
	if (version < 22600 || set(row->field[1]) ||
	    (range && (!strchr(range, '/') || nca_prefix_parse(range, family, &prefix))))
		return;
	snprintf(text, sizeof(text), "%s", row->field[0]);
	port.gids.n = split(text, " ", entries, ARRAY_SIZE(entries));
	for (i = 0; i < port.gids.n; i++) {
		unsigned char raw[16];
		struct nca_ip ip;
		char *part[3];

		split(entries[i], "/", part, 3);
		assert_int_equal(nca_ip_parse_gid(part[2], &ip), 0);
		nccl_gid_raw(&ip, raw);
		for (k = 0; k < 8; k++)
			sprintf(hex[i] + 5 * k, "%02x%02x%s", raw[2 * k], raw[2 * k + 1],
				k < 7 ? ":" : "");
		gids[i] = (struct nca_gid){atoi(part[0]), hex[i],
					   streq(part[1], "v1") ? "IB/RoCE v1" : "RoCE v2", NULL};
	}
	gid = nca_gid_auto(&port, family, range ? &prefix : NULL);
	if (gid)
		assert_int_equal(gid->index, atoi(got));
	for (i = 0; !gid && i < port.gids.n; i++)
		if (gids[i].index == atoi(got))
			assert_false(streq(gids[i].type, "RoCE v2") &&
				     nca_has_prefix(gids[i].gid, "0000:0000:0000:0000:0000:ffff") &&
				     family == 4);
}

static void test_auto(void **state)
{
	(void)state;
	each_row(ORACLE_DIR "/gids.tsv", 4, check_auto);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists), cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_gids),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_auto),
	};

	return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
