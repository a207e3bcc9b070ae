/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded jobs, and what two plans of one have in common. */
#ifndef NCA_TEST_RECORDED_H
#define NCA_TEST_RECORDED_H

#include "table.h"

#include <stdio.h>

#include <jansson.h>

#include <nca/plan.h>

#define JOBS_MAX 1024

struct recorded {
	char *name;
	json_t *json;	/* as recorded, without the answer */
	json_t *expect; /* the answer, which may allow several */
};

extern struct recorded jobs[JOBS_MAX];
extern size_t njobs;

/* Bits of what is not compared. */
enum { ANY_ROWS = 1, ANY_ORDER = 2, ANY_FIRST = 4 };

/* What a plan is compared with, and how. */
struct likeness {
	int flags;
	const char *rename; /* what was put before each device's name */
};

#define FOREACH(list, item)                                                                        \
	for (size_t at_##item = 0; at_##item < json_array_size(list); at_##item++)                 \
		if ((item = json_array_get(list, at_##item)))

static inline json_t *get(json_t *object, const char *key)
{
	return json_object_get(object, key);
}

/* Set-up and tear-down of a group of tests. */
int recorded_read(void **state);
int recorded_free(void **state);

struct nca_job *recorded_job(const json_t *json, struct nca_pool *pool);
struct nca_plan *recorded_plan(const struct nca_job *job, struct nca_pool *pool);

/* NULL where the plan has no such node. */
const struct nca_plan_node *plan_find_node(const struct nca_plan *plan, const char *name);

bool plan_same_name(const char *was, const char *is, const char *rename);
bool plan_same_hcas(const struct nca_plan_node *a, const struct nca_plan_node *b,
		    const struct likeness *how);

/* What differs, NULL where nothing does. */
const char *plan_difference(const struct nca_plan *a, const struct nca_plan *b,
			    const struct likeness *how);

#endif
