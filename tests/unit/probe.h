/* SPDX-License-Identifier: Apache-2.0 */
/* One probe per test, over nothing but the answers of a kernel that a test brings. */
#ifndef NCA_TEST_PROBE_H
#define NCA_TEST_PROBE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/probe_parts.h"

static inline int probe_set_up(void **state)
{
	static struct nca_probe p;
	static const struct nca_source src = {.root_fd = -1};

	p.src = &src;
	p.pool = nca_pool_new();
	p.node = nca_schema_new(p.pool, &nca_node_shape);
	*state = &p;
	return p.node ? 0 : -1;
}

static inline int probe_tear_down(void **state)
{
	nca_pool_free(((struct nca_probe *)*state)->pool);
	return 0;
}

static inline void assert_text(const char *have, const char *want)
{
	if (want && have)
		assert_string_equal(have, want);
	else
		assert_true(!have && !want);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, probe_set_up, probe_tear_down)

#endif
