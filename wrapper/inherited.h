/* SPDX-License-Identifier: Apache-2.0 */
/* What an outer step or the batch script leaves in the environment of a srun of ours. */
#ifndef NCA_INHERITED_H
#define NCA_INHERITED_H

#include <nca/util.h>

/*
 * Unsets what srun would read as options of the step that it is to start: how many tasks, CPUs,
 * GPUs and how much memory each has, where they go, how they run. They describe another step,
 * or the job's tasks, and ours has one task per node, with what the controller gives a step that
 * asks for nothing. Which job it is, how to reach the controller, what is exported, and other
 * plugins' options stay. Slurm 21.08 to 26.05: srun(1), INPUT ENVIRONMENT VARIABLES, and what a
 * step's tasks and sbatch's script have of them.
 */
void nca_inherited_forget(void);

/*
 * Is this process, or a parent of it, a task of a step? What says so is inherited by a script that
 * sbatch was given inside a step, and a shell that salloc starts in a step of its own has it too:
 * these have the tasks of the job, not those of the step, in SLURM_TASKS_PER_NODE.
 */
bool nca_inherited_is_task(void);

#endif
