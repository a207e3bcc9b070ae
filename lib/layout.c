/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the two layouts a step has. */
#include <nca/rendezvous.h>

#define NODE_COUNT_UNKNOWN ((size_t)-1)

static const char *const launchers[] = {"torchrun", "accelerate", "deepspeed", "llamafactory-cli"};
static const char *const modules[] = {"torch.distributed.run", "torch.distributed.launch",
				      "accelerate.commands.launch"};

/* Is the word at s, of len characters and without its directories, equal to name? */
static bool is_program(const char *s, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len >= n && strncmp(s + len - n, name, n) == 0 &&
	       (len == n || s[len - n - 1] == '/');
}

static const char *match(const char *s, size_t len, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_program(s, len, names[i]))
			return names[i];
	return NULL;
}

const char *nca_launcher_name(const char *command)
{
	const char *found = NULL;
	bool first = true, module = false;

	/* `env A=1 python3 -u -m torch.distributed.run …`: the launcher is the program, its script,
	 * or the module after -m */
	while (command && *command && !found) {
		size_t len = strcspn(command, " ");

		if (module)
			return match(command, len, modules, ARRAY_SIZE(modules));
		if (len && (first || command[0] != '-'))
			found = match(command, len, launchers, ARRAY_SIZE(launchers));
		if (!found && len > 3 && command[0] != '-' &&
		    strncmp(command + len - 3, ".py", 3) == 0)
			break;
		module = len == 2 && strncmp(command, "-m", 2) == 0;
		first = first && !len;
		command += len + strspn(command + len, " ");
	}
	return found;
}

static enum nca_layout node_layout(const struct nca_node *node, struct nca_pool *pool,
				   const char **why)
{
	size_t gpus = node->gpus.v ? node->gpus.n : NODE_COUNT_UNKNOWN;
	int tasks = node->tasks_per_node;

	if (tasks < 1 || gpus == NODE_COUNT_UNKNOWN)
		return NCA_LAYOUT_NONE;
	if (tasks == 1 && gpus > 1)
		return NCA_LAYOUT_NODE;
	if (tasks == 1)
		return nca_launcher_name(node->launcher) ? NCA_LAYOUT_NODE : NCA_LAYOUT_TASK;
	if (gpus == 0 || (size_t)tasks == gpus)
		return NCA_LAYOUT_TASK;
	*why = nca_pool_printf(pool, "%s has %d tasks for %zu GPUs", node->name, tasks, gpus);
	return NCA_LAYOUT_NONE;
}

enum nca_layout nca_rendezvous_layout(const struct nca_job *job, const struct nca_options *opt,
				      struct nca_pool *pool, const char **why)
{
	enum nca_layout all = NCA_LAYOUT_NONE;
	const struct nca_node *node;

	*why = NULL;
	if (opt->layout != NCA_LAYOUT_AUTO)
		return opt->layout;
	NCA_FOREACH(node, job->nodes) {
		enum nca_layout one = node_layout(node, pool, why);

		if (one == NCA_LAYOUT_NONE)
			return one;
		if (node > job->nodes.v && one != all) {
			*why = nca_pool_printf(pool, "%s runs one task per %s, %s does not",
					       job->nodes.v->name,
					       all == NCA_LAYOUT_TASK ? "GPU" : "node", node->name);
			return NCA_LAYOUT_NONE;
		}
		all = one;
	}
	return all;
}
