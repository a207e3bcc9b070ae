/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>

#include <nca/option.h>

struct row {
	const char *name;
	const char *plugstack, *env, *user; /* NULL: that source says nothing */
	int rc;				    /* of the last source that says something */
	const char *text;		    /* part of its message */
	int on, by_site, inject, layout, timeout, fail;
};

#define OFF 0, 0, NCA_INJECT_ALL, NCA_LAYOUT_AUTO, 60, 0
#define ON 1, 0, NCA_INJECT_ALL, NCA_LAYOUT_AUTO, 60, 0

static const struct row rows[] = {
	{"nothing is off", NULL, NULL, NULL, 0, NULL, OFF},
	{"the bare option", NULL, NULL, "", 0, NULL, ON},
	{"on", NULL, NULL, "on", 0, NULL, ON},
	{"any word implies on", NULL, NULL, "quiet", 0, NULL, ON},
	{"environment", NULL, "on", NULL, 0, NULL, ON},
	{"environment, switched off", NULL, "check", "off", 0, NULL, OFF},
	{"user after environment off", NULL, "off", "net", 0, NULL, 1, 0, NCA_INJECT_NET, 0, 60, 0},
	{"plugstack words do not switch on", "timeout=5", NULL, NULL, 0, NULL, 0, 0, NCA_INJECT_ALL,
	 0, 5, 0},
	{"site default", "default=on", NULL, NULL, 0, NULL, 1, 1, NCA_INJECT_NET, 0, 60, 0},
	{"on in plugstack is the site default", "on", NULL, NULL, 0, NULL, 1, 1, NCA_INJECT_NET, 0,
	 60, 0},
	{"site default, all", "default=on,all", NULL, NULL, 0, NULL, 1, 1, NCA_INJECT_ALL, 0, 60,
	 0},
	{"site default, asked too", "default=on", NULL, "on", 0, NULL, ON},
	{"site default, user off", "default=on", NULL, "off", 0, NULL, OFF},
	{"user before plugstack", "timeout=5", NULL, "timeout=7", 0, NULL, 1, 0, NCA_INJECT_ALL, 0,
	 7, 0},
	{"layout", NULL, NULL, "layout=node", 0, NULL, 1, 0, NCA_INJECT_ALL, NCA_LAYOUT_NODE, 60,
	 0},
	{"strict implies both", NULL, NULL, "strict", 0, NULL, 1, 0, NCA_INJECT_ALL, 0, 60, 1},
	{"empty words are nothing", NULL, NULL, ",,on,", 0, NULL, ON},
	{"first timeout", NULL, NULL, "timeout=1", 0, NULL, 1, 0, NCA_INJECT_ALL, 0, 1, 0},
	{"last timeout", NULL, NULL, "timeout=3600", 0, NULL, 1, 0, NCA_INJECT_ALL, 0, 3600, 0},
	{"timeout 0", NULL, NULL, "timeout=0", -EINVAL, "1 to 3600", OFF},
	{"timeout 3601", NULL, NULL, "timeout=3601", -EINVAL, "1 to 3600", OFF},
	{"timeout of letters", NULL, NULL, "timeout=1s", -EINVAL, "takes a number", OFF},
	{"timeout without value", NULL, NULL, "timeout", -EINVAL, "takes a number", OFF},
	{"near word", NULL, NULL, "explian", -ENOENT, "did you mean explain", OFF},
	{"beginning of a word", NULL, NULL, "miss", -ENOENT, "missing-rail=", OFF},
	{"far word", NULL, NULL, "zzzzzzzz", -ENOENT, "unknown word", OFF},
	{"a bad list changes nothing", NULL, NULL, "timeout=9,bad", -ENOENT, "bad", OFF},
	{"value of a switch", NULL, NULL, "quiet=1", -EINVAL, "takes no value", OFF},
	{"bad choice", NULL, NULL, "layout=rank", -EINVAL, "auto|task|node", OFF},
	{"ports", NULL, NULL, "rdzv-ports=1024-65535", 0, NULL, ON},
	{"ports upside down", NULL, NULL, "rdzv-ports=3000-2000", -EINVAL, "two ports", OFF},
	{"one port is no range", NULL, NULL, "rdzv-ports=3000", -EINVAL, "two ports", OFF},
	{"port 1023", NULL, NULL, "rdzv-ports=1023-2000", -EINVAL, "two ports", OFF},
	{"helper from a user", NULL, NULL, "helper=/tmp/x", -EPERM, "only in plugstack.conf", OFF},
	{"default from a user", NULL, NULL, "default=on", -EPERM, "only in plugstack.conf", OFF},
	{"trainer", NULL, NULL, "trainer=jax", 0, NULL, ON},
	{"trainer of a longer name", NULL, NULL, "trainer=llamafactory-0.9.0", 0, NULL, ON},
	{"trainer auto", NULL, NULL, "trainer=auto", 0, NULL, ON},
	{"near trainer", NULL, NULL, "trainer=torchrn", -EINVAL, "did you mean torch or torchrun?",
	 OFF},
	{"beginning of a trainer", NULL, NULL, "trainer=llama", -EINVAL,
	 "llamafactory or llamafactory-0.9.0?", OFF},
	{"far trainer", NULL, NULL, "trainer=zzzzz", -EINVAL, "no such trainer; nccl-autoconf",
	 OFF},
	{"no trainer", NULL, NULL, "trainer=", -EINVAL, "no such trainer", OFF},
	{"trainer without value", NULL, NULL, "trainer", -EINVAL, "no such trainer", OFF},
	{"empty text", NULL, NULL, "save=", -EINVAL, "1 to 255", OFF},
};

