/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight's result as table and picture: from no node to a thousand. */
#include "table.h"

#include <nca/grid.h>
#include <nca/wrap.h>

#include <stdio.h>

#include "document.h"
#include "xml.h"

#define BOLD "font-weight=\"bold\" fill=\"#222222\">"
#define HEAD "{'schema': 'preflight/1', 'findings': [], "
#define PORT(node, hca, port, rail, state)                                                         \
	"{'node': '" node "', 'hca': '" hca "', 'port': " #port ", 'rail': " #rail                 \
	", 'state': '" state "', 'tests': 4, 'failed': 2}"

struct row {
	const char *name, *json, *headline, *table; /* lines, each ended by "\n" */
};

static const struct row rows[] = {
	{"no node", HEAD "'verdict': 'untested', 'ports': []}", "untested: no HCA port was tested",
	 ""},
	{"one node, one rail, no time",
	 HEAD "'verdict': 'healthy', 'ports': [" PORT("a", "mlx5_0", 1, 0, "ok") "]}",
	 "healthy: 1 node, 1 rail", "node  mlx5_0\na     ok\n"},
	{"two nodes",
	 HEAD "'verdict': 'failed', 'seconds': 0.44, 'ports': ["			   //
	 PORT("node1", "mlx5_0", 1, 0, "ok") ", " PORT("node1", "mlx5_1", 1, 1, "ok") ", " //
	 PORT("node2", "mlx5_0", 1, 0, "degraded") ", "					   //
	 PORT("node2", "mlx5_1", 1, 1, "failed") "]}",
	 "failed: 2 of 4 HCA ports not ok, on 1 of 2 nodes; tested in 0.4 s",
	 "node   mlx5_0    mlx5_1\nnode1  ok        ok\nnode2  degraded  failed\n"},
	{"rails in any order, the nodes' ports apart",
	 HEAD "'verdict': 'healthy', 'seconds': 0, 'ports': ["		 //
	 PORT("b", "y", 1, 5, "ok") ", " PORT("a", "x", 1, 2, "ok") ", " //
	 PORT("b", "x", 1, 2, "ok") ", " PORT("a", "y", 1, 5, "ok") "]}",
	 "healthy: 2 nodes, 2 rails; tested in 0.0 s", "node  x   y\nb     ok  ok\na     ok  ok\n"},
	{"a rail whose port has another name elsewhere, and back again",
	 HEAD "'verdict': 'healthy', 'ports': ["			 //
	 PORT("a", "x", 1, 0, "ok") ", " PORT("b", "y", 2, 0, "ok") ", " //
	 PORT("c", "x", 1, 0, "ok") "]}",
	 "healthy: 3 nodes, 1 rail", "node  rail 0\na     ok x:1\nb     ok y:2\nc     ok x:1\n"},
	{"a second port of an HCA, no port in a rail, the first of two in one",
	 HEAD "'verdict': 'degraded', 'ports': ["			 //
	 PORT("a", "x", 2, 0, "ok") ", " PORT("a", "y", 1, 1, "ok") ", " //
	 PORT("b", "x", 2, 0, "ok") ", " PORT("b", "x", 2, 0, "failed") "]}",
	 "degraded: 1 of 4 HCA ports not ok, on 1 of 2 nodes",
	 "node  x:2  y\na     ok   ok\nb     ok   -\n"},
	{"a state that this release does not know",
	 HEAD "'verdict': 'new', 'ports': [" PORT("a", "x", 1, 0, "flapping") "]}",
	 "new: 1 of 1 HCA ports not ok, on 1 of 1 node", "node  x\na     flapping\n"},
};

static struct nca_grid grid_of(const struct nca_preflight *result, struct nca_pool *pool)
{
	struct nca_grid grid;

	assert_int_equal(nca_grid_make(result, pool, &grid), 0);
	return grid;
}

static char *table_of(const struct nca_grid *grid, struct nca_pool *pool)
{
	char **line, *text = nca_pool_strdup(pool, "");
	nca_strs lines;

	assert_int_equal(nca_grid_table(grid, pool, &lines), 0);
	NCA_FOREACH(line, lines)
		text = nca_pool_printf(pool, "%s%s\n", text, *line);
	return text;
}

static void check_row(void **state)
{
	const struct row *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_preflight *result = document_read(pool, &nca_preflight_shape, r->json);
	struct nca_grid grid = grid_of(result, pool);

	assert_string_equal(nca_grid_headline(result, &grid, pool), r->headline);
	assert_string_equal(table_of(&grid, pool), r->table);
	xml_assert(nca_grid_picture(result, &grid, pool));
}

/* So many nodes with so many rails; the last `bad` nodes have a failed port in their last rail. */
static struct nca_preflight *make(struct nca_pool *pool, int nodes, int rails, int bad)
{
	struct nca_preflight *result = nca_schema_new(pool, &nca_preflight_shape);
	int i, k;

	result->verdict = bad ? "failed" : "healthy";
	for (i = 0; i < nodes; i++)
		for (k = 0; k < rails; k++) {
			struct nca_tested *port = NCA_APPEND(pool, result->ports);
			bool failed = i >= nodes - bad && k == rails - 1;

			*port = (struct nca_tested){.node = nca_pool_printf(pool, "n%d", i),
						    .hca = nca_pool_printf(pool, "mlx5_%d", k),
						    .port = 1,
						    .rail = k,
						    .state = failed ? "failed" : "ok"};
		}
	return result;
}

