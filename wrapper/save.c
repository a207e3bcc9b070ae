/* SPDX-License-Identifier: Apache-2.0 */
/* A step's job and plan as a file. */
#include <errno.h>

#include <jansson.h>

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
