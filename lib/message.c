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
	F(nca_report, leaf, NCA_STR, NCA_DIGEST),
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

static const struct nca_field open_port_fields[] = {
	F(nca_open_port, hca, NCA_STR, NCA_REQUIRED | NCA_NAME),
	F(nca_open_port, port, NCA_INT, NCA_REQUIRED),
	F(nca_open_port, gid_index, NCA_INT, 0),
	F(nca_open_port, pkey_index, NCA_INT, 0),
	F(nca_open_port, sl, NCA_INT, 0),
	F(nca_open_port, tc, NCA_INT, 0),
};
static SHAPE(open_port_shape, nca_open_port, open_port_fields);

static const struct nca_field open_fields[] = {
	OBJ(nca_open, ports, NCA_OBJS, NCA_REQUIRED, &open_port_shape),
	F(nca_open, sets, NCA_INT, NCA_REQUIRED),
	F(nca_open, qps, NCA_INT, NCA_REQUIRED),
};
SHAPE(nca_open_shape, nca_open, open_fields);

static const struct nca_field end_fields[] = {
	F(nca_end, why, NCA_STR, 0),   F(nca_end, error, NCA_INT, 0), F(nca_end, lid, NCA_INT, 0),
	F(nca_end, mtu, NCA_INT, 0),   F(nca_end, gid, NCA_STR, 0),   F(nca_end, mac, NCA_STR, 0),
	F(nca_end, qpns, NCA_INTS, 0),
};
static SHAPE(end_shape, nca_end, end_fields);

static const struct nca_field opened_fields[] = {
	OBJ(nca_opened, ends, NCA_OBJS, NCA_REQUIRED, &end_shape),
};
SHAPE(nca_opened_shape, nca_opened, opened_fields);

static const struct nca_field partner_fields[] = {
	F(nca_partner, port, NCA_INT, NCA_REQUIRED),
	F(nca_partner, set, NCA_INT, NCA_REQUIRED),
	OBJ(nca_partner, end, NCA_OBJ, NCA_REQUIRED, &end_shape),
};
static SHAPE(partner_shape, nca_partner, partner_fields);

static const struct nca_field link_up_fields[] = {
	OBJ(nca_link_up, partners, NCA_OBJS, NCA_REQUIRED, &partner_shape),
};
SHAPE(nca_link_up_shape, nca_link_up, link_up_fields);

static const struct nca_field linked_one_fields[] = {
	F(nca_linked_one, error, NCA_INT, 0),
	F(nca_linked_one, mac, NCA_STR, 0),
};
static SHAPE(linked_one_shape, nca_linked_one, linked_one_fields);

static const struct nca_field linked_fields[] = {
	OBJ(nca_linked, partners, NCA_OBJS, NCA_REQUIRED, &linked_one_shape),
};
SHAPE(nca_linked_shape, nca_linked, linked_fields);

static const struct nca_field pinged_one_fields[] = {
	F(nca_pinged_one, partner, NCA_INT, NCA_REQUIRED),
	F(nca_pinged_one, status, NCA_INT, 0),
	F(nca_pinged_one, large, NCA_INT, 0),
	F(nca_pinged_one, vendor, NCA_INT, 0),
	F(nca_pinged_one, failed, NCA_INT, 0),
	F(nca_pinged_one, received, NCA_INT, 0),
};
static SHAPE(pinged_one_shape, nca_pinged_one, pinged_one_fields);

static const struct nca_field risen_fields[] = {
	F(nca_risen, port, NCA_INT, NCA_REQUIRED),
	F(nca_risen, name, NCA_STR, NCA_REQUIRED),
	F(nca_risen, by, NCA_INT, NCA_REQUIRED),
};
static SHAPE(risen_shape, nca_risen, risen_fields);

static const struct nca_field pinged_fields[] = {
	OBJ(nca_pinged, partners, NCA_OBJS, NCA_REQUIRED, &pinged_one_shape),
	OBJ(nca_pinged, risen, NCA_OBJS, NCA_REQUIRED, &risen_shape),
	F(nca_pinged, facts, NCA_MAPSTRS, 0),
};
SHAPE(nca_pinged_shape, nca_pinged, pinged_fields);
