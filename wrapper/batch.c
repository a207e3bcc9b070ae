/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch script, or a task, learns of its nodes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "batch.h"
#include "inherited.h"
#include "save.h"

extern char **environ;

/* Its input and output are not the caller's, which is to be read by a shell. */
static int spawn(char **argv, int say, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, say, STDOUT_FILENO);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, say, STDERR_FILENO);
	rc = rc ? rc : posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static int run(char **argv, int say, struct nca_error *err)
{
	int status = 0, rc;
	pid_t pid;

	rc = spawn(argv, say, &pid);
	if (rc)
		return nca_fail(err, -rc, "%s: %s", argv[0], strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return nca_fail(err, -errno, "waitpid: %m");
	return status ? nca_fail(err, -EIO, "the step that asks the nodes has failed") : 0;
}

/* --mpi=none: true is not linked with any, and what it is started with need not be there. */
static int ask(const struct nca_batch *b, const char *file, struct nca_error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *argv[] = {
		self,
		"srun",
		nca_pool_printf(b->pool, "--nccl-autoconf=quiet,%s,save=%s", b->words, file),
		"--overlap",
		"--mpi=none",
		"-N",
		(char *)b->nnodes,
		"-n",
		(char *)b->nnodes,
		"--ntasks-per-node=1",
		"-w",
		(char *)b->nodes,
		"--",
		"true",
		NULL};

	if (n < 0 || !argv[2])
		return nca_fail_memory(err);
	self[n] = '\0';
	nca_inherited_forget();
	return run(argv, b->say, err);
}

int nca_batch_job(struct nca_batch *b, struct nca_error *err)
{
	b->nodes = getenv("SLURM_JOB_NODELIST");
	b->nnodes = getenv("SLURM_JOB_NUM_NODES");
	if (getenv("SLURM_JOB_ID") && b->nodes && b->nnodes)
		return 0;
	return nca_fail(err, -ENOENT,
			"this is not inside a job: type it in an sbatch script or under salloc");
}

int nca_batch_step(struct nca_batch *b, struct nca_error *err)
{
	int rc = nca_batch_job(b, err);

	if (rc || !nca_inherited_is_task() || streq(getenv("SLURM_STEP_NUM_NODES"), b->nnodes))
		return rc;
	b->nodes = getenv("SLURM_STEP_NODELIST");
	b->nnodes = getenv("SLURM_STEP_NUM_NODES");
	return 0;
}

int nca_batch_agree(struct nca_batch *b, struct nca_error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *file =
		nca_pool_printf(b->pool, "%s/nccl-autoconf.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	nca_autoclose int fd = file ? mkstemp(file) : -1;
	struct nca_error why;
	int rc, read;

	if (fd < 0)
		return nca_fail(err, file ? -errno : -ENOMEM, "%s: %m", file ? file : "");
	rc = ask(b, file, err);
	read = rc && rc != -EIO
		       ? 0
		       : nca_save_read(file, b->pool, &b->job, &b->plan, &b->preflight, &why);
	unlink(file);
	if (rc || !read)
		return rc;
	return read == -EINVAL ? nca_fail(err, -EIO, "the nodes did not agree")
			       : nca_fail(err, read, "%s", why.text);
}
