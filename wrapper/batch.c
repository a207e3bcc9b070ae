/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch script learns of its nodes. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "batch.h"
#include "save.h"

extern char **environ;

/* Its output is not the caller's, which is to be read by a shell. */
static int run(char **argv, struct nca_error *err)
{
	posix_spawn_file_actions_t actions;
	int status = 0, rc;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return nca_fail(err, -ENOMEM, "out of memory");
	rc = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	rc = rc ? rc : posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return nca_fail(err, -rc, "%s: %s", argv[0], strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return nca_fail(err, -errno, "waitpid: %m");
	return status ? nca_fail(err, -EIO, "the step that asks the nodes has failed") : 0;
}

static int ask(const char *words, const char *nnodes, const char *file, struct nca_pool *pool,
	       struct nca_error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *argv[] = {self,
			"srun",
			nca_pool_printf(pool, "--nccl-autoconf=quiet,%s,save=%s", words, file),
			"--overlap",
			"-N",
			(char *)nnodes,
			"-n",
			(char *)nnodes,
			"--ntasks-per-node=1",
			"--",
			"true",
			NULL};

	if (n < 0 || !argv[2])
		return nca_fail(err, -ENOMEM, "out of memory");
	self[n] = '\0';
	return run(argv, err);
}

int nca_batch_agree(const char *words, struct nca_pool *pool, struct nca_job **job,
		    struct nca_plan **plan, struct nca_error *err)
{
	const char *nnodes = getenv("SLURM_JOB_NUM_NODES"), *tmp = getenv("TMPDIR");
	char *file = nca_pool_printf(pool, "%s/nccl-autoconf.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	nca_autoclose int fd = -1;
	int rc;

	if (!getenv("SLURM_JOB_ID") || !nnodes)
		return nca_fail(err, -ENOENT,
				"this is not inside a job: type it in an sbatch script or under "
				"salloc");
	fd = file ? mkstemp(file) : -1;
	if (fd < 0)
		return nca_fail(err, file ? -errno : -ENOMEM, "%s: %m", file ? file : "");
	rc = ask(words, nnodes, file, pool, err);
	rc = rc ? rc : nca_save_read(file, pool, job, plan, err);
	if (rc == -EINVAL)
		rc = nca_fail(err, -EIO, "the nodes did not agree");
	unlink(file);
	return rc;
}
