/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks in Slurm's order, each context in a process of its own as Slurm has it. */
#include "host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Present where a sanitizer is. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void *plugin;

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* Lazily in Slurm; now, so that a symbol that is missing is a failure here. */
static void load(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/plugin/.libs/spank_nccl_autoconf.so",
		 getenv("LAB_BUILDDIR") ? getenv("LAB_BUILDDIR") : ".");
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(99);
	}
}

/* The same file listed twice is one library with one set of variables, called twice. */
static void call(const char *name, enum host_phase phase)
{
	spank_f *fn = (spank_f *)dlsym(plugin, name);
	int argc = 0, i;

	while (argc < HOST_WORDS && host->words[argc])
		argc++;
	host_phase = phase;
	for (i = 0; fn && i < host->listed; i++)
		if (fn(host_handle, argc, (char **)host->words))
			host->bad_returns++;
	host_phase = PHASE_NONE;
}

static void unload(int fds_before)
{
	if (!host->async)
		call("slurm_spank_exit", PHASE_NONE);
	dlclose(plugin);
	host->left_fds = count_fds() - fds_before;
	while (waitpid(-1, NULL, WNOHANG) >= 0)
		if (++host->left_kids > 8)
			break;
	if (__lsan_do_recoverable_leak_check)
		host->leaks = __lsan_do_recoverable_leak_check();
}

/* False: srun refuses its command line and goes on to its end. */
static bool give_option(void)
{
	const char *arg = host->option && host->option[0] ? host->option : NULL;

	if (!host->option || !host_option)
		return true;
	host->option_rc = host_option->cb(host_option->val, arg, 0);
	return host->option_rc == 0;
}

static void set_environment(void)
{
	static char *none[] = {NULL};
	const char *const *e;

	environ = none;
	for (e = host->env; e && *e; e++)
		putenv((char *)*e);
}

static void note_launch(void)
{
	const char *value = getenv("SLURM_NCCL_AUTOCONF");

	snprintf(host->launch, sizeof(host->launch), "%s", value ? value : "(none)");
}

/* srun, sbatch, slurmd: what each of them calls. */
static void walk_local(int fds)
{
	int i;

	call("slurm_spank_init", PHASE_INIT);
	if (host->context == S_CTX_SLURMD || host->context == S_CTX_JOB_SCRIPT)
		return;
	if (!give_option())
		return;
	for (i = 0; i < host->components; i++)
		call("slurm_spank_init_post_opt", PHASE_OPTIONS);
	if (host->context != S_CTX_LOCAL || host->async)
		return;
	call("slurm_spank_local_user_init", PHASE_STEP);
	host->new_fds = count_fds() - fds;
	note_launch();
}

/* As a container's plugin: whatever was set before. */
static void import(void)
{
	char name[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(host->imports) && host->imports[i]; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(host->imports[i], "="),
			 host->imports[i]);
		host_env_set(name, host->imports[i] + strlen(name) + 1);
	}
}

/* As task.c, exec_task: the task is the user for good. */
_Noreturn static void run_task(int i)
{
	char number[16];

	host_task_id = i;
	if (getuid() == 0 && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		_exit(98);
	snprintf(number, sizeof(number), "%u", host->nodeid * host->ntasks + (unsigned int)i);
	host_env_set("SLURM_PROCID", number);
	import();
	call("slurm_spank_task_init", PHASE_TASK);
	host_env_unset("SLURM_PROCID");
	host_env_diff(host->env, host->tasks[i].diff, HOST_TEXT);
	if (host->program)
		execve(host->program, (char *[]){(char *)host->program, "task", NULL}, host_env);
	_exit(0);
}

static void run_tasks(void)
{
	pid_t pids[HOST_TASKS];
	uint32_t i;

	for (i = 0; i < host->ntasks; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			run_task((int)i);
	}
	for (i = 0; i < host->ntasks; i++)
		waitpid(pids[i], &host->tasks[i].status, 0);
	for (i = 0; i < host->ntasks; i++)
		call("slurm_spank_task_exit", PHASE_STEP);
}

/* The effective user is the job's, the real one still root (mgr.c, _spank_user_init). */
static int user_init(void *unused)
{
	bool root = getuid() == 0;

	(void)unused;
	if (root && (setegid(65534) || seteuid(65534)))
		_exit(97);
	call("slurm_spank_user_init", PHASE_STEP);
	if (root && (seteuid(0) || setegid(0)))
		_exit(96);
	return 0;
}

/* mgr.c, _run_spank_func: memory is shared, descriptors and children are not. */
static void user_init_contained(void)
{
	static char stack[1 << 20] __attribute__((aligned(16)));
	pid_t pid = clone(user_init, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	waitpid(pid, NULL, 0);
}

static void walk_remote(int fds)
{
	host_env_copy(host->env);
	call("slurm_spank_init", PHASE_INIT);
	/* From the launch message, and from the environment once more (22.05). */
	if (host->option && host_option) {
		host->option_rc = host_option->cb(host_option->val, NULL, 1);
		host->option_rc |= host_option->cb(host_option->val, "", 1);
	}
	call("slurm_spank_init_post_opt", PHASE_OPTIONS);
	if (host->contained)
		user_init_contained();
	else
		user_init(NULL);
	host->new_fds = count_fds() - fds;
	run_tasks();
}

/* A crash is the child's own end, not a test's. */
static void reset_signals(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
}

_Noreturn static void run(void)
{
	int fds = count_fds();

	reset_signals();
	host->pid = getpid();
	load();
	if (host->context != S_CTX_REMOTE)
		set_environment();
	if (host->only_exit)
		call("slurm_spank_exit", PHASE_NONE);
	else if (host->context == S_CTX_REMOTE)
		walk_remote(fds);
	else
		walk_local(fds);
	unload(fds);
	_exit(0);
}

/* Orphans come to us: what the plugin started and left is seen, however often it forked. */
static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0) {
		if (pid == host->hub)
			continue;
		host->orphans++;
		host->orphan_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	}
}

void host_walk(void)
{
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		run();
	waitpid(pid, &host->status, 0);
	if (host->hub)
		shutdown(host->listener, SHUT_RDWR);
	reap();
}
