/* SPDX-License-Identifier: Apache-2.0 */
/* A step's job and plan as a file. */
#include <errno.h>

#include <jansson.h>

#include <nca/file.h>

#include "save.h"

int nca_save_write(const char *path, const struct nca_job *job, const struct nca_plan *plan,
		   const struct nca_preflight *preflight, struct nca_error *err)
{
	json_t *json = nca_schema_encode(&nca_job_shape, job, 0);
	int rc = json ? 0 : -ENOMEM;

	if (!rc && json_object_set_new(json, "plan", nca_schema_encode(&nca_plan_shape, plan, 0)))
		rc = -ENOMEM;
	if (!rc && preflight &&
	    json_object_set_new(json, "preflight",
				nca_schema_encode(&nca_preflight_shape, preflight, 0)))
		rc = -ENOMEM;
	if (!rc && json_dump_file(json, path, JSON_INDENT(1)))
		rc = -errno;
	json_decref(json);
	return rc ? nca_fail(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

/* Reads what stands under the key. -EINVAL: nothing, or something else. */
static int read_part(const char *path, const json_t *json, const char *key,
		     const struct nca_shape *shape, struct nca_pool *pool, void **ret,
		     struct nca_error *err)
{
	json_t *part = json_object_get(json, key);
	int rc;

	if (!part)
		return nca_fail(err, -EINVAL, "%s holds no %s", path, key);
	*ret = nca_pool_alloc(pool, shape->size);
	if (!*ret)
		return nca_fail_memory(err);
	rc = nca_schema_decode(shape, part, key, pool, *ret, err);
	return rc ? nca_fail_in(err, rc, "%s", path) : 0;
}

int nca_save_read(const char *path, struct nca_pool *pool, struct nca_job **job,
		  struct nca_plan **plan, struct nca_preflight **preflight, struct nca_error *err)
{
	void *parts[3] = {NULL, NULL, NULL};
	nca_autofree char *text = NULL;
	json_t *json;
	size_t len;
	int rc = nca_file_read(path, &text, &len, err);

	rc = rc ? rc : nca_schema_parse(&nca_job_shape, text, len, path, pool, &parts[0], err);
	if (rc)
		return rc;
	rc = nca_schema_load(text, len, path, &json, err);
	if (rc)
		return rc;
	rc = read_part(path, json, "plan", &nca_plan_shape, pool, &parts[1], err);
	if (!rc && json_object_get(json, "preflight"))
		rc = read_part(path, json, "preflight", &nca_preflight_shape, pool, &parts[2], err);
	json_decref(json);
	if (rc)
		return rc;
	*job = parts[0];
	*plan = parts[1];
	*preflight = parts[2];
	return 0;
}
