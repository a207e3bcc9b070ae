/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands where nccl-autoconf stands: what it does is its name. It shares no code with the product,
 * as a hostile agent would not.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "helper.h"

const char *self;

static int count_dir(const char *path)
{
	DIR *dir = opendir(path);
	int n = -3; /* . and .. and the descriptor of the directory itself */

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static const char *word_of(const char *path, const char *key, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(key);

	buf[0] = '\0';
	while (f && fgets(buf, (int)size, f) && strncmp(buf, key, n))
		buf[0] = '\0';
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return buf[0] ? buf + n + strspn(buf + n, " \t") : "";
}

static int env_count(void)
{
	int n = 0;

	while (environ && environ[n])
		n++;
	return n;
}

static bool is_null(int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat("/dev/null", &b) == 0 && a.st_rdev == b.st_rdev;
}

/* How the plugin left us: all that a program inherits. */
void describe(char *buf, size_t size)
{
	char cwd[256] = "", mask[256], ignored[256], oom[64];
	struct rlimit memlock = {0};
	uid_t r, e, s;
	gid_t g;

	getresuid(&r, &e, &s);
	g = getegid();
	getrlimit(RLIMIT_MEMLOCK, &memlock);
	snprintf(
		buf, size,
		"fds=%d env=%d null=%d%d%d uid=%u/%u/%u gid=%u groups=%d mask=%s ignored=%s oom=%s "
		"nnp=%d cwd=%s memlock=%llu sid=%d",
		count_dir("/proc/self/fd"), env_count(), is_null(0), is_null(1), is_null(2), r, e,
		s, g, getgroups(0, NULL), word_of("/proc/self/status", "SigBlk:", mask, 256),
		word_of("/proc/self/status", "SigIgn:", ignored, 256),
		word_of("/proc/self/oom_score_adj", "", oom, sizeof(oom)),
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), getcwd(cwd, sizeof(cwd)) ? cwd : "?",
		(unsigned long long)memlock.rlim_cur, getsid(0));
}

static int read_order(int out)
{
	char buf[65536], last = 'x';
	ssize_t n;

	for (;;) {
		n = read(NCA_HUB_LIFE_FD, buf, sizeof(buf));
		if (n <= 0)
			return -1;
		if (write(out, buf, (size_t)n) != n)
			return -1;
		if (buf[n - 1] == '\0' && (n > 1 ? buf[n - 2] : last) == '\0')
			return 0;
		last = buf[n - 1];
	}
}

static void write_file(const char *suffix, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s.%s", self, suffix);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(90);
	close(fd);
}

/* Keeps its order for the test and lives as long as srun. */
static int run_hub(void)
{
	char text[1024], path[256];
	int fd;

	describe(text, sizeof(text));
	write_file("state", text);
	snprintf(path, sizeof(path), "%s.order", self);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || read_order(fd))
		return 91;
	close(fd);
	alarm(20);
	while (read(NCA_HUB_LIFE_FD, text, sizeof(text)) > 0)
		continue;
	return 0;
}

/* The program of a task: runs until it has been looked at. */
static int run_task(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s.fifo", self);
	alarm(20);
	return open(path, O_RDONLY | O_CLOEXEC) < 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	self = argv[0];
	if (argc != 2)
		return 92;
	if (streq(argv[1], "hub"))
		return run_hub();
	if (streq(argv[1], "task"))
		return run_task();
	return name ? run_agent(name + 1) : 92;
}
