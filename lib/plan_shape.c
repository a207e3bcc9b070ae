/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of plan/1. */
#include <nca/plan.h>

#include "schema_field.h"

static const struct nca_field decision_fields[] = {
	F(nca_decision, subject, NCA_STR, 0),
	F(nca_decision, outcome, NCA_STR, 0),
	F(nca_decision, rule, NCA_STR, 0),
	F(nca_decision, text, NCA_STR, 0),
};
static SHAPE(decision_shape, nca_decision, decision_fields);

static const struct nca_field hca_fields[] = {
	F(nca_plan_hca, name, NCA_STR, 0),
	F(nca_plan_hca, port, NCA_INT, 0),
	F(nca_plan_hca, gid_index, NCA_INT, 0),
	F(nca_plan_hca, rail, NCA_INT, 0),
};
static SHAPE(hca_shape, nca_plan_hca, hca_fields);

static const struct nca_field node_fields[] = {
	F(nca_plan_node, name, NCA_STR, 0),
	F(nca_plan_node, socket_ifname, NCA_STR, 0),
	F(nca_plan_node, socket_addr, NCA_STR, 0),
	OBJ(nca_plan_node, hcas, NCA_OBJS, 0, &hca_shape),
	F(nca_plan_node, env, NCA_MAP, 0),
	F(nca_plan_node, task_env, NCA_MAP, 0),
	F(nca_plan_node, conf, NCA_MAP, 0),
	OBJ(nca_plan_node, decisions, NCA_OBJS, 0, &decision_shape),
};
static SHAPE(node_shape, nca_plan_node, node_fields);

static const struct nca_field warning_fields[] = {
	F(nca_warning, code, NCA_STR, 0),
	F(nca_warning, node, NCA_STR, 0),
	F(nca_warning, text, NCA_STR, 0),
};
static SHAPE(warning_shape, nca_warning, warning_fields);

static const struct nca_field rendezvous_fields[] = {
	F(nca_rendezvous, master_addr, NCA_STR, 0),
	F(nca_rendezvous, master_port, NCA_INT, 0),
	F(nca_rendezvous, layout, NCA_STR, 0),
};
static SHAPE(rendezvous_shape, nca_rendezvous, rendezvous_fields);

static const struct nca_field plan_fields[] = {
	F(nca_plan, verdict, NCA_STR, 0),
	F(nca_plan, confidence, NCA_STR, 0),
	F(nca_plan, net, NCA_STR, 0),
	OBJ(nca_plan, nodes, NCA_OBJS, 0, &node_shape),
	OBJ(nca_plan, rendezvous, NCA_OBJ, 0, &rendezvous_shape),
	OBJ(nca_plan, warnings, NCA_OBJS, 0, &warning_shape),
};
const struct nca_shape nca_plan_shape = {"plan/1", sizeof(struct nca_plan), plan_fields,
					 ARRAY_SIZE(plan_fields)};
