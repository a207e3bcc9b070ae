/* SPDX-License-Identifier: Apache-2.0 */
#include "../unit/table.h"

#include <fnmatch.h>

#include "check.h"
#include "host.h"

void check_match(const char *what, const char *pattern, const char *text)
{
	if (fnmatch(pattern, text, 0))
		fail_msg("%s is\n%.1000s\nnot\n%s", what, text, pattern);
}

void check_clean(void)
{
	assert_int_equal(host->status, 0);
	assert_int_equal(host->bad_returns, 0);
	assert_int_equal(host->left_fds, 0);
	assert_int_equal(host->left_kids, 0);
	assert_int_equal(host->leaks, 0);
}
