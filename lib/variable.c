/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that concern us. Linked into the plugin: libc only. */
#include <nca/launch.h>
#include <nca/variable.h>

enum { SET = 1, RECORDED = 2, PASSED = 4 };

struct variable {
	const char *names; /* separated by spaces; "NCCL_*" stands for all that begin so */
	int use;
	const char *only; /* the values that are recorded; NULL: all */
};

static const struct variable variables[] = {
	/* the network */
	{"NCCL_* GLOO_* NVSHMEM_* TP_SOCKET_IFNAME", SET | RECORDED, NULL},
	{"HOROVOD_GLOO_IFACE", SET | RECORDED, NULL},
	{"UCX_NET_DEVICES", SET | RECORDED, NULL},
	{"RCCL_* UCX_* FI_*", SET, NULL},
	/* the rendezvous */
	{"MASTER_ADDR MASTER_PORT RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE", SET | RECORDED,
	 NULL},
	{"PET_* NNODES NODE_RANK NPROC_PER_NODE BASE_RANK FORCE_TORCHRUN", SET | RECORDED, NULL},
	{"JAX_COORDINATOR_ADDRESS JAX_LOCAL_DEVICE_IDS", SET | RECORDED, NULL},
	/* what would break it */
	{"RDZV_ID USE_MCA USE_MEGATRON_BRIDGE OMPI_MCA_orte_hnp_uri", RECORDED, NULL},
	{"TORCHELASTIC_USE_AGENT_STORE TORCHELASTIC_RUN_ID SUBMITIT_EXECUTOR", RECORDED, NULL},
	{"SLURM_JOB_NAME", RECORDED, "bash interactive"},
	/* what the step was given */
	{"CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES SLURM_STEP_* SLURM_JOB_ID SLURM_JOB_GPUS "
	 "SLURM_GPUS_ON_NODE SLURM_SRUN_COMM_HOST SLURMD_NODENAME HOME SLURM_TOPOLOGY_ADDR "
	 "SLURM_TOPOLOGY_ADDR_PATTERN",
	 PASSED, NULL},
};

static bool is_word(const char *name, size_t len, const char *word, size_t n)
{
	if (n && word[n - 1] == '*')
		return len >= n - 1 && memcmp(name, word, n - 1) == 0;
	return len == n && memcmp(name, word, n) == 0;
}

bool nca_variable_is_listed(const char *name, size_t len, const char *list)
{
	size_t n;

	for (; list && *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (is_word(name, len, list, n))
			return true;
	}
	return false;
}

static const struct variable *find(const char *name, size_t len)
{
	const struct variable *v;

	/* NCCL_AUTOCONF, what the user says to us, and our own marker begin like NCCL's. */
	if (nca_has_prefix(name, NCA_OPTION_VARIABLE))
		return NULL;
	for (v = variables; v < variables + ARRAY_SIZE(variables); v++)
		if (nca_variable_is_listed(name, len, v->names))
			return v;
	return NULL;
}

bool nca_variable_may_set(const char *name)
{
	const struct variable *v = find(name, strlen(name));

	return v && (v->use & SET);
}

bool nca_variable_is_recorded(const char *assignment)
{
	size_t len = strcspn(assignment, "=");
	const struct variable *v = find(assignment, len);
	const char *value = assignment + len + (assignment[len] == '=');

	return v && (v->use & RECORDED) &&
	       (!v->only || nca_variable_is_listed(value, strlen(value), v->only));
}

bool nca_variable_is_passed(const char *assignment)
{
	const struct variable *v = find(assignment, strcspn(assignment, "="));

	return v && (!v->only || nca_variable_is_recorded(assignment));
}
