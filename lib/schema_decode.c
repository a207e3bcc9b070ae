/* SPDX-License-Identifier: Apache-2.0 */
/* From JSON to plain structures by table. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include <jansson.h>

#include <nca/schema.h>

#include "schema_list.h"

/* No list of a document comes near: a hostile one is refused before it takes memory. */
#define LIST_MAX ((size_t)1 << 20)

/* Where a value stands in the document: built on the stack of the callers, printed only in
 * messages. */
struct place {
	const struct place *up;
	const char *key; /* NULL: an element of a list */
	size_t index;
};

static size_t place_print(const struct place *p, char *buf, size_t size)
{
	size_t n = p->up ? place_print(p->up, buf, size) : 0;
	int more;

	if (n >= size)
		return n;
	if (p->key)
		more = snprintf(buf + n, size - n, "%s%s", n ? "." : "", p->key);
	else
		more = snprintf(buf + n, size - n, "[%zu]", p->index);
	return more < 0 ? n : n + more;
}

static int fail_at(struct nca_error *err, const struct place *p, const char *what)
{
	char path[256];

	place_print(p, path, sizeof(path));
	return nca_fail(err, -EINVAL, "%s: %s", path[0] ? path : "document", what);
}

static int decode_object(const struct nca_shape *shape, json_t *json, const struct place *at,
			 struct nca_pool *pool, void *object, struct nca_error *err);

static int decode_string(json_t *json, unsigned int flags, const struct place *at,
			 struct nca_pool *pool, char **ret, struct nca_error *err)
{
	if (!json_is_string(json))
		return fail_at(err, at, "expected a string");
	if (flags & NCA_NAME && !nca_name_ok(json_string_value(json)))
		return fail_at(err, at, "expected a name of 1 to 63 letters, digits and _.:@-");
	*ret = nca_pool_share(pool, json_string_value(json));
	return *ret ? 0 : nca_fail_memory(err);
}

static int decode_int(json_t *json, const struct place *at, int *ret, struct nca_error *err)
{
	json_int_t v = json_integer_value(json);

	if (!json_is_integer(json) || v > INT_MAX || v < INT_MIN)
		return fail_at(err, at, "expected an integer of 32 bits");
	*ret = v < 0 ? -1 : (int)v;
	return 0;
}

static int decode_bool(json_t *json, const struct place *at, int *ret, struct nca_error *err)
{
	if (json_is_boolean(json))
		*ret = json_is_true(json);
	else if (json_is_integer(json) && (json_integer_value(json) & ~(json_int_t)1) == 0)
		*ret = (int)json_integer_value(json);
	else
		return fail_at(err, at, "expected true or false");
	return 0;
}

static int decode_num(json_t *json, const struct place *at, double *ret, struct nca_error *err)
{
	if (!json_is_number(json))
		return fail_at(err, at, "expected a number");
	*ret = json_number_value(json) < 0 ? -1 : json_number_value(json);
	return 0;
}

static int decode_strs(json_t *json, const struct place *at, struct nca_pool *pool,
		       struct nca_strs_list *ret, struct nca_error *err)
{
	size_t i, n = json_array_size(json);
	int rc = 0;

	if (!json_is_array(json))
		return fail_at(err, at, "expected a list of strings");
	ret->v = nca_pool_alloc(pool, n * sizeof(*ret->v));
	if (!ret->v)
		return nca_fail_memory(err);
	for (i = 0; !rc && i < n; i++) {
		const struct place here = {at, NULL, i};

		if (!json_is_null(json_array_get(json, i)))
			rc = decode_string(json_array_get(json, i), 0, &here, pool, &ret->v[i],
					   err);
	}
	ret->n = n;
	return rc;
}

static int decode_ints(json_t *json, const struct place *at, struct nca_pool *pool,
		       struct nca_ints_list *ret, struct nca_error *err)
{
	size_t i, n = json_array_size(json);
	int rc = 0;

	if (!json_is_array(json))
		return fail_at(err, at, "expected a list of integers");
	ret->v = nca_pool_alloc(pool, n * sizeof(*ret->v));
	if (!ret->v)
		return nca_fail_memory(err);
	for (i = 0; !rc && i < n; i++) {
		const struct place here = {at, NULL, i};

		rc = decode_int(json_array_get(json, i), &here, &ret->v[i], err);
	}
	ret->n = n;
	return rc;
}

static int decode_objects(const struct nca_shape *shape, json_t *json, const struct place *at,
			  struct nca_pool *pool, struct nca_any_list *ret, struct nca_error *err)
{
	size_t i, n = json_array_size(json);
	int rc = 0;

	if (!json_is_array(json))
		return fail_at(err, at, "expected a list of objects");
	if (n > LIST_MAX)
		return fail_at(err, at, "the list is too long");
	ret->v = nca_pool_alloc(pool, n * shape->size);
	if (!ret->v)
		return nca_fail_memory(err);
	for (i = 0; !rc && i < n; i++) {
		const struct place here = {at, NULL, i};

		rc = decode_object(shape, json_array_get(json, i), &here, pool,
				   (char *)ret->v + i * shape->size, err);
	}
	ret->n = n;
	return rc;
}

