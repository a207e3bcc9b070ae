/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two pingers of two nodes that play the hub for each other by files that both see.
 *
 * usage: srun -N2 pinger DIR HCA...: all with port 1 and GID index 1; DIR is empty. Prints a line
 * for each of the preflight's answers: "NAME NODEID: WHAT MS ms JSON", NAME being DIR's.
 */
#include <fcntl.h>
#include <stdio.h>

#include <nca/clock.h>
#include <nca/pinger.h>

#define QPS 4
#define WAIT_MS 20000

static struct nca_pool *pool;
static const char *dir;
static int self;

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "%d: %s\n", self, what);
	exit(1);
}

static void check(int rc, const struct nca_error *err)
{
	if (rc)
		die(err->text);
}

/* Shows the other what we have, under a name that is there only when it is whole. */
static void publish(const char *what, const struct nca_shape *shape, const void *object,
		    long long ms)
{
	nca_autofree char *text = nca_schema_print(shape, object, 0, 0);
	char *path = nca_pool_printf(pool, "%s/%s.%d", dir, what, self);
	char *part = nca_pool_printf(pool, "%s.part", path);
	FILE *f = text ? fopen(part, "w") : NULL;

	if (!f || fputs(text, f) < 0 || fclose(f) || rename(part, path))
		die(path);
	printf("%s %d: %s %lld ms %s\n", basename(dir), self, what, ms, text);
	fflush(stdout);
}

static void *other(const char *what, const struct nca_shape *shape)
{
	char *path = nca_pool_printf(pool, "%s/%s.%d", dir, what, !self);
	long long deadline = nca_clock_ms() + WAIT_MS;
	struct nca_error err;
	char text[65536];
	size_t n;
	void *ret;
	FILE *f;

	while (!(f = fopen(path, "r"))) {
		if (nca_clock_ms() > deadline)
			die(path);
		usleep(5000);
	}
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	check(nca_schema_parse(shape, text, n, path, pool, &ret, &err), &err);
	return ret;
}

static struct nca_pinger *open_all(int n, char **hcas, struct nca_opened *opened)
{
	long long start = nca_clock_ms();
	struct nca_open asked = {.sets = 1, .qps = QPS};
	struct nca_pinger *p;
	struct nca_error err;
	int i, root = open("/", O_RDONLY | O_DIRECTORY);

	for (i = 0; i < n; i++)
		*(struct nca_open_port *)NCA_APPEND(pool, asked.ports) =
			(struct nca_open_port){hcas[i], 1, 1, 0, 0, 106};
	check(nca_pinger_open(&asked, root, pool, opened, &p, &err), &err);
	close(root);
	publish("opened", &nca_opened_shape, opened, nca_clock_ms() - start);
	return p;
}

static void link_all(struct nca_pinger *p, int n)
{
	struct nca_opened *theirs = other("opened", &nca_opened_shape);
	struct nca_link_up up = {0};
	struct nca_linked linked;
	struct nca_error err;
	long long start;
	int i;

	for (i = 0; i < n; i++)
		*(struct nca_partner *)NCA_APPEND(pool, up.partners) =
			(struct nca_partner){i, 0, &theirs->ends.v[i]};
	start = nca_clock_ms();
	check(nca_pinger_link(p, &up, pool, &linked, &err), &err);
	publish("linked", &nca_linked_shape, &linked, nca_clock_ms() - start);
	other("linked", &nca_linked_shape);
}

int main(int argc, char **argv)
{
	const char *node = getenv("SLURM_NODEID");
	struct nca_opened opened;
	struct nca_pinged pinged;
	struct nca_pinger *p;
	struct nca_error err;
	long long start;

	if (argc < 3 || !node || !(pool = nca_pool_new()))
		die("usage: srun -N2 pinger DIR HCA...");
	self = atoi(node);
	dir = argv[1];
	p = open_all(argc - 2, argv + 2, &opened);
	link_all(p, argc - 2);
	start = nca_clock_ms();
	check(nca_pinger_ping(p, pool, &pinged, &err), &err);
	publish("pinged", &nca_pinged_shape, &pinged, nca_clock_ms() - start);
	other("pinged", &nca_pinged_shape);
	nca_pinger_close(p);
	nca_pool_free(pool);
	return 0;
}
