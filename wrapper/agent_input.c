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
		return nca_fail(err, -ENOMEM, "out of memory");
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

const char *nca_agent_env(const struct nca_agent_input *in, const char *name)
{
	size_t len = strlen(name);
	const char **e;

	for (e = in->env; *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}
