/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files. */
#include <errno.h>
#include <fcntl.h>

#include <nca/file.h>

#define FILE_MAX ((size_t)256 << 20)

static int read_all(int fd, const char *path, char **ret, size_t *len, struct nca_error *err)
{
	size_t size = 65536, used = 0;
	nca_autofree char *buf = malloc(size);
	ssize_t n = 1;

	while (buf && n) {
		n = read(fd, buf + used, size - used - 1);
		if (n < 0)
			return nca_fail(err, -errno, "%s: %m", path);
		used += (size_t)n;
		if (used > FILE_MAX)
			return nca_fail(err, -EFBIG, "%s: larger than 256 MiB", path);
		if (used == size - 1) {
			char *bigger = realloc(buf, size * 2);

			if (!bigger)
				return nca_fail(err, -ENOMEM, "%s: out of memory", path);
			buf = bigger;
			size *= 2;
		}
	}
	if (!buf)
		return nca_fail(err, -ENOMEM, "%s: out of memory", path);
	buf[used] = '\0';
	*ret = buf;
	*len = used;
	buf = NULL;
	return 0;
}

int nca_file_read(const char *path, char **ret, size_t *len, struct nca_error *err)
{
	nca_autoclose int fd = streq(path, "-") ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return nca_fail(err, -errno, "%s: %m", path);
	return read_all(fd, path, ret, len, err);
}

int nca_file_write(const char *path, const char *text, struct nca_error *err)
{
	nca_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	size_t left = strlen(text);

	if (fd < 0)
		return nca_fail(err, -errno, "%s: %m", path);
	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return nca_fail(err, -errno, "%s: %m", path);
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}
