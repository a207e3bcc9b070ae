/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as tests: each row is one named test, so that a failing row names itself. */
#ifndef NCA_TEST_TABLE_H
#define NCA_TEST_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nca/error.h>
#include <nca/util.h>

#define TABLE_MAX 1024

/* Adds one test per row; the first member of a row is its name, and fn finds its row in *state. */
#define TABLE_ADD(tests, n, rows, fn)                                                              \
	for (size_t row_ = 0; row_ < ARRAY_SIZE(rows); row_++)                                     \
		(tests)[(n)++] = (struct CMUnitTest)                                               \
		{                                                                                  \
			.name = *(const char *const *)&(rows)[row_], .test_func = (fn),            \
			.initial_state = (void *)&(rows)[row_]                                     \
		}

#endif
