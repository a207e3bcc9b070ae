/* SPDX-License-Identifier: Apache-2.0 */
/* In srun: open the hub's socket, make the step's secret, start the hub. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "plugin.h"

/* Exported by libslurm and libslurmfull; weak, so that a release without it leaves the kernel's
 * choice. */
extern uint16_t *slurm_get_srun_port_range(void) __attribute__((weak));

struct step {
	uint32_t job, step, nnodes, ntasks;
	char **argv;
	int argc;
};

static bool step_get(spank_t sp, struct step *s)
{
	return spank_get_item(sp, S_JOB_ID, &s->job) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_STEPID, &s->step) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_NNODES, &s->nnodes) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_TOTAL_TASK_COUNT, &s->ntasks) == ESPANK_SUCCESS &&
	       spank_get_item(sp, S_JOB_ARGV, &s->argc, &s->argv) == ESPANK_SUCCESS;
}

/* A word of srun's own command line that can ask for GPUs: --gpus, --gres=gpu, --tres-per-task=…,
 * -G. */
static bool asks_for_gpus(const char *word)
{
	return nca_has_prefix(word, "-G") || (word[0] == '-' && strstr(word, "gpu"));
}

/*
 * May this step have GPUs? srun itself does not say (22.05 leaves nothing in its environment), so:
 * a trace of them in the job's environment or on the command line. Only a reason to look: what the
 * nodes were given decides.
 */
static bool may_have_gpus(void)
{
	nca_autoclose int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char words[8192], **e;
	const char *word;
	size_t pos = 0;
	ssize_t n = fd < 0 ? 0 : read(fd, words, sizeof(words) - 2);

	for (e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');

		if (nca_has_prefix(*e, "SLURM_") && equals &&
		    (memmem(*e, (size_t)(equals - *e), "GPU", 3) || strstr(equals, "gpu:") ||
		     strstr(equals, "gpu=")))
			return true;
	}
	memset(words + (n > 0 ? n : 0), 0, 2);
	while ((word = nca_record_next(words, sizeof(words), &pos)))
		if (asks_for_gpus(word))
			return true;
	return false;
}

/* The table of doc/design.md, "what is done where", as far as srun can see it. */
static bool is_wanted(const struct nca_options *opt, const struct step *s)
{
	if (!opt->on)
		return false;
	if (nca_plugin.components > 1) {
		if (!nca_options_by_site(opt))
			slurm_info("nccl-autoconf: a heterogeneous step is left as it is");
		return false;
	}
	if (nca_options_by_site(opt))
		return s->nnodes > 1 && may_have_gpus();
	if (s->nnodes > 1 || s->ntasks > 1 || may_have_gpus())
		return true;
	return opt->layout != NCA_LAYOUT_AUTO || opt->trainer[0];
}

static int bind_any(int family, uint16_t port)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool v6 = family == AF_INET6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), off = 0;

	if (fd < 0)
		return -1;
	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in4,
		 v6 ? sizeof(in6) : sizeof(in4)) == 0 &&
	    listen(fd, 4096) == 0)
		return fd;
	close(fd);
	return -1;
}

static int bind_either(uint16_t port)
{
	int fd = bind_any(AF_INET6, port);

	return fd >= 0 ? fd : bind_any(AF_INET, port);
}

/* Where the site lets srun listen (SrunPortRange), so that its firewall lets the nodes in. */
static int open_listener(struct nca_error *err)
{
	const uint16_t *range = slurm_get_srun_port_range ? slurm_get_srun_port_range() : NULL;
	unsigned int port;
	int fd;

	if (!range || !range[0]) {
		fd = bind_either(0);
		return fd >= 0 ? fd : nca_fail(err, -errno, "cannot listen for the nodes: %m");
	}
	for (port = range[0]; port <= range[1]; port++) {
		fd = bind_either((uint16_t)port);
		if (fd >= 0)
			return fd;
	}
	return nca_fail(err, -EADDRINUSE, "no free port in SrunPortRange %u-%u", range[0],
			range[1]);
}

static int port_of(int fd)
{
	struct sockaddr_in6 a;
	socklen_t len = sizeof(a);

	return getsockname(fd, (struct sockaddr *)&a, &len) < 0 ? -errno : ntohs(a.sin6_port);
}

