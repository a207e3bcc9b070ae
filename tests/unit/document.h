/* SPDX-License-Identifier: Apache-2.0 */
/* Documents written in a test, with ' for ". */
#ifndef NCA_TEST_DOCUMENT_H
#define NCA_TEST_DOCUMENT_H

#include <nca/inventory.h>

static inline void *document_read(struct nca_pool *pool, const struct nca_shape *shape,
				  const char *text)
{
	char *json = nca_pool_strdup(pool, text), *c;
	struct nca_error err = {""};
	void *object = NULL;

	for (c = json; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	if (nca_schema_parse(shape, json, strlen(json), "test", pool, &object, &err))
		fail_msg("%s", err.text);
	return object;
}

#endif
