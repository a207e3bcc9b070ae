/* SPDX-License-Identifier: Apache-2.0 */
/* A node as a picture. */
#include <stdio.h>

#include <nca/picture.h>
#include <nca/topo.h>

#include "picture.h"
#include "svg.h"

#define MARGIN 24
#define TOP 104
#define INDENT 22
#define LINE 16
#define WIDTH (MARGIN + 190 + 90 + 350 + 100 + 420 + MARGIN)

struct column {
	const char *title;
	int x, w;
};

enum { GPUS, PORTS, LINKS };

static const struct column columns[] = {
	[GPUS] = {"GPUs", MARGIN, 190},
	[PORTS] = {"HCA ports", MARGIN + 280, 350},
	[LINKS] = {"Interfaces", MARGIN + 730, 420},
};

static const struct nca_svg_style styles[] = {
	{"#f4f4f4", "#b0b0b0", false}, /* not chosen */
	{"#fafafa", "#c8c8c8", true},  /* down */
	{"#dff3e1", "#2e8b3d", false}, /* chosen */
	{"#e8f0fb", "#5b7fb5", false}, /* a GPU */
	{"#fbfbf4", "#e2e2d4", false}, /* a NUMA node */
};

enum { OTHER, DOWN, CHOSEN, GPU, BAND };

#define INK "#222222"
#define GREY "#6d6d6d"
#define GREEN "#2e8b3d"
#define PALE "#c4c4c4"
#define BLUE "#5b7fb5"
#define AMBER "#9a6700"

static void draw_item(struct nca_svg *svg, const struct nca_item *item, int c, int style)
{
	int indent = item->indent * INDENT, x = columns[c].x + indent, w = columns[c].w - indent;
	int name = nca_svg_width(NCA_SVG_BOLD, item->name) + 8;

	nca_svg_box(svg, x, item->y, w, NCA_BOX, &styles[style], item->tip);
	nca_svg_write(svg, x + 8, item->y + 14, w - 16, NCA_SVG_BOLD, false,
		      style == DOWN ? GREY : INK, item->name);
	if (name < w - 16)
		nca_svg_write(svg, x + w - 8, item->y + 14, w - 16 - name, NCA_SVG_PLAIN, true,
			      GREY, item->value);
	nca_svg_write(svg, x + 8, item->y + 28, w - 16, NCA_SVG_SMALL, false,
		      style == CHOSEN ? GREEN : GREY, item->note);
}

static void draw_items(struct nca_svg *svg, const nca_items *items, int c)
{
	const struct nca_item *item;

	NCA_FOREACH(item, *items)
		draw_item(svg, item, c,
			  c == GPUS	 ? GPU
			  : item->chosen ? CHOSEN
			  : item->down	 ? DOWN
					 : OTHER);
}

static int middle(const struct nca_item *item)
{
	return item->y + NCA_BOX / 2;
}

/* A line where a GPU and a port share a PCIe switch. */
static void draw_switches(struct nca_svg *svg, const struct nca_node *node,
			  const struct nca_items_of *of)
{
	const struct nca_item *gpu, *port;

	NCA_FOREACH(port, of->ports)
		NCA_FOREACH(gpu, of->gpus) {
			enum nca_level level = nca_topo_level(node, port->hca, gpu->gpu);

			if (level >= NCA_LEVEL_PXB)
				nca_svg_curve(svg, columns[GPUS].x + columns[GPUS].w, middle(gpu),
					      columns[PORTS].x, middle(port),
					      port->chosen ? BLUE : PALE, level == NCA_LEVEL_PXB);
		}
}

static const struct nca_item *find_link(const struct nca_items_of *of, const char *name)
{
	const struct nca_item *item;

	NCA_FOREACH(item, of->links)
		if (nca_same(item->link->name, name))
			return item;
	return NULL;
}

/* The interface by which a port is known: its LAG's bond, its netdev, or that of a GID. */
static const struct nca_item *link_of(const struct nca_items_of *of, const struct nca_item *port)
{
	const struct nca_item *link = port->hca->lag ? find_link(of, port->hca->lag->bond) : NULL;
	const struct nca_gid *gid;

	link = link ? link : find_link(of, port->port->netdev);
	NCA_FOREACH(gid, port->port->gids)
		link = link ? link : find_link(of, gid->ndev);
	return link;
}

static void draw_netdevs(struct nca_svg *svg, const struct nca_items_of *of)
{
	const struct nca_item *port, *link;

	NCA_FOREACH(port, of->ports) {
		link = link_of(of, port);
		if (link)
			nca_svg_curve(svg, columns[PORTS].x + columns[PORTS].w, middle(port),
				      columns[LINKS].x + link->indent * INDENT, middle(link),
				      port->chosen ? GREEN : PALE, false);
	}
}

/* From a link to what it stands above in the list: legs of a bond, VLANs. */
static void draw_stacks(struct nca_svg *svg, const nca_items *links)
{
	size_t i, k;

	for (i = 0; i < links->n; i++) {
		const struct nca_item *item = &links->v[i];
		int x = columns[LINKS].x + (item->indent - 1) * INDENT + INDENT / 2;

		for (k = i; k > 0 && links->v[k].indent >= item->indent; k--)
			;
		if (!item->indent)
			continue;
		nca_svg_line(svg, x, links->v[k].y + NCA_BOX, x, middle(item), PALE);
		nca_svg_line(svg, x, middle(item), x + INDENT / 2, middle(item), PALE);
	}
}

