/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs slurmstepd starts, and which it must not. */
#include "node.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "check.h"

/* Programs that slurmstepd must not start, made from a good one. */
struct bad_helper {
	const char *name;
	const char *path; /* below the directory of helpers; "/…": as it is */
	mode_t dir, mode;
	uid_t owner;
	const char *log;
	const char *link; /* the path is a link to this, "/…" below the directory of helpers; dir
			     and mode are those of dir/x */
};

#define OTHERS "error: nccl-autoconf: helper /tmp/*: others can write it; *\n"

static const struct bad_helper bad_helpers[] = {
	{"helper: missing", "none", 0, 0, 0, "*helper *none: No such file or directory*\n", NULL},
	{"helper: below a missing directory", "none/none", 0, 0, 0, "*none: No such file*\n", NULL},
	{"helper: a directory", "dir", 0755, 0, 0, "*not a program that every user may run*\n",
	 NULL},
	{"helper: not executable", "dir/x", 0755, 0644, 0, "*not a program that every user*\n",
	 NULL},
	{"helper: executable for its owner only", "dir/x", 0755, 0700, 0, "*not a program*\n",
	 NULL},
	{"helper: group-writable", "dir/x", 0755, 0775, 0, OTHERS, NULL},
	{"helper: world-writable", "dir/x", 0755, 0757, 0, OTHERS, NULL},
	{"helper: in a group-writable directory", "dir/x", 0775, 0755, 0, OTHERS, NULL},
	{"helper: in a world-writable directory", "dir/x", 0777, 0755, 0, OTHERS, NULL},
	{"helper: another's", "dir/x", 0755, 0755, 65534, "*owner is neither root nor*\n", NULL},
	{"helper: relative", "./helper", 0, 0, 0, "*not an absolute path*\n", NULL},
	{"helper: in a sticky directory", "dir/x", 01777, 0755, 0, "", NULL},
	{"helper: a link", "l", 0755, 0755, 0, "", "dir/x"},
	{"helper: a link from the root", "l", 0755, 0755, 0, "", "/dir/x"},
	{"helper: a link with dots", "l", 0755, 0755, 0, "", "./dir//../dir/./x"},
	{"helper: a link into a sticky directory", "l", 01777, 0755, 0, "", "dir/x"},
	{"helper: a link into a world-writable directory", "l", 0777, 0755, 0, OTHERS, "dir/x"},
	{"helper: a link into a group-writable directory", "l", 0775, 0755, 0, OTHERS, "/dir/x"},
	{"helper: a link by way of a world-writable directory", "l", 0755, 0755, 0,
	 "error: nccl-autoconf: helper /tmp/*/wide: others can write it; *\n", "wide/link"},
	{"helper: a link to what others can write", "l", 0755, 0757, 0, OTHERS, "dir/x"},
	{"helper: another's link", "l", 0755, 0755, 65534, "*/l: its owner is neither root nor*\n",
	 "dir/x"},
	{"helper: a link to nothing", "l", 0755, 0755, 0, "*/none: No such file*\n", "none"},
	{"helper: a link to itself", "l", 0755, 0755, 0, "*/l: a link that leads nowhere*\n", "l"},
	{"helper: a link to a directory", "l", 0755, 0755, 0, "*/dir: not a program*\n", "dir"},
	{"helper: no format that can be run", "dir/text", 0755, 0755, 0,
	 "error: nccl-autoconf: the agent ended with status 127" RUNS, NULL},
};

static void make_link(const struct bad_helper *b, const char *path)
{
	char target[256];

	snprintf(target, sizeof(target), "%s%s", b->link[0] == '/' ? host_dir : "", b->link);
	assert_int_equal(symlink(target, path), 0);
	if (b->owner)
		assert_int_equal(lchown(path, b->owner, b->owner), 0);
}

static void make_file(const struct bad_helper *b, const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);

	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
	assert_int_equal(chmod(path, b->mode), 0);
	if (b->owner && !b->link)
		assert_int_equal(chown(path, b->owner, b->owner), 0);
}

static void make_bad(const struct bad_helper *b, char *word, size_t size)
{
	char dir[128], path[256];

	snprintf(dir, sizeof(dir), "%s/dir", host_dir);
	mkdir(dir, 0755);
	if (b->mode) {
		snprintf(path, sizeof(path), "%s/%s", host_dir, b->link ? "dir/x" : b->path);
		make_file(b, path);
	}
	snprintf(path, sizeof(path), "%s/%s", host_dir, b->path);
	if (b->link)
		make_link(b, path);
	if (b->dir)
		assert_int_equal(chmod(dir, b->dir), 0);
	snprintf(word, size, "helper=%s", b->path[0] == '.' ? b->path : path);
}

static void check_bad_helper(void **state)
{
	static const struct row r = {.helper = "vars", .log = "", .diff = NOTHING};
	const struct bad_helper *b = *state;
	const char *env[16];
	char word[300];

	if (b->owner && getuid() != 0)
		skip();
	make_bad(b, word, sizeof(word));
	node_script(&r, env);
	host->words[0] = word;
	host_walk();
	unlink(word + strlen("helper="));
	check_clean();
	if (b->log[0])
		check_match("log", b->log, host->log);
	else
		check_match("log", "*status 127*", host->log);
	node_check_tasks(&r);
}

/* A directory that others can write, with a link that leads out of it */
static int begin(void **state)
{
	char path[256];
	int rc = node_begin(state);

	snprintf(path, sizeof(path), "%s/wide", host_dir);
	rc = rc || mkdir(path, 0755) || chmod(path, 0777);
	strcat(path, "/link");
	return rc || symlink("../dir/x", path);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	host_begin();
	TABLE_ADD(tests, n, bad_helpers, check_bad_helper);
	alarm(120);
	return _cmocka_run_group_tests("helper", tests, n, begin, node_end);
}
