/* SPDX-License-Identifier: Apache-2.0 */
/* What Slurm exports to a plugin, with its answers where they are not plain (src/common/spank.c).
 */
#include <stdarg.h>
#include <stdio.h>

#include "host.h"

struct spank_handle {
	char unused;
};

uint16_t *slurm_get_srun_port_range(void);

static struct spank_handle handle;

struct host *host;
enum host_phase host_phase;
int host_task_id;
spank_t host_handle = &handle;
struct spank_option *host_option;

spank_context_t spank_context(void)
{
	return host->context;
}

int spank_remote(spank_t sp)
{
	return sp == &handle ? host->context == S_CTX_REMOTE : -1;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *opt)
{
	if (sp != &handle || host_phase != PHASE_INIT || !opt->name || !opt->usage)
		return ESPANK_BAD_ARG;
	if (host_option)
		return ESPANK_BAD_ARG; /* Slurm says "provided by both" */
	host_option = opt;
	host->options++;
	return ESPANK_SUCCESS;
}

uint16_t *slurm_get_srun_port_range(void)
{
	return (uint16_t *)host->port_range;
}

static spank_err_t check_item(spank_item_t item)
{
	bool of_task = item == S_TASK_ID || item == S_TASK_GLOBAL_ID || item == S_TASK_PID;

	if (host->has_no_item && item == host->no_item)
		return ESPANK_NOT_AVAIL;
	if (host->context == S_CTX_REMOTE)
		return of_task && host_phase != PHASE_TASK ? ESPANK_NOT_TASK : ESPANK_SUCCESS;
	if (host->context != S_CTX_LOCAL || host_phase != PHASE_STEP)
		return ESPANK_NOT_AVAIL;
	return of_task || item == S_JOB_NODEID || item == S_JOB_LOCAL_TASK_COUNT ||
			       item == S_JOB_LOCAL_TO_GLOBAL_ID
		       ? ESPANK_NOT_REMOTE
		       : ESPANK_SUCCESS;
}

static int count_argv(void)
{
	int n = 0;

	while (host->argv && host->argv[n])
		n++;
	return n;
}

static bool number(spank_item_t item, uint32_t *ret)
{
	const struct {
		spank_item_t item;
		uint32_t value;
	} numbers[] = {
		{S_JOB_UID, getuid() ? getuid() : 65534},
		{S_JOB_GID, getuid() ? getgid() : 65534},
		{S_JOB_ID, 4711},
		{S_JOB_STEPID, host->step},
		{S_JOB_NNODES, host->nnodes},
		{S_JOB_NODEID, host->nodeid},
		{S_JOB_LOCAL_TASK_COUNT, host->ntasks},
		{S_JOB_TOTAL_TASK_COUNT, host->ntasks},
		{S_TASK_ID, (uint32_t)host_task_id},
		{S_TASK_GLOBAL_ID, host->nodeid * host->ntasks + (uint32_t)host_task_id},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].item == item) {
			*ret = numbers[i].value;
			return true;
		}
	return false;
}

static gid_t groups[] = {65534};

static spank_err_t get_item(spank_item_t item, va_list ap)
{
	uint32_t local;

	switch (item) {
	case S_JOB_ARGV:
		*va_arg(ap, int *) = count_argv();
		*va_arg(ap, char ***) = (char **)host->argv;
		return ESPANK_SUCCESS;
	case S_JOB_ENV:
		*va_arg(ap, char ***) = host->context == S_CTX_REMOTE ? host_env : NULL;
		return ESPANK_SUCCESS;
	case S_JOB_LOCAL_TO_GLOBAL_ID:
		local = va_arg(ap, uint32_t);
		*va_arg(ap, uint32_t *) = host->nodeid * host->ntasks + local;
		return local < host->ntasks ? ESPANK_SUCCESS : ESPANK_NOEXIST;
	case S_JOB_SUPPLEMENTARY_GIDS:
		*va_arg(ap, gid_t **) = groups;
		*va_arg(ap, int *) = ARRAY_SIZE(groups);
		return ESPANK_SUCCESS;
	default:
		return number(item, va_arg(ap, uint32_t *)) ? ESPANK_SUCCESS : ESPANK_BAD_ARG;
	}
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	spank_err_t rc = sp == &handle ? check_item(item) : ESPANK_BAD_ARG;
	va_list ap;

	if (rc != ESPANK_SUCCESS)
		return rc;
	va_start(ap, item);
	rc = get_item(item, ap);
	va_end(ap);
	return rc;
}

static spank_err_t check_env(spank_t sp)
{
	if (sp != &handle)
		return ESPANK_BAD_ARG;
	return host->context == S_CTX_REMOTE ? ESPANK_SUCCESS : ESPANK_NOT_REMOTE;
}

spank_err_t spank_getenv(spank_t sp, const char *var, char *buf, int len)
{
	spank_err_t rc = check_env(sp);
	const char *value = rc == ESPANK_SUCCESS ? host_env_get(var) : NULL;

	if (rc != ESPANK_SUCCESS || len < 0)
		return rc != ESPANK_SUCCESS ? rc : ESPANK_BAD_ARG;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	return snprintf(buf, (size_t)len, "%s", value) >= len ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t sp, const char *var, const char *val, int overwrite)
{
	spank_err_t rc = check_env(sp);

	if (rc != ESPANK_SUCCESS || !var || !val)
		return rc != ESPANK_SUCCESS ? rc : ESPANK_BAD_ARG;
	if (host_env_get(var) && !overwrite)
		return ESPANK_ENV_EXISTS;
	host_env_set(var, val);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *var)
{
	spank_err_t rc = check_env(sp);

	if (rc == ESPANK_SUCCESS)
		host_env_unset(var);
	return rc;
}

/* Several processes write: each takes its place first. */
static void say(const char *level, const char *format, va_list ap)
{
	char line[1024];
	size_t n = (size_t)snprintf(line, sizeof(line), "%s: ", level);
	unsigned int at;

	vsnprintf(line + n, sizeof(line) - n - 1, format, ap);
	strcat(line, "\n");
	n = strlen(line);
	at = atomic_fetch_add(&host->logged, (unsigned int)n);
	if (at + n < sizeof(host->log))
		memcpy(host->log + at, line, n);
}

void slurm_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("error", format, ap);
	va_end(ap);
}

void slurm_info(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("info", format, ap);
	va_end(ap);
}
