/* SPDX-License-Identifier: Apache-2.0 */
/* Writing plain structures as JSON by table. */
#include <jansson.h>

#include <nca/schema.h>

#include "schema_list.h"

static json_t *encode_strs(const struct nca_strs_list *list)
{
	json_t *json = list->v ? json_array() : NULL;
	size_t i;

	for (i = 0; json && i < list->n; i++)
		json_array_append_new(json, list->v[i] ? json_string(list->v[i]) : json_null());
	return json;
}

static json_t *encode_ints(const struct nca_ints_list *list)
{
	json_t *json = list->v ? json_array() : NULL;
	size_t i;

	for (i = 0; json && i < list->n; i++)
		json_array_append_new(json, json_integer(list->v[i]));
	return json;
}

static json_t *encode_objects(const struct nca_shape *shape, const struct nca_any_list *list,
			      unsigned int flags)
{
	json_t *json = list->v ? json_array() : NULL;
	size_t i;

	for (i = 0; json && i < list->n; i++)
		json_array_append_new(
			json, nca_schema_encode(shape, (char *)list->v + i * shape->size, flags));
	return json;
}

static json_t *encode_map(const struct nca_pairs_list *list)
{
	json_t *json = list->v ? json_object() : NULL;
	size_t i;

	for (i = 0; json && i < list->n; i++)
		json_object_set_new(json, list->v[i].key, json_string(list->v[i].value));
	return json;
}

static json_t *encode_rows(const struct nca_rows_list *list)
{
	json_t *json = list->v ? json_object() : NULL;
	size_t i;

	for (i = 0; json && i < list->n; i++)
		json_object_set_new(json, list->v[i].key,
				    encode_strs((const void *)&list->v[i].values));
	return json;
}

static json_t *encode_num(double v)
{
	if (v < 0)
		return NULL;
	return v <= 1e15 && v == (double)(json_int_t)v ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *encode_field(const struct nca_field *f, const void *p, unsigned int flags)
{
	switch (f->type) {
	case NCA_STR:
		return *(char *const *)p ? json_string(*(char *const *)p) : NULL;
	case NCA_INT:
		return *(const int *)p >= 0 ? json_integer(*(const int *)p) : NULL;
	case NCA_NUM:
		return encode_num(*(const double *)p);
	case NCA_BOOL:
		return *(const int *)p >= 0 ? json_boolean(*(const int *)p) : NULL;
	case NCA_STRS:
		return encode_strs(p);
	case NCA_INTS:
		return encode_ints(p);
	case NCA_OBJ:
		return *(void *const *)p ? nca_schema_encode(f->shape, *(void *const *)p, flags)
					 : NULL;
	case NCA_OBJS:
		return encode_objects(f->shape, p, flags);
	case NCA_MAP:
		return encode_map(p);
	case NCA_MAPSTRS:
		return encode_rows(p);
	}
	return NULL;
}

json_t *nca_schema_encode(const struct nca_shape *shape, const void *object, unsigned int flags)
{
	json_t *json = json_object();
	const struct nca_field *f;

	if (json && shape->schema)
		json_object_set_new(json, "schema", json_string(shape->schema));
	for (f = shape->fields; json && f < shape->fields + shape->nfields; f++) {
		json_t *value = NULL;

		if ((f->flags & flags) == flags)
			value = encode_field(f, (const char *)object + f->offset, flags);
		if (value)
			json_object_set_new(json, f->key, value);
	}
	return json;
}

char *nca_schema_print(const struct nca_shape *shape, const void *object, unsigned int flags,
		       int indent)
{
	json_t *json = nca_schema_encode(shape, object, flags);
	char *text =
		json ? json_dumps(json, JSON_INDENT(indent) | (indent ? 0 : JSON_COMPACT)) : NULL;

	json_decref(json);
	return text;
}
