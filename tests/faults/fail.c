/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: makes one call of one function fail, as when memory, a descriptor or a peer is
 * gone at just that moment.
 *
 * FAIL=FUNCTION:K:ERRNO chooses the K-th call that the program makes after its libraries are
 * initialised; FAIL_HIT=FILE is created when it comes, so that a run without it is known. K 0 fails
 * none and writes to FILE how many there were.
 * FAIL_ROOT=DIRECTORY is opened in the place of "/", and such a machine has no limit on locked
 * memory. FAIL_NAME is what the machine is called, so that one can be two nodes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include <nca/util.h>

static struct {
	char function[32];
	long call;
	int error;
	const char *hit, *root;
} fault;

static atomic_long calls;

/* Not before the program itself runs: what the loader does is not ours to survive. */
__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("FAIL");

	if (what &&
	    sscanf(what, "%31[a-z0-9_]:%ld:%d", fault.function, &fault.call, &fault.error) != 3)
		fault.function[0] = '\0';
	fault.hit = getenv("FAIL_HIT");
	fault.root = getenv("FAIL_ROOT");
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	int fd, n;

	if (!fault.function[0] || fault.call || !fault.hit)
		return;
	n = snprintf(text, sizeof(text), "%ld", atomic_load(&calls));
	fd = (int)syscall(SYS_openat, AT_FDCWD, fault.hit, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd >= 0 && syscall(SYS_write, fd, text, n) == n)
		syscall(SYS_close, fd);
}

/* Called by the functions that it may be asked about: no memory, no call that is one of them. */
static bool fails(const char *function)
{
	long fd;

	if (!fault.function[0] || !streq(fault.function, function) ||
	    atomic_fetch_add(&calls, 1) + 1 != fault.call)
		return false;
	fd = fault.hit ? syscall(SYS_openat, AT_FDCWD, fault.hit, O_CREAT | O_WRONLY | O_CLOEXEC,
				 0644)
		       : -1;
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = fault.error;
	return true;
}

/* For the libibverbs of verbs.c. */
bool fault_comes(const char *function);
bool fault_comes(const char *function)
{
	return fails(function);
}

/* The next definition, looked up once: libc's, or a sanitizer's. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next_;                                                    \
		if (!next_)                                                                        \
			next_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                        \
		next_;                                                                             \
	})

#define FAILS(type, error_value, name, params, args)                                               \
	type name params                                                                           \
	{                                                                                          \
		return fails(#name) ? (error_value) : NEXT(name) args;                             \
	}

FAILS(void *, NULL, malloc, (size_t n), (n))
FAILS(void *, NULL, calloc, (size_t n, size_t size), (n, size))
FAILS(void *, NULL, realloc, (void *p, size_t n), (p, n))
FAILS(char *, NULL, strdup, (const char *s), (s))
FAILS(char *, NULL, strndup, (const char *s, size_t n), (s, n))
FAILS(ssize_t, -1, read, (int fd, void *buf, size_t n), (fd, buf, n))
FAILS(ssize_t, -1, recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags))
FAILS(ssize_t, -1, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags))
FAILS(ssize_t, -1, sendto,
      (int fd, const void *buf, size_t n, int flags, const struct sockaddr *to, socklen_t len),
      (fd, buf, n, flags, to, len))
FAILS(void *, MAP_FAILED, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t off),
      (p, n, prot, flags, fd, off))
FAILS(int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILS(int, -1, bind, (int fd, const struct sockaddr *a, socklen_t len), (fd, a, len))
FAILS(int, -1, listen, (int fd, int backlog), (fd, backlog))
FAILS(int, -1, connect, (int fd, const struct sockaddr *a, socklen_t len), (fd, a, len))
FAILS(int, -1, accept4, (int fd, struct sockaddr *a, socklen_t *len, int flags),
      (fd, a, len, flags))
FAILS(int, -1, getsockname, (int fd, struct sockaddr *a, socklen_t *len), (fd, a, len))
FAILS(int, -1, getsockopt, (int fd, int level, int name, void *value, socklen_t *len),
      (fd, level, name, value, len))
FAILS(int, -1, epoll_create1, (int flags), (flags))
FAILS(int, -1, epoll_ctl, (int epfd, int op, int fd, struct epoll_event *ev), (epfd, op, fd, ev))
FAILS(int, -1, epoll_wait, (int epfd, struct epoll_event *ev, int max, int timeout),
      (epfd, ev, max, timeout))
FAILS(int, -1, eventfd, (unsigned int n, int flags), (n, flags))
FAILS(void *, NULL, dlopen, (const char *name, int flags), (name, flags))
FAILS(int, -1, poll, (struct pollfd * p, nfds_t n, int timeout), (p, n, timeout))

FAILS(int, fault.error, pthread_create,
      (pthread_t * thread, const pthread_attr_t *attr, void *(*f)(void *), void *arg),
      (thread, attr, f, arg))

/* Half of it is sent: no failure at all, as over a slow line. */
ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	if (fails("send"))
		return -1;
	return NEXT(send)(fd, buf, fails("send_short") && n > 1 ? n / 2 : n, flags);
}

/* The clock is set a day ahead for a moment: no failure, unless a deadline goes by the time of day.
 */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = NEXT(clock_gettime)(id, t);

	if (id == CLOCK_REALTIME && fails("clock_set"))
		t->tv_sec += 86400;
	return rc;
}

time_t time(time_t *ret)
{
	time_t t = NEXT(time)(NULL) + (fails("clock_set") ? 86400 : 0);

	if (ret)
		*ret = t;
	return t;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	int rc = NEXT(gettimeofday)(t, zone);

	if (fails("clock_set"))
		t->tv_sec += 86400;
	return rc;
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	if (fails("open"))
		return -1;
	return NEXT(open)(streq(path, "/") && fault.root ? fault.root : path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("openat") ? -1 : NEXT(openat)(dir, path, flags, mode);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	if (fails("getrlimit"))
		return -1;
	if (resource != RLIMIT_MEMLOCK || !fault.root)
		return NEXT(getrlimit)(resource, limit);
	*limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	return 0;
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return fails("fcntl") ? -1 : NEXT(fcntl)(fd, cmd, arg);
}

int gethostname(char *name, size_t len)
{
	const char *ours = getenv("FAIL_NAME");

	if (!ours)
		return NEXT(gethostname)(name, len);
	snprintf(name, len, "%s", ours);
	return 0;
}

/* openat2(2) has no function of its own; the other calls are not ours to count. */
long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	size_t i;

	va_start(ap, number);
	for (i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_openat2 && fails("openat2"))
		return -1;
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
