/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "table.h"

#include <errno.h>

#include <nca/inventory.h>

#define HEAD "{\"schema\": \"hwdesc/1\", \"name\": \"n1\", "
#define REST "\"interfaces\": [], \"hcas\": []}"

struct row {
	const char *name;
	const char *text;
	const char *message; /* part of it; NULL: the document is right */
};

static const struct row rows[] = {
	{"smallest", HEAD REST, NULL},
	{"unknown keys", HEAD "\"x\": {\"y\": [1]}, " REST, NULL},
	{"null is unknown", HEAD "\"memlock_kb\": null, " REST, NULL},
	{"empty", "", "f: line 1, column 0"},
	{"truncated", HEAD, "f: line 1"},
	{"not an object", "[]", "expected an object"},
	{"trailing text", HEAD REST "x", "f: line 1"},
	{"second line", "{\n\"schema\" 1}", "f: line 2"},
	{"key twice", "{\"schema\": \"hwdesc/1\", \"schema\": \"hwdesc/1\"}", "f: line 1"},
	{"invalid UTF-8", HEAD "\"x\": \"\xff\"," REST, "f: line 1"},
	{"no schema", "{\"name\": \"n1\", " REST,
	 "schema is missing, this program reads \"hwdesc/1\""},
	{"future schema", "{\"schema\": \"hwdesc/2\"}",
	 "schema is \"hwdesc/2\", this program reads"},
	{"schema of a number", "{\"schema\": 1}", "schema is missing"},
	{"required key", "{\"schema\": \"hwdesc/1\", \"name\": \"n1\", \"hcas\": []}",
	 "interfaces: missing"},
	{"required null", HEAD "\"interfaces\": null, \"hcas\": []}", "interfaces: missing"},
	{"string for a list", HEAD "\"interfaces\": \"x\", \"hcas\": []}",
	 "interfaces: expected a list"},
	{"number in a list of objects", HEAD "\"interfaces\": [7], \"hcas\": []}",
	 "interfaces[0]: expected an object"},
	{"deep path",
	 HEAD
	 "\"interfaces\": [{\"name\": \"a\", \"addresses\": [{\"family\": 4}]}], \"hcas\": []}",
	 "interfaces[0].addresses[0].family: expected a string"},
	{"name with a blank", HEAD "\"interfaces\": [{\"name\": \"a b\"}], \"hcas\": []}",
	 "expected a name"},
	{"name with a comma", HEAD "\"interfaces\": [{\"name\": \"a,b\"}], \"hcas\": []}",
	 "expected a name"},
	{"empty name", HEAD "\"interfaces\": [{\"name\": \"\"}], \"hcas\": []}", "expected a name"},
	{"large integer", HEAD "\"memlock_kb\": 2147483648, " REST,
	 "memlock_kb: expected an integer"},
	{"largest integer", HEAD "\"memlock_kb\": 2147483647, " REST, NULL},
	{"real for an integer", HEAD "\"memlock_kb\": 1.5, " REST,
	 "memlock_kb: expected an integer"},
	{"number for truth", HEAD "\"in_container\": 2, " REST,
	 "in_container: expected true or false"},
	{"map of a list", HEAD "\"environment\": [], " REST, "environment: expected an object"},
	{"map with an object", HEAD "\"environment\": {\"A\": {}}, " REST,
	 "environment.A: expected a string"},
	{"map with a number", HEAD "\"sysctl\": {\"rp_filter\": 2}, " REST, NULL},
	{"rows", HEAD "\"distances\": {\"mlx5_0\": [\"PIX\", null]}, " REST, NULL},
	{"rows of numbers", HEAD "\"distances\": {\"mlx5_0\": [1]}, " REST,
	 "distances.mlx5_0[0]: expected a string"},
	{"numbers of strings", HEAD "\"ports_in_use\": [\"a\"], " REST,
	 "ports_in_use[0]: expected an integer"},
};

