/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of the messages. Every field carries the digest's mark, since the node in a report is
 * a digest. */
#include <nca/message.h>

#include "schema_field.h"

static const struct nca_field hello_fields[] = {
	F(nca_hello, version, NCA_STR, NCA_REQUIRED),
	F(nca_hello, name, NCA_STR, NCA_REQUIRED | NCA_NAME),
	F(nca_hello, nodeid, NCA_INT, NCA_REQUIRED),
	F(nca_hello, nnodes, NCA_INT, NCA_REQUIRED),
};
SHAPE(nca_hello_shape, nca_hello, hello_fields);

static const struct nca_field report_fields[] = {
	F(nca_report, first_task, NCA_INT, NCA_DIGEST | NCA_REQUIRED),
	F(nca_report, listen_port, NCA_INT, NCA_DIGEST | NCA_REQUIRED),
	F(nca_report, nodelist, NCA_STR, NCA_DIGEST),
	F(nca_report, step, NCA_STR, NCA_DIGEST),
	OBJ(nca_report, node, NCA_OBJ, NCA_DIGEST | NCA_REQUIRED, &nca_node_shape),
};
SHAPE(nca_report_shape, nca_report, report_fields);

static const struct nca_field hold_fields[] = {
	F(nca_hold, first, NCA_INT, 0),
	F(nca_hold, last, NCA_INT, 0),
	F(nca_hold, seed, NCA_STR, 0),
};
SHAPE(nca_hold_shape, nca_hold, hold_fields);

static const struct nca_field target_fields[] = {
	F(nca_target, node, NCA_STR, NCA_REQUIRED),
	F(nca_target, addr, NCA_STR, NCA_REQUIRED),
	F(nca_target, port, NCA_INT, NCA_REQUIRED),
};
static SHAPE(target_shape, nca_target, target_fields);

static const struct nca_field test_fields[] = {
	F(nca_test, source, NCA_STR, NCA_REQUIRED),
	OBJ(nca_test, targets, NCA_OBJS, NCA_REQUIRED, &target_shape),
};
SHAPE(nca_test_shape, nca_test, test_fields);

static const struct nca_field outcome_fields[] = {F(nca_outcome, why, NCA_STR, 0)};
static SHAPE(outcome_shape, nca_outcome, outcome_fields);

static const struct nca_field result_fields[] = {
	OBJ(nca_result, outcomes, NCA_OBJS, NCA_REQUIRED, &outcome_shape),
};
SHAPE(nca_result_shape, nca_result, result_fields);

static const struct nca_field part_fields[] = {
	F(nca_part, records, NCA_STRS, NCA_REQUIRED),
	F(nca_part, conf_path, NCA_STR, 0),
	F(nca_part, conf_keep, NCA_BOOL, 0),
	F(nca_part, conf, NCA_STRS, 0),
};
SHAPE(nca_part_shape, nca_part, part_fields);