static void check(void **state)
{
	const struct row *r = *state;
	struct nca_error err = {""};
	struct nca_options opt;
	int rc = 0;

	nca_options_init(&opt);
	if (r->plugstack)
		rc = nca_options_parse(&opt, r->plugstack, NCA_FROM_PLUGSTACK, &err);
	if (r->env)
		rc = nca_options_parse(&opt, r->env, NCA_FROM_ENV, &err);
	if (r->user)
		rc = nca_options_parse(&opt, r->user, NCA_FROM_USER, &err);
	nca_options_finish(&opt);
	assert_int_equal(rc, r->rc);
	if (r->text)
		assert_non_null(strstr(err.text, r->text));
	assert_int_equal(opt.on, r->on);
	assert_int_equal(nca_options_by_site(&opt), r->by_site);
	assert_int_equal(opt.inject, r->inject);
	assert_int_equal(opt.layout, r->layout);
	assert_int_equal(opt.timeout, r->timeout);
	assert_int_equal(opt.missing_rail_fail, r->fail);
	assert_int_equal(opt.fallback_fail, r->fail);
}

struct fallback {
	const char *name, *plugstack, *env, *user;
	int fail;
};

static const struct fallback fallbacks[] = {
	{"check means fallback=fail", NULL, NULL, "check", 1},
	{"check, and TCP will do", NULL, NULL, "check=rdma,fallback=socket", 0},
	{"check, where TCP would do for the environment", NULL, "fallback=socket", "check", 0},
	{"check of a site that has it on", "default=on,check", NULL, NULL, 0},
	{"check of a site, asked for too", "default=on,check", NULL, "on", 1},
	{"check, and strict", NULL, NULL, "check,fallback=socket,strict", 1},
};

static void check_fallback(void **state)
{
	const struct fallback *r = *state;
	struct nca_options opt;
	int rc = 0;

	nca_options_init(&opt);
	if (r->plugstack)
		rc = nca_options_parse(&opt, r->plugstack, NCA_FROM_PLUGSTACK, NULL);
	if (!rc && r->env)
		rc = nca_options_parse(&opt, r->env, NCA_FROM_ENV, NULL);
	if (!rc && r->user)
		rc = nca_options_parse(&opt, r->user, NCA_FROM_USER, NULL);
	assert_int_equal(rc, 0);
	nca_options_finish(&opt);
	assert_int_equal(opt.fallback_fail, r->fail);
}

static void check_long_word(void **state)
{
	char word[1024];
	struct nca_options opt;

	(void)state;
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	nca_options_init(&opt);
	assert_int_equal(nca_options_parse(&opt, word, NCA_FROM_USER, NULL), -EINVAL);
	assert_int_equal(nca_option_set(&opt, word, NCA_FROM_USER, NULL), -ENOENT);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check);
	TABLE_ADD(tests, n, fallbacks, check_fallback);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_long_word);
	return _cmocka_run_group_tests("option", tests, n, NULL, NULL);
}
