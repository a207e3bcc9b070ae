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

/* How the hub is reached. */
struct hub {
	const char *launch, *host;
	uint32_t nodeid;
};

/* How the agent ended. Stopped, it would keep all nodes waiting, and nobody would let it go on. */
static int reap(pid_t agent)
{
	int status = 127 << 8;
	pid_t pid;

	do {
		pid = waitpid(agent, &status, WUNTRACED);
		if (pid > 0 && WIFSTOPPED(status))
			kill(agent, SIGKILL);
	} while (pid < 0 ? errno == EINTR : WIFSTOPPED(status));
	return status;
}

static void describe(const struct nca_spawn *spawn, int status, char *buf, size_t size)
{
	const struct nca_mailbox *box = nca_plugin.box;
	size_t pos = 0;
	const char *said = nca_record_next(box->out, sizeof(box->out), &pos);

	if (said && said[0] == NCA_TASK_SAY)
		snprintf(buf, size, "%s", said + 1);
	else if (WIFSIGNALED(status))
		snprintf(buf, size, "the agent was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127)
		snprintf(buf, size, "%s does not start: try it there", spawn->path);
	else
		snprintf(buf, size, "the agent ended with status %d", WEXITSTATUS(status));
}

/*
 * Tells the hub, so that no node waits for this one and one line says why. What the tasks do then:
 * DIED: the hub does not say it, so they must. Where it needs no node any more, it has seen the end
 * of the agent's connection; if it has ended, one node's word is enough.
 */
static enum nca_mailbox_state excuse(const struct hub *hub, const char *why)
{
	struct nca_mailbox *box = nca_plugin.box;
	char text[NCA_EXCUSE_MAX], name[65] = "", stop[2] = {NCA_TASK_STOP, '\0'};
	size_t used = 0;
	int rc;

	gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = '\0';
	snprintf(text, sizeof(text), "%s: %.400s", name, why);
	rc = nca_start_excuse(hub->launch, hub->host, text);
	if (rc == 1) {
		nca_record_add(box->out, sizeof(box->out), &used, stop, "");
		return NCA_MAILBOX_PUBLISHED;
	}
	return !rc || (rc == -ECONNREFUSED && hub->nodeid != 0) ? NCA_MAILBOX_EXCUSED
								: NCA_MAILBOX_DIED;
}

/* Nothing of slurmstepd is needed in the watcher: not its descriptors, not its rights. */
static int become_watcher(const struct nca_spawn *spawn)
{
	syscall(SYS_close_range, 0U, ~0U, 0U);
	return nca_spawn_drop(spawn);
}

/*
 * Reaps the agent and wakes the tasks when it ended without an answer, however it ended: also where
 * its exec failed or a library is missing. A process of its own, since slurmstepd must not wait and
 * a task is not the agent's parent.
 */
static void watch(const struct nca_spawn *spawn, const struct hub *hub)
{
	enum nca_mailbox_state state = NCA_MAILBOX_DIED;
	struct nca_mailbox *box = nca_plugin.box;
	pid_t me = getpid(), agent = fork();
	char why[NCA_EXCUSE_MAX];

	if (agent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == me)
			nca_spawn_exec(spawn);
		_exit(127);
	}
	box->status = 127 << 8;
	if (become_watcher(spawn) == 0) {
		box->status = reap(agent);
		describe(spawn, box->status, why, sizeof(why));
		if (atomic_load(&box->state) == NCA_MAILBOX_OPEN)
			state = excuse(hub, why);
	}
	nca_mailbox_close(box, state);
}

