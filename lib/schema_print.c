/* SPDX-License-Identifier: Apache-2.0 */
/* Writing plain structures as JSON by table. */
#include <jansson.h>

#include <nca/schema.h>

#include "schema_list.h"

/* What is left out would be taken for unknown: short of memory there is no document at all. */
static json_t *drop(json_t *json, bool *failed)
{
	*failed = true;
	json_decref(json);
	return NULL;
}

static json_t *encode_strs(const struct nca_strs_list *list, bool *failed)
{
	json_t *json = list->v ? json_array() : NULL;
	size_t i;

	*failed |= list->v && !json;
	for (i = 0; json && i < list->n; i++)
		if (json_array_append_new(json, list->v[i] ? json_string(list->v[i]) : json_null()))
			return drop(json, failed);
	return json;
}

static json_t *encode_ints(const struct nca_ints_list *list, bool *failed)
{
	json_t *json = list->v ? json_array() : NULL;
	size_t i;

	*failed |= list->v && !json;
	for (i = 0; json && i < list->n; i++)
		if (json_array_append_new(json, json_integer(list->v[i])))
			return drop(json, failed);
	return json;
}

static json_t *encode_objects(const struct nca_shape *shape, const struct nca_any_list *list,
			      unsigned int flags, bool *failed)
{
	json_t *json = list->v ? json_array() : NULL;
	size_t i;

	*failed |= list->v && !json;
	for (i = 0; json && i < list->n; i++)
		if (json_array_append_new(
			    json,
			    nca_schema_encode(shape, (char *)list->v + i * shape->size, flags)))
			return drop(json, failed);
	return json;
}

static json_t *encode_map(const struct nca_pairs_list *list, bool *failed)
{
	json_t *json = list->v ? json_object() : NULL;
	size_t i;

	*failed |= list->v && !json;
	for (i = 0; json && i < list->n; i++)
		if (json_object_set_new(json, list->v[i].key, json_string(list->v[i].value)))
			return drop(json, failed);
	return json;
}

static json_t *encode_rows(const struct nca_rows_list *list, bool *failed)
{
	json_t *json = list->v ? json_object() : NULL;
	size_t i;

	*failed |= list->v && !json;
	for (i = 0; json && i < list->n; i++)
		if (json_object_set_new(json, list->v[i].key,
					encode_strs((const void *)&list->v[i].values, failed)))
			return drop(json, failed);
	return json;
}

static json_t *encode_num(double v)
{
	return v <= 1e15 && v == (double)(json_int_t)v ? json_integer((json_int_t)v) : json_real(v);
}

/* A value that is known must become JSON. */
static json_t *need(json_t *json, bool *failed)
{
	*failed |= !json;
	return json;
}

static json_t *encode_field(const struct nca_field *f, const void *p, unsigned int flags,
			    bool *failed)
{
	const void *object = f->type == NCA_STR || f->type == NCA_OBJ ? *(void *const *)p : NULL;

	switch (f->type) {
	case NCA_STR:
		return object ? need(json_string(object), failed) : NULL;
	case NCA_INT:
		return *(const int *)p < 0 ? NULL : need(json_integer(*(const int *)p), failed);
	case NCA_NUM:
		return *(const double *)p < 0 ? NULL : need(encode_num(*(const double *)p), failed);
	case NCA_BOOL:
		return *(const int *)p >= 0 ? json_boolean(*(const int *)p) : NULL;
	case NCA_STRS:
		return encode_strs(p, failed);
	case NCA_INTS:
		return encode_ints(p, failed);
	case NCA_OBJ:
		return object ? need(nca_schema_encode(f->shape, object, flags), failed) : NULL;
	case NCA_OBJS:
		return encode_objects(f->shape, p, flags, failed);
	case NCA_MAP:
		return encode_map(p, failed);
	case NCA_MAPSTRS:
		return encode_rows(p, failed);
	}
	return NULL;
}

json_t *nca_schema_encode(const struct nca_shape *shape, const void *object, unsigned int flags)
{
	json_t *json = json_object();
	const struct nca_field *f;
	bool failed = !json;

	if (json && shape->schema)
		failed |= json_object_set_new(json, "schema", json_string(shape->schema)) != 0;
	for (f = shape->fields; !failed && f < shape->fields + shape->nfields; f++) {
		json_t *value = NULL;

		if ((f->flags & flags) == flags)
			value = encode_field(f, (const char *)object + f->offset, flags, &failed);
		if (value)
			failed |= json_object_set_new(json, f->key, value) != 0;
	}
	return failed ? drop(json, &failed) : json;
}

struct text {
	char *data;
	size_t used, size;
	bool failed;
};

/*
 * jansson ignores it when a key cannot be written (2.14, dump.c, do_dump) and goes on, so a failure
 * is kept here.
 */
static int add_text(const char *more, size_t len, void *data)
{
	struct text *t = data;
	size_t size = t->size ? t->size : 4096;
	char *bigger;

	while (size - t->used <= len)
		size *= 2;
	bigger = t->failed || size == t->size ? t->data : realloc(t->data, size);
	if (t->failed || !bigger) {
		t->failed = true;
		return -1;
	}
	t->data = bigger;
	t->size = size;
	memcpy(t->data + t->used, more, len);
	t->used += len;
	t->data[t->used] = '\0';
	return 0;
}

char *nca_schema_print(const struct nca_shape *shape, const void *object, unsigned int flags,
		       int indent)
{
	json_t *json = nca_schema_encode(shape, object, flags);
	struct text text = {NULL};

	if (!json ||
	    json_dump_callback(json, add_text, &text,
			       JSON_INDENT(indent) | (indent ? 0 : JSON_COMPACT)) ||
	    text.failed) {
		free(text.data);
		text.data = NULL;
	}
	json_decref(json);
	return text.data;
}
