/* SPDX-License-Identifier: Apache-2.0 */
/* Resolving and opening paths below a directory that stands for the root. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <nca/sysroot.h>

#define LINKS_MAX 40

/* A rename or mount anywhere on the machine makes the kernel give up on "..", with EAGAIN. */
#define RETRIES_MAX 16

/* Where a walk stands: what was resolved, and what is left to walk. */
struct walk {
	int root_fd;
	int links;
	char *done;
	char left[PATH_MAX];
};

static void go_up(char *done)
{
	char *slash = strrchr(done, '/');

	*(slash ? slash : done) = '\0';
}

/* Puts a link's target in place of the link, before what is left. */
static int follow(struct walk *w, const char *target)
{
	char rest[PATH_MAX];
	int n;

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (target[0] == '/')
		w->done[0] = '\0';
	else
		go_up(w->done);
	memcpy(rest, w->left, sizeof(rest));
	n = snprintf(w->left, sizeof(w->left), "%s/%s", target, rest);
	return n < 0 || (size_t)n >= sizeof(w->left) ? -ENAMETOOLONG : 0;
}

static int enter(struct walk *w, const char *name)
{
	size_t n = strlen(w->done);
	char target[PATH_MAX];
	ssize_t len;

	if (n + strlen(name) + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	sprintf(w->done + n, "%s%s", n ? "/" : "", name);
	len = readlinkat(w->root_fd, w->done, target, sizeof(target) - 1);
	if (len < 0)
		return errno == EINVAL ? 0 : -errno; /* EINVAL: not a link */
	target[len] = '\0';
	return follow(w, target);
}

/* Takes the first name off what is left and walks it. 1, 0 at the end, or -errno. */
static int step(struct walk *w)
{
	const char *start = w->left + strspn(w->left, "/");
	size_t n = strcspn(start, "/");
	char name[NAME_MAX + 1];
	int rc = 0;

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, start, n);
	name[n] = '\0';
	memmove(w->left, start + n, strlen(start + n) + 1);
	if (streq(name, ".."))
		go_up(w->done);
	else if (n && !streq(name, "."))
		rc = enter(w, name);
	return rc ? rc : n > 0;
}

int nca_sysroot_realpath(int root_fd, const char *path, char ret[PATH_MAX])
{
	struct walk w = {.root_fd = root_fd, .done = ret};
	int rc;

	if (strlen(path) >= sizeof(w.left))
		return -ENAMETOOLONG;
	strcpy(w.left, path);
	ret[0] = '\0';
	while ((rc = step(&w)) > 0)
		;
	return rc;
}

/* For kernels before 5.6, and where a seccomp filter hides openat2(2). */
static int open_resolved(int root_fd, const char *path, int flags)
{
	char real[PATH_MAX];
	int fd, rc = nca_sysroot_realpath(root_fd, path, real);

	if (rc)
		return rc;
	fd = openat(root_fd, real[0] ? real : ".", flags | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int nca_sysroot_open(int root_fd, const char *path, int flags)
{
	const struct open_how how = {.flags = (unsigned int)(flags | O_CLOEXEC),
				     .resolve = RESOLVE_IN_ROOT};
	int tries, fd = -1;

	for (tries = 0; tries < RETRIES_MAX; tries++) {
		fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd >= 0)
		return fd;
	if (errno == ENOSYS || errno == EPERM || errno == EAGAIN)
		return open_resolved(root_fd, path, flags);
	return -errno;
}
