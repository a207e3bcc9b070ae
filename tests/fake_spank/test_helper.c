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
};

#define OTHERS "error: nccl-autoconf: helper /tmp/*: others can write it; *\n"

static const struct bad_helper bad_helpers[] = {
	{"helper: missing", "none", 0, 0, 0, "*helper *none: No such file or directory*\n"},
	{"helper: below a missing directory", "none/none", 0, 0, 0, "*none: No such file*\n"},
	{"helper: a directory", "dir", 0755, 0, 0, "*not a program that every user may run*\n"},
	{"helper: not executable", "dir/x", 0755, 0644, 0, "*not a program that every user*\n"},
	{"helper: executable for its owner only", "dir/x", 0755, 0700, 0, "*not a program*\n"},
	{"helper: group-writable", "dir/x", 0755, 0775, 0, OTHERS},
	{"helper: world-writable", "dir/x", 0755, 0757, 0, OTHERS},
	{"helper: in a group-writable directory", "dir/x", 0775, 0755, 0, OTHERS},
	{"helper: in a world-writable directory", "dir/x", 0777, 0755, 0, OTHERS},
	{"helper: another's", "dir/x", 0755, 0755, 65534, "*owner is neither root nor*\n"},
	{"helper: relative", "./helper", 0, 0, 0, "*not an absolute path*\n"},
	{"helper: in a sticky directory", "dir/x", 01777, 0755, 0, ""},
	{"helper: no format that can be run", "dir/text", 0755, 0755, 0,
	 "error: nccl-autoconf: the agent ended with status 127" RUNS},
};

static void make_bad(const struct bad_helper *b, char *word, size_t size)
{
	char dir[128], path[256];
	int fd;

	snprintf(dir, sizeof(dir), "%s/dir", host_dir);
	mkdir(dir, 0755);
	snprintf(path, sizeof(path), "%s/%s", host_dir, b->path);
	if (b->mode) {
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
		assert_int_equal(write(fd, "text", 4), 4);
		close(fd);
		assert_int_equal(chmod(path, b->mode), 0);
	}
	if (b->owner)
		assert_int_equal(chown(path, b->owner, b->owner), 0);
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

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	host_begin();
	TABLE_ADD(tests, n, bad_helpers, check_bad_helper);
	alarm(120);
	return _cmocka_run_group_tests("helper", tests, n, node_begin, node_end);
}
