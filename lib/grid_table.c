/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight's result as a table. */
#include <errno.h>

#include <nca/grid.h>

#define COLUMNS 100

/* More nodes than that are summed up. */
#define ROWS_MAX 32

struct table {
	const struct nca_grid *grid;
	struct nca_pool *pool;
	size_t name;   /* columns of the nodes' names */
	size_t *width; /* by rail */
	nca_grid_rows rows;
	nca_strs *lines;
};

static void widen(size_t *width, const char *text)
{
	size_t len = strlen(text);

	*width = len > *width ? len : *width;
}

static int measure(struct table *t)
{
	const struct nca_grid_row **row;
	size_t i;

	t->name = strlen("node");
	t->width = nca_pool_alloc(t->pool, t->grid->rails.n * sizeof(*t->width));
	for (i = 0; t->width && i < t->grid->rails.n; i++)
		widen(&t->width[i], t->grid->rails.v[i].name);
	NCA_FOREACH(row, t->rows) {
		widen(&t->name, (*row)->node);
		for (i = 0; t->width && i < t->grid->rails.n; i++) {
			const char *cell = nca_grid_cell(t->grid, *row, i, t->pool);

			if (!cell)
				return -ENOMEM;
			widen(&t->width[i], cell);
		}
	}
	return t->width ? 0 : -ENOMEM;
}

/* The rail after the last one that fits beside the nodes' names, at least one. */
static size_t fitting(const struct table *t, size_t from)
{
	size_t to = from, width = t->name;

	do
		width += 2 + t->width[to++];
	while (to < t->grid->rails.n && width + 2 + t->width[to] <= COLUMNS);
	return to;
}

/* A line of the table; row NULL: of headings. */
static int add_line(struct table *t, const struct nca_grid_row *row, size_t from, size_t to)
{
	char **line = NCA_APPEND(t->pool, *t->lines);
	size_t i;

	if (!line)
		return -ENOMEM;
	*line = nca_pool_printf(t->pool, "%-*s", (int)t->name, row ? row->node : "node");
	for (i = from; *line && i < to; i++) {
		const char *cell =
			row ? nca_grid_cell(t->grid, row, i, t->pool) : t->grid->rails.v[i].name;

		*line = cell ? nca_pool_printf(t->pool, "%s  %-*s", *line,
					       i + 1 < to ? (int)t->width[i] : 0, cell)
			     : NULL;
	}
	return *line ? 0 : -ENOMEM;
}

static int add_lines(struct table *t, size_t from, size_t to)
{
	const struct nca_grid_row **row;
	int rc = add_line(t, NULL, from, to);

	NCA_FOREACH(row, t->rows)
		rc = rc ? rc : add_line(t, *row, from, to);
	return rc;
}

static int add_rest(struct table *t)
{
	const char *rest = nca_grid_rest(t->grid, &t->rows, t->pool);
	char **line = rest && *rest ? NCA_APPEND(t->pool, *t->lines) : NULL;

	if (line)
		*line = (char *)rest;
	return line || (rest && !*rest) ? 0 : -ENOMEM;
}

int nca_grid_table(const struct nca_grid *grid, struct nca_pool *pool, nca_strs *lines)
{
	struct table t = {.grid = grid, .pool = pool, .lines = lines};
	size_t from = 0, to;
	int rc = nca_grid_pick(grid, ROWS_MAX, pool, &t.rows);

	*lines = (nca_strs){nca_pool_alloc(pool, 0), 0};
	if (rc || !lines->v)
		return -ENOMEM;
	if (!t.rows.n)
		return 0;
	rc = measure(&t);
	for (; !rc && from < grid->rails.n; from = to) {
		to = fitting(&t, from);
		rc = add_lines(&t, from, to);
	}
	return rc ? rc : add_rest(&t);
}
