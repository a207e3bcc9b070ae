/* SPDX-License-Identifier: Apache-2.0 */
/* What a test needs around the walk: the shared record, a directory of helpers. */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

char host_dir[64];

void host_begin(void)
{
	host = mmap(NULL, sizeof(*host), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (host == MAP_FAILED)
		_exit(99);
}

void host_reset(spank_context_t context)
{
	memset(host, 0, sizeof(*host));
	*host = (struct host){
		.context = context, .nnodes = 2, .ntasks = 2, .components = 1, .listed = 1};
}

static void copy_file(const char *from, const char *to)
{
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	ssize_t n;

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	if (in < 0 || out < 0 || n) {
		perror(from);
		_exit(99);
	}
	close(in);
	close(out);
}

/* Not in the build directory: with a umask of 002 others may write there. */
void host_helpers(void)
{
	char from[4096], to[128];

	umask(022);
	strcpy(host_dir, "/tmp/nca-spank-XXXXXX");
	if (!mkdtemp(host_dir) || chmod(host_dir, 0755)) {
		perror(host_dir);
		_exit(99);
	}
	snprintf(from, sizeof(from), "%s/tests/fake_spank/helper",
		 getenv("LAB_BUILDDIR") ? getenv("LAB_BUILDDIR") : ".");
	snprintf(to, sizeof(to), "%s/helper", host_dir);
	copy_file(from, to);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void host_helpers_remove(void)
{
	nftw(host_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *host_helper(const char *name)
{
	static char word[128];
	const char *path = word + strlen("helper=");

	snprintf(word, sizeof(word), "helper=%s/%s", host_dir, name);
	if (symlink("helper", path) && errno != EEXIST)
		perror(path);
	return word;
}
