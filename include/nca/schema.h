/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents by table: a shape lists the keys of one kind of object, and the same table reads
 * it, writes it and makes its unknown value. A missing or null key is unknown: NULL, or -1 for
 * numbers and truth values.
 */
#ifndef NCA_SCHEMA_H
#define NCA_SCHEMA_H

#include <stddef.h>

#include <nca/error.h>
#include <nca/pool.h>

struct json_t;

/* A list is unknown when v is NULL; an empty list has v != NULL and n == 0. */
#define NCA_LIST(type)                                                                             \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n;                                                                          \
	}

#define NCA_FOREACH(item, list) for (item = (list).v; item && item < (list).v + (list).n; item++)

/* Appends a zeroed element to an NCA_LIST; see nca_pool_append(). */
#define NCA_APPEND(pool, list) nca_pool_append(pool, &(list).v, &(list).n, sizeof(*(list).v))

enum nca_type {
	NCA_STR,  /* char * */
	NCA_INT,  /* int, -1 unknown; negative numbers are read as unknown */
	NCA_NUM,  /* double, -1 unknown */
	NCA_BOOL, /* int: 0, 1, -1 unknown; JSON true, false, 0, 1 */
	NCA_STRS, /* NCA_LIST(char *); an element may be NULL */
	NCA_INTS, /* NCA_LIST(int) */
	NCA_OBJ,  /* struct x *, NULL unknown */
	NCA_OBJS, /* NCA_LIST(struct x) */
	NCA_MAP,  /* NCA_LIST(struct nca_pair): object of strings; numbers are read as their text */
	NCA_MAPSTRS, /* NCA_LIST(struct nca_row): object of lists of strings */
};

enum nca_field_flag {
	NCA_REQUIRED = 1, /* must be there and not null */
	NCA_NAME = 2,	  /* 1 to 63 printable characters that need no quoting: see nca_name_ok() */
	NCA_DIGEST = 4,	  /* a rule reads it: kept in a digest */
};

struct nca_pair {
	char *key;
	char *value;
};

struct nca_row {
	char *key;
	NCA_LIST(char *) values;
};

struct nca_shape;

struct nca_field {
	const char *key;
	enum nca_type type;
	unsigned int flags;
	size_t offset;
	const struct nca_shape *shape; /* of NCA_OBJ and NCA_OBJS */
};

struct nca_shape {
	const char *schema; /* value of the key "schema" of a whole document, or NULL */
	size_t size;
	const struct nca_field *fields;
	size_t nfields;
};

/* Letters, digits and "_.:@-", 1 to 63 of them: what may stand in a variable or on a command line
 * unquoted. */
bool nca_name_ok(const char *s);

/* An object with every field unknown, owned by the pool; NULL when memory is short. */
void *nca_schema_new(struct nca_pool *pool, const struct nca_shape *shape);

/* Makes every field of an object, new or reused, unknown. */
void nca_schema_init(const struct nca_shape *shape, void *object);

/* A document's text as JSON, new reference. -EINVAL: it is none; the text says file, line and
 * column. -ENOMEM. *ret is written only on success. */
int nca_schema_load(const char *text, size_t len, const char *file, struct json_t **ret,
		    struct nca_error *err);

/*
 * Reads one document. Strings and lists are copied to the pool. -EINVAL: not JSON (the text says
 * file, line and column), a value of the wrong type or a missing key (the text says the JSON path),
 * another schema version (the text says both). -ENOMEM. *ret is written only on success.
 */
int nca_schema_parse(const struct nca_shape *shape, const char *text, size_t len, const char *file,
		     struct nca_pool *pool, void **ret, struct nca_error *err);

/* As nca_schema_parse(), from a value that is already JSON; path names it in messages ("" for a
 * whole document). */
int nca_schema_decode(const struct nca_shape *shape, struct json_t *json, const char *path,
		      struct nca_pool *pool, void *object, struct nca_error *err);

/* The object as JSON, new reference, without unknown fields; only fields with all of `flags`. NULL
 * when memory is short. */
struct json_t *nca_schema_encode(const struct nca_shape *shape, const void *object,
				 unsigned int flags);

/* As nca_schema_encode(), as text that the caller frees; indent 0 is one line. */
char *nca_schema_print(const struct nca_shape *shape, const void *object, unsigned int flags,
		       int indent);

#endif
