/* SPDX-License-Identifier: Apache-2.0 */
/* Short forms for tables of fields. */
#ifndef NCA_SCHEMA_FIELD_H
#define NCA_SCHEMA_FIELD_H

#include <nca/schema.h>

/* A field whose key is the member's name; OBJ for those that have a shape. */
#define F(struct_, member, type, flags)                                                            \
	{                                                                                          \
#member, type, flags, offsetof(struct struct_, member), NULL                       \
	}
#define OBJ(struct_, member, type, flags, shape)                                                   \
	{                                                                                          \
#member, type, flags, offsetof(struct struct_, member), shape                      \
	}

/* A part of a document, without a schema of its own. */
#define SHAPE(name, struct_, fields_)                                                              \
	const struct nca_shape name = {NULL, sizeof(struct struct_), fields_, ARRAY_SIZE(fields_)}

#endif
