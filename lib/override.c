/* SPDX-License-Identifier: Apache-2.0 */
/* What a program has in the place of what its task was given. */
#include <ctype.h>
#include <errno.h>

#include <nca/launch.h>
#include <nca/override.h>
#include <nca/variable.h>

/* Named one by one; the rest is counted. */
#define NAMES_MAX 6

/* Of a value that is shown. */
#define VALUE_MAX 80

bool nca_environment_is_whole(const char *env, size_t len)
{
	const char *equals;
	size_t at, size;

	for (at = 0; at < len; at += size + 1) {
		size = strnlen(env + at, len - at);
		equals = memchr(env + at, '=', size);
		if (size == len - at || !equals || equals == env + at)
			return false;
	}
	return len;
}

/* The value of a variable of a whole environment, NULL where there is none. */
static const char *lookup(const char *env, size_t len, const char *name)
{
	size_t n = strlen(name), at;

	for (at = 0; at < len; at += strlen(env + at) + 1)
		if (strncmp(env + at, name, n) == 0 && env[at + n] == '=')
			return env + at + n + 1;
	return NULL;
}

/* Is the name in a list with commas? */
static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name), len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len == n && strncmp(list, name, n) == 0)
			return true;
	}
	return false;
}

/* Adds the variable with what the program has, where that is something else. */
static int compare(nca_overrides *list, struct nca_pool *pool, struct nca_override o,
		   const char *env, size_t len)
{
	const char *found = lookup(env, len, o.name);
	struct nca_override *added;

	if (!o.given || nca_same(o.given, found))
		return 0;
	added = NCA_APPEND(pool, *list);
	if (!added)
		return -ENOMEM;
	*added = o;
	added->name = nca_pool_strdup(pool, o.name);
	added->given = nca_pool_strdup(pool, o.given);
	added->found = nca_pool_strdup(pool, found);
	return added->name && added->given && (added->found || !found) ? 0 : -ENOMEM;
}

static int compare_exported(nca_overrides *list, struct nca_pool *pool, const char *const *exported,
			    const char *marked, const char *env, size_t len)
{
	int rc = 0;

	for (; !rc && exported && *exported; exported++) {
		size_t n = strcspn(*exported, "=");
		const char *name = nca_pool_strndup(pool, *exported, n);

		if (!name)
			return -ENOMEM;
		if ((*exported)[n] && nca_variable_may_set(name) && !is_listed(marked, name))
			rc = compare(list, pool,
				     (struct nca_override){.name = name,
							   .given = *exported + n + 1,
							   .exported = true},
				     env, len);
	}
	return rc;
}

int nca_overrides_find(const char *records, size_t size, const char *const *exported,
		       const char *env, size_t len, struct nca_pool *pool, nca_overrides *ret)
{
	const char *marked = NULL, *record, *given;
	char name[NCA_TASK_NAME_MAX];
	size_t pos = 0;
	int rc = 0;

	*ret = (nca_overrides){NULL, 0};
	if (nca_environment_is_whole(env, len))
		marked = lookup(env, len, NCA_MARKER_VARIABLE);
	while (!rc && marked && (record = nca_record_next(records, size, &pos))) {
		bool copied = record[0] == NCA_TASK_COPY;

		if (!copied && !strchr(NCA_TASK_VALUES, record[0]))
			continue;
		given = nca_task_assignment(record, name);
		if (given && is_listed(marked, name))
			rc = compare(ret, pool,
				     (struct nca_override){.name = name,
							   .given = copied ? lookup(env, len, given)
									   : given,
							   .per_task = copied},
				     env, len);
	}
	return rc || !marked ? rc : compare_exported(ret, pool, exported, marked, env, len);
}

/* As it may stand on a terminal. */
static char *shown(const char *value, struct nca_pool *pool)
{
	char *copy = nca_pool_strndup(pool, value, VALUE_MAX), *c;

	for (c = copy; c && *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return copy;
}

static char *describe(const struct nca_override *o, struct nca_pool *pool)
{
	const char *given = shown(o->given, pool), *found = o->found ? shown(o->found, pool) : NULL;
	const char *by = o->exported ? "exported" : "set";

	if (!given || (o->found && !found))
		return NULL;
	return found ? nca_pool_printf(pool, "%s=%s (%s: %s)", o->name, found, by, given)
		     : nca_pool_printf(pool, "no %s (%s: %s)", o->name, by, given);
}

/* Appends to *text, with a separator where it is not the first; false when memory is short. */
static bool join(char **text, const char *separator, const char *more, struct nca_pool *pool)
{
	*text = more ? nca_pool_printf(pool, "%s%s%s", *text ? *text : "", *text ? separator : "",
				       more)
		     : NULL;
	return *text;
}

/*
 * pyxis imports a container's environment over what is set, in the order of plugstack.conf, but for
 * names in --container-env (pyxis_slurmstepd.c, spank_import_container_env). TaskProlog comes last
 * of all (Slurm's task.c, exec_task).
 */
static char *advise(const nca_overrides *list, bool contained, struct nca_pool *pool)
{
	const struct nca_override *o;
	char *names = NULL;
	bool ours = false;

	NCA_FOREACH(o, *list) {
		ours = ours || !o->exported;
		if (!o->per_task && !join(&names, ",", o->name, pool))
			return NULL;
	}
	if (!contained)
		return nca_pool_printf(pool,
				       "TaskProlog, or a plugin behind ours in plugstack.conf, did "
				       "it: let TaskProlog leave it alone, or name our file "
				       "zz-nccl-autoconf.conf so that it is the last");
	return nca_pool_printf(pool, "the container's image or a hook did it: %s%s%s%s",
			       names ? "add srun --container-env=" : "", names ? names : "",
			       names && ours ? ", or, for what was set, " : "",
			       ours ? "name our file zz-nccl-autoconf.conf so that it comes after "
				      "pyxis in plugstack.conf"
				    : "");
}

char *nca_overrides_text(const nca_overrides *list, const char *node, bool contained,
			 struct nca_pool *pool)
{
	const char *advice = advise(list, contained, pool);
	char *what = NULL;
	size_t i;

	for (i = 0; i < list->n && i < NAMES_MAX; i++)
		if (!join(&what, ", ", describe(&list->v[i], pool), pool))
			return NULL;
	if (!advice ||
	    (list->n > NAMES_MAX &&
	     !join(&what, " ", nca_pool_printf(pool, "and %zu more", list->n - NAMES_MAX), pool)))
		return NULL;
	return nca_pool_printf(pool, "%s: the program has %s; %s", node, what, advice);
}
