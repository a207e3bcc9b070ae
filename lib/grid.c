/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight's result as nodes by rails. */
#include <errno.h>

#include <nca/grid.h>

static bool is_ok(const struct nca_tested *port)
{
	return port && streq(port->state, "ok");
}

/* NULL where memory is short. */
static struct nca_grid_rail *add_rail(struct nca_grid *grid, int rail, struct nca_pool *pool)
{
	struct nca_grid_rail *at;

	NCA_FOREACH(at, grid->rails)
		if (at->rail == rail)
			return at;
	if (!NCA_APPEND(pool, grid->rails))
		return NULL;
	at = grid->rails.v + grid->rails.n - 1;
	for (; at > grid->rails.v && at[-1].rail > rail; at--)
		*at = at[-1];
	*at = (struct nca_grid_rail){.rail = rail, .named = true};
	return at;
}

/* The first port names the rail, until another contradicts. */
static int read_rail(struct nca_grid *grid, const struct nca_tested *port, struct nca_pool *pool)
{
	struct nca_grid_rail *rail = add_rail(grid, port->rail, pool);
	char *name =
		port->port == 1 ? port->hca : nca_pool_printf(pool, "%s:%d", port->hca, port->port);

	if (!rail || !name)
		return -ENOMEM;
	rail->named = rail->named && (!rail->name || streq(rail->name, name));
	rail->name = rail->named ? name : nca_pool_printf(pool, "rail %d", rail->rail);
	return rail->name ? 0 : -ENOMEM;
}

static struct nca_grid_row *find_row(struct nca_grid *grid, const char *node, struct nca_pool *pool)
{
	struct nca_grid_row *row;
	size_t i;

	/* Mostly the ports of a node follow one another. */
	for (i = grid->rows.n; i > 0; i--)
		if (streq(grid->rows.v[i - 1].node, node))
			return &grid->rows.v[i - 1];
	row = NCA_APPEND(pool, grid->rows);
	if (!row)
		return NULL;
	row->node = node;
	row->cells = nca_pool_alloc(pool, grid->rails.n * sizeof(const struct nca_tested *));
	return row->cells ? row : NULL;
}

static int place(struct nca_grid *grid, const struct nca_tested *port, struct nca_pool *pool)
{
	struct nca_grid_row *row = find_row(grid, port->node, pool);
	size_t i;

	for (i = 0; row && i < grid->rails.n; i++)
		if (grid->rails.v[i].rail == port->rail && !row->cells[i])
			row->cells[i] = port;
	return row ? 0 : -ENOMEM;
}

static void count(struct nca_grid *grid)
{
	struct nca_grid_row *row;
	size_t i;

	NCA_FOREACH(row, grid->rows) {
		row->ok = true;
		for (i = 0; i < grid->rails.n; i++)
			row->ok = row->ok && is_ok(row->cells[i]);
		grid->bad += !row->ok;
	}
}

int nca_grid_make(const struct nca_preflight *result, struct nca_pool *pool, struct nca_grid *ret)
{
	const struct nca_tested *port;
	int rc = 0;

	*ret = (struct nca_grid){0};
	NCA_FOREACH(port, result->ports)
		rc = rc ? rc : read_rail(ret, port, pool);
	NCA_FOREACH(port, result->ports)
		rc = rc ? rc : place(ret, port, pool);
	count(ret);
	return rc;
}

const char *nca_grid_cell(const struct nca_grid *grid, const struct nca_grid_row *row, size_t rail,
			  struct nca_pool *pool)
{
	const struct nca_tested *port = row->cells[rail];

	if (!port || grid->rails.v[rail].named)
		return port ? port->state : "-";
	return nca_pool_printf(pool, "%s %s:%d", port->state, port->hca, port->port);
}

int nca_grid_pick(const struct nca_grid *grid, size_t max, struct nca_pool *pool,
		  nca_grid_rows *ret)
{
	bool all = grid->rows.n <= max;
	const struct nca_grid_row *row, **picked;

	*ret = (nca_grid_rows){nca_pool_alloc(pool, 0), 0};
	if (!ret->v)
		return -ENOMEM;
	NCA_FOREACH(row, grid->rows) {
		if (!all && (row->ok || ret->n == max))
			continue;
		picked = NCA_APPEND(pool, *ret);
		if (!picked)
			return -ENOMEM;
		*picked = row;
	}
	return 0;
}

const char *nca_grid_rest(const struct nca_grid *grid, const nca_grid_rows *picked,
			  struct nca_pool *pool)
{
	size_t ok = grid->rows.n - grid->bad;

	if (picked->n == grid->rows.n)
		return "";
	if (picked->n < grid->bad)
		return nca_pool_printf(pool, "%zu more nodes are not ok on all rails, %zu are",
				       grid->bad - picked->n, ok);
	return nca_pool_printf(pool, "%zu %s: ok on all rails", ok,
			       picked->n ? "more nodes" : "nodes");
}

static size_t count_bad(const struct nca_preflight *result)
{
	const struct nca_tested *port;
	size_t n = 0;

	NCA_FOREACH(port, result->ports)
		n += !is_ok(port);
	return n;
}

static char *measure(const struct nca_preflight *result, const struct nca_grid *grid,
		     struct nca_pool *pool)
{
	const char *nodes = grid->rows.n == 1 ? "node" : "nodes";

	if (!grid->bad)
		return nca_pool_printf(pool, "%zu %s, %zu %s", grid->rows.n, nodes, grid->rails.n,
				       grid->rails.n == 1 ? "rail" : "rails");
	return nca_pool_printf(pool, "%zu of %zu HCA ports not ok, on %zu of %zu %s",
			       count_bad(result), result->ports.n, grid->bad, grid->rows.n, nodes);
}

const char *nca_grid_headline(const struct nca_preflight *result, const struct nca_grid *grid,
			      struct nca_pool *pool)
{
	char *what;

	if (!grid->rows.n)
		return nca_pool_printf(pool, "%s: no HCA port was tested", result->verdict);
	what = measure(result, grid, pool);
	if (!what || result->seconds < 0)
		return what ? nca_pool_printf(pool, "%s: %s", result->verdict, what) : NULL;
	return nca_pool_printf(pool, "%s: %s; tested in %.1f s", result->verdict, what,
			       result->seconds);
}

const char *nca_grid_finding(const struct nca_finding *f, struct nca_pool *pool)
{
	return nca_pool_printf(pool, "%s: %s%s%s", f->code, f->node ? f->node : "",
			       f->node ? " " : "", f->text);
}
