/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>

#include <nca/hostlist.h>

struct row {
	const char *name;
	const char *list, *host;
	bool want;
};

static const struct row rows[] = {
	{"a name", "node1", "node1", true},
	{"a longer name", "node1", "node10", false},
	{"a shorter name", "node10", "node1", false},
	{"the second of a list", "a,node1", "node1", true},
	{"first of a range", "node[1-3]", "node1", true},
	{"last of a range", "node[1-3]", "node3", true},
	{"before a range", "node[1-3]", "node0", false},
	{"behind a range", "node[1-3]", "node4", false},
	{"the range grows a digit", "node[8-11]", "node10", true},
	{"zeros that the range has not", "node[1-3]", "node01", false},
	{"zeros that the range has", "node[001-064]", "node010", true},
	{"zeros that the name lacks", "node[001-064]", "node10", false},
	{"padding ends where numbers are long", "node[08-100]", "node100", true},
	{"one of several ranges", "node[1-3,7,10-12]", "node7", true},
	{"between ranges", "node[1-3,7,10-12]", "node8", false},
	{"what stands behind", "node[1-3]-ib", "node2-ib", true},
	{"something else behind", "node[1-3]-ib", "node2", false},
	{"two dimensions", "rack[0-3]n[1-8]", "rack2n8", true},
	{"numbers side by side", "n[1-2][0-9]", "n15", true},
	{"the longer number first", "n[10-11][0-9]", "n105", true},
	{"a range that is no number", "n[a-b]", "na", false},
	{"a bracket that does not close", "n[1-2", "n1", false},
	{"all", "ALL", "whatever", true},
	{"nothing", "", "n1", false},
	{"a name of digits", "[1-3]", "2", true},
	{"a number too long to be one", "n[1-9]", "n99999999999999999999", false},
};

static void check_has(void **state)
{
	const struct row *r = *state;

	assert_int_equal(nca_hostlist_has(r->list, r->host), r->want);
}

struct bad {
	const char *name;
	const char *list;
	const char *text; /* NULL: it is good */
};

static const struct bad lists[] = {
	{"good", "node[1-3,7],login1", NULL},	  {"a part of digits", "[1-3]", NULL},
	{"one number", "n[007]", NULL},		  {"empty", "", "\"\""},
	{"an empty part", "a,,b", "\"\""},	  {"a comma at the end", "a,", "\"\""},
	{"not closed", "a,n[1-3", "\"n[1-3\""},	  {"not opened", "n1-3]", "\"n1-3]\""},
	{"nested", "n[1-[2]]", "\"n[1-[2]]\""},	  {"backwards", "n[3-1]", "\"n[3-1]\""},
	{"no number", "n[a]", "\"n[a]\""},	  {"nothing inside", "n[]", "\"n[]\""},
	{"a comma inside", "n[1,]", "\"n[1,]\""}, {"a blank", "n1 n2", "\"n1 n2\""},
};

static void check_text(void **state)
{
	const struct bad *b = *state;
	struct nca_error err = {""};
	int rc = nca_hostlist_check(b->list, &err);

	assert_int_equal(rc, b->text ? -EINVAL : 0);
	if (b->text)
		assert_non_null(strstr(err.text, b->text));
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_has);
	TABLE_ADD(tests, n, lists, check_text);
	return _cmocka_run_group_tests("hostlist", tests, n, NULL, NULL);
}
