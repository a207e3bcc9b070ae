/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one value, or the names of a directory, below a directory that stands for the root. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include <nca/sysroot.h>

#define TEXT_MAX 4096

/* Prints the arguments of the caller as a path; sets rc to -ENAMETOOLONG where they do not fit. */
#define PATH_PRINT(path, fmt, rc)                                                                  \
	do {                                                                                       \
		va_list ap;                                                                        \
		int len;                                                                           \
                                                                                                   \
		va_start(ap, fmt);                                                                 \
		len = vsnprintf(path, sizeof(path), fmt, ap);                                      \
		va_end(ap);                                                                        \
		rc = len < 0 || (size_t)len >= sizeof(path) ? -ENAMETOOLONG : 0;                   \
	} while (0)

ssize_t nca_sysroot_read(int root_fd, const char *path, char *buf, size_t size)
{
	nca_autoclose int fd = nca_sysroot_open(root_fd, path, O_RDONLY);
	size_t n = 0;
	ssize_t got = 1;

	if (fd < 0)
		return fd;
	while (got > 0 && n < size - 1) {
		got = read(fd, buf + n, size - 1 - n);
		if (got < 0)
			return -errno;
		n += (size_t)got;
	}
	buf[n] = '\0';
	return (ssize_t)n;
}

static ssize_t read_trimmed(int root_fd, const char *path, char *buf, size_t size)
{
	ssize_t n = nca_sysroot_read(root_fd, path, buf, size);

	while (n > 0 && strchr(" \t\r\n", buf[n - 1]))
		buf[--n] = '\0';
	return n;
}

bool nca_sysroot_exists(int root_fd, const char *fmt, ...)
{
	char path[PATH_MAX];
	nca_autoclose int fd = -1;
	int rc;

	PATH_PRINT(path, fmt, rc);
	fd = rc ? rc : nca_sysroot_open(root_fd, path, O_PATH);
	return fd >= 0;
}

char *nca_sysroot_text(int root_fd, struct nca_pool *pool, const char *fmt, ...)
{
	char path[PATH_MAX], text[TEXT_MAX];
	ssize_t n;
	char *copy;
	int rc;

	PATH_PRINT(path, fmt, rc);
	n = rc ? rc : read_trimmed(root_fd, path, text, sizeof(text));
	copy = n < 0 ? NULL : nca_pool_strdup(pool, text);
	if (!copy)
		errno = n < 0 ? (int)-n : ENOMEM;
	return copy;
}

int nca_sysroot_int(int root_fd, const char *fmt, ...)
{
	char path[PATH_MAX], text[32], *end;
	ssize_t n;
	long v;
	int rc;

	PATH_PRINT(path, fmt, rc);
	n = rc ? rc : read_trimmed(root_fd, path, text, sizeof(text));
	if (n <= 0)
		return -1;
	errno = 0;
	v = strtol(text, &end, nca_has_prefix(text, "0x") ? 16 : 10);
	return *end || errno || v < 0 || v > INT_MAX ? -1 : (int)v;
}

char *nca_sysroot_target(int root_fd, struct nca_pool *pool, const char *fmt, ...)
{
	char path[PATH_MAX], real[PATH_MAX];
	char *copy, *slash;
	int rc;

	PATH_PRINT(path, fmt, rc);
	rc = rc ? rc : nca_sysroot_realpath(root_fd, path, real);
	slash = rc ? NULL : strrchr(real, '/');
	copy = rc ? NULL : nca_pool_strdup(pool, slash ? slash + 1 : real);
	if (!copy)
		errno = rc ? -rc : ENOMEM;
	return copy;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(DIR *dir, struct nca_pool *pool, nca_strs *names)
{
	const struct dirent *e;
	char **name;

	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		name = NCA_APPEND(pool, *names);
		if (!name || !(*name = nca_pool_strdup(pool, e->d_name)))
			return -ENOMEM;
	}
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), compare_names);
	else
		names->v = nca_pool_alloc(pool, 0);
	return names->v ? 0 : -ENOMEM;
}

int nca_sysroot_list(int root_fd, struct nca_pool *pool, nca_strs *ret, const char *fmt, ...)
{
	char path[PATH_MAX];
	nca_strs names = {0};
	DIR *dir;
	int fd, rc;

	PATH_PRINT(path, fmt, rc);
	fd = rc ? rc : nca_sysroot_open(root_fd, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = read_names(dir, pool, &names);
	closedir(dir);
	if (!rc)
		*ret = names;
	return rc;
}
