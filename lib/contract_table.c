/* SPDX-License-Identifier: Apache-2.0 */
/* The table of trainers. Linked into the plugin: libc only. */
#include <nca/contract.h>

/* What a worker of torch.distributed reads (rendezvous.py, _env_rendezvous_handler), with the names
 * that its launchers add. All four ranks and sizes, or none: who finds some believes the rest. */
static const struct nca_setting worker[] = {
	{"RANK", NCA_VALUE_SLURM, "SLURM_PROCID"},
	{"LOCAL_RANK", NCA_VALUE_SLURM, "SLURM_LOCALID"},
	{"WORLD_SIZE", NCA_VALUE_TASKS, NULL},
	{"LOCAL_WORLD_SIZE", NCA_VALUE_LOCAL_TASKS, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting master[] = {
	{"MASTER_ADDR", NCA_VALUE_ADDRESS, NULL},
	{"MASTER_PORT", NCA_VALUE_PORT, NULL},
	{NULL, 0, NULL},
};
/* torchrun's options by environment (torch/distributed/argparse_util.py, env). */
static const struct nca_setting pet[] = {
	{"PET_NNODES", NCA_VALUE_NODES, NULL},	       {"PET_NODE_RANK", NCA_VALUE_NODE_RANK, NULL},
	{"PET_NPROC_PER_NODE", NCA_VALUE_NPROC, NULL}, {"PET_MASTER_ADDR", NCA_VALUE_ADDRESS, NULL},
	{"PET_MASTER_PORT", NCA_VALUE_PORT, NULL},     {NULL, 0, NULL},
};
/* torchrun takes itself for the node of the endpoint where the host's name leads to it, and names
 * itself by its host name (pytorch#73656, #85300): both said here. */
static const struct nca_setting pet_c10d[] = {
	{"PET_NNODES", NCA_VALUE_NODES, NULL},
	{"PET_NPROC_PER_NODE", NCA_VALUE_NPROC, NULL},
	{"PET_RDZV_BACKEND", NCA_VALUE_TEXT, "c10d"},
	{"PET_RDZV_ENDPOINT", NCA_VALUE_ENDPOINT, NULL},
	{"PET_RDZV_ID", NCA_VALUE_JOB, NULL},
	{"PET_RDZV_CONF", NCA_VALUE_IS_HOST, NULL},
	{"PET_LOCAL_ADDR", NCA_VALUE_OWN_ADDRESS, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting nodes[] = {
	{"NNODES", NCA_VALUE_NODES, NULL},
	{"NODE_RANK", NCA_VALUE_NODE_RANK, NULL},
	{"NPROC_PER_NODE", NCA_VALUE_NPROC, NULL},
	{NULL, 0, NULL},
};
/* No number of the node's own: what Ray copies would be wrong on the others. */
static const struct nca_setting ray[] = {
	{"NNODES", NCA_VALUE_NODES, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting force[] = {
	{"FORCE_TORCHRUN", NCA_VALUE_TEXT, "1"},
	{NULL, 0, NULL},
};
static const struct nca_setting rank_is_node[] = {
	{"NNODES", NCA_VALUE_NODES, NULL},
	{"RANK", NCA_VALUE_NODE_RANK, NULL},
	{"NPROC_PER_NODE", NCA_VALUE_NPROC, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting node_rank[] = {
	{"NODE_RANK", NCA_VALUE_NODE_RANK, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting composer[] = {
	{"WORLD_SIZE", NCA_VALUE_WORKERS, NULL},
	{"LOCAL_WORLD_SIZE", NCA_VALUE_NPROC, NULL},
	{"NODE_RANK", NCA_VALUE_NODE_RANK, NULL},
	{"BASE_RANK", NCA_VALUE_FIRST, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting jax[] = {
	{"JAX_COORDINATOR_ADDRESS", NCA_VALUE_ENDPOINT, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting jax_node[] = {
	{"JAX_COORDINATOR_ADDRESS", NCA_VALUE_ENDPOINT, NULL},
	{"JAX_LOCAL_DEVICE_IDS", NCA_VALUE_DEVICES, NULL},
	{NULL, 0, NULL},
};
static const struct nca_setting horovod[] = {
	{"HOROVOD_GLOO_IFACE", NCA_VALUE_INTERFACE, NULL},
	{NULL, 0, NULL},
};

#define WITH(...) .state = NCA_CELL_YES, .settings = {__VA_ARGS__}

#define RANKS "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE"
#define LAUNCH "PET_* NNODES NPROC_PER_NODE NODE_RANK FORCE_TORCHRUN RDZV_ID"
#define ENV_RENDEZVOUS "torch/distributed/rendezvous.py _env_rendezvous_handler"
#define TORCHRUN "torch/distributed/run.py get_args_parser, config_from_args"

const struct nca_contract nca_contracts[] = {
	{
		.name = "auto",
		.title = "what is set where no trainer is named",
		.known = "the rows below, by what they say after \"known by\"",
		.task = {WITH(worker, master, jax), .never = LAUNCH, .source = "all rows below"},
		.node = {WITH(pet, nodes, master, force, jax_node), .never = RANKS,
			 .source = "all rows below"},
	},
	{
		.name = "torch",
		.title = "scripts that call init_process_group(\"env://\")",
		.known = "the layout",
		.task = {WITH(worker, master), .never = "TORCHELASTIC_USE_AGENT_STORE",
			 .source = ENV_RENDEZVOUS},
		.node = {.note = "a worker per task: --ntasks-per-node= as many as GPUs, or "
				 "torchrun",
			 .source = ENV_RENDEZVOUS},
	},
	{
		.name = "torchrun",
		.title = "torchrun with its static rendezvous, the default",
		.programs = "torchrun torch.distributed.run torch.distributed.launch",
		.known = "the program",
		.task = {.note = "torchrun starts the workers: --ntasks-per-node=1",
			 .source = TORCHRUN},
		.node = {WITH(pet), .never = "PET_STANDALONE PET_RDZV_BACKEND PET_RDZV_ENDPOINT",
			 .start = "torchrun train.py", .source = TORCHRUN},
	},
	{
		.name = "torchrun-c10d",
		.title = "torchrun with --rdzv-backend=c10d",
		.programs = "torchrun torch.distributed.run torch.distributed.launch",
		.setting = "PET_RDZV_BACKEND",
		.value = "c10d",
		.known = "PET_RDZV_BACKEND=c10d",
		.task = {.note = "torchrun starts the workers: --ntasks-per-node=1",
			 .source = TORCHRUN},
		.node = {WITH(pet_c10d), .never = "PET_STANDALONE", .start = "torchrun train.py",
			 .source = "torch/distributed/run.py; elastic/rendezvous/"
				   "c10d_rendezvous_backend.py create_backend"},
	},
	{
		.name = "lightning",
		.title = "PyTorch Lightning, Fabric",
		.known = "the layout",
		.task = {WITH(master), .never = "TORCHELASTIC_RUN_ID",
			 .note = "srun needs --ntasks-per-node; Slurm's variables say the rest",
			 .source = "fabric/plugins/environments/slurm.py SLURMEnvironment"},
		.node = {WITH(node_rank, master), .never = RANKS,
			 .note = "only where Slurm is not detected: "
				 "plugins=[LightningEnvironment()]",
			 .source = "fabric/plugins/environments/lightning.py LightningEnvironment"},
	},
	{
		.name = "accelerate",
		.title = "Hugging Face accelerate: the script itself, or accelerate launch",
		.programs = "accelerate accelerate.commands.launch",
		.known = "the program, or the layout",
		.task = {WITH(worker, master), .source = "accelerate/state.py PartialState"},
		.node = {WITH(nodes, master), .never = RANKS " PET_RDZV_CONF PET_RDZV_ID",
			 .start = "sh -c 'accelerate launch --multi_gpu --num_machines $NNODES "
				  "--machine_rank $NODE_RANK --num_processes $((NNODES * "
				  "NPROC_PER_NODE)) "
				  "--main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT "
				  "train.py'",
			 .source = "accelerate/utils/launch.py _filter_args; commands/launch.py"},
	},
	{
		.name = "deepspeed",
		.title = "DeepSpeed: the script itself, or deepspeed --no_ssh",
		.programs = "deepspeed",
		.known = "the program, or the layout",
		.task = {WITH(worker, master), .source = "deepspeed/comm/comm.py init_distributed"},
		.node = {WITH(nodes, master), .never = RANKS,
			 .start =
				 "sh -c 'deepspeed --hostfile FILE --no_ssh --node_rank $NODE_RANK "
				 "--master_addr $MASTER_ADDR --master_port $MASTER_PORT train.py'",
			 .source = "deepspeed/launcher/runner.py main"},
	},
	{
		.name = "deepspeed-pdsh",
		.title = "deepspeed --hostfile over pdsh, openmpi, mpich",
		.copies = true,
		.task = {.state = NCA_CELL_NETWORK,
			 .note = "started once, in the batch script: it starts the other nodes "
				 "itself",
			 .source = "deepspeed/launcher/runner.py main, multinode_runner.py"},
		.node = {.state = NCA_CELL_NETWORK,
			 .note = "started once, in the batch script: it starts the other nodes "
				 "itself",
			 .source = "deepspeed/launcher/runner.py main, multinode_runner.py"},
	},
	{
		.name = "llamafactory",
		.title = "LLaMA-Factory 0.9.1 and newer",
		.programs = "llamafactory-cli",
		.known = "the program",
		.task = {WITH(worker, master), .never = LAUNCH " USE_MCA USE_MEGATRON_BRIDGE",
			 .start = "llamafactory-cli train FILE.yaml",
			 .note = "each task sees one GPU: --gpus-per-task=1",
			 .source = "src/llamafactory/launcher.py launch"},
		.node = {WITH(nodes, master, force),
			 .never = RANKS " PET_RDZV_* PET_STANDALONE RDZV_ID",
			 .start = "llamafactory-cli train FILE.yaml",
			 .source = "src/llamafactory/launcher.py launch"},
	},
	{
		.name = "llamafactory-0.9.0",
		.title = "LLaMA-Factory 0.8.0 to 0.9.0, where RANK is the node's",
		.task = {WITH(worker, master), .never = LAUNCH,
			 .start = "llamafactory-cli train FILE.yaml",
			 .note = "each task sees one GPU: --gpus-per-task=1",
			 .source = "v0.9.0 src/llamafactory/cli.py main"},
		.node = {WITH(rank_is_node, master, force),
			 .never =
				 "LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE PET_RDZV_* PET_STANDALONE",
			 .start = "llamafactory-cli train FILE.yaml",
			 .source = "v0.9.0 src/llamafactory/cli.py main"},
	},
	{
		.name = "swift",
		.title = "ms-swift",
		.known = "the layout",
		.task = {WITH(worker, master), .never = "NNODES NPROC_PER_NODE",
			 .start = "swift sft ...", .source = "swift/cli/main.py use_torchrun"},
		.node = {WITH(nodes, master), .never = RANKS " PET_RDZV_* PET_STANDALONE",
			 .start = "swift sft ...",
			 .source = "swift/cli/main.py use_torchrun, get_torchrun_args"},
	},
	{
		.name = "megatron",
		.title = "Megatron-LM; in-process restart also takes MASTER_PORT + 1 and + 2",
		.known = "the layout",
		.task = {WITH(worker, master),
			 .source = "megatron/training/arguments.py parse_args"},
		.node = {WITH(pet), .never = "PET_STANDALONE PET_RDZV_BACKEND PET_RDZV_ENDPOINT",
			 .start = "torchrun pretrain_gpt.py ...", .source = TORCHRUN},
	},
	{
		.name = "jax",
		.title = "jax.distributed.initialize(); ranks are Slurm's",
		.known = "the layout",
		.task = {WITH(jax), .never = "JAX_LOCAL_DEVICE_IDS",
			 .source = "jax/_src/distributed.py State.initialize; clusters/"
				   "slurm_cluster.py"},
		.node = {WITH(jax_node), .source = "jax/_src/distributed.py State.initialize"},
	},
	{
		.name = "horovod",
		.title = "Horovod over MPI (srun --mpi=pmix)",
		.task = {WITH(horovod),
			 .source = "horovod/common/utils/env_parser.cc ParseGlooIface"},
		.node = {.note = "horovodrun is started once, in the batch script; or a task per "
				 "GPU",
			 .source = "horovod/runner/launch.py"},
	},
	{
		.name = "submitit",
		.title = "submitit's TorchDistributedEnvironment, which raises if it finds any",
		.known = "SUBMITIT_*",
		.task = {.state = NCA_CELL_NETWORK,
			 .never = RANKS " MASTER_ADDR MASTER_PORT",
			 .source = "submitit/helpers.py TorchDistributedEnvironment.export"},
		.node = {.state = NCA_CELL_NETWORK,
			 .never = RANKS " MASTER_ADDR MASTER_PORT",
			 .source = "submitit/helpers.py TorchDistributedEnvironment.export"},
	},
	{
		.name = "composer",
		.title = "MosaicML Composer: the script itself, or the composer launcher",
		.programs = "composer",
		.known = "the program, or the layout",
		.task = {WITH(worker, master), .source = "composer/utils/dist.py"},
		.node = {WITH(composer, master), .never = "RANK LOCAL_RANK",
			 .start = "composer train.py",
			 .source = "composer/cli/launcher.py _parse_args"},
	},
	{
		.name = "mpirun",
		.title = "mpirun and its daemons, as nccl-tests are started",
		.known = "the program that mpirun starts (orted, prted, hydra_pmi_proxy)",
		.copies = true,
		.task = {.state = NCA_CELL_NETWORK,
			 .note = "mpirun gives its own ranks; with srun --mpi=pmix every layout "
				 "works",
			 .source = "nccl-tests/src/common.cu run"},
		.node = {.state = NCA_CELL_NETWORK,
			 .note = "mpirun gives its own ranks; with srun --mpi=pmix every layout "
				 "works",
			 .source = "nccl-tests/src/common.cu run"},
	},
	{
		.name = "ray",
		.title = "ray start, ray symmetric-run, LLaMA-Factory with USE_RAY=1",
		.copies = true,
		.task = {.note = "a Ray node per node: --ntasks-per-node=1",
			 .source = "ray/scripts/scripts.py start"},
		.node = {WITH(ray, master), .never = RANKS,
			 .start = "sh -c 'ray symmetric-run --address $MASTER_ADDR:$MASTER_PORT "
				  "--min-nodes $NNODES -- python train.py'",
			 .source = "ray/scripts/symmetric_run.py; LLaMA-Factory "
				   "src/llamafactory/train/tuner.py _ray_training_function"},
	},
	{
		.name = "ignite",
		.title = "PyTorch-Ignite, which follows Slurm even below torchrun",
		.known = "the layout",
		.task = {WITH(worker, master), .source = "ignite/distributed/comp_models/native.py "
							 "_setup_env_in_slurm"},
		.node = {.note = "raises below torchrun inside Slurm: a task per GPU",
			 .source = "ignite/distributed/comp_models/native.py _setup_env_in_slurm"},
	},
};
const size_t nca_contract_count = ARRAY_SIZE(nca_contracts);
