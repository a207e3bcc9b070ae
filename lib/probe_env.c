/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that are set already: by the task's environment, and by the files that NCCL reads. */
#include <errno.h>

#include <nca/variable.h>

#include "probe_parts.h"

#define CONF_MAX 16384

/* Whoever sets a variable first wins. 1 where it was added and is one that we would set. */
static int add(const struct nca_probe *p, const char *line, size_t len)
{
	char *key, *eq, *copy = nca_pool_strndup(p->pool, line, len);
	struct nca_pair *pair;

	if (!copy)
		return -ENOMEM;
	eq = strchr(copy, '=');
	if (!eq || !nca_variable_is_recorded(copy))
		return 0;
	key = copy;
	*eq = '\0';
	if (nca_pairs_get(p->node->environment, key))
		return 0;
	pair = NCA_APPEND(p->pool, p->node->environment);
	if (!pair)
		return -ENOMEM;
	*pair = (struct nca_pair){key, eq + 1};
	return nca_variable_may_set(key);
}

/* As NCCL reads them (src/misc/param.cc setEnvFile): a line is a name, "=" and the value, with
 * nothing trimmed; "#" starts a comment only at the start of a line. A "\r" is stripped since
 * 2.30. */
static int read_conf(const struct nca_probe *p, const char *path)
{
	char text[CONF_MAX], *line, *next;
	int added = 0, rc = 0;

	if (nca_sysroot_read(p->src->root_fd, path, text, sizeof(text)) < 0)
		return 0;
	for (line = text; rc >= 0 && *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		len -= len && line[len - 1] == '\r';
		rc = line[0] == '#' ? 0 : add(p, line, len);
		added |= rc > 0;
	}
	return rc < 0 ? rc : added;
}

static const char *lookup(char *const *env, const char *key)
{
	size_t n = strlen(key);

	for (; env && *env; env++)
		if (nca_has_prefix(*env, key) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* NCCL_CONF_FILE stands in for the user's own file, not for the machine's. */
static int read_confs(const struct nca_probe *p)
{
	const char *own = lookup(p->src->env, "NCCL_CONF_FILE");
	const char *home = lookup(p->src->env, "HOME");
	char *path = own ? nca_pool_strdup(p->pool, own)
			 : nca_pool_printf(p->pool, "%s/.nccl.conf", home ? home : "");
	int user, site;

	if (!path)
		return -ENOMEM;
	user = own || home ? read_conf(p, path + strspn(path, "/")) : 0;
	site = user < 0 ? user : read_conf(p, "etc/nccl.conf");
	return site < 0 ? site : user | site;
}

int nca_probe_environment(const struct nca_probe *p)
{
	char *const *env;
	const char *origin = NULL;
	int rc = 0;

	for (env = p->src->env; rc >= 0 && env && *env; env++) {
		rc = add(p, *env, strlen(*env));
		origin = rc > 0 ? "user" : origin;
	}
	if (rc < 0)
		return rc;
	rc = read_confs(p);
	if (rc > 0 && !origin)
		origin = "nccl.conf";
	if (rc < 0 || !origin)
		return rc < 0 ? rc : 0;
	p->node->environment_origin = nca_pool_strdup(p->pool, origin);
	return p->node->environment_origin ? 0 : -ENOMEM;
}
