/* SPDX-License-Identifier: Apache-2.0 */
/* SVG as text: boxes, curves, escaped words. Attributes only, no style sheet, so that every viewer
 * shows the same. */
#ifndef NCA_SVG_H
#define NCA_SVG_H

#include <nca/pool.h>

/* A picture while it is drawn; all units are pixels. Short memory is noted in `failed`. */
struct nca_svg {
	struct nca_pool *pool;
	char *text;
	size_t len, size;
	bool failed;
};

/* How things look. */
struct nca_svg_style {
	const char *fill, *line;
	bool dashed;
};

/* Begins a picture on white paper; then the rest, and at last nca_svg_end(), which gives the text,
 * NULL where memory was short. */
void nca_svg_begin(struct nca_svg *svg, int width, int height, const char *title);
char *nca_svg_end(struct nca_svg *svg);

/* A box; what it holds on hovering is `tip`, NULL: nothing. */
void nca_svg_box(struct nca_svg *svg, int x, int y, int w, int h, const struct nca_svg_style *style,
		 const char *tip);

/* From the right of one box to the left of another. */
void nca_svg_curve(struct nca_svg *svg, int x1, int y1, int x2, int y2, const char *colour,
		   bool dashed);

void nca_svg_line(struct nca_svg *svg, int x1, int y1, int x2, int y2, const char *colour);

enum nca_svg_font { NCA_SVG_PLAIN, NCA_SVG_BOLD, NCA_SVG_SMALL, NCA_SVG_TITLE };

/* A text, cut with an ellipsis to what about fits into w; right: it ends at x. */
void nca_svg_write(struct nca_svg *svg, int x, int y, int w, enum nca_svg_font font, bool right,
		   const char *colour, const char *text);

/* About as wide as the text is. */
int nca_svg_width(enum nca_svg_font font, const char *text);

#endif
