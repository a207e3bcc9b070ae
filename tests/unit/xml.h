/* SPDX-License-Identifier: Apache-2.0 */
/* Is a picture well-formed XML? */
#ifndef NCA_TEST_XML_H
#define NCA_TEST_XML_H

#define XML_NEST_MAX 16

static inline const char *xml_skip_declaration(const char *svg)
{
	assert_true(nca_has_prefix(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "));
	return strchr(svg, '\n') + 1;
}

/* The end of a tag; quotes are closed in it. */
static inline const char *xml_tag_end(const char *at)
{
	bool quoted = false;

	for (; *at && (*at != '>' || quoted); at++) {
		assert_false(*at == '<');
		quoted = quoted != (*at == '"');
	}
	assert_true(*at == '>' && !quoted);
	return at;
}

/* One root, every tag closed by its own name, "&" only before a number, no control characters. */
static inline void xml_assert(const char *svg)
{
	const char *at = xml_skip_declaration(svg), *open[XML_NEST_MAX], *end;
	size_t depth = 0;

	for (; *at; at++) {
		assert_true((unsigned char)*at >= ' ' || *at == '\n');
		if (*at == '&')
			assert_true(at[1] == '#' && at[strspn(at + 2, "0123456789") + 2] == ';');
		assert_false(*at == '>');
		if (*at != '<')
			continue;
		end = xml_tag_end(at + 1);
		if (at[1] == '/') {
			assert_true(depth > 0);
			depth--;
			assert_int_equal(strcspn(open[depth], " >"), end - at - 2);
			assert_memory_equal(open[depth], at + 2, (size_t)(end - at - 2));
		} else if (end[-1] != '/') {
			assert_true(depth < XML_NEST_MAX);
			open[depth++] = at + 1;
		}
		at = end;
		assert_true(depth > 0 || !end[strspn(end + 1, "\n") + 1]);
	}
	assert_int_equal(depth, 0);
}

#endif
