/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the two layouts a step has. */
#include <nca/contract.h>
#include <nca/rendezvous.h>

#define NODE_COUNT_UNKNOWN ((size_t)-1)

/* The word at s, of len characters, without its directories. */
static const struct nca_contract *find_word(const char *s, size_t len)
{
	size_t at = len;

	while (at > 0 && s[at - 1] != '/')
		at--;
	return nca_contract_of_program(s + at, len - at);
}

const struct nca_contract *nca_launcher_find(const char *command)
{
	const struct nca_contract *found = NULL;
	bool first = true, module = false;

	/* `env A=1 python3 -u -m torch.distributed.run …`: the launcher is the program, its script,
	 * or the module after -m */
	while (command && *command && !found) {
		size_t len = strcspn(command, " ");

		if (module)
			return find_word(command, len);
		if (len && (first || command[0] != '-'))
			found = find_word(command, len);
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
		return nca_launcher_find(node->launcher) ? NCA_LAYOUT_NODE : NCA_LAYOUT_TASK;
	if (gpus == 0 || (size_t)tasks == gpus)
		return NCA_LAYOUT_TASK;
	*why = nca_pool_printf(pool, "%s has %d tasks for %zu GPUs", node->name, tasks, gpus);
	return NCA_LAYOUT_NONE;
}

/* The only layout of a trainer that has but one; else auto. */
static enum nca_layout trainer_layout(const struct nca_options *opt)
{
	const struct nca_contract *c = nca_contract_find(opt->trainer);
	bool task = c && c->task.state == NCA_CELL_YES, node = c && c->node.state == NCA_CELL_YES;

	if (task == node)
		return NCA_LAYOUT_AUTO;
	return task ? NCA_LAYOUT_TASK : NCA_LAYOUT_NODE;
}

enum nca_layout nca_rendezvous_layout(const struct nca_job *job, const struct nca_options *opt,
				      struct nca_pool *pool, const char **why)
{
	enum nca_layout all = (enum nca_layout)opt->layout;
	const struct nca_node *node;

	*why = NULL;
	all = all == NCA_LAYOUT_AUTO ? trainer_layout(opt) : all;
	if (all != NCA_LAYOUT_AUTO)
		return all;
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