/* A value of a map as text: people write numbers and truth values for variables and settings. */
static char *map_value(struct nca_pool *pool, json_t *json)
{
	if (json_is_string(json))
		return nca_pool_share(pool, json_string_value(json));
	if (json_is_integer(json))
		return nca_pool_printf(pool, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
	return nca_pool_share(pool, json_is_true(json) ? "true" : "false");
}

static int decode_map(json_t *json, const struct place *at, struct nca_pool *pool,
		      struct nca_pairs_list *ret, struct nca_error *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return fail_at(err, at, "expected an object of strings");
	ret->v = nca_pool_alloc(pool, json_object_size(json) * sizeof(*ret->v));
	if (!ret->v)
		return nca_fail_memory(err);
	json_object_foreach(json, key, value) {
		const struct place here = {at, key, 0};
		struct nca_pair *pair = &ret->v[ret->n];

		if (json_is_null(value))
			continue;
		if (!json_is_string(value) && !json_is_integer(value) && !json_is_boolean(value))
			return fail_at(err, &here, "expected a string");
		pair->key = nca_pool_share(pool, key);
		pair->value = map_value(pool, value);
		if (!pair->key || !pair->value)
			return nca_fail_memory(err);
		ret->n++;
	}
	return 0;
}

static int decode_rows(json_t *json, const struct place *at, struct nca_pool *pool,
		       struct nca_rows_list *ret, struct nca_error *err)
{
	const char *key;
	json_t *value;
	int rc = 0;

	if (!json_is_object(json))
		return fail_at(err, at, "expected an object of lists");
	ret->v = nca_pool_alloc(pool, json_object_size(json) * sizeof(*ret->v));
	if (!ret->v)
		return nca_fail_memory(err);
	json_object_foreach(json, key, value) {
		const struct place here = {at, key, 0};
		struct nca_row *row = &ret->v[ret->n++];

		row->key = nca_pool_share(pool, key);
		rc = row->key ? decode_strs(value, &here, pool, (void *)&row->values, err)
			      : nca_fail_memory(err);
		if (rc)
			break;
	}
	return rc;
}

static int decode_field(const struct nca_field *f, json_t *json, const struct place *at,
			struct nca_pool *pool, void *p, struct nca_error *err)
{
	switch (f->type) {
	case NCA_STR:
		return decode_string(json, f->flags, at, pool, p, err);
	case NCA_INT:
		return decode_int(json, at, p, err);
	case NCA_NUM:
		return decode_num(json, at, p, err);
	case NCA_BOOL:
		return decode_bool(json, at, p, err);
	case NCA_STRS:
		return decode_strs(json, at, pool, p, err);
	case NCA_INTS:
		return decode_ints(json, at, pool, p, err);
	case NCA_OBJS:
		return decode_objects(f->shape, json, at, pool, p, err);
	case NCA_MAP:
		return decode_map(json, at, pool, p, err);
	case NCA_MAPSTRS:
		return decode_rows(json, at, pool, p, err);
	case NCA_OBJ:
		*(void **)p = nca_pool_alloc(pool, f->shape->size);
		if (!*(void **)p)
			return nca_fail_memory(err);
		return decode_object(f->shape, json, at, pool, *(void **)p, err);
	}
	return -EINVAL;
}

static int check_schema(const struct nca_shape *shape, json_t *json, const struct place *at,
			struct nca_error *err)
{
	const char *have = json_string_value(json_object_get(json, "schema"));
	char text[128];

	if (nca_same(have, shape->schema))
		return 0;
	snprintf(text, sizeof(text), "schema is %s%.32s%s, this program reads \"%s\"",
		 have ? "\"" : "", have ? have : "missing", have ? "\"" : "", shape->schema);
	return fail_at(err, at, text);
}

static int decode_object(const struct nca_shape *shape, json_t *json, const struct place *at,
			 struct nca_pool *pool, void *object, struct nca_error *err)
{
	const struct nca_field *f;
	int rc;

	if (!json_is_object(json))
		return fail_at(err, at, "expected an object");
	rc = shape->schema ? check_schema(shape, json, at, err) : 0;
	if (rc)
		return rc;
	nca_schema_init(shape, object);
	for (f = shape->fields; f < shape->fields + shape->nfields; f++) {
		json_t *value = json_object_get(json, f->key);
		const struct place here = {at, f->key, 0};

		if (value && !json_is_null(value))
			rc = decode_field(f, value, &here, pool, (char *)object + f->offset, err);
		else if (f->flags & NCA_REQUIRED)
			rc = fail_at(err, &here, "missing");
		if (rc)
			return rc;
	}
	return 0;
}

int nca_schema_decode(const struct nca_shape *shape, json_t *json, const char *path,
		      struct nca_pool *pool, void *object, struct nca_error *err)
{
	const struct place at = {NULL, path, 0};

	return decode_object(shape, json, &at, pool, object, err);
}