static void draw_bands(struct nca_svg *svg, const struct nca_items_of *of)
{
	int w = columns[PORTS].x + columns[PORTS].w - columns[GPUS].x + 16;
	const struct nca_band *band;
	char text[32];

	NCA_FOREACH(band, of->bands) {
		nca_svg_box(svg, columns[GPUS].x - 8, band->y, w, band->height, &styles[BAND],
			    NULL);
		snprintf(text, sizeof(text), band->numa < 0 ? "NUMA node unknown" : "NUMA node %d",
			 band->numa);
		nca_svg_write(svg, columns[GPUS].x, band->y + 14, w, NCA_SVG_SMALL, false, GREY,
			      text);
	}
}

static void draw_head(struct nca_svg *svg, const struct nca_plan_node *plan, const char *headline,
		      const struct nca_items_of *of)
{
	const bool empty[] = {!of->gpus.n, !of->ports.n, !of->links.n};
	size_t c;

	nca_svg_write(svg, MARGIN, 36, WIDTH - 2 * MARGIN, NCA_SVG_TITLE, false, INK, plan->name);
	nca_svg_write(svg, MARGIN, 58, WIDTH - 2 * MARGIN, NCA_SVG_PLAIN, false, INK, headline);
	for (c = 0; c < ARRAY_SIZE(columns); c++) {
		nca_svg_write(svg, columns[c].x, TOP - 12, columns[c].w, NCA_SVG_BOLD, false, INK,
			      columns[c].title);
		if (empty[c])
			nca_svg_write(svg, columns[c].x, TOP + 34, columns[c].w, NCA_SVG_PLAIN,
				      false, GREY, "none");
	}
}

static void draw_legend(struct nca_svg *svg, int y)
{
	static const struct {
		int style;
		const char *text;
	} rows[] = {{CHOSEN, "chosen"}, {OTHER, "not chosen"}, {DOWN, "down"}};
	size_t i;
	int x = MARGIN;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		nca_svg_box(svg, x, y, 16, 12, &styles[rows[i].style], NULL);
		nca_svg_write(svg, x + 22, y + 10, 90, NCA_SVG_SMALL, false, GREY, rows[i].text);
		x += 100;
	}
	nca_svg_curve(svg, x, y + 6, x + 24, y + 6, BLUE, false);
	nca_svg_write(svg, x + 30, y + 10, 260, NCA_SVG_SMALL, false, GREY,
		      "one PCIe switch (PIX); dashed: several (PXB)");
	nca_svg_curve(svg, x + 290, y + 6, x + 314, y + 6, GREEN, false);
	nca_svg_write(svg, x + 320, y + 10, 200, NCA_SVG_SMALL, false, GREY,
		      "the interface of an HCA port");
}

/* Returns where the next one goes. */
static int draw_line(struct nca_svg *svg, int y, const char *colour, const char *text)
{
	svg->failed = svg->failed || !text;
	if (text)
		nca_svg_write(svg, MARGIN, y, WIDTH - 2 * MARGIN, NCA_SVG_PLAIN, false, colour,
			      text);
	return y + LINE;
}

/* Below the picture: warnings and variables. */
static void draw_lines(struct nca_svg *svg, const struct nca_plan *plan,
		       const struct nca_plan_node *node, int y, struct nca_pool *pool)
{
	const struct nca_warning *w;
	const struct nca_pair *p;

	NCA_FOREACH(w, plan->warnings)
		y = draw_line(svg, y, AMBER,
			      nca_pool_printf(pool, "warning %s: %s", w->code, w->text));
	NCA_FOREACH(p, node->env)
		y = draw_line(svg, y, INK, nca_pool_printf(pool, "%s=%s", p->key, p->value));
}

char *nca_picture_node(const struct nca_job *job, const struct nca_plan *plan, size_t i,
		       const char *headline, struct nca_pool *pool)
{
	const struct nca_plan_node *chosen = &plan->nodes.v[i];
	const struct nca_node *node = &job->nodes.v[i];
	struct nca_svg svg = {.pool = pool};
	struct nca_items_of of;
	int height;

	if (nca_items_place(node, chosen, TOP, pool, &of))
		return NULL;
	height = of.bottom + 60 + (int)(plan->warnings.n + chosen->env.n) * LINE;
	nca_svg_begin(&svg, WIDTH, height, chosen->name);
	draw_bands(&svg, &of);
	draw_head(&svg, chosen, headline, &of);
	draw_switches(&svg, node, &of);
	draw_netdevs(&svg, &of);
	draw_stacks(&svg, &of.links);
	draw_items(&svg, &of.gpus, GPUS);
	draw_items(&svg, &of.ports, PORTS);
	draw_items(&svg, &of.links, LINKS);
	draw_legend(&svg, of.bottom + 8);
	draw_lines(&svg, plan, chosen, of.bottom + 46, pool);
	return nca_svg_end(&svg);
}
