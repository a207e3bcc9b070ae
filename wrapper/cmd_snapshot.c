/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf snapshot: this node as JSON. */
#include <errno.h>
#include <stdio.h>

#include "arguments.h"
#include "self.h"

static const char help[] =
	"usage: nccl-autoconf snapshot [--sysroot=DIR] [--compact]\n\n"
	"Prints what this node has for a job to use - network interfaces, routes, HCAs, GPUs - as\n"
	"JSON (hwdesc/1), for \"nccl-autoconf plan\" and for bug reports. What could not be read\n"
	"stands under \"unknown\" with the reason.\n\n"
	"  --sysroot=DIR   a recorded tree instead of this machine: sys, proc, etc, netlink\n"
	"  --compact       on one line\n\n"
	"Exit status: 0 printed; 1 it failed; 2 bad usage.\n";

struct request {
	const char *sysroot;
	bool compact;
};

static int print_node(const struct request *req, struct nca_pool *pool, struct nca_error *err)
{
	nca_autofree char *text = NULL;
	struct nca_node *node;
	int rc = nca_self_probe(req->sysroot, pool, &node, err);

	if (rc)
		return rc;
	text = nca_schema_print(&nca_node_shape, node, 0, req->compact ? 0 : 1);
	if (!text)
		return nca_fail_memory(err);
	if (puts(text) < 0 || fflush(stdout))
		return nca_fail(err, -errno, "standard output: %s", strerror(errno));
	return 0;
}

int cmd_snapshot(int argc, char **argv)
{
	nca_autopool struct nca_pool *pool = nca_pool_new();
	struct request req = {0};
	struct nca_error err = {.text = "out of memory"};
	const struct nca_argument arguments[] = {{"sysroot", NULL, &req.sysroot},
						 {"compact", &req.compact, NULL}};
	int rc = nca_arguments_read(argc, argv, help, arguments, ARRAY_SIZE(arguments), NULL);

	if (rc >= 0)
		return rc;
	rc = pool ? print_node(&req, pool, &err) : -ENOMEM;
	if (rc)
		nca_say("snapshot: %s", err.text);
	return rc != 0;
}
