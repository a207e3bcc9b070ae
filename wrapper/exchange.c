/* SPDX-License-Identifier: Apache-2.0 */
/* One node's whole part. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include <nca/digest.h>
#include <nca/leaf.h>
#include <nca/number.h>
#include <nca/probe.h>

#include "config.h"
#include "exchange.h"
#include "nccl_conf.h"
#include "prober.h"
#include "self.h"

#define HUB_MS 10000

/* How long the node may not answer while it is read. */
#define PROBE_MS 2000

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

/* Without these the plan would take what could not be asked for what is not there, and refuse. */
static int check_known(const struct nca_node *node, struct nca_error *err)
{
	static const char *const needed[] = {"interfaces", "interfaces.addresses", "routes.inet"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		const char *why = nca_pairs_get(node->unknown, needed[i]);

		if (why)
			return nca_fail(err, -EIO, "the kernel does not tell %s: %s", needed[i],
					why);
	}
	return 0;
}

/* The limits are the task's: in its own namespace by inheritance, else by nca_spawn. */
static int probe(const struct nca_agent_input *in, struct nca_agent *a, struct nca_error *err)
{
	char memlock[32];
	const struct nca_source src = {
		.live = true,
		.node_name = a->name,
		.env = (char *const *)in->env,
		.gpus = given_gpus(in),
		.memlock = nca_self_memlock(memlock, sizeof(memlock)),
		.version = PACKAGE_VERSION,
	};
	int rc;

	rc = nca_probe_prepare(NULL) ? -ENOMEM
				     : nca_prober_run(&src, PROBE_MS, &a->probed, &a->node, err);
	a->stuck = rc == -ETIMEDOUT;
	rc = rc ? rc : check_known(a->node, err);
	if (rc)
		return rc;
	a->node->tasks_per_node = in->tasks;
	return nca_digest_prepare(a->node, a->pool) ? nca_fail_memory(err) : 0;
}

static int say_hello(const struct nca_agent_input *in, struct nca_agent *a, struct nca_error *err)
{
	const char *count = nca_agent_env(in, "SLURM_STEP_NUM_NODES");
	unsigned int nnodes = 0;
	struct nca_hello hello = {
		.version = PACKAGE_VERSION, .name = a->name, .nodeid = in->nodeid};
	int rc = nca_agent_connect(a, in->host, in->port, in->key, HUB_MS, err);

	if (rc)
		return rc;
	if (!count || nca_parse_u32(count, 1, INT_MAX, &nnodes))
		return nca_fail(err, -EINVAL, "SLURM_STEP_NUM_NODES is not set");
	hello.nnodes = (int)nnodes;
	return nca_agent_hello(a, &hello, err);
}

static char *step_name(const struct nca_agent_input *in, struct nca_pool *pool)
{
	const char *job = nca_agent_env(in, "SLURM_JOB_ID"),
		   *step = nca_agent_env(in, "SLURM_STEP_ID");

	return nca_pool_printf(pool, "%s.%s", job ? job : "0", step ? step : "0");
}

/* The hub hears of us before the probe, so that a probe that ends in a crash is known at once. */
static int exchange(const struct nca_agent_input *in, struct nca_agent *a, struct nca_error *err)
{
	struct nca_report report = {
		.first_task = in->first_task,
		.nodelist = (char *)nca_agent_env(in, "SLURM_STEP_NODELIST"),
		.step = step_name(in, a->pool),
		.leaf = nca_leaf_name(nca_agent_env(in, "SLURM_TOPOLOGY_ADDR"),
				      nca_agent_env(in, "SLURM_TOPOLOGY_ADDR_PATTERN"), a->pool),
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

/* NCCL_CONF_FILE stands in for ~/.nccl.conf (src/misc/param.cc). */
static const char *user_conf(const struct nca_agent_input *in, struct nca_pool *pool)
{
	const char *file = nca_agent_env(in, "NCCL_CONF_FILE"), *home = nca_agent_env(in, "HOME");

	if (file && file[0])
		return file;
	return home ? nca_pool_printf(pool, "%s/.nccl.conf", home) : NULL;
}

static int hub_fd = -1;

/* The step ends: as if the hub had ended, so that what waits for it goes on to its end. */
static void hang_up(int number)
{
	(void)number;
	shutdown(hub_fd, SHUT_RDWR);
}

static void write_part(const struct nca_agent *a, char *out, size_t size)
{
	size_t used = 0, i;

	for (i = 0; i < a->part->records.n; i++)
		if (nca_record_add(out, size, &used, "", a->part->records.v[i]))
			break;
}

static void write_reason(const struct nca_agent *a, const struct nca_error *err, char *out,
			 size_t size)
{
	char prefix[2] = {NCA_TASK_SAY, '\0'}, text[NCA_ERROR_MAX + 128];
	size_t used = 0;

	snprintf(text, sizeof(text), "%s: %s; the tasks run as without us", a->name, err->text);
	nca_record_add(out, size, &used, prefix, text);
}

void nca_exchange_run(const struct nca_agent_input *in, struct nca_agent *a, char *out, size_t size)
{
	struct nca_error err = {"out of memory"};
	int rc;

	*a = (struct nca_agent){.ch = {.fd = -1},
				.reach = {.epoll = -1, .listener = -1, .lock = -1}};
	gethostname(a->name, sizeof(a->name) - 1);
	a->name[strcspn(a->name, ".")] = '\0';
	a->pool = nca_pool_new();
	a->user_conf = a->pool ? user_conf(in, a->pool) : NULL;
	rc = a->pool ? exchange(in, a, &err) : -ENOMEM;
	/* The ports are free before a task can start. */
	if (a->reach.epoll >= 0)
		nca_reach_release(&a->reach);
	if (rc > 0) {
		rc = nca_agent_confirm(a, &err);
		rc = rc ? rc : 1;
	}
	hub_fd = a->ch.fd;
	if (a->wrote_conf)
		signal(SIGTERM, hang_up);
	a->published = rc > 0;
	if (a->published)
		write_part(a, out, size);
	/* The hub says it once for all; without a hub the first node does. */
	else if (rc < 0 && (rc == -ECONNRESET || nca_agent_fail(a, &err)) && in->nodeid == 0)
		write_reason(a, &err, out, size);
}

bool nca_exchange_stays(const struct nca_agent *a)
{
	return a->published && (a->reach.lock >= 0 || (a->wrote_conf && a->part->conf_keep != 1));
}

void nca_exchange_end(struct nca_agent *a)
{
	if (a->wrote_conf && (!a->published || a->part->conf_keep != 1))
		nca_nccl_conf_remove(a->part->conf_path);
	nca_pinger_close(a->pinger);
	nca_reach_close(&a->reach);
	nca_channel_close(&a->ch);
	nca_pool_free(a->probed);
	nca_pool_free(a->pool);
}
