/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin in slurmstepd and its tasks: when there is something to do, and with what. */
#include <stdio.h>
#include <sys/stat.h>

#include "check.h"
#include "node.h"

#define SPECIAL(id) .step = (id), .helper = "vars", .log = "", .diff = NOTHING
#define BAD(text) .launch = (text), .helper = "vars", .log = "", .diff = NOTHING
#define LACKS(item) .no_item = (item), .has_no_item = true, .diff = NOTHING

static const struct row rows[] = {
	/* When there is something to do at all */
	{.name = "no launch variable: nothing started", "vars", "", "", .launch = NO_LAUNCH},
	{.name = "an answer is applied",
	 "vars",
	 "error: nccl-autoconf: node1: one warning\n",
	 VARS},
	{.name = "eight tasks wait at once",
	 "gate",
	 "error: nccl-autoconf: node1: one warning\n",
	 VARS,
	 .ntasks = 8},
	{.name = "the clock is set ahead while all tasks wait",
	 "gate",
	 "error: nccl-autoconf: node1: one warning\n",
	 VARS,
	 .ntasks = 8,
	 .jumps = 1},
	{.name = "one task",
	 "vars",
	 "error: nccl-autoconf: node1: one warning\n",
	 VARS,
	 .ntasks = 1},
	{.name = "an empty answer", "empty", "", NOTHING},
	{.name = "the batch step", SPECIAL(0xfffffffb)},
	{.name = "the extern step", SPECIAL(0xfffffffc)},
	{.name = "the interactive step", SPECIAL(0xfffffffa)},
	{.name = "the first of Slurm's own steps", SPECIAL(0xfffffff0)},
	{.name = "the last ordinary step", "vars", "*one warning\n", VARS, .step = 0xffffffef},
	{.name = "a component of a het step",
	 "vars",
	 "",
	 NOTHING,
	 .env = {"SLURM_STEP_NUM_NODES=4"}},
	{.name = "a number of nodes that is none",
	 "vars",
	 "",
	 NOTHING,
	 .env = {"SLURM_STEP_NUM_NODES=x"}},
	{.name = "the plugin listed twice",
	 "vars",
	 "error: nccl-autoconf: node1: one warning\n",
	 VARS,
	 .listed = 2},
	{.name = "contain_spank: descriptors vanish, the mapping stays",
	 "vars",
	 "error: nccl-autoconf: node1: one warning\n",
	 VARS,
	 .contained = true},
	{.name = "contain_spank: an agent that died",
	 "exit1",
	 "*ended with status 1" RUNS,
	 NOTHING,
	 .contained = true},

	/* What an outer step left */
	{.name = "an outer step's variables are forgotten",
	 "empty",
	 "",
	 "-NCCL_AUTOCONF_VARS -NCCL_SOCKET_IFNAME -RANK -SLURM_NCCL_AUTOCONF",
	 .env = {"NCCL_AUTOCONF_VARS=NCCL_SOCKET_IFNAME,RANK", "NCCL_SOCKET_IFNAME=old", "RANK=7",
		 "NCCL_DEBUG=INFO"}},
	{.name = "also where nothing is to be done",
	 "vars",
	 "",
	 "-NCCL_AUTOCONF_VARS -NCCL_SOCKET_IFNAME",
	 .launch = NO_LAUNCH,
	 .env = {"NCCL_AUTOCONF_VARS=NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME=old"}},
	{.name = "also in the batch step",
	 "vars",
	 "",
	 "-NCCL_AUTOCONF_VARS -RANK -SLURM_NCCL_AUTOCONF",
	 .step = 0xfffffffb,
	 .env = {"NCCL_AUTOCONF_VARS=RANK", "RANK=7"}},
	{.name = "but never what we may not set",
	 "empty",
	 "",
	 "-NCCL_AUTOCONF_VARS -SLURM_NCCL_AUTOCONF",
	 .env = {"NCCL_AUTOCONF_VARS=PATH,HOME,,=,LD_PRELOAD", "PATH=/bin", "HOME=/root"}},
	{.name = "what the user has set holds, what cannot work does not",
	 "vars",
	 "*one warning\n",
	 LIST("NCCL_IB_HCA,RANK") " +NCCL_IB_HCA==mlx5_0 +RANK=* -SLURM_NCCL_AUTOCONF",
	 .env = {"NCCL_IB_HCA=mlx5_9", "NCCL_SOCKET_IFNAME=ib0", "MASTER_PORT=1"}},

	{.name = "what another plugin has set since gives way",
	 "top",
	 "",
	 "+MASTER_PORT=1 " LIST(
		 "NCCL_SOCKET_IFNAME,NCCL_IB_HCA") " +NCCL_IB_HCA==mlx5_0 "
						   "+NCCL_SOCKET_IFNAME==eth0 -SLURM_NCCL_AUTOCONF",
	 .imports = {"NCCL_SOCKET_IFNAME=image", "MASTER_PORT=1"}},
	{.name = "but not where the step had it when it began",
	 "top",
	 "",
	 "+MASTER_PORT=29500 " LIST(
		 "NCCL_SOCKET_IFNAME,MASTER_PORT") " +NCCL_IB_HCA=image "
						   "+NCCL_SOCKET_IFNAME==eth0 -SLURM_NCCL_AUTOCONF",
	 .env = {"NCCL_IB_HCA=mlx5_9", "NCCL_SOCKET=x"},
	 .imports = {"NCCL_IB_HCA=image"}},

	/* The launch variable */
	{.name = "launch: empty, as srun blanks a stale one", BAD("")},
	{.name = "launch: another version", BAD("2:40000:" SECRET ":1")},
	{.name = "launch: words", BAD("hello")},
	{.name = "launch: only the version", BAD("1")},
	{.name = "launch: no port", BAD("1::" SECRET ":1")},
	{.name = "launch: port 0", BAD("1:0:" SECRET ":1")},
	{.name = "launch: port 65536", BAD("1:65536:" SECRET ":1")},
	{.name = "launch: negative port", BAD("1:-1:" SECRET ":1")},
	{.name = "launch: port of nine digits", BAD("1:123456789:" SECRET ":1")},
	{.name = "launch: no secret", BAD("1:40000::1")},
	{.name = "launch: a short secret", BAD("1:40000:0123:1")},
	{.name = "launch: a long secret", BAD("1:40000:" SECRET "00:1")},
	{.name = "launch: a secret with capitals", BAD("1:40000:ABCDEF" SECRET ":1")},
	{.name = "launch: no seconds", BAD("1:40000:" SECRET ":")},
	{.name = "launch: cut before the seconds", BAD("1:40000:" SECRET)},
	{.name = "launch: 0 seconds", BAD("1:40000:" SECRET ":0")},
	{.name = "launch: negative seconds", BAD("1:40000:" SECRET ":-5")},
	{.name = "launch: more than an hour", BAD("1:40000:" SECRET ":3601")},
	{.name = "launch: very many seconds", BAD("1:40000:" SECRET ":99999999999999999999")},
	{.name = "launch: something behind the seconds", BAD("1:40000:" SECRET ":1:x")},
	{.name = "launch: letters behind the seconds", BAD("1:40000:" SECRET ":1x")},
	{.name = "launch: spaces before the port", BAD("1: 40000:" SECRET ":1")},
	{.name = "launch: longer than any buffer",
	 BAD("1:40000:" SECRET SECRET SECRET SECRET SECRET SECRET SECRET SECRET ":1")},

	/* Items that a release cannot tell */
	{.name = "no step id", LACKS(S_JOB_STEPID), .helper = "vars", .log = ""},
	{.name = "no number of nodes", LACKS(S_JOB_NNODES), .helper = "vars", .log = ""},
	{.name = "no node id",
	 LACKS(S_JOB_NODEID),
	 .helper = "vars",
	 .log = "error: nccl-autoconf: *; the tasks run as without us\n"},
	{.name = "no groups",
	 LACKS(S_JOB_SUPPLEMENTARY_GIDS),
	 .helper = "vars",
	 .log = "error: nccl-autoconf: *; the tasks run as without us\n"},

	/* Words */
	{.name = "bad words in plugstack.conf are srun's to report",
	 "vars",
	 "*one warning\n",
	 VARS,
	 .words = {"nonsense", "timeout=never"}},
	{.name = "the option comes twice, without a word",
	 "vars",
	 "*one warning\n",
	 VARS,
	 .words = {"default=on"}},
};

