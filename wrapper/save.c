/* SPDX-License-Identifier: Apache-2.0 */
/* A step's job and plan as a file. */
#include <errno.h>

#include <jansson.h>

#include <nca/file.h>

#include "save.h"

int nca_save_write(const char *path, const struct nca_job *job, const struct nca_plan *plan,
		   struct nca_error *err)
{
	json_t *json = nca_schema_encode(&nca_job_shape, job, 0);
	int rc = -ENOMEM;

	if (json &&
	    json_object_set_new(json, "plan", nca_schema_encode(&nca_plan_shape, plan, 0)) == 0)
		rc = json_dump_file(json, path, JSON_INDENT(1)) ? -errno : 0;
	json_decref(json);
	return rc ? nca_fail(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

int nca_save_read(const char *path, struct nca_pool *pool, struct nca_job **job,
		  struct nca_plan **plan, struct nca_error *err)
{
	nca_autofree char *text = NULL, *inner = NULL;
	json_t *json;
	void *object;
	size_t len;
	int rc = nca_file_read(path, &text, &len, err);

	rc = rc ? rc : nca_schema_parse(&nca_job_shape, text, len, path, pool, &object, err);
	if (rc)
		return rc;
	*job = object;
	json = json_loadb(text, len, 0, NULL);
	inner = json_dumps(json_object_get(json, "plan"), 0);
	json_decref(json);
	if (!inner)
		return nca_fail(err, -EINVAL, "%s holds no plan", path);
	rc = nca_schema_parse(&nca_plan_shape, inner, strlen(inner), path, pool, &object, err);
	*plan = rc ? NULL : object;
	return rc;
}
