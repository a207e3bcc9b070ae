/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf hostfile: the job's nodes for launchers that want them in a file. */
#include <errno.h>
#include <stdio.h>

#include <nca/number.h>

#include "batch.h"
#include "arguments.h"

static const char help[] =
	"usage: nccl-autoconf hostfile [--format=deepspeed|openmpi|mpich] [--slots=N]\n\n"
	"In an sbatch script or under salloc: prints the nodes of the job, each with as many "
	"slots\n"
	"as it has GPUs, as in: nccl-autoconf hostfile >hosts; deepspeed --hostfile=hosts ...\n\n"
	"  --format=FORMAT  deepspeed and openmpi: \"node1 slots=8\" (default); mpich: "
	"\"node1:8\"\n"
	"  --slots=N        instead of the GPUs\n\n"
	"Exit status: 0 printed; 1 the nodes could not be asked; 2 bad usage.\n";

struct request {
	bool mpich;
	unsigned int slots; /* 0: the GPUs */
};

static int read_format(const char *word, bool *mpich)
{
	*mpich = streq(word, "mpich");
	if (*mpich || streq(word, "deepspeed") || streq(word, "openmpi"))
		return 0;
	nca_say("hostfile: --format=%s: takes deepspeed, openmpi or mpich", word);
	return -EINVAL;
}

static int read_slots(const char *word, unsigned int *slots)
{
	if (!nca_parse_u32(word, 1, 65536, slots))
		return 0;
	nca_say("hostfile: --slots=%s: takes a number from 1 to 65536", word);
	return -EINVAL;
}

static void print(const struct nca_job *job, const struct request *req)
{
	const struct nca_node *node;

	NCA_FOREACH(node, job->nodes) {
		size_t slots = req->slots ? req->slots : node->gpus.n ? node->gpus.n : 1;

		printf(req->mpich ? "%s:%zu\n" : "%s slots=%zu\n", node->name, slots);
	}
}

int cmd_hostfile(int argc, char **argv)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct nca_error err = {"out of memory"};
	struct request req = {false, 0};
	const char *format = "deepspeed", *slots = NULL;
	const struct nca_argument arguments[] = {{"format", NULL, &format},
						 {"slots", NULL, &slots}};
	int rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), NULL);
	struct nca_batch b = {.words = "layout=node", .say = STDERR_FILENO, .pool = pool};

	if (rc >= 0)
		return rc;
	if (read_format(format, &req.mpich) || (slots && read_slots(slots, &req.slots)))
		return 2;
	rc = pool ? nca_batch_job(&b, &err) : -ENOMEM;
	rc = rc ? rc : nca_batch_agree(&b, &err);
	if (!rc)
		print(b.job, &req);
	if (!rc && fflush(stdout))
		rc = nca_fail(&err, -errno, "standard output: %s", strerror(errno));
	if (rc)
		nca_say("hostfile: %s", err.text);
	return rc != 0;
}
