/* SPDX-License-Identifier: Apache-2.0 */
/* Small directory trees that stand for a machine's sysfs; one for each test, removed at its end. */
#ifndef NCA_TEST_TREE_H
#define NCA_TEST_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <nca/util.h>

struct tree {
	char path[64];
	int fd;
};

/* A file with that text, or a symbolic link where the text starts with "-> ". */
struct tree_entry {
	const char *path, *text;
};

static inline void tree_make_parents(const struct tree *t, const char *path)
{
	char dir[PATH_MAX];
	const char *slash;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		mkdirat(t->fd, dir, 0700);
	}
}

static inline void tree_put(const struct tree *t, const char *path, const char *text)
{
	tree_make_parents(t, path);
	if (nca_has_prefix(text, "-> ")) {
		assert_int_equal(symlinkat(text + 3, t->fd, path), 0);
		return;
	}
	nca_autoclose int fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static inline void tree_open(struct tree *t, const struct tree_entry *entries, size_t n)
{
	size_t i;

	strcpy(t->path, "/tmp/nca-test-XXXXXX");
	assert_non_null(mkdtemp(t->path));
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->fd >= 0);
	for (i = 0; i < n; i++)
		tree_put(t, entries[i].path, entries[i].text);
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type,
				  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_close(struct tree *t)
{
	close(t->fd);
	nftw(t->path, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