/* There is no agent. What the hub cannot be told is the first task's to say. */
static void apologise(const struct nca_spawn *spawn, const struct hub *hub, const char *why)
{
	char prefix[2] = {NCA_TASK_SAY, '\0'}, text[NCA_ERROR_MAX + 80];
	enum nca_mailbox_state state = NCA_MAILBOX_DIED;
	struct nca_mailbox *box = nca_plugin.box;
	size_t used = 0;

	if (become_watcher(spawn) == 0)
		state = excuse(hub, why);
	if (state == NCA_MAILBOX_DIED) {
		snprintf(text, sizeof(text), "%s; the tasks run as without us", why);
		nca_record_add(box->out, sizeof(box->out), &used, prefix, text);
		state = NCA_MAILBOX_PUBLISHED;
	}
	nca_mailbox_close(box, state);
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

/* why: there will be no agent. */
static void be_watcher(const struct nca_spawn *spawn, const struct hub *hub, const char *why)
{
	if (why)
		apologise(spawn, hub, why);
	else
		watch(spawn, hub);
	*nca_plugin.over = true;
	_exit(0);
}

/*
 * Forked twice: a child of slurmstepd's that ends before the last task costs the step 100 ms (22.05
 * mgr.c, _wait_for_all_tasks, sleeps when it has reaped one). The one between leads the group.
 */
static int fork_watcher(const struct nca_spawn *spawn, const struct hub *hub, const char *why,
			struct nca_error *err)
{
	int status = 0;
	pid_t pid;

	nca_plugin.over = mmap(NULL, sizeof(*nca_plugin.over), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = nca_plugin.over == MAP_FAILED ? -1 : fork();
	if (pid == 0) {
		if (setsid() < 0 || (pid = fork()) < 0)
			_exit(1);
		if (pid == 0)
			be_watcher(spawn, hub, why);
		_exit(0);
	}
	if (pid < 0 || (waitpid(pid, &status, 0) == pid && status))
		return nca_fail(err, -EAGAIN, "cannot start a process");
	nca_plugin.watcher = pid;
	return 0;
}

static int start(spank_t sp, const struct hub *hub, const char *order, struct nca_error *err)
{
	struct nca_spawn spawn = {.verb = "agent", .fds = {-1, -1}, .nfds = 1, .drop = true};
	nca_autoclose int fd = make_mailbox();
	struct nca_options opt;
	int rc;

	if (fd < 0)
		return nca_fail(err, fd, "no memory for the agent: %s", strerror(-fd));
	nca_plugin_options(&opt);
	spawn.path = opt.helper[0] ? opt.helper : NCA_HELPER;
	spawn.fds[0] = fd;
	rc = set_user(sp, &spawn, err);
	if (rc)
		return rc;
	rc = nca_spawn_check(spawn.path, err);
	if (!rc && (rc = fill(sp, nca_plugin.box, order)))
		nca_fail(err, rc, "cannot tell the agent about the step: %s", strerror(-rc));
	return fork_watcher(&spawn, hub, rc ? err->text : NULL, err);
}

void nca_node_start(spank_t sp)
{
	char launch[256], host[64], order[256];
	struct hub hub = {launch, host, 0};
	struct nca_error err;

	forget_outer_step(sp);
	if (!has_variable(sp, launch, sizeof(launch)) || !is_ours(sp) ||
	    spank_getenv(sp, "SLURM_SRUN_COMM_HOST", host, sizeof(host)) != ESPANK_SUCCESS ||
	    nca_start_read(launch, host, order, sizeof(order), &nca_plugin.wait_seconds))
		return;
	nca_plugin.wait_seconds += GRACE_SECONDS;
	spank_get_item(sp, S_JOB_NODEID, &hub.nodeid);
	if (!start(sp, &hub, order, &err))
		return;
	slurm_error("nccl-autoconf: %s; the tasks run as without us", err.text);
	if (nca_plugin.box)
		nca_mailbox_close(nca_plugin.box, NCA_MAILBOX_DIED);
}

/*
 * The agent of the first node stays to hold the rendezvous port's name; none may outlive the step's
 * cgroup. While the group lives its number is not given to another.
 */
void nca_node_end(void)
{
	if (nca_plugin.watcher > 0 && !*nca_plugin.over)
		kill(-nca_plugin.watcher, SIGKILL);
	nca_plugin.watcher = 0;
}
