/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdio.h>
#include <sys/wait.h>

#include <nca/file.h>
#include <nca/override.h>

#define MARK(names) "NCCL_AUTOCONF_VARS=" names "\0"

struct row {
	const char *name;
	const char *records;
	size_t records_size;
	const char *env;
	size_t env_size;
	const char *exported[3];
	const char *want; /* "NAME=FOUND!GIVEN", with blanks; "-NAME!GIVEN": it is gone; "*":
			     exported */
};

#define R(records) (records "\0"), sizeof(records "\0")
#define E(env) (env), sizeof(env) - 1

static const struct row rows[] = {
	{"all as set", R("=A=1\0#B=2\0^C=3\0"), E("A=1\0B=2\0C=3\0" MARK("A,B,C")), .want = ""},
	{"one differs", R("=A=1\0=B=2\0"), E("A=1\0B=9\0" MARK("A,B")), .want = "B=9!2"},
	{"one is gone", R("=A=1\0=B=2\0"), E("A=1\0" MARK("A,B")), .want = "-B!2"},
	{"one is empty", R("=A=1\0"), E("A=\0" MARK("A")), .want = "A=!1"},
	{"one was set to nothing", R("=A=\0"), E("A=x\0" MARK("A")), .want = "A=x!"},
	{"every operation that sets", R("=A=1\0#B=2\0^C=3\0"), E("A=a\0B=b\0C=c\0" MARK("A,B,C")),
	 .want = "A=a!1 B=b!2 C=c!3"},
	{"a value with an equals sign", R("^A==e0\0"), E("A=e0\0" MARK("A")), .want = "A=e0!=e0"},
	{"one that the task did not set", R("=A=1\0=B=2\0"), E("A=x\0B=2\0" MARK("B")), .want = ""},
	{"a name that begins like one that was set", R("=A=1\0"), E("A=x\0" MARK("AB,BA")),
	 .want = ""},
	{"the last of the list", R("=A=1\0=BB=2\0"), E("A=1\0BB=x\0" MARK("A,BB")),
	 .want = "BB=x!2"},
	{"a variable that begins like one", R("=A=1\0"), E("AA=x\0A=1\0" MARK("A")), .want = ""},
	{"no list: another program, or one that has written over it", R("=A=1\0"), E("A=x\0"),
	 .want = ""},
	{"an empty list", R("=A=1\0"), E("A=x\0" MARK("")), .want = ""},
	{"an empty environment", R("=A=1\0"), E(""), .want = ""},
	{"the same as another variable", R("<RANK=SLURM_PROCID\0"),
	 E("SLURM_PROCID=3\0RANK=3\0" MARK("RANK")), .want = ""},
	{"not the same", R("<RANK=SLURM_PROCID\0"), E("SLURM_PROCID=3\0RANK=0\0" MARK("RANK")),
	 .want = "RANK=0!3"},
	{"the other variable is gone", R("<RANK=SLURM_PROCID\0"), E("RANK=0\0" MARK("RANK")),
	 .want = ""},
	{"other records", R("-A=1\0?A=1\0A=1\0"), E("A=x\0" MARK("A")), .want = ""},
	{"a record without a value", R("=A\0=B=1\0"), E("A=x\0B=x\0" MARK("A,B")), .want = "B=x!1"},
	{"an environment that is cut", R("=A=1\0=B=2\0"), E(MARK("A,B") "A=x\0B=9"), .want = ""},
	{"a shell is at work on it", R("=A=1\0=B=2\0"), E("A=x\0B\0002\0" MARK("A,B")), .want = ""},
	{"it is written over", R("=A=1\0"), E("\0\0\0A=x\0" MARK("A")), .want = ""},
	{"what the step began with, too",
	 R("^B=2\0"),
	 E("NCCL_DEBUG=WARN\0B=2\0" MARK("B")),
	 {"NCCL_DEBUG=INFO", "HOME=/root", NULL},
	 .want = "NCCL_DEBUG=WARN!INFO*"},
	{"it is there still",
	 R("^B=2\0"),
	 E("NCCL_DEBUG=INFO\0B=2\0" MARK("B")),
	 {"NCCL_DEBUG=INFO", "NCCL_DEBUG"},
	 .want = ""},
	{"it has been replaced, and that is there",
	 R("#NCCL_IB_HCA=b\0"),
	 E("NCCL_IB_HCA=b\0" MARK("NCCL_IB_HCA")),
	 {"NCCL_IB_HCA=a"},
	 .want = ""},
	{"it has been replaced, and is back",
	 R("#NCCL_IB_HCA=b\0"),
	 E("NCCL_IB_HCA=a\0" MARK("NCCL_IB_HCA")),
	 {"NCCL_IB_HCA=a"},
	 .want = "NCCL_IB_HCA=a!b"},
	{"what the step began with, in another program",
	 R("^B=2\0"),
	 E("NCCL_DEBUG=WARN\0"),
	 {"NCCL_DEBUG=INFO"},
	 .want = ""},
};

