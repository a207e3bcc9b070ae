/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that all tests of the host share. */
#ifndef NCA_TEST_CHECK_H
#define NCA_TEST_CHECK_H

/* Does the text match the pattern (fnmatch(3))? */
void check_match(const char *what, const char *pattern, const char *text);

/* Whatever happened: no callback failed, and no descriptor, child or memory is left. */
void check_clean(void);

#endif
