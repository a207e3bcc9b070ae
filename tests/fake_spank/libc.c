/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugin asks libc for, it finds here first: time, so that a deadline of half a minute
 * passes in a moment, and srun's command line. Also the place where it is seen that a task waits.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "host.h"

typedef long (*syscall_fn)(long, ...);

static syscall_fn real(void)
{
	static syscall_fn fn;

	if (!fn)
		fn = (syscall_fn)dlsym(RTLD_NEXT, "syscall");
	return fn;
}

/* The time of day; other clocks cannot be set. */
static void jump(struct timespec *t)
{
	static atomic_int looks;

	if (host && host->jumps)
		t->tv_sec += host->jumps * 86400L * (atomic_fetch_add(&looks, 1) + 1);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)real()(SYS_clock_gettime, (long)id, t);
	int64_t ns;

	if (!rc && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		jump(t);
	if (rc || id != CLOCK_MONOTONIC || !host || host->speed <= 1)
		return rc;
	ns = (t->tv_sec * INT64_C(1000000000) + t->tv_nsec) * host->speed;
	*t = (struct timespec){ns / 1000000000, ns % 1000000000};
	return 0;
}

time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	*ret = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
	return 0;
}

/* The last task of the node that comes to wait lets the agent go on. */
static void note_waiting(void)
{
	int fd;

	if (atomic_fetch_add(&host->waiting, 1) + 1 != host->ntasks || !host->gate)
		return;
	fd = open(host->gate, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

static long wait_futex(long a[6])
{
	const struct timespec *given = (const struct timespec *)a[3];
	struct timespec t = {0};
	int64_t ns;

	note_waiting();
	if (given && host->speed > 1) {
		ns = (given->tv_sec * INT64_C(1000000000) + given->tv_nsec) / host->speed;
		t = (struct timespec){ns / 1000000000, ns % 1000000000};
		a[3] = (long)&t;
	}
	return real()(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	size_t i;

	va_start(ap, number);
	for (i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_futex && a[1] == FUTEX_WAIT && host_phase == PHASE_TASK)
		return wait_futex(a);
	return real()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

typedef FILE *(*fopen_fn)(const char *, const char *);

FILE *fopen(const char *path, const char *mode)
{
	static fopen_fn next;

	if (host && host->cmdline_size && streq(path, "/proc/self/cmdline"))
		return fmemopen((char *)host->cmdline, host->cmdline_size, "r");
	if (!next)
		next = (fopen_fn)dlsym(RTLD_NEXT, "fopen");
	return next(path, mode);
}
