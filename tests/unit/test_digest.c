/* SPDX-License-Identifier: Apache-2.0 */
/* What a node sends is enough: every recorded job plans from its digests exactly as from its
 * snapshots. */
#include "table.h"

#include <glob.h>
#include <stdio.h>

#include <nca/digest.h>
#include <nca/file.h>
#include <nca/plan.h>

static char *plan(const struct nca_job *job, struct nca_pool *pool)
{
	struct nca_options opt;
	struct nca_plan *p;

	nca_options_init(&opt);
	nca_options_finish(&opt);
	assert_int_equal(nca_plan_make(job, &opt, NULL, pool, &p, NULL), 0);
	return nca_schema_print(&nca_plan_shape, p, 0, 1);
}

static struct nca_job *parse(const char *text, size_t len, struct nca_pool *pool)
{
	void *job;

	assert_int_equal(nca_schema_parse(&nca_job_shape, text, len, "job", pool, &job, NULL), 0);
	return job;
}

static void check(void **state)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	nca_autofree char *text = NULL, *digest = NULL, *full = NULL, *short_ = NULL;
	struct nca_node *node;
	struct nca_job *job;
	size_t len;

	assert_int_equal(nca_file_read(*state, &text, &len, NULL), 0);
	job = parse(text, len, pool);
	full = plan(job, pool);
	NCA_FOREACH(node, job->nodes)
		assert_int_equal(nca_digest_prepare(node, pool), 0);
	digest = nca_schema_print(&nca_job_shape, job, NCA_DIGEST, 0);
	assert_null(strstr(digest, "\"pci\":["));
	short_ = plan(parse(digest, strlen(digest), pool), pool);
	assert_string_equal(full, short_);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n;
	glob_t jobs;
	int rc;

	if (glob(JOBS, GLOB_BRACE, NULL, &jobs) || jobs.gl_pathc > TABLE_MAX)
		return 1;
	for (n = 0; n < jobs.gl_pathc; n++)
		tests[n] = (struct CMUnitTest){.name = strrchr(jobs.gl_pathv[n], '/') + 1,
					       .test_func = check,
					       .initial_state = jobs.gl_pathv[n]};
	rc = _cmocka_run_group_tests("digest", tests, n, NULL, NULL);
	globfree(&jobs);
	return rc;
}