static void check(void **state)
{
	const struct row *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {""};
	void *object = NULL;
	int rc = nca_schema_parse(&nca_node_shape, r->text, strlen(r->text), "f", pool, &object,
				  &err);

	assert_int_equal(rc, r->message ? -EINVAL : 0);
	if (r->message && !strstr(err.text, r->message))
		fail_msg("\"%s\" does not contain \"%s\"", err.text, r->message);
	assert_int_equal(object != NULL, rc == 0);
}

static void check_deep(void **state)
{
	enum { DEPTH = 100000 };
	nca_autopool struct nca_pool *pool = nca_pool_new();
	char *text = malloc(DEPTH);
	void *object;

	(void)state;
	memset(text, '[', DEPTH);
	assert_int_equal(nca_schema_parse(&nca_node_shape, text, DEPTH, "f", pool, &object, NULL),
			 -EINVAL);
	free(text);
}

static const char full[] = HEAD
	"\"memlock_kb\":0,\"in_container\":false,\"ports_in_use\":[],\"environment\":{\"A\":\"\"},"
	"\"interfaces\":[{\"name\":\"a\",\"carrier\":0,\"flags\":[],\"bond\":{\"slaves\":[\"b\"]}}]"
	","
	"\"hcas\":[{\"name\":\"m\",\"ports\":[{\"port\":1,\"rate_gbps\":2.5,\"lid\":0}]}]}";

/* What was read is written again: zero, false and empty are values, not unknown. */
static void check_again(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	nca_autofree char *once = NULL, *twice = NULL;
	const struct nca_node *node;
	void *object;

	(void)state;
	assert_int_equal(
		nca_schema_parse(&nca_node_shape, full, strlen(full), "f", pool, &object, NULL), 0);
	node = object;
	assert_int_equal(node->memlock_kb, 0);
	assert_int_equal(node->in_container, 0);
	assert_int_equal(node->tasks_per_node, -1);
	assert_null(node->routes.v);
	assert_non_null(node->ports_in_use.v);
	once = nca_schema_print(&nca_node_shape, node, 0, 0);
	assert_int_equal(
		nca_schema_parse(&nca_node_shape, once, strlen(once), "f", pool, &object, NULL), 0);
	twice = nca_schema_print(&nca_node_shape, object, 0, 0);
	assert_string_equal(once, twice);
	assert_non_null(strstr(once, "\"rate_gbps\":2.5"));
	assert_non_null(strstr(once, "\"memlock_kb\":0"));
}

static const char tree[] = HEAD "\"pci\": [{\"addr\": \"0000:00:00.0\"}], " REST;

static void check_digest(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	nca_autofree char *digest = NULL;
	void *object;

	(void)state;
	assert_int_equal(
		nca_schema_parse(&nca_node_shape, tree, strlen(tree), "f", pool, &object, NULL), 0);
	digest = nca_schema_print(&nca_node_shape, object, NCA_DIGEST, 0);
	assert_null(strstr(digest, "pci"));
	assert_non_null(strstr(digest, "\"name\":\"n1\""));
}

/* More words than the pool remembers: each is what was asked for, and what repeats is one. */
static void check_shared(void **state)
{
	enum { MANY = 5000 };
	nca_autopool struct nca_pool *pool = nca_pool_new();
	char word[16];
	int i;

	(void)state;
	assert_null(nca_pool_share(pool, NULL));
	assert_string_equal(nca_pool_share(pool, ""), "");
	for (i = 0; i < 2 * MANY; i++) {
		const char *got;

		snprintf(word, sizeof(word), "word%d", i % MANY);
		got = nca_pool_share(pool, word);
		assert_string_equal(got, word);
		assert_ptr_not_equal(got, word);
		assert_ptr_equal(nca_pool_share(pool, word), got);
	}
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_deep);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_again);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_digest);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_shared);
	return _cmocka_run_group_tests("schema", tests, n, NULL, NULL);
}
