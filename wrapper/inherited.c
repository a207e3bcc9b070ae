/* SPDX-License-Identifier: Apache-2.0 */
/* What an outer step or the batch script leaves in the environment of a srun of ours. */
#include "inherited.h"

extern char **environ;

/* By their beginnings: new ones of a kind come with new releases. */
static const char *const options[] = {
	/* how many */
	"SLURM_NTASKS",
	"SLURM_NPROCS",
	"SLURM_TASKS_PER_NODE",
	"SLURM_CPUS_PER_",
	"SRUN_CPUS_PER_",
	"SLURM_GPUS",
	"SLURM_GRES",
	"SLURM_STEP_GRES",
	"SLURM_TRES_",
	"SLURM_MEM_",
	"SLURM_NCORES_PER_",
	"SLURM_NSOCKETS_PER_",
	"SLURM_THREADS",
	"SLURM_THREAD_SPEC",
	"SLURM_CORE_SPEC",
	"SLURM_RESV_PORTS",
	/* where, and beside whom */
	"SLURM_DIST",
	"SLURM_HOSTFILE",
	"SLURM_ARBITRARY_",
	"SLURM_CPU_BIND",
	"SLURM_CPU_FREQ_",
	"SLURM_GPU_",
	"SLURM_HINT",
	"SLURM_EXACT",
	"SLURM_EXCLUSIVE",
	"SLURM_OVERCOMMIT",
	"SLURM_WHOLE",
	/* how it runs */
	"SLURM_CONTAINER",
	"SRUN_CONTAINER",
	"SLURM_MPI_TYPE",
	"SLURM_SRUN_MULTI",
	"SLURM_LABELIO",
	"SLURM_STDINMODE",
	"SLURM_STDOUTMODE",
	"SLURM_STDERRMODE",
	"SLURM_TEST_EXEC",
	"SLURM_TIMELIMIT",
	"SLURM_SIGNAL",
	"SLURM_IMMEDIATE",
	"SLURM_BCAST",
	"SLURM_PROFILE",
	"SLURM_WORKING_DIR",
};

static bool is_option(const char *entry)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (nca_has_prefix(entry, options[i]))
			return true;
	return false;
}

void nca_inherited_forget(void)
{
	char **e = environ;

	while (e && *e) {
		nca_autofree char *name = is_option(*e) ? strndup(*e, strcspn(*e, "=")) : NULL;

		/* What was next has its place. */
		if (!name || unsetenv(name))
			e++;
	}
}

bool nca_inherited_is_task(void)
{
	return getenv("SLURM_STEP_NODELIST") && getenv("SLURM_STEP_NUM_NODES") &&
	       nca_same(getenv("SLURM_STEP_TASKS_PER_NODE"), getenv("SLURM_TASKS_PER_NODE"));
}
