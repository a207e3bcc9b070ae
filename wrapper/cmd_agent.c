/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf agent: one per node and step, started by the plugin in slurmstepd, as the user. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include <nca/digest.h>
#include <nca/probe.h>

#include "agent.h"
#include "agent_input.h"
#include "commands.h"
#include "config.h"

#define HUB_MS 10000

static struct nca_mailbox *map_mailbox(void)
{
	void *p = mmap(NULL, sizeof(struct nca_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED,
		       NCA_AGENT_MAILBOX_FD, 0);

	close(NCA_AGENT_MAILBOX_FD);
	return p == MAP_FAILED ? NULL : p;
}

static const char *given_gpus(const struct nca_agent_input *in)
{
	static const char *const names[] = {"SLURM_STEP_GPUS", "CUDA_VISIBLE_DEVICES",
					    "ROCR_VISIBLE_DEVICES"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (nca_agent_env(in, names[i]))
			return nca_agent_env(in, names[i]);
	/* The step has none: not "all that the machine has". */
	return "";
}

static int probe(const struct nca_agent_input *in, struct nca_agent *a, struct nca_error *err)
{
	nca_autoclose int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct nca_source src = {
		.root_fd = root,
		.live = true,
		.node_name = a->name,
		.env = (char *const *)in->env,
		.gpus = given_gpus(in),
		.memlock = nca_agent_env(in, "SLURM_RLIMIT_MEMLOCK"),
		.version = PACKAGE_VERSION,
	};
	int rc;

	if (root < 0)
		return nca_fail(err, -errno, "/: %m");
	rc = nca_probe(&src, a->pool, &a->node, err);
	if (rc)
		return rc;
	a->node->tasks_per_node = in->tasks;
	return nca_digest_prepare(a->node, a->pool) ? nca_fail(err, -ENOMEM, "out of memory") : 0;
}

static int say_hello(const struct nca_agent_input *in, struct nca_agent *a, struct nca_error *err)
{
	struct nca_hello hello = {
		.version = PACKAGE_VERSION, .name = a->name, .nodeid = in->nodeid};
	int rc = nca_agent_connect(a, in->host, in->port, in->key, HUB_MS, err);

	return rc ? rc : nca_agent_hello(a, &hello, err);
}

/* The hub hears of us before the probe, so that a probe that ends in a crash is known at once. */
static int exchange(const struct nca_agent_input *in, struct nca_agent *a, struct nca_error *err)
{
	struct nca_report report = {
		.first_task = in->first_task,
		.nodelist = (char *)nca_agent_env(in, "SLURM_STEP_NODELIST"),
	};
	int rc = nca_reach_open(&a->reach, err);

	rc = rc ? rc : say_hello(in, a, err);
	rc = rc ? rc : probe(in, a, err);
	if (rc)
		return rc;
	report.node = a->node;
	report.listen_port = a->reach.port;
	rc = nca_agent_report(a, &report, err);
	return rc ? rc : nca_agent_serve(a, err);
}

static void publish(struct nca_mailbox *box, const struct nca_agent *a)
{
	size_t used = 0, i;

	for (i = 0; i < a->part->records.n; i++)
		if (nca_record_add(box->out, sizeof(box->out), &used, "", a->part->records.v[i]))
			break;
}

static void complain(struct nca_mailbox *box, const struct nca_agent *a,
		     const struct nca_error *err)
{
	char prefix[2] = {NCA_TASK_SAY, '\0'}, text[NCA_ERROR_MAX + 80];
	size_t used = 0;

	snprintf(text, sizeof(text), "%s: %s", a->name, err->text);
	nca_record_add(box->out, sizeof(box->out), &used, prefix, text);
}

int cmd_agent(int argc, char **argv)
{
	struct nca_agent a = {.ch = {.fd = -1}, .reach = {.epoll = -1, .listener = -1, .lock = -1}};
	struct nca_mailbox *box = map_mailbox();
	struct nca_agent_input in = {.env = NULL};
	struct nca_error err = {"out of memory"};
	int rc;

	(void)argc, (void)argv;
	if (!box)
		return 1;
	gethostname(a.name, sizeof(a.name) - 1);
	a.name[strcspn(a.name, ".")] = '\0';
	a.pool = nca_pool_new();
	rc = a.pool && !nca_probe_prepare(NULL) ? nca_agent_input_read(box, &in, &err) : -ENOMEM;
	rc = rc ? rc : exchange(&in, &a, &err);
	/* The ports are free before a task can start. */
	if (a.reach.epoll >= 0)
		nca_reach_release(&a.reach);
	if (rc > 0)
		publish(box, &a);
	else if (rc < 0)
		complain(box, &a, &err);
	nca_mailbox_close(box, NCA_MAILBOX_PUBLISHED);
	if (rc > 0 && a.reach.lock >= 0)
		nca_agent_linger(&a);
	nca_reach_close(&a.reach);
	nca_channel_close(&a.ch);
	nca_pool_free(a.pool);
	free(in.env);
	return rc < 0;
}
