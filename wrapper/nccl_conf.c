/* SPDX-License-Identifier: Apache-2.0 */
/* The file that NCCL_CONF_FILE names on a node. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include <nca/file.h>

#include "nccl_conf.h"

#define NEW_NAME ".nccl.conf.new"

/* The directory and the name of a path. */
static int split(const char *path, char dir[PATH_MAX], const char **name)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path || (size_t)(slash - path) >= PATH_MAX)
		return -EINVAL;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	*name = slash + 1;
	return 0;
}

/* Others may write where it lies, so it must be a directory of ours and no link. */
static int open_dir(const char *dir, struct nca_error *err)
{
	nca_autoclose int fd = -1;
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return nca_fail(err, -errno, "%s: %m", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return nca_fail(err, -errno, "%s: %m", dir);
	if (st.st_uid != geteuid())
		return nca_fail(err, -EPERM,
				"%s belongs to user %u: name another place by conf-dir= in the "
				"site's file",
				dir, st.st_uid);
	return nca_steal_fd(&fd);
}

static int print(int fd, const nca_strs *lines, const char *user)
{
	FILE *out = fdopen(fd, "w");
	size_t i;
	int rc;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	for (i = 0; i < lines->n; i++)
		fprintf(out, "%s\n", lines->v[i]);
	if (user)
		fputs(user, out);
	rc = ferror(out) ? -EIO : 0;
	return fclose(out) ? -errno : rc;
}

int nca_nccl_conf_write(const char *path, const nca_strs *lines, const char *user,
			struct nca_error *err)
{
	nca_autofree char *own = NULL;
	nca_autoclose int dir = -1;
	char parent[PATH_MAX];
	const char *name;
	size_t len;
	int fd, rc = split(path, parent, &name);

	if (rc)
		return nca_fail(err, rc, "%s is no absolute path", path);
	if (user && (rc = nca_file_read(user, &own, &len, err)) && rc != -ENOENT)
		return rc;
	dir = open_dir(parent, err);
	if (dir < 0)
		return dir;
	unlinkat(dir, NEW_NAME, 0);
	fd = openat(dir, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rc = fd < 0 ? -errno : print(fd, lines, own);
	if (!rc && renameat(dir, NEW_NAME, dir, name) < 0)
		rc = -errno;
	return rc ? nca_fail(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

void nca_nccl_conf_remove(const char *path)
{
	char dir[PATH_MAX];
	const char *name;

	if (split(path, dir, &name))
		return;
	unlink(path);
	rmdir(dir);
}