static int make_secret(char hex[2 * NCA_SECRET_BYTES + 1], struct nca_error *err)
{
	unsigned char raw[NCA_SECRET_BYTES];
	size_t i;

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return nca_fail(err, -EIO, "no random numbers: %m");
	for (i = 0; i < sizeof(raw); i++)
		snprintf(hex + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

static int add_number(char *buf, size_t size, size_t *used, const char *prefix, unsigned long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", n);
	return nca_record_add(buf, size, used, prefix, text);
}

/* A command line that does not fit is cut: only its first words tell a launcher. */
static int write_order(char *buf, size_t size, const struct step *s, const char *secret)
{
	const char *env = getenv(NCA_OPTION_VARIABLE);
	char step[32];
	size_t used = 0;
	int rc, i;

	snprintf(step, sizeof(step), "%u.%u", s->job, s->step);
	rc = nca_record_add(buf, size, &used, NCA_HUB_SECRET, secret);
	rc = rc ? rc : nca_record_add(buf, size, &used, NCA_HUB_STEP, step);
	rc = rc ? rc : add_number(buf, size, &used, NCA_HUB_NNODES, s->nnodes);
	rc = rc ? rc : add_number(buf, size, &used, NCA_HUB_SRUN, (unsigned long)getpid());
	for (i = 0; !rc && i < nca_plugin.argc; i++)
		rc = nca_record_add(buf, size, &used, NCA_HUB_PLUGSTACK, nca_plugin.argv[i]);
	if (!rc && env && env[0])
		rc = nca_record_add(buf, size, &used, NCA_HUB_ENV, env);
	if (!rc && nca_plugin.asked)
		rc = nca_record_add(buf, size, &used, NCA_HUB_USER, nca_plugin.user);
	for (i = 0; !rc && i < s->argc; i++)
		if (nca_record_add(buf, size, &used, NCA_HUB_ARG, s->argv[i]))
			break;
	return rc ? rc : (int)used + 1;
}

/* Forked twice, in a session of its own: srun's signals and its wait for children do not concern
 * the hub. */
static int fork_hub(const struct nca_spawn *spawn)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		nca_spawn_exec(spawn);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid < 0 ? -errno : 0;
}

static int start_hub(const struct nca_options *opt, const struct step *s, int listener,
		     const char *secret, struct nca_error *err)
{
	struct nca_spawn spawn = {
		.path = opt->helper[0] ? opt->helper : NCA_HELPER, .verb = "hub", .nfds = 2};
	static char order[NCA_MAILBOX_SIZE];
	int ends[2], len, rc;

	if (access(spawn.path, X_OK) < 0)
		return nca_fail(err, -errno, "helper %s: %m", spawn.path);
	len = write_order(order, sizeof(order), s, secret);
	if (len < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return nca_fail(err, len < 0 ? len : -errno, "cannot start the hub: out of room");
	spawn.fds[0] = listener;
	spawn.fds[1] = ends[0];
	rc = fork_hub(&spawn);
	close(ends[0]);
	/* Smaller than the socket's buffer, so it does not wait; a hub that is gone gives an error.
	 */
	if (!rc && send(ends[1], order, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) == len) {
		nca_plugin.life_fd = ends[1];
		return 0;
	}
	close(ends[1]);
	return nca_fail(err, -EIO, "cannot start the hub %s", spawn.path);
}

static int start(const struct nca_options *opt, const struct step *s, struct nca_error *err)
{
	char secret[2 * NCA_SECRET_BYTES + 1], value[128];
	nca_autoclose int listener = open_listener(err);
	int rc;

	if (listener < 0)
		return listener;
	rc = make_secret(secret, err);
	if (!rc)
		rc = start_hub(opt, s, listener, secret, err);
	if (rc)
		return rc;
	snprintf(value, sizeof(value), "%d:%d:%s:%d", NCA_LAUNCH_VERSION, port_of(listener), secret,
		 opt->timeout);
	return setenv(NCA_LAUNCH_VARIABLE, value, 1) < 0 ? nca_fail(err, -ENOMEM, "out of memory")
							 : 0;
}

void nca_submit_start(spank_t sp)
{
	struct nca_options opt;
	struct nca_error err;
	struct step s = {0};

	/* srun merges its environment into the step's and so cannot take anything away: an empty
	 * value does for a stale one. */
	if (getenv(NCA_LAUNCH_VARIABLE))
		setenv(NCA_LAUNCH_VARIABLE, "", 1);
	nca_plugin_options(&opt);
	if (!step_get(sp, &s) || !is_wanted(&opt, &s))
		return;
	if (start(&opt, &s, &err))
		slurm_error("nccl-autoconf: %s; the step runs as without --%s", err.text,
			    NCA_OPTION_NAME);
}

void nca_submit_end(void)
{
	if (nca_plugin.life_fd >= 0)
		close(nca_plugin.life_fd);
	nca_plugin.life_fd = -1;
}
