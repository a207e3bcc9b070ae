/* SPDX-License-Identifier: Apache-2.0 */
/* In slurmstepd: make the mailbox and start the agent as the user. Nothing here waits. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

#include <nca/number.h>
#include <nca/start.h>
#include <nca/variable.h>

#include "plugin.h"

/*
 * What an outer step gave the task that called srun or sbatch must not look as if the user had set
 * it. Here and not in srun, which cannot take a variable away.
 */
static void forget_outer_step(spank_t sp)
{
	char list[NCA_MARKER_MAX], *rest = list, *name;

	if (spank_getenv(sp, NCA_MARKER_VARIABLE, list, sizeof(list)) != ESPANK_SUCCESS)
		return;
	while ((name = strsep(&rest, ",")))
		if (nca_variable_may_set(name))
			spank_unsetenv(sp, name);
	spank_unsetenv(sp, NCA_MARKER_VARIABLE);
}

static bool has_variable(spank_t sp, char *launch, size_t size)
{
	bool fits = spank_getenv(sp, NCA_LAUNCH_VARIABLE, launch, (int)size) == ESPANK_SUCCESS;

	/* Also one that somebody else has made too long. */
	spank_unsetenv(sp, NCA_LAUNCH_VARIABLE);
	return fits;
}

/*
 * A step of one component on its nodes. In a het step every component counts its own nodes, the
 * environment all of them (env.c, env_array_for_step).
 */
static bool is_ours(spank_t sp)
{
	uint32_t step, nnodes;
	unsigned int all;
	char text[16];

	if (spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
	    step >= NCA_FIRST_SPECIAL_STEP)
		return false;
	if (spank_get_item(sp, S_JOB_NNODES, &nnodes) != ESPANK_SUCCESS)
		return false;
	return spank_getenv(sp, "SLURM_STEP_NUM_NODES", text, sizeof(text)) != ESPANK_SUCCESS ||
	       (!nca_parse_u32(text, 1, UINT_MAX, &all) && all == nnodes);
}

static uint32_t first_task(spank_t sp)
{
	uint32_t id;

	/* Only the first: the item's check is off by one at the end. */
	return spank_get_item(sp, S_JOB_LOCAL_TO_GLOBAL_ID, 0, &id) == ESPANK_SUCCESS ? id : 0;
}

static int add_number(struct nca_mailbox *box, size_t *used, const char *prefix, uint32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	return nca_record_add(box->in, sizeof(box->in), used, prefix, text);
}

static int fill(spank_t sp, struct nca_mailbox *box, const char *hub)
{
	uint32_t nodeid = 0, ntasks = 0;
	size_t used = 0;
	char **env;
	int rc;

	if (spank_get_item(sp, S_JOB_NODEID, &nodeid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &ntasks) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_ENV, &env) != ESPANK_SUCCESS)
		return -ENOENT;
	rc = nca_record_add(box->in, sizeof(box->in), &used, NCA_AGENT_HUB, hub);
	rc = rc ? rc : add_number(box, &used, NCA_AGENT_NODEID, nodeid);
	rc = rc ? rc : add_number(box, &used, NCA_AGENT_TASKS, ntasks);
	rc = rc ? rc : add_number(box, &used, NCA_AGENT_FIRST, first_task(sp));
	for (; !rc && env && *env; env++)
		if (nca_variable_is_passed(*env))
			rc = nca_record_add(box->in, sizeof(box->in), &used, NCA_AGENT_ENV, *env);
	return rc;
}

/* Sealed, so that the user, whose agent maps it too, cannot shrink it below what slurmstepd reads.
 */
static int make_mailbox(void)
{
	nca_autoclose int fd = memfd_create("nccl-autoconf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p;

	if (fd < 0 || ftruncate(fd, sizeof(struct nca_mailbox)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	p = mmap(NULL, sizeof(struct nca_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	nca_plugin.box = p;
	return nca_steal_fd(&fd);
}

static int set_user(spank_t sp, struct nca_spawn *spawn, struct nca_error *err)
{
	gid_t *groups = NULL;

	if (spank_get_item(sp, S_JOB_UID, &spawn->uid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_GID, &spawn->gid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &groups, &spawn->ngroups) !=
		    ESPANK_SUCCESS)
		return nca_fail(err, -ENOENT, "Slurm does not say whose step this is");
	spawn->groups = groups;
	return 0;
}

static int start(spank_t sp, const struct nca_hub_address *hub, const char *order,
		 struct nca_error *err)
{
	char memlock[32] = "";
	struct nca_spawn spawn = {
		.verb = "agent", .fds = {-1, -1}, .nfds = 1, .drop = true, .memlock = memlock};
	nca_autoclose int fd = make_mailbox();
	struct nca_options opt;
	int rc;

	if (fd < 0)
		return nca_fail(err, fd, "no memory for the agent: %s", strerror(-fd));
	nca_plugin_options(&opt);
	spawn.path = opt.helper[0] ? opt.helper : NCA_HELPER;
	spawn.fds[0] = fd;
	spank_getenv(sp, "SLURM_RLIMIT_MEMLOCK", memlock, sizeof(memlock));
	rc = set_user(sp, &spawn, err);
	if (rc)
		return rc;
	rc = nca_spawn_check(spawn.path, err);
	if (!rc && (rc = fill(sp, nca_plugin.box, order)))
		nca_fail(err, rc, "cannot tell the agent about the step: %s", strerror(-rc));
	return nca_watcher_start(&spawn, hub, rc ? err->text : NULL, err);
}

void nca_node_start(spank_t sp)
{
	char launch[256], host[64], order[256];
	struct nca_hub_address hub = {launch, host, 0};
	struct nca_error err;

	forget_outer_step(sp);
	if (!has_variable(sp, launch, sizeof(launch)) || !is_ours(sp) ||
	    spank_getenv(sp, "SLURM_SRUN_COMM_HOST", host, sizeof(host)) != ESPANK_SUCCESS ||
	    nca_start_read(launch, host, order, sizeof(order), &nca_plugin.wait_seconds))
		return;
	nca_plugin.wait_seconds += NCA_GRACE_SECONDS;
	spank_get_item(sp, S_JOB_NODEID, &hub.nodeid);
	if (!start(sp, &hub, order, &err))
		return;
	slurm_error("nccl-autoconf: %s; the tasks run as without us", err.text);
	if (nca_plugin.box)
		nca_mailbox_close(nca_plugin.box, NCA_MAILBOX_DIED);
}