static void check_find(void **state)
{
	const struct row *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	char *env = malloc(r->env_size + !r->env_size), got[256] = "";
	const struct nca_override *o;
	nca_overrides list;
	size_t n = 0;

	/* Exact, so that a sanitizer sees a step outside. */
	memcpy(env, r->env, r->env_size);
	assert_int_equal(nca_overrides_find(r->records, r->records_size, r->exported, env,
					    r->env_size, pool, &list),
			 0);
	free(env);
	NCA_FOREACH(o, list)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s%s%s%s!%s%s", n ? " " : "",
				      o->found ? "" : "-", o->name, o->found ? "=" : "",
				      o->found ? o->found : "", o->given, o->exported ? "*" : "");
	assert_string_equal(got, r->want);
}

struct text_row {
	const char *name;
	struct nca_override list[9];
	size_t n;
	bool contained;
	const char *want;
};

#define PROLOG                                                                                     \
	"; TaskProlog, or a plugin behind ours in plugstack.conf, did it: let TaskProlog leave "   \
	"it "                                                                                      \
	"alone, or name our file zz-nccl-autoconf.conf so that it is the last"
#define IMAGE "; the container's image or a hook did it: "
#define FILE "name our file zz-nccl-autoconf.conf so that it comes after pyxis in plugstack.conf"
#define EIGHTY "0123456789012345678901234567890123456789012345678901234567890123456789012345678"

static const struct text_row text_rows[] = {
	{"changed and gone",
	 {{"A", "1", "2", false, false}, {"B", "3", NULL, false, false}},
	 2,
	 false,
	 "node1: the program has A=2 (set: 1), no B (set: 3)" PROLOG},
	{"in a container",
	 {{"A", "1", "2", false, false},
	  {"R", "1", "0", true, false},
	  {"B", "3", "4", false, false}},
	 3,
	 true,
	 "node1: the program has A=2 (set: 1), R=0 (set: 1), B=4 (set: 3)" IMAGE
	 "add srun --container-env=A,B, or, for what was set, " FILE},
	{"exported, in a container",
	 {{"A", "1", "2", false, true}},
	 1,
	 true,
	 "node1: the program has A=2 (exported: 1)" IMAGE "add srun --container-env=A"},
	{"exported",
	 {{"A", "1", NULL, false, true}},
	 1,
	 false,
	 "node1: the program has no A (exported: 1)" PROLOG},
	{"only what differs from task to task",
	 {{"R", "1", "0", true, false}},
	 1,
	 true,
	 "node1: the program has R=0 (set: 1)" IMAGE FILE},
	{"bytes of a terminal, and a long one",
	 {{"A", "1", "\033[31m\n", false, false}, {"B", "1", EIGHTY "xy", false, false}},
	 2,
	 false,
	 "node1: the program has A=?[31m? (set: 1), B=" EIGHTY "x (set: 1)" PROLOG},
	{"seven",
	 {{"A", "1", "2", false, false},
	  {"B", "1", "2", false, false},
	  {"C", "1", "2", false, false},
	  {"D", "1", "2", false, false},
	  {"E", "1", "2", false, false},
	  {"F", "1", "2", false, false},
	  {"G", "1", "2", false, false}},
	 7,
	 false,
	 "node1: the program has A=2 (set: 1), B=2 (set: 1), C=2 (set: 1), D=2 (set: 1), E=2 "
	 "(set: 1), F=2 (set: 1) and 1 more" PROLOG},
};

static void check_text(void **state)
{
	const struct text_row *r = *state;
	nca_autopool struct nca_pool *pool = nca_pool_new();
	nca_overrides list = {(struct nca_override *)r->list, r->n};

	assert_string_equal(nca_overrides_text(&list, "node1", r->contained, pool), r->want);
}

#define SHELL_VARIABLES 150
#define SHELL_STARTS 100

/* Reads the environment of a shell until it has ended, and counts what is not as it was given. */
static void watch_shell(char **env, const char *want, size_t want_size, int *wrong)
{
	char *argv[] = {(char *)"bash", (char *)"-c", (char *)":", NULL}, path[64];
	pid_t pid = fork();

	if (!pid) {
		execve("/bin/bash", argv, env);
		_exit(1);
	}
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		nca_autofree char *text = NULL;
		size_t len = 0;

		if (nca_file_read(path, &text, &len, NULL) == 0 &&
		    nca_environment_is_whole(text, len) && nca_has_prefix(text, "SHELL_"))
			*wrong += len != want_size || memcmp(text, want, len) != 0;
	}
}

/* bash takes its variables apart where execve() has laid them. */
static void check_shell(void **state)
{
	char *env[SHELL_VARIABLES + 1] = {NULL}, want[SHELL_VARIABLES * 32];
	size_t size = 0;
	int i, wrong = 0;

	(void)state;
	for (i = 0; i < SHELL_VARIABLES; i++) {
		env[i] = want + size;
		size += (size_t)sprintf(env[i], "SHELL_%d=%d", i, i) + 1;
	}
	for (i = 0; i < SHELL_STARTS; i++)
		watch_shell(env, want, size, &wrong);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_find);
	TABLE_ADD(tests, n, text_rows, check_text);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_shell);
	return _cmocka_run_group_tests("override", tests, n, NULL, NULL);
}