static size_t count_text(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

struct size {
	const char *name;
	int nodes, bad;
	size_t listed, drawn;
	const char *rest;	/* last line of the table; NULL: a node */
	const char *drawn_rest; /* NULL: none */
};

static const struct size sizes[] = {
	{"32 nodes are listed", 32, 0, 32, 32, NULL, NULL},
	{"33 healthy ones are not", 33, 0, 0, 33, NULL, NULL},
	{"33 with one", 33, 1, 1, 33, "32 more nodes: ok on all rails", NULL},
	{"64 nodes are drawn", 64, 0, 0, 64, NULL, NULL},
	{"65 healthy ones are not", 65, 0, 0, 0, NULL, "65 nodes: ok on all rails"},
	{"1000 with 64", 1000, 64, 32, 64, "32 more nodes are not ok on all rails, 936 are",
	 "936 more nodes: ok on all rails"},
	{"1000 with 65", 1000, 65, 32, 64, "33 more nodes are not ok on all rails, 935 are",
	 "1 more nodes are not ok on all rails, 935 are"},
	{"1000, all", 1000, 1000, 32, 64, "968 more nodes are not ok on all rails, 0 are",
	 "936 more nodes are not ok on all rails, 0 are"},
};

static void check_size(void **state)
{
	const struct size *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_preflight *result = make(pool, r->nodes, 8, r->bad);
	struct nca_grid grid = grid_of(result, pool);
	const char *table = table_of(&grid, pool), *svg = nca_grid_picture(result, &grid, pool);

	assert_int_equal(count_text(table, "\nn"), r->listed);
	assert_int_equal(!!strstr(table, "ok on all rails") || !!strstr(table, "on all rails, "),
			 !!r->rest);
	if (r->rest)
		assert_non_null(strstr(table, r->rest));
	xml_assert(svg);
	assert_int_equal(count_text(svg, BOLD "n"), r->drawn);
	assert_int_equal(!!strstr(svg, "on all rails"), !!r->drawn_rest);
	if (r->drawn_rest)
		assert_non_null(strstr(svg, r->drawn_rest));
}

/* 32 rails are several tables, each of at most 100 columns and with every node. */
static void test_many_rails(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_grid grid = grid_of(make(pool, 3, 32, 1), pool);
	size_t heads = 0;
	nca_strs lines;
	char **line;

	(void)state;
	assert_int_equal(nca_grid_table(&grid, pool, &lines), 0);
	NCA_FOREACH(line, lines) {
		assert_true(strlen(*line) <= 100);
		heads += nca_has_prefix(*line, "node ");
	}
	assert_int_equal(lines.n, 4 * heads);
	assert_int_equal(heads, 4);
	assert_non_null(strstr(lines.v[lines.n - 1], "failed"));
}

/* Longer than a line: the names stay whole in the table, and every rail has its column. */
static void test_long_names(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_preflight *result = make(pool, 2, 2, 1);
	char name[121] = {0};
	struct nca_grid grid;
	const char *table;

	(void)state;
	memset(name, 'n', 120);
	result->ports.v[0].node = result->ports.v[1].node = name;
	result->ports.v[2].hca = nca_pool_strdup(pool, name);
	grid = grid_of(result, pool);
	table = table_of(&grid, pool);
	assert_int_equal(count_text(table, name), 3);
	assert_int_equal(count_text(table, "failed"), 1);
	xml_assert(nca_grid_picture(result, &grid, pool));
}

/* What was found stands below, wrapped and escaped; the last line is the one to paste. */
static void test_findings(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_preflight *result = make(pool, 2, 1, 1);
	struct nca_finding *f = NCA_APPEND(pool, result->findings);
	char **hint = NCA_APPEND(pool, result->hints), text[601];
	struct nca_grid grid = grid_of(result, pool);
	const char *svg;
	size_t i;

	(void)state;
	for (i = 0; i < 600; i++)
		text[i] = "word<"[i % 5];
	for (i = 50; i < 600; i += 50)
		text[i] = ' ';
	text[600] = '\0';
	*f = (struct nca_finding){.code = "dead", .node = "n1", .text = text};
	*hint = "a&b";
	result->exclude = "n1";
	svg = nca_grid_picture(result, &grid, pool);
	xml_assert(svg);
	assert_non_null(strstr(svg, ">dead: n1 word&#60;word"));
	assert_non_null(strstr(svg, ">hint: a&#38;b<"));
	assert_non_null(strstr(svg, ">--exclude=n1</text>\n</svg>"));
	assert_null(strstr(svg, "\xe2\x80\xa6"));
}

struct fit {
	const char *name, *text;
	size_t columns, want;
};

static const struct fit fits[] = {
	{"all", "one two", 7, 7},
	{"a word", "one two", 6, 4},
	{"up to a blank", "one two", 4, 4},
	{"a word that is longer", "onetwo three", 3, 7},
	{"one word", "onetwo", 3, 6},
	{"a comma", "one,two", 5, 4},
	{"no comma of the next line", "one,two", 4, 7},
	{"nothing", "", 3, 0},
};

static void check_fit(void **state)
{
	const struct fit *r = *state;

	assert_int_equal(nca_wrap_fitting(r->text, r->columns), r->want);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_row);
	TABLE_ADD(tests, n, sizes, check_size);
	TABLE_ADD(tests, n, fits, check_fit);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_many_rails);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_long_names);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_findings);
	return _cmocka_run_group_tests("grid", tests, n, NULL, NULL);
}
