/* SPDX-License-Identifier: Apache-2.0 */
/* In slurmstepd: make the mailbox and start the agent as the user. Nothing here waits. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <nca/number.h>
#include <nca/start.h>

#include "plugin.h"

/* Slurm's own steps (slurm.h: SLURM_EXTERN_CONT, SLURM_BATCH_SCRIPT, SLURM_INTERACTIVE_STEP). */
#define FIRST_SPECIAL_STEP 0xfffffff0u

/* Longer than the hub's own limit by what planning and testing may take, so that its answer comes
 * first. */
#define GRACE_SECONDS 30

/* Variables that a rule, a check or the layout reads; the rest of the user's environment is not
 * ours to see. */
static const char *const prefixes[] = {
	"NCCL_",
	"GLOO_",
	"TP_SOCKET_IFNAME=",
	"UCX_NET_DEVICES=",
	"NVSHMEM_",
	"MASTER_",
	"RANK=",
	"WORLD_SIZE=",
	"LOCAL_RANK=",
	"LOCAL_WORLD_SIZE=",
	"PET_",
	"NNODES=",
	"NODE_RANK=",
	"NPROC_PER_NODE=",
	"SUBMITIT_",
	"FORCE_TORCHRUN=",
	"CUDA_VISIBLE_DEVICES=",
	"ROCR_VISIBLE_DEVICES=",
	"SLURM_STEP_",
	"SLURM_JOB_ID=",
	"SLURM_JOB_GPUS=",
	"SLURM_GPUS_ON_NODE=",
	"SLURM_RLIMIT_MEMLOCK=",
	"SLURM_SRUN_COMM_HOST=",
	"SLURMD_NODENAME=",
};

static bool is_passed(const char *assignment)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (nca_has_prefix(assignment, prefixes[i]))
			return true;
	return false;
}

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
		if (nca_task_may_set(name))
			spank_unsetenv(sp, name);
	spank_unsetenv(sp, NCA_MARKER_VARIABLE);
}

static bool has_variable(spank_t sp, char *launch, size_t size)
{
	if (spank_getenv(sp, NCA_LAUNCH_VARIABLE, launch, (int)size) != ESPANK_SUCCESS)
		return false;
	spank_unsetenv(sp, NCA_LAUNCH_VARIABLE);
	return true;
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

	if (spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS || step >= FIRST_SPECIAL_STEP)
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
		if (is_passed(*env))
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

/*
 * Reaps the agent and wakes the tasks when it ended without an answer, however it ended: also where
 * its exec failed or a library is missing. A process of its own, since slurmstepd must not wait and
 * a task is not the agent's parent.
 */
static void watch(const struct nca_spawn *spawn)
{
	pid_t me = getpid(), agent = fork();
	int status = 127 << 8;

	if (agent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == me)
			nca_spawn_exec(spawn);
		_exit(127);
	}
	/* Nothing of slurmstepd is needed here: not its descriptors, not its rights. */
	syscall(SYS_close_range, 0U, ~0U, 0U);
	if (nca_spawn_drop(spawn) < 0)
		_exit(1);
	while (agent > 0 && waitpid(agent, &status, 0) < 0 && errno == EINTR)
		continue;
	nca_plugin.box->status = status;
	nca_mailbox_close(nca_plugin.box, NCA_MAILBOX_DIED);
	_exit(0);
}

static int start_agent(spank_t sp, const struct nca_options *opt, int fd)
{
	struct nca_spawn spawn = {
		.path = opt->helper[0] ? opt->helper : NCA_HELPER,
		.verb = "agent",
		.fds = {fd, -1},
		.nfds = 1,
		.drop = true,
	};
	struct nca_error err;
	gid_t *groups = NULL;

	if (spank_get_item(sp, S_JOB_UID, &spawn.uid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_GID, &spawn.gid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &groups, &spawn.ngroups) != ESPANK_SUCCESS)
		return -ENOENT;
	spawn.groups = groups;
	if (nca_spawn_check(spawn.path, &err)) {
		slurm_error("nccl-autoconf: %s", err.text);
		return -EACCES;
	}
	nca_plugin.watcher = fork();
	if (nca_plugin.watcher == 0) {
		setpgid(0, 0);
		watch(&spawn);
	}
	return nca_plugin.watcher < 0 ? -errno : 0;
}

void nca_node_start(spank_t sp)
{
	char launch[256], host[64], hub[256];
	struct nca_options opt;
	nca_autoclose int fd = -1;
	int rc;

	forget_outer_step(sp);
	if (!has_variable(sp, launch, sizeof(launch)) || !is_ours(sp) ||
	    spank_getenv(sp, "SLURM_SRUN_COMM_HOST", host, sizeof(host)) != ESPANK_SUCCESS)
		return;
	if (nca_start_read(launch, host, hub, sizeof(hub), &nca_plugin.wait_seconds))
		return;
	nca_plugin.wait_seconds += GRACE_SECONDS;
	nca_plugin_options(&opt);
	fd = make_mailbox();
	if (fd < 0)
		return;
	rc = fill(sp, nca_plugin.box, hub);
	if (!rc)
		rc = start_agent(sp, &opt, fd);
	if (rc)
		nca_mailbox_close(nca_plugin.box, NCA_MAILBOX_DIED);
}

/* The agent of the first node stays to hold the rendezvous port's name; none may outlive the step's
 * cgroup. */
void nca_node_end(void)
{
	if (nca_plugin.watcher > 0 && waitpid(nca_plugin.watcher, NULL, WNOHANG) == 0) {
		kill(-nca_plugin.watcher, SIGKILL);
		waitpid(nca_plugin.watcher, NULL, 0);
	}
	nca_plugin.watcher = 0;
}
