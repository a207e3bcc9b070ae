/* SPDX-License-Identifier: Apache-2.0 */
/* What the plugin tells the agent. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include <nca/number.h>

#include "agent_input.h"

static int read_hub(struct nca_agent_input *in, const char *value)
{
	char port[8], secret[2 * NCA_SECRET_BYTES + 1];
	unsigned int n;

	if (sscanf(value, "%63s %7s %64s", in->host, port, secret) != 3 ||
	    nca_parse_u32(port, 1, 65535, &n) || nca_key_parse(secret, in->key))
		return -EINVAL;
	in->port = (int)n;
	return 0;
}

static int read_number(const char *value, int *ret)
{
	unsigned int n;

	if (nca_parse_u32(value, 0, INT_MAX, &n))
		return -EINVAL;
	*ret = (int)n;
	return 0;
}

static int read_record(struct nca_agent_input *in, const char *record, size_t *nenv)
{
	size_t len = strcspn(record, "=:") + 1;
	const char *value = record + len;

	if (nca_has_prefix(record, NCA_AGENT_HUB))
		return read_hub(in, value);
	if (nca_has_prefix(record, NCA_AGENT_NODEID))
		return read_number(value, &in->nodeid);
	if (nca_has_prefix(record, NCA_AGENT_TASKS))
		return read_number(value, &in->tasks);
	if (nca_has_prefix(record, NCA_AGENT_FIRST))
		return read_number(value, &in->first_task);
	if (nca_has_prefix(record, NCA_AGENT_ENV))
		in->env[(*nenv)++] = value;
	return 0;
}

static size_t count(const struct nca_mailbox *box)
{
	size_t pos = 0, n = 0;

	while (nca_record_next(box->in, sizeof(box->in), &pos))
		n++;
	return n;
}

int nca_agent_input_read(const struct nca_mailbox *box, struct nca_agent_input *ret,
			 struct nca_error *err)
{
	struct nca_agent_input in = {.nodeid = -1, .tasks = -1, .first_task = -1};
	size_t pos = 0, nenv = 0;
	const char *record;
	int rc = 0;

	in.env = calloc(count(box) + 1, sizeof(*in.env));
	if (!in.env)
		return nca_fail_memory(err);
	while (!rc && (record = nca_record_next(box->in, sizeof(box->in), &pos)))
		rc = read_record(&in, record, &nenv);
	if (rc || !in.port || in.nodeid < 0 || in.tasks < 0 || in.first_task < 0) {
		free(in.env);
		return nca_fail(
			err, -EINVAL,
			"plugin and program do not fit: install one release of nccl-autoconf");
	}
	*ret = in;
	return 0;
}

/* "2(x3),1" (SLURM_STEP_TASKS_PER_NODE): the count of node number i. */
static int tasks_of_node(const char *list, int i)
{
	while (*list) {
		int count = 0, times = 1, used = 0;

		if (sscanf(list, "%d(x%d)%n", &count, &times, &used) < 2)
			times = 1;
		if (!used && sscanf(list, "%d%n", &count, &used) < 1)
			return -1;
		if (i < times)
			return count;
		i -= times;
		list += used + (list[used] == ',');
	}
	return -1;
}

static int need_number(const struct nca_agent_input *in, const char *name, int *ret,
		       struct nca_error *err)
{
	const char *value = nca_agent_env(in, name);
	char first[16];

	if (!value)
		return nca_fail(err, -EINVAL, "%s is not set: start this by nccl-autoconf srun",
				name);
	/* SLURM_GTIDS is a list: its first member. */
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, ","), value);
	return read_number(first, ret) ? nca_fail(err, -EINVAL, "%s=%s is no number", name, value)
				       : 0;
}

int nca_agent_input_task(const char *hub, const char **env, struct nca_agent_input *ret,
			 struct nca_error *err)
{
	struct nca_agent_input in = {.env = env};
	const char *tasks = nca_agent_env(&in, "SLURM_STEP_TASKS_PER_NODE");
	int rc = read_hub(&in, hub);

	if (rc)
		return nca_fail(err, rc, "what the hub left in the environment is malformed");
	rc = need_number(&in, "SLURM_NODEID", &in.nodeid, err);
	rc = rc ? rc : need_number(&in, "SLURM_GTIDS", &in.first_task, err);
	if (rc)
		return rc;
	in.tasks = tasks ? tasks_of_node(tasks, in.nodeid) : -1;
	if (in.tasks < 1)
		return nca_fail(err, -EINVAL,
				"SLURM_STEP_TASKS_PER_NODE=%s says nothing of node %d",
				tasks ? tasks : "", in.nodeid);
	*ret = in;
	return 0;
}

const char *nca_agent_env(const struct nca_agent_input *in, const char *name)
{
	size_t len = strlen(name);
	const char **e;

	for (e = in->env; *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}
