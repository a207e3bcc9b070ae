/* SPDX-License-Identifier: Apache-2.0 */
/* The table of conflicts. The sources are those of the trainers' rows in lib/contract_table.c. */
#include <nca/conflict.h>
#include <nca/util.h>

#define LAUNCHERS "torchrun torchrun-c10d accelerate deepspeed composer"
#define STATIC "torchrun llamafactory llamafactory-0.9.0 swift megatron"

#define A_LAUNCHER_EACH                                                                            \
	"makes LLaMA-Factory and ms-swift start a launcher in every task. Unset it, or start one " \
	"task per node: --ntasks-per-node=1"
#define SAME_EVERYWHERE                                                                            \
	"is the same in every task, as a batch script sets it. Unset it: each task gets its own"
#define STARTED_WORKER                                                                             \
	"makes a launcher take itself for a worker that was started (Lightning, accelerate, "      \
	"composer). Unset it"
#define OTHER "says something else than this step. Unset it"
#define OTHER_RENDEZVOUS                                                                           \
	"takes the place of the rendezvous at MASTER_ADDR. Unset it, or say trainer=torchrun-c10d"

const struct nca_conflict nca_conflicts[] = {
	/* a task per worker */
	{"launcher-per-task", NCA_LAYOUT_TASK, LAUNCHERS, NULL, NULL, NCA_WHEN_STARTED,
	 NCA_MANY_TASKS,
	 "starts the workers of a whole node, and is started in every task: "
	 "--ntasks-per-node=1, or start the script itself"},
	{"env-launcher", NCA_LAYOUT_TASK, NULL, NULL, "NNODES", NCA_WHEN_SET, NCA_MANY_TASKS,
	 A_LAUNCHER_EACH},
	{"env-launcher", NCA_LAYOUT_TASK, NULL, NULL, "NPROC_PER_NODE", NCA_WHEN_SET,
	 NCA_MANY_TASKS, A_LAUNCHER_EACH},
	{"env-launcher", NCA_LAYOUT_TASK, NULL, NULL, "FORCE_TORCHRUN", NCA_WHEN_TRUE,
	 NCA_MANY_TASKS, A_LAUNCHER_EACH},
	{"env-launcher", NCA_LAYOUT_TASK, "llamafactory", NULL, "USE_MCA", NCA_WHEN_TRUE,
	 NCA_MANY_TASKS, A_LAUNCHER_EACH},
	{"env-launcher", NCA_LAYOUT_TASK, "llamafactory", NULL, "USE_MEGATRON_BRIDGE",
	 NCA_WHEN_TRUE, NCA_MANY_TASKS, A_LAUNCHER_EACH},
	{"env-same-rank", NCA_LAYOUT_TASK, NULL, NULL, "RANK", NCA_WHEN_SET, NCA_MANY_TASKS,
	 SAME_EVERYWHERE},
	{"env-same-rank", NCA_LAYOUT_TASK, NULL, NULL, "RANK", NCA_WHEN_SET, NCA_MANY_NODES,
	 SAME_EVERYWHERE},
	{"env-same-rank", NCA_LAYOUT_TASK, NULL, NULL, "LOCAL_RANK", NCA_WHEN_SET, NCA_MANY_TASKS,
	 SAME_EVERYWHERE},
	{"env-size", NCA_LAYOUT_TASK, NULL, NULL, "WORLD_SIZE", NCA_WHEN_OTHER, NCA_ALWAYS, OTHER},
	{"env-size", NCA_LAYOUT_TASK, NULL, NULL, "LOCAL_WORLD_SIZE", NCA_WHEN_OTHER, NCA_ALWAYS,
	 OTHER},
	{"env-elastic", NCA_LAYOUT_TASK, NULL, NULL, "TORCHELASTIC_USE_AGENT_STORE", NCA_WHEN_TRUE,
	 NCA_ALWAYS, "keeps rank 0 from listening at MASTER_ADDR: everybody waits. Unset it"},
	{"env-elastic", NCA_LAYOUT_TASK, "lightning", NULL, "TORCHELASTIC_RUN_ID", NCA_WHEN_SET,
	 NCA_ALWAYS, "makes Lightning believe that torchrun has started it. Unset it"},
	{"env-slurm-job", NCA_LAYOUT_TASK, "lightning", NULL, "SLURM_JOB_NAME", NCA_WHEN_SET,
	 NCA_ALWAYS,
	 "makes Lightning ignore Slurm, and every node begin with rank 0. Name the step: srun "
	 "--job-name=train"},
	{"env-jax", NCA_LAYOUT_TASK, NULL, NULL, "JAX_LOCAL_DEVICE_IDS", NCA_WHEN_SET,
	 NCA_MANY_TASKS, "gives every task of a node the same devices. Unset it"},
	{"env-jax", NCA_LAYOUT_AUTO, "jax", NULL, "OMPI_MCA_orte_hnp_uri", NCA_WHEN_SET, NCA_ALWAYS,
	 "makes JAX follow Open MPI instead of Slurm. Unset it"},

	/* a launcher per node */
	{"launcher-per-task", NCA_LAYOUT_NODE, NULL, NULL, NULL, NCA_WHEN_ANY, NCA_MANY_TASKS,
	 "is started in every task with the place of its node: --ntasks-per-node=1, or "
	 "layout=task"},
	{"launcher-args", NCA_LAYOUT_NODE, "deepspeed", NULL, "--no_ssh", NCA_WHEN_LACKS,
	 NCA_MANY_NODES,
	 "lacks --no_ssh: every node would start all others, or train alone. Start it once, in the "
	 "batch script, or on every node with --no_ssh --node_rank $NODE_RANK --master_addr "
	 "$MASTER_ADDR --master_port $MASTER_PORT and a hostfile"},
	{"launcher-args", NCA_LAYOUT_NODE, "accelerate", NULL, "--machine_rank", NCA_WHEN_LACKS,
	 NCA_MANY_NODES,
	 "lacks --machine_rank, so every node trains alone, since accelerate launch reads no "
	 "environment. In sh -c '...', add "
	 "--num_machines $NNODES --machine_rank $NODE_RANK --main_process_ip $MASTER_ADDR "
	 "--main_process_port $MASTER_PORT"},
	{"env-worker", NCA_LAYOUT_NODE, NULL, "llamafactory-0.9.0", "RANK", NCA_WHEN_SET,
	 NCA_ALWAYS, STARTED_WORKER},
	{"env-worker", NCA_LAYOUT_NODE, NULL, NULL, "LOCAL_RANK", NCA_WHEN_SET, NCA_ALWAYS,
	 STARTED_WORKER},
	{"env-worker", NCA_LAYOUT_NODE, NULL, "composer", "WORLD_SIZE", NCA_WHEN_SET, NCA_ALWAYS,
	 STARTED_WORKER},
	{"env-worker", NCA_LAYOUT_NODE, NULL, "composer", "LOCAL_WORLD_SIZE", NCA_WHEN_SET,
	 NCA_ALWAYS, STARTED_WORKER},
	{"env-size", NCA_LAYOUT_NODE, "llamafactory-0.9.0", NULL, "RANK", NCA_WHEN_OTHER,
	 NCA_ALWAYS, OTHER},
	{"env-size", NCA_LAYOUT_NODE, "composer", NULL, "WORLD_SIZE", NCA_WHEN_OTHER, NCA_ALWAYS,
	 OTHER},
	{"env-size", NCA_LAYOUT_NODE, NULL, NULL, "NNODES", NCA_WHEN_OTHER, NCA_ALWAYS, OTHER},
	{"env-size", NCA_LAYOUT_NODE, NULL, NULL, "NODE_RANK", NCA_WHEN_OTHER, NCA_ALWAYS, OTHER},
	{"env-size", NCA_LAYOUT_NODE, NULL, NULL, "BASE_RANK", NCA_WHEN_OTHER, NCA_ALWAYS, OTHER},
	{"env-size", NCA_LAYOUT_NODE, NULL, NULL, "PET_NNODES", NCA_WHEN_OTHER, NCA_ALWAYS, OTHER},
	{"env-size", NCA_LAYOUT_NODE, NULL, NULL, "PET_NODE_RANK", NCA_WHEN_OTHER, NCA_ALWAYS,
	 OTHER},
	{"env-standalone", NCA_LAYOUT_NODE, NULL, NULL, "PET_STANDALONE", NCA_WHEN_SET,
	 NCA_MANY_NODES,
	 "makes torchrun wait at its own node for the others, which do the same. Unset it"},
	{"env-rdzv", NCA_LAYOUT_NODE, STATIC, NULL, "PET_RDZV_BACKEND", NCA_WHEN_DYNAMIC,
	 NCA_ALWAYS, OTHER_RENDEZVOUS},
	{"env-rdzv", NCA_LAYOUT_NODE, STATIC, NULL, "PET_RDZV_ENDPOINT", NCA_WHEN_SET, NCA_ALWAYS,
	 OTHER_RENDEZVOUS},
	{"env-rdzv", NCA_LAYOUT_NODE, "llamafactory", NULL, "RDZV_ID", NCA_WHEN_SET, NCA_ALWAYS,
	 "makes LLaMA-Factory use torchrun's c10d rendezvous. Unset it"},
	{"env-rdzv", NCA_LAYOUT_NODE, "accelerate", NULL, "PET_RDZV_CONF", NCA_WHEN_SET, NCA_ALWAYS,
	 "reaches torchrun through accelerate launch. Unset it"},
	{"env-no-torchrun", NCA_LAYOUT_NODE, NULL, NULL, "FORCE_TORCHRUN", NCA_WHEN_FALSE,
	 NCA_MANY_NODES, "makes a node with one GPU train alone in LLaMA-Factory. Unset it"},
	{"env-slurm-job", NCA_LAYOUT_NODE, "lightning", NULL, "SLURM_JOB_NAME", NCA_WHEN_UNSET,
	 NCA_ALWAYS,
	 "is not bash or interactive, so Lightning follows Slurm and wants a task per GPU: "
	 "--ntasks-per-node, or plugins=[LightningEnvironment()] in the script"},

	/* both */
	{"env-submitit", NCA_LAYOUT_AUTO, NULL, NULL, "SUBMITIT_EXECUTOR", NCA_WHEN_SET, NCA_ALWAYS,
	 "and the rendezvous was asked for: submitit's export() raises where it finds one. Say "
	 "net"},
};
const size_t nca_conflict_count = ARRAY_SIZE(nca_conflicts);
