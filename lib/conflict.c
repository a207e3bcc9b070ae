/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody has set, or starts, against the layout. */
#include <errno.h>

#include <nca/conflict.h>
#include <nca/number.h>
#include <nca/variable.h>

#include "rendezvous_parts.h"

static bool lists(const char *names, const char *name)
{
	return nca_variable_is_listed(name, strlen(name), names);
}

static bool is_of_program(const struct nca_conflict *c)
{
	return c->when == NCA_WHEN_STARTED || c->when == NCA_WHEN_LACKS;
}

/* Of whom the row must be: who is named or recognized, or to whom the launcher that is started
 * belongs. NULL: nobody. */
static const char *trainer_of(const struct nca_conflict *c, const struct nca_meeting *m)
{
	const struct nca_contract *program;

	if (!is_of_program(c))
		return m->contract->name;
	program = nca_launcher_find(m->job->nodes.v->launcher);
	return program ? program->name : NULL;
}

static bool has_many_tasks(const struct nca_job *job)
{
	const struct nca_node *node;

	NCA_FOREACH(node, job->nodes)
		if (node->tasks_per_node > 1)
			return true;
	return false;
}

static bool applies(const struct nca_conflict *c, const struct nca_meeting *m)
{
	const char *trainer = trainer_of(c, m);

	if (!trainer || (c->layout != NCA_LAYOUT_AUTO && c->layout != m->layout) ||
	    (c->trainers && !lists(c->trainers, trainer)) ||
	    (c->except && lists(c->except, trainer)))
		return false;
	switch (c->only) {
	case NCA_MANY_TASKS:
		return has_many_tasks(m->job);
	case NCA_MANY_NODES:
		return m->job->nnodes > 1;
	default:
		return true;
	}
}

/* As torch (elastic/utils/api.py) and LLaMA-Factory (extras/misc.py, is_env_enabled) read it. */
static bool is_true(const char *value)
{
	return lists("1 true True TRUE y Y yes", value);
}

/* Both are numbers, and not the same; "1:4" and what else is no number is somebody's own affair. */
static bool is_other(const char *set, const char *want)
{
	unsigned int a, b;

	return want && !nca_parse_u32(set, 0, 1 << 30, &a) &&
	       !nca_parse_u32(want, 0, 1 << 30, &b) && a != b;
}

/* What the layout gives on this node; NULL: it says nothing of the variable. -ENOMEM. */
static int wanted(const struct nca_meeting *m, const char *name, size_t i, const char **ret)
{
	size_t k;

	*ret = NULL;
	for (k = 0; k < m->nsettings; k++)
		if (streq(m->settings[k]->name, name) && m->settings[k]->value != NCA_VALUE_SLURM)
			return nca_meeting_value(m, m->settings[k], i, ret);
	return 0;
}

/* 1: node i has the conflict; 0 or -ENOMEM. */
static int holds(const struct nca_conflict *c, const struct nca_meeting *m, size_t i)
{
	const struct nca_node *node = &m->job->nodes.v[i];
	const char *set = c->variable ? nca_pairs_get(node->environment, c->variable) : NULL;
	const char *want;
	int rc;

	switch (c->when) {
	case NCA_WHEN_SET:
		return set != NULL;
	case NCA_WHEN_UNSET:
		return !set;
	case NCA_WHEN_TRUE:
		return set && is_true(set);
	case NCA_WHEN_FALSE:
		return set && !is_true(set);
	case NCA_WHEN_DYNAMIC:
		return set && !streq(set, "static");
	case NCA_WHEN_STARTED:
	case NCA_WHEN_ANY:
		return true;
	case NCA_WHEN_LACKS:
		return !node->launcher || !strstr(node->launcher, c->variable);
	case NCA_WHEN_OTHER:
		break;
	}
	rc = set ? wanted(m, c->variable, i, &want) : 0;
	return set && !rc ? is_other(set, want) : rc;
}

/* What the user sees and can look for: the assignment, or the command line. */
static const char *subject(const struct nca_conflict *c, const struct nca_meeting *m, size_t i)
{
	const struct nca_node *node = &m->job->nodes.v[i];
	const char *set = c->variable ? nca_pairs_get(node->environment, c->variable) : NULL;

	if (set)
		return nca_pool_printf(m->pool, "%s=%s", c->variable, set);
	if (c->variable && !is_of_program(c))
		return c->variable;
	return node->launcher ? nca_pool_printf(m->pool, "\"%.60s\"", node->launcher)
			      : "the program";
}

static bool is_said(const struct nca_meeting *m, const struct nca_conflict *c, const char *text)
{
	const struct nca_warning *w;

	NCA_FOREACH(w, m->plan->warnings)
		if (streq(w->code, c->code) && streq(w->text, text))
			return true;
	return false;
}

static int warn(const struct nca_conflict *c, const struct nca_meeting *m, size_t i, bool all)
{
	const char *what = subject(c, m, i);
	const char *text = what ? nca_pool_printf(m->pool, "%s %s", what, c->text) : NULL;

	if (!text)
		return -ENOMEM;
	if (is_said(m, c, text))
		return 0;
	return nca_plan_warn(m->plan, m->pool, c->code, all ? NULL : m->job->nodes.v[i].name, "%s",
			     text);
}

/* One warning, of the first node that has it; without its name where all have it. */
static int check(const struct nca_conflict *c, const struct nca_meeting *m)
{
	size_t i, first = 0, count = 0;

	for (i = 0; i < m->job->nodes.n; i++) {
		int rc = holds(c, m, i);

		if (rc < 0)
			return rc;
		first = rc && !count ? i : first;
		count += rc > 0;
	}
	return count ? warn(c, m, first, count == m->job->nodes.n) : 0;
}

int nca_conflicts_warn(const struct nca_meeting *m)
{
	const struct nca_conflict *c;
	int rc = 0;

	for (c = nca_conflicts; !rc && c < nca_conflicts + nca_conflict_count; c++)
		if (applies(c, m))
			rc = check(c, m);
	return rc;
}
