/* SPDX-License-Identifier: Apache-2.0 */
/* A step's job, plan and preflight as a file, to replay or to attach to a report. */
#ifndef NCA_SAVE_H
#define NCA_SAVE_H

#include <nca/plan.h>
#include <nca/preflight.h>

/* One JSON object: the job (job/1) with the plan under "plan" and, unless NULL, the preflight under
 * "preflight". -errno with the path in the text. */
int nca_save_write(const char *path, const struct nca_job *job, const struct nca_plan *plan,
		   const struct nca_preflight *preflight, struct nca_error *err);

/* Reads it back; without a preflight *preflight is NULL. -EINVAL: it holds something else; -errno.
 */
int nca_save_read(const char *path, struct nca_pool *pool, struct nca_job **job,
		  struct nca_plan **plan, struct nca_preflight **preflight, struct nca_error *err);

#endif