/* A user's environment that is larger than what the agent can be told. */
static void check_large_environment(void **state)
{
	static char large[70000] = "NCCL_TOPO_FILE=";
	static const struct row r = {
		"", "vars", "error: nccl-autoconf: *No space*; the tasks run as without us\n",
		NOTHING, .env = {large}};
	const char *env[16];

	(void)state;
	memset(large + strlen(large), 'x', sizeof(large) - 1 - strlen(large));
	node_script(&r, env);
	host_walk();
	check_clean();
	check_match("log", r.log, host->log);
	node_check_tasks(&r);
}

/* Its connection ends with the start of its program, whose environment is then to be read. */
static void check_look(void **state)
{
	static const struct row r = {.helper = "look", .ntasks = 1, .log = "", .diff = "*"};
	char path[128], program[128], seen[4096] = "";
	const char *env[16];
	size_t n, i;
	FILE *in;

	(void)state;
	node_script(&r, env);
	snprintf(program, sizeof(program), "%s/look", host_dir);
	snprintf(path, sizeof(path), "%s/look.fifo", host_dir);
	assert_int_equal(mkfifo(path, 0666) || chmod(path, 0666), 0);
	snprintf(path, sizeof(path), "%s/look.seen", host_dir);
	in = fopen(path, "w+e");
	assert_true(in && chmod(path, 0666) == 0);
	host->program = program;
	host_walk();
	check_clean();
	node_check_tasks(&r);
	n = fread(seen, 1, sizeof(seen) - 1, in);
	fclose(in);
	for (i = 0; i < n; i++)
		seen[i] = seen[i] ? seen[i] : ' ';
	check_match("environment of the program",
		    "*NCCL_AUTOCONF_VARS=NCCL_SOCKET_IFNAME,* NCCL_SOCKET_IFNAME==eth0 *", seen);
}

/* Slurm may end a process before it began. */
static void check_only_exit(void **state)
{
	(void)state;
	host_reset(S_CTX_REMOTE);
	host->only_exit = true;
	host_walk();
	check_clean();
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	host_begin();
	TABLE_ADD(tests, n, rows, node_check);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_large_environment);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_look);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_only_exit);
	alarm(120);
	return _cmocka_run_group_tests("node", tests, n, node_begin, node_end);
}
