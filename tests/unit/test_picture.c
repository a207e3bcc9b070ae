/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of all recorded nodes are well-formed XML and hold every device; odd names are escaped.
 */
#include "recorded.h"

#include <nca/picture.h>

#include "document.h"
#include "lib/svg.h"
#include "xml.h"

static void assert_shown(const char *svg, const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), ">%s</text>", name);
	if (!strstr(svg, text))
		fail_msg("%s is not in the picture", name);
}

static void check_node(const struct nca_job *job, const struct nca_plan *plan, size_t i,
		       struct nca_pool *pool)
{
	const char *svg = nca_picture_node(job, plan, i, "headline", pool);
	const struct nca_decision *d;
	char gpu[32];
	size_t k;

	assert_non_null(svg);
	xml_assert(svg);
	NCA_FOREACH(d, plan->nodes.v[i].decisions)
		assert_shown(svg, d->subject);
	for (k = 0; k < job->nodes.v[i].gpus.n; k++) {
		snprintf(gpu, sizeof(gpu), "GPU %d", job->nodes.v[i].gpus.v[k].index);
		assert_shown(svg, gpu);
	}
}

static void test_recorded(void **state)
{
	size_t i, k;

	(void)state;
	assert_true(njobs > 0);
	for (i = 0; i < njobs; i++) {
		nca_autopool struct nca_pool *pool = nca_pool_new();
		const struct nca_job *job = recorded_job(jobs[i].json, pool);
		const struct nca_plan *plan = recorded_plan(job, pool);

		for (k = 0; k < job->nodes.n; k++)
			check_node(job, plan, k, pool);
	}
}

/* A loop of interfaces, each standing on the other, ends. */
static void test_loop(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	const struct nca_job *job = document_read(
		pool, &nca_job_shape,
		"{'schema': 'job/1', 'nnodes': 2, 'nodes': [{'schema': 'hwdesc/1', 'name': 'a', "
		"'hcas': [], 'interfaces': [{'name': 'x', 'link': 'y'}, {'name': 'y', 'link': "
		"'x'}, {'name': 'z', 'link': 'z'}]}]}");

	(void)state;
	check_node(job, recorded_plan(job, pool), 0, pool);
}

struct text {
	const char *name, *text, *want;
	int width;
};

static const struct text texts[] = {
	{"plain", "bond0", ">bond0<", 100},
	{"marks", "<a>&\"b\"", ">&#60;a&#62;&#38;&#34;b&#34;<", 100},
	{"control characters", "a\r\n\x1b[1m\x7f", ">a???[1m?<", 100},
	{"cut", "abcdefghij", ">abc\xe2\x80\xa6<", 26},
	{"not cut", "abcd", ">abcd<", 26},
	{"cut between characters", "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6",
	 ">\xc3\xa4\xc3\xb6\xc3\xbc\xe2\x80\xa6<", 26},
	{"no room", "abc", ">\xe2\x80\xa6<", 0},
	{"less than none", "abc", ">\xe2\x80\xa6<", -5},
	{"empty", "", "><", 0},
};

static void check_text(void **state)
{
	const struct text *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_svg svg = {.pool = pool};
	const char *got;

	nca_svg_begin(&svg, 10, 10, r->text);
	nca_svg_write(&svg, 1, 2, r->width, NCA_SVG_PLAIN, false, "#000000", r->text);
	got = nca_svg_end(&svg);
	xml_assert(got);
	if (!strstr(strstr(got, "<text "), r->want))
		fail_msg("%s", got);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, texts, check_text);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_recorded);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_loop);
	return _cmocka_run_group_tests("picture", tests, n, recorded_read, recorded_free);
}
