/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes have not reported. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "missing.h"

/* Names beyond this are counted. */
#define NAMES 16

static size_t count(const struct nca_hub *hub, size_t nnodes, const char **nodelist)
{
	size_t i, n = 0;

	for (i = 0; i < nnodes; i++) {
		const struct nca_report *r = nca_hub_report(hub, i);

		n += r != NULL;
		if (r && r->nodelist)
			*nodelist = r->nodelist;
	}
	return n;
}

/* Slurm's own tool knows its host lists; run without a shell, since the list comes from a node. */
static FILE *expand(const char *nodelist, pid_t *pid)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(ends[1], 1);
		if (null >= 0)
			dup2(null, 2);
		execlp("scontrol", "scontrol", "show", "hostnames", nodelist, (char *)NULL);
		execl("/usr/bin/scontrol", "scontrol", "show", "hostnames", nodelist, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	return fdopen(ends[0], "r");
}

/* The list is in the order of the node numbers. */
static void name_lines(FILE *in, const struct nca_hub *hub, size_t nnodes, char *buf, size_t size)
{
	char line[256];
	size_t i, n = 0, used = 0;

	for (i = 0; i < nnodes && fgets(line, sizeof(line), in); i++) {
		line[strcspn(line, "\n")] = '\0';
		if (nca_hub_report(hub, i) || n++ >= NAMES || used >= size)
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "," : "", line);
	}
}

void nca_missing_name(const struct nca_hub *hub, int seconds, struct nca_error *err)
{
	size_t nnodes = nca_hub_nodes(hub);
	const char *nodelist = NULL;
	size_t n = count(hub, nnodes, &nodelist);
	char names[1024] = "";
	pid_t pid = -1;
	FILE *in = nodelist ? expand(nodelist, &pid) : NULL;

	if (in) {
		name_lines(in, hub, nnodes, names, sizeof(names));
		fclose(in);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	nca_fail(err, 0,
		 "%zu of %zu nodes reported within %d s%s%s: is the plugin installed there, and "
		 "can they connect to this host?",
		 n, nnodes, seconds, names[0] ? ", not " : "", names);
}
