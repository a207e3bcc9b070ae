/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of nccl-autoconf: one file each. All return the exit status: 0, 1 it failed, 2 bad
 * usage or bad input; check has one more. */
#ifndef NCA_COMMANDS_H
#define NCA_COMMANDS_H

#include <nca/util.h>

int cmd_agent(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_hostfile(int argc, char **argv);
int cmd_hub(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_srun(int argc, char **argv);
int cmd_trainers(int argc, char **argv);

/* "nccl-autoconf: text" and a line end on standard error, in one write; "\r\n" while the terminal
 * there is raw. */
void nca_say(const char *fmt, ...) NCA_PRINTF(1, 2);

#endif
