/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of plan/1. */
#include <nca/plan.h>

#define F(struct_, member, type)                                                                   \
	{                                                                                          \
#member, type, 0, offsetof(struct struct_, member), NULL                           \
	}
#define OBJ(struct_, member, type, shape)                                                          \
	{                                                                                          \
#member, type, 0, offsetof(struct struct_, member), shape                          \
	}
#define SHAPE(name, struct_, fields_)                                                              \
	static const struct nca_shape name = {NULL, sizeof(struct struct_), fields_,               \
					      ARRAY_SIZE(fields_)}

static const struct nca_field decision_fields[] = {
	F(nca_decision, subject, NCA_STR),
	F(nca_decision, outcome, NCA_STR),
	F(nca_decision, rule, NCA_STR),
	F(nca_decision, text, NCA_STR),
};
SHAPE(decision_shape, nca_decision, decision_fields);

static const struct nca_field hca_fields[] = {
	F(nca_plan_hca, name, NCA_STR),
	F(nca_plan_hca, port, NCA_INT),
	F(nca_plan_hca, gid_index, NCA_INT),
	F(nca_plan_hca, rail, NCA_INT),
};
SHAPE(hca_shape, nca_plan_hca, hca_fields);

static const struct nca_field node_fields[] = {
	F(nca_plan_node, name, NCA_STR),
	F(nca_plan_node, socket_ifname, NCA_STR),
	F(nca_plan_node, socket_addr, NCA_STR),
	OBJ(nca_plan_node, hcas, NCA_OBJS, &hca_shape),
	F(nca_plan_node, env, NCA_MAP),
	F(nca_plan_node, task_env, NCA_MAP),
	OBJ(nca_plan_node, decisions, NCA_OBJS, &decision_shape),
};
SHAPE(node_shape, nca_plan_node, node_fields);

static const struct nca_field warning_fields[] = {
	F(nca_warning, code, NCA_STR),
	F(nca_warning, node, NCA_STR),
	F(nca_warning, text, NCA_STR),
};
SHAPE(warning_shape, nca_warning, warning_fields);

static const struct nca_field rendezvous_fields[] = {
	F(nca_rendezvous, master_addr, NCA_STR),
	F(nca_rendezvous, master_port, NCA_INT),
	F(nca_rendezvous, layout, NCA_STR),
};
SHAPE(rendezvous_shape, nca_rendezvous, rendezvous_fields);

static const struct nca_field plan_fields[] = {
	F(nca_plan, verdict, NCA_STR),
	F(nca_plan, confidence, NCA_STR),
	F(nca_plan, net, NCA_STR),
	OBJ(nca_plan, nodes, NCA_OBJS, &node_shape),
	OBJ(nca_plan, rendezvous, NCA_OBJ, &rendezvous_shape),
	OBJ(nca_plan, warnings, NCA_OBJS, &warning_shape),
};
const struct nca_shape nca_plan_shape = {"plan/1", sizeof(struct nca_plan), plan_fields,
					 ARRAY_SIZE(plan_fields)};
