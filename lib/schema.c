/* SPDX-License-Identifier: Apache-2.0 */
/* JSON documents: what is unknown, and their text. */
#include <errno.h>

#include <jansson.h>

#include <nca/schema.h>

bool nca_name_ok(const char *s)
{
	static const char more[] = "_.:@-";
	size_t n;

	for (n = 0; s[n]; n++) {
		char c = s[n];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !strchr(more, c))
			return false;
	}
	return n >= 1 && n <= 63;
}

void nca_schema_init(const struct nca_shape *shape, void *object)
{
	const struct nca_field *f;

	memset(object, 0, shape->size);
	for (f = shape->fields; f < shape->fields + shape->nfields; f++) {
		void *p = (char *)object + f->offset;

		if (f->type == NCA_INT || f->type == NCA_BOOL)
			*(int *)p = -1;
		else if (f->type == NCA_NUM)
			*(double *)p = -1;
	}
}

void *nca_schema_new(struct nca_pool *pool, const struct nca_shape *shape)
{
	void *object = nca_pool_alloc(pool, shape->size);

	if (object)
		nca_schema_init(shape, object);
	return object;
}

/*
 * Where jansson cannot grow the buffer for a word, it drops one character and goes on with what is
 * left (2.14, load.c, lex_save() ignores strbuffer_append_byte()): another name, another value, or
 * "invalid token". So a document is out of memory as soon as anything could not be allocated.
 */
static _Thread_local bool out_of_memory;

static void *allocate(size_t n)
{
	void *p = malloc(n);

	out_of_memory |= !p;
	return p;
}

/* Before anything of jansson's is allocated. */
__attribute__((constructor)) static void watch_memory(void)
{
	json_set_alloc_funcs(allocate, free);
}

int nca_schema_load(const char *text, size_t len, const char *file, json_t **ret,
		    struct nca_error *err)
{
	json_error_t where;
	json_t *json;

	out_of_memory = false;
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	if (out_of_memory) {
		json_decref(json);
		return nca_fail_in(err, nca_fail_memory(err), "%s", file);
	}
	if (!json)
		return nca_fail(err, -EINVAL, "%s: line %d, column %d: %s", file, where.line,
				where.column, where.text);
	*ret = json;
	return 0;
}

int nca_schema_parse(const struct nca_shape *shape, const char *text, size_t len, const char *file,
		     struct nca_pool *pool, void **ret, struct nca_error *err)
{
	json_t *json;
	void *object;
	int rc = nca_schema_load(text, len, file, &json, err);

	if (rc)
		return rc;
	object = nca_pool_alloc(pool, shape->size);
	rc = object ? nca_schema_decode(shape, json, "", pool, object, err) : nca_fail_memory(err);
	json_decref(json);
	if (rc)
		return nca_fail_in(err, rc, "%s", file);
	*ret = object;
	return 0;
}
