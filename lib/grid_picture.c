/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight's result as a picture. */
#include <nca/grid.h>
#include <nca/wrap.h>

#include "svg.h"

#define MARGIN 24
#define TOP 88
#define NAME 200
#define CELL 96
#define ROW 26
#define LINE 16
#define WIDTH_MIN 900

/* More nodes than that are summed up. */
#define ROWS_MAX 64

/* Of a character of a line below, to wrap it. */
#define CHARACTER 6.4

#define INK "#222222"
#define GREY "#6d6d6d"

static const struct state {
	const char *word;
	struct nca_svg_style style;
} states[] = {
	{"ok", {"#dff3e1", "#2e8b3d", false}},
	{"degraded", {"#fff1cc", "#9a6700", false}},
	{"failed", {"#fbdcd9", "#b3261e", false}},
	{"untested", {"#fafafa", "#b0b0b0", true}},
};

struct picture {
	struct nca_svg svg;
	const struct nca_grid *grid;
	nca_grid_rows rows;
	nca_strs lines; /* below the grid */
	int width;
};

/* A word that this release does not know looks as if nothing was tested. */
static const struct state *find_state(const char *word)
{
	size_t i;

	for (i = 0; i + 1 < ARRAY_SIZE(states); i++)
		if (nca_same(states[i].word, word))
			break;
	return &states[i];
}

static void draw_cell(struct picture *p, const struct nca_grid_row *row, size_t rail, int y)
{
	const struct nca_tested *port = row->cells[rail];
	int x = MARGIN + NAME + (int)rail * CELL;
	const char *word = nca_grid_cell(p->grid, row, rail, p->svg.pool), *tip;

	if (!port) {
		nca_svg_write(&p->svg, x + 8, y + 14, CELL - 20, NCA_SVG_SMALL, false, GREY, "-");
		return;
	}
	tip = nca_pool_printf(p->svg.pool, "%s %s:%d: %s, %d of %d tests failed", row->node,
			      port->hca, port->port, port->state,
			      port->failed < 0 ? 0 : port->failed,
			      port->tests < 0 ? 0 : port->tests);
	p->svg.failed = p->svg.failed || !word || !tip;
	nca_svg_box(&p->svg, x, y, CELL - 6, ROW - 6, &find_state(port->state)->style, tip);
	nca_svg_write(&p->svg, x + 8, y + 14, CELL - 18, NCA_SVG_SMALL, false, INK,
		      word ? word : "");
}

static void draw_rows(struct picture *p)
{
	const struct nca_grid_row **row;
	int y = TOP;
	size_t i;

	for (i = 0; p->rows.n && i < p->grid->rails.n; i++)
		nca_svg_write(&p->svg, MARGIN + NAME + (int)i * CELL, TOP - 10, CELL - 6,
			      NCA_SVG_BOLD, false, INK, p->grid->rails.v[i].name);
	NCA_FOREACH(row, p->rows) {
		nca_svg_write(&p->svg, MARGIN, y + 14, NAME - 12, NCA_SVG_BOLD, false, INK,
			      (*row)->node);
		for (i = 0; i < p->grid->rails.n; i++)
			draw_cell(p, *row, i, y);
		y += ROW;
	}
}

static void draw_lines(struct picture *p, int y)
{
	char **line;

	NCA_FOREACH(line, p->lines) {
		nca_svg_write(&p->svg, MARGIN, y, p->width - 2 * MARGIN, NCA_SVG_PLAIN, false, INK,
			      *line);
		y += LINE;
	}
}

/* Adds the text in as many lines as it takes. */
static void add_text(struct picture *p, const char *text)
{
	size_t columns = (size_t)((p->width - 2 * MARGIN) / CHARACTER);

	p->svg.failed = p->svg.failed || !text;
	while (text && *text) {
		size_t n = nca_wrap_fitting(text, columns);
		char **line = NCA_APPEND(p->svg.pool, p->lines);

		if (line)
			*line = nca_pool_strndup(p->svg.pool, text, n);
		if (!line || !*line) {
			p->svg.failed = true;
			return;
		}
		text += n;
	}
}

static void add_lines(struct picture *p, const struct nca_preflight *result)
{
	const struct nca_finding *f;
	char **hint;

	add_text(p, nca_grid_rest(p->grid, &p->rows, p->svg.pool));
	NCA_FOREACH(f, result->findings)
		add_text(p, nca_grid_finding(f, p->svg.pool));
	NCA_FOREACH(hint, result->hints)
		add_text(p, nca_pool_printf(p->svg.pool, "hint: %s", *hint ? *hint : ""));
	if (result->exclude)
		add_text(p, nca_pool_printf(p->svg.pool, "--exclude=%s", result->exclude));
}

char *nca_grid_picture(const struct nca_preflight *result, const struct nca_grid *grid,
		       struct nca_pool *pool)
{
	int width = 2 * MARGIN + NAME + (int)grid->rails.n * CELL, bottom;
	struct picture p = {.svg = {.pool = pool}, .grid = grid};
	const char *headline = nca_grid_headline(result, grid, pool);

	if (!headline || nca_grid_pick(grid, ROWS_MAX, pool, &p.rows))
		return NULL;
	p.width = width < WIDTH_MIN ? WIDTH_MIN : width;
	add_lines(&p, result);
	bottom = (p.rows.n ? TOP : TOP - 2 * LINE) + (int)p.rows.n * ROW;
	nca_svg_begin(&p.svg, p.width, bottom + (int)p.lines.n * LINE + MARGIN, "preflight");
	nca_svg_write(&p.svg, MARGIN, 40, p.width - 2 * MARGIN, NCA_SVG_TITLE, false, INK,
		      headline);
	draw_rows(&p);
	draw_lines(&p, bottom + LINE);
	return nca_svg_end(&p.svg);
}
