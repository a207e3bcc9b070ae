/* SPDX-License-Identifier: Apache-2.0 */
/* SVG as text. */
#include <stdarg.h>
#include <stdio.h>

#include "svg.h"

#define FAMILY "DejaVu Sans, Verdana, sans-serif"

static const struct {
	int size;
	const char *weight;
	double width; /* of a character, on average */
} fonts[] = {
	[NCA_SVG_PLAIN] = {11, "normal", 6.4},
	[NCA_SVG_BOLD] = {12, "bold", 8.0},
	[NCA_SVG_SMALL] = {9, "normal", 5.0},
	[NCA_SVG_TITLE] = {16, "bold", 10.5},
};

static void put_bytes(struct nca_svg *svg, const char *bytes, size_t n)
{
	if (svg->len + n + 1 > svg->size) {
		size_t size = 2 * (svg->size + n + 4096);
		char *bigger = svg->failed ? NULL : nca_pool_alloc(svg->pool, size);

		svg->failed = !bigger;
		if (!bigger)
			return;
		if (svg->len)
			memcpy(bigger, svg->text, svg->len);
		svg->text = bigger;
		svg->size = size;
	}
	memcpy(svg->text + svg->len, bytes, n);
	svg->len += n;
	svg->text[svg->len] = '\0';
}

/* Numbers and our own words: nothing that needs escaping. */
static void NCA_PRINTF(2, 3) put(struct nca_svg *svg, const char *fmt, ...)
{
	char buf[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(buf))
		svg->failed = true;
	else
		put_bytes(svg, buf, (size_t)n);
}

/* Characters that XML 1.0 does not allow become "?". */
static void put_escaped(struct nca_svg *svg, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '<' || c == '>' || c == '&' || c == '"')
			put(svg, "&#%d;", c);
		else if (c < ' ' || c == 127)
			put(svg, "?");
		else
			put_bytes(svg, text + i, 1);
	}
}

static void put_tip(struct nca_svg *svg, const char *tip)
{
	put(svg, "<title>");
	put_escaped(svg, tip, strlen(tip));
	put(svg, "</title>");
}

void nca_svg_begin(struct nca_svg *svg, int width, int height, const char *title)
{
	put(svg,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	    "viewBox=\"0 0 %d %d\" font-family=\"" FAMILY "\">\n",
	    width, height, width, height);
	put_tip(svg, title);
	put(svg, "\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height);
}

char *nca_svg_end(struct nca_svg *svg)
{
	put(svg, "</svg>\n");
	return svg->failed ? NULL : svg->text;
}

void nca_svg_box(struct nca_svg *svg, int x, int y, int w, int h, const struct nca_svg_style *style,
		 const char *tip)
{
	put(svg,
	    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" "
	    "stroke=\"%s\"%s>",
	    x, y, w, h, style->fill, style->line, style->dashed ? " stroke-dasharray=\"4 3\"" : "");
	if (tip)
		put_tip(svg, tip);
	put(svg, "</rect>\n");
}

void nca_svg_curve(struct nca_svg *svg, int x1, int y1, int x2, int y2, const char *colour,
		   bool dashed)
{
	int middle = (x1 + x2) / 2;

	put(svg,
	    "<path d=\"M%d %d C%d %d %d %d %d %d\" fill=\"none\" stroke=\"%s\" "
	    "stroke-width=\"1.5\"%s/>\n",
	    x1, y1, middle, y1, middle, y2, x2, y2, colour,
	    dashed ? " stroke-dasharray=\"5 3\"" : "");
}

void nca_svg_line(struct nca_svg *svg, int x1, int y1, int x2, int y2, const char *colour)
{
	put(svg, "<path d=\"M%d %d L%d %d\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour);
}

/* Characters of UTF-8, not bytes. */
static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

int nca_svg_width(enum nca_svg_font font, const char *text)
{
	return (int)((double)count_characters(text) * fonts[font].width);
}

/* Bytes of the first n characters. */
static size_t head(const char *text, size_t n)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

void nca_svg_write(struct nca_svg *svg, int x, int y, int w, enum nca_svg_font font, bool right,
		   const char *colour, const char *text)
{
	size_t room = w > 0 ? (size_t)(w / fonts[font].width) : 0;
	bool fits = count_characters(text) <= room;

	put(svg, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" font-weight=\"%s\" fill=\"%s\"%s>", x, y,
	    fonts[font].size, fonts[font].weight, colour, right ? " text-anchor=\"end\"" : "");
	put_escaped(svg, text, fits ? strlen(text) : head(text, room ? room - 1 : 0));
	put(svg, "%s</text>\n", fits ? "" : "\xe2\x80\xa6");
}
