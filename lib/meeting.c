/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a trainer's contract, with their values on every node. */
#include <errno.h>

#include <nca/variable.h>

#include "rendezvous_parts.h"

static bool is_listed(const struct nca_meeting *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->nsettings; i++)
		if (streq(m->settings[i]->name, name))
			return true;
	return false;
}

static void list_cell(struct nca_meeting *m, const struct nca_cell *cell, const char *never)
{
	const struct nca_setting *s;
	size_t i;

	for (i = 0; (s = nca_cell_setting(cell, i)) && m->nsettings < NCA_SETTINGS_MAX; i++)
		if (!is_listed(m, s->name) &&
		    !nca_variable_is_listed(s->name, strlen(s->name), never))
			m->settings[m->nsettings++] = s;
}

void nca_meeting_list(struct nca_meeting *m)
{
	m->nsettings = 0;
	/* Its own first: where both name a variable, the trainer's value holds. */
	list_cell(m, m->cell, NULL);
	if (!m->named)
		list_cell(m, nca_contract_cell(nca_contracts, m->layout), m->cell->never);
}

static int node_nproc(const struct nca_meeting *m, size_t i)
{
	const struct nca_node *node = &m->job->nodes.v[i];

	if (m->opt->nproc > 0)
		return m->opt->nproc;
	return node->gpus.n > 0 ? (int)node->gpus.n : 1;
}

int nca_meeting_count(struct nca_meeting *m)
{
	size_t i, n = m->job->nodes.n;

	m->workers_before = nca_pool_alloc(m->pool, (n + 1) * sizeof(*m->workers_before));
	if (!m->workers_before)
		return -ENOMEM;
	m->tasks = 0;
	for (i = 0; i < n; i++) {
		int tasks = m->job->nodes.v[i].tasks_per_node;

		m->tasks = tasks < 1 || m->tasks < 0 ? -1 : m->tasks + tasks;
		m->workers_before[i + 1] = m->workers_before[i] + node_nproc(m, i);
	}
	return 0;
}

/* -1: unknown. */
static int number_of(const struct nca_meeting *m, enum nca_value value, size_t i)
{
	switch (value) {
	case NCA_VALUE_PORT:
		return m->plan->rendezvous->master_port;
	case NCA_VALUE_TASKS:
		return m->tasks;
	case NCA_VALUE_LOCAL_TASKS:
		return m->job->nodes.v[i].tasks_per_node;
	case NCA_VALUE_NODES:
		return m->job->nnodes;
	case NCA_VALUE_NODE_RANK:
		return (int)i;
	case NCA_VALUE_NPROC:
		return node_nproc(m, i);
	case NCA_VALUE_WORKERS:
		return m->workers_before[m->job->nodes.n];
	case NCA_VALUE_FIRST:
		return m->workers_before[i];
	default:
		return -1;
	}
}

static char *make_endpoint(const struct nca_meeting *m)
{
	const struct nca_rendezvous *r = m->plan->rendezvous;
	bool six = strchr(r->master_addr, ':');

	return nca_pool_printf(m->pool, "%s%s%s:%d", six ? "[" : "", r->master_addr, six ? "]" : "",
			       r->master_port);
}

static char *make_devices(const struct nca_meeting *m, size_t i)
{
	int k, n = node_nproc(m, i);
	char *list = nca_pool_strdup(m->pool, "0");

	for (k = 1; list && k < n; k++)
		list = nca_pool_printf(m->pool, "%s,%d", list, k);
	return list;
}

static char *make_is_host(const struct nca_meeting *m, const struct nca_setting *s, size_t i)
{
	const char *set = nca_pairs_get(m->job->nodes.v[i].environment, s->name);

	return nca_pool_printf(m->pool, "%s%sis_host=%d", set ? set : "", set && *set ? "," : "",
			       i == 0);
}

int nca_meeting_value(const struct nca_meeting *m, const struct nca_setting *s, size_t i,
		      const char **ret)
{
	const struct nca_plan_node *node = &m->plan->nodes.v[i];
	int number;

	switch (s->value) {
	case NCA_VALUE_SLURM:
	case NCA_VALUE_TEXT:
		*ret = s->text;
		return 0;
	case NCA_VALUE_ADDRESS:
		*ret = m->plan->rendezvous->master_addr;
		return 0;
	case NCA_VALUE_OWN_ADDRESS:
		*ret = node->socket_addr;
		return 0;
	case NCA_VALUE_INTERFACE:
		*ret = node->socket_ifname;
		return 0;
	case NCA_VALUE_JOB:
		*ret = m->job->id;
		return 0;
	case NCA_VALUE_ENDPOINT:
		*ret = make_endpoint(m);
		return *ret ? 0 : -ENOMEM;
	case NCA_VALUE_DEVICES:
		*ret = make_devices(m, i);
		return *ret ? 0 : -ENOMEM;
	case NCA_VALUE_IS_HOST:
		*ret = make_is_host(m, s, i);
		return *ret ? 0 : -ENOMEM;
	default:
		break;
	}
	number = number_of(m, s->value, i);
	*ret = number < 0 ? NULL : nca_pool_printf(m->pool, "%d", number);
	return number < 0 || *ret ? 0 : -ENOMEM;
}

/* What somebody has set stays, but not what a command of a script has left empty; PET_RDZV_CONF
 * alone is a list, to which we add. */
static bool is_taken(const struct nca_meeting *m, const struct nca_setting *s, size_t i)
{
	const struct nca_node *node = &m->job->nodes.v[i];
	const char *set = nca_pairs_get(node->environment, s->name);

	if (s->value != NCA_VALUE_IS_HOST)
		return set && *set;
	/* Who names an endpoint also knows which node that is. */
	return (set && strstr(set, "is_host")) ||
	       nca_pairs_get(node->environment, "PET_RDZV_ENDPOINT");
}

static int add(const struct nca_meeting *m, const struct nca_setting *s, size_t i)
{
	struct nca_plan_node *node = &m->plan->nodes.v[i];
	struct nca_pair *pair;
	const char *value;
	int rc = nca_meeting_value(m, s, i, &value);

	if (rc || !value || is_taken(m, s, i))
		return rc;
	pair = s->value == NCA_VALUE_SLURM ? NCA_APPEND(m->pool, node->task_env)
					   : NCA_APPEND(m->pool, node->env);
	if (!pair)
		return -ENOMEM;
	*pair = (struct nca_pair){(char *)s->name, (char *)value};
	return 0;
}

int nca_meeting_fill(const struct nca_meeting *m)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; i < m->plan->nodes.n; i++)
		for (k = 0; !rc && k < m->nsettings; k++)
			rc = add(m, m->settings[k], i);
	return rc;
}
