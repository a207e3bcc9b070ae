/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight's result as a document. */
#include <nca/preflight.h>

#include "schema_field.h"

static const struct nca_field finding_fields[] = {
	F(nca_finding, code, NCA_STR, NCA_REQUIRED),
	F(nca_finding, node, NCA_STR, 0),
	F(nca_finding, hca, NCA_STR, 0),
	F(nca_finding, peer, NCA_STR, 0),
	F(nca_finding, direction, NCA_STR, 0),
	F(nca_finding, text, NCA_STR, NCA_REQUIRED),
};
static SHAPE(finding_shape, nca_finding, finding_fields);

static const struct nca_field tested_fields[] = {
	F(nca_tested, node, NCA_STR, NCA_REQUIRED),  F(nca_tested, hca, NCA_STR, NCA_REQUIRED),
	F(nca_tested, port, NCA_INT, NCA_REQUIRED),  F(nca_tested, rail, NCA_INT, NCA_REQUIRED),
	F(nca_tested, state, NCA_STR, NCA_REQUIRED), F(nca_tested, tests, NCA_INT, 0),
	F(nca_tested, failed, NCA_INT, 0),
};
static SHAPE(tested_shape, nca_tested, tested_fields);

static const struct nca_field preflight_fields[] = {
	F(nca_preflight, verdict, NCA_STR, NCA_REQUIRED),
	F(nca_preflight, seconds, NCA_NUM, 0),
	OBJ(nca_preflight, ports, NCA_OBJS, NCA_REQUIRED, &tested_shape),
	OBJ(nca_preflight, findings, NCA_OBJS, NCA_REQUIRED, &finding_shape),
	F(nca_preflight, hints, NCA_STRS, 0),
	F(nca_preflight, exclude, NCA_STR, 0),
};
const struct nca_shape nca_preflight_shape = {"preflight/1", sizeof(struct nca_preflight),
					      preflight_fields, ARRAY_SIZE(preflight_fields)};
