/* SPDX-License-Identifier: Apache-2.0 */
/* A probe that nobody has to wait for: in a thread that can be left behind. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include <nca/clock.h>

#include "prober.h"

#define SAMPLE_MS 100

/* The thread's own: none of it is the caller's once the thread is left behind. */
struct prober {
	struct nca_source src;
	nca_probe_part part;
	int done; /* eventfd */
	struct nca_pool *pool;
	struct nca_node *node;
	struct nca_error err;
	int rc;
};

static void *probe(void *arg)
{
	struct prober *p = arg;
	uint64_t one = 1;

	p->src.root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->rc = p->src.root_fd < 0 ? nca_fail(&p->err, -errno, "/: %m")
				   : nca_probe(&p->src, p->pool, &p->node, &p->err);
	while (write(p->done, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
	return NULL;
}

/* The list of variables is the caller's; what it points to lives as long as the process. */
static char *const *copy_list(struct nca_pool *pool, char *const *env)
{
	size_t n = 0;
	char **copy;

	while (env && env[n])
		n++;
	copy = nca_pool_alloc(pool, (n + 1) * sizeof(*copy));
	if (copy && n)
		memcpy(copy, env, n * sizeof(*copy));
	return copy;
}

static void free_prober(struct prober *p, bool with_pool)
{
	if (!p)
		return;
	if (p->done >= 0)
		close(p->done);
	if (p->src.root_fd >= 0)
		close(p->src.root_fd);
	if (with_pool)
		nca_pool_free(p->pool);
	free(p);
}

static struct prober *new_prober(const struct nca_source *src)
{
	struct prober *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->src = *src;
	p->src.root_fd = -1;
	p->src.part = &p->part;
	p->done = eventfd(0, EFD_CLOEXEC);
	p->pool = p->done < 0 ? NULL : nca_pool_new();
	if (p->pool) {
		p->src.env = copy_list(p->pool, src->env);
		p->src.node_name = nca_pool_strdup(p->pool, src->node_name);
		p->src.gpus = nca_pool_strdup(p->pool, src->gpus);
		p->src.memlock = nca_pool_strdup(p->pool, src->memlock);
	}
	if (p->pool && p->src.env)
		return p;
	free_prober(p, true);
	return NULL;
}

/* CPU time of the thread in ms; -1: unknown. */
static long long used_ms(pthread_t thread)
{
	struct timespec t;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
		return -1;
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* What is slow because the machine is has run in every sample. */
static bool await(const struct prober *p, pthread_t thread, int timeout_ms)
{
	struct pollfd done = {p->done, POLLIN, 0};
	long long since = nca_clock_ms(), before = 0, used;

	while (poll(&done, 1, SAMPLE_MS) <= 0) {
		used = used_ms(thread);
		if (used > before)
			since = nca_clock_ms();
		else if (nca_clock_ms() - since >= timeout_ms)
			return false;
		before = used;
	}
	return true;
}

static int leave_behind(struct prober *p, int timeout_ms, struct nca_error *err)
{
	nca_probe_part part = __atomic_load_n(&p->part, __ATOMIC_ACQUIRE);

	return nca_fail(
		err, -ETIMEDOUT,
		"no answer for %g s while reading %s: a driver, firmware or file system "
		"hangs; type `nccl-autoconf snapshot` on this node, and look into its dmesg",
		timeout_ms / 1000.0, part ? part : "the machine");
}

int nca_prober_run(const struct nca_source *src, int timeout_ms, struct nca_pool **pool,
		   struct nca_node **node, struct nca_error *err)
{
	struct prober *p = new_prober(src);
	pthread_t thread;
	int rc;

	*pool = NULL;
	if (!p)
		return nca_fail_memory(err);
	/* A limit of processes counts threads. */
	if (pthread_create(&thread, NULL, probe, p))
		probe(p);
	else if (!await(p, thread, timeout_ms))
		return pthread_detach(thread), leave_behind(p, timeout_ms, err);
	else
		pthread_join(thread, NULL);
	rc = p->rc;
	if (rc) {
		*err = p->err;
	} else {
		*pool = p->pool;
		*node = p->node;
	}
	free_prober(p, rc != 0);
	return rc;
}
