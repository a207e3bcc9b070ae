/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the hub. Linked into the plugin: libc only. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <nca/listen.h>
#include <nca/number.h>
#include <nca/spawn.h>
#include <nca/start.h>

static int open_listener(const struct nca_start *s, struct nca_error *err)
{
	unsigned int port;
	int fd;

	if (!s->port_first) {
		fd = nca_listen(0);
		return fd >= 0 ? fd
			       : nca_fail(err, fd, "cannot listen for the nodes: %s",
					  strerror(-fd));
	}
	for (port = s->port_first; port <= s->port_last; port++) {
		fd = nca_listen((int)port);
		if (fd >= 0)
			return fd;
	}
	return nca_fail(err, -EADDRINUSE, "no free port in SrunPortRange %u-%u", s->port_first,
			s->port_last);
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
static int write_order(char *buf, size_t size, const struct nca_start *s, const char *secret)
{
	size_t used = 0;
	int rc, i;

	rc = nca_record_add(buf, size, &used, NCA_HUB_SECRET, secret);
	rc = rc || !s->step ? rc : nca_record_add(buf, size, &used, NCA_HUB_STEP, s->step);
	rc = rc ? rc : add_number(buf, size, &used, NCA_HUB_NNODES, s->nnodes);
	rc = rc ? rc : add_number(buf, size, &used, NCA_HUB_SRUN, (unsigned long)getpid());
	for (i = 0; !rc && i < s->nplugstack; i++)
		rc = nca_record_add(buf, size, &used, NCA_HUB_PLUGSTACK, s->plugstack[i]);
	rc = rc || !s->env ? rc : nca_record_add(buf, size, &used, NCA_HUB_ENV, s->env);
	rc = rc || !s->user ? rc : nca_record_add(buf, size, &used, NCA_HUB_USER, s->user);
	for (i = 0; !rc && i < s->argc; i++)
		if (nca_record_add(buf, size, &used, NCA_HUB_ARG, s->argv[i]))
			break;
	return rc ? rc : (int)used + 1;
}

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

static int start(const struct nca_start *s, int listener, const char *secret, struct nca_error *err)
{
	struct nca_spawn spawn = {.path = s->helper, .verb = "hub", .nfds = 2};
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
	if (!rc && send(ends[1], order, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) == len)
		return ends[1];
	close(ends[1]);
	return nca_fail(err, -EIO, "cannot start the hub %s", spawn.path);
}

int nca_start_hub(const struct nca_start *s, char value[NCA_START_VALUE], struct nca_error *err)
{
	char secret[2 * NCA_SECRET_BYTES + 1];
	nca_autoclose int listener = open_listener(s, err);
	int rc = listener < 0 ? listener : make_secret(secret, err);

	if (rc)
		return rc;
	snprintf(value, NCA_START_VALUE, "%d:%d:%s:%d", NCA_LAUNCH_VERSION,
		 nca_listen_port(listener), secret, s->seconds);
	return start(s, listener, secret, err);
}

int nca_start_read(const char *value, const char *host, char *hub, size_t size, int *seconds)
{
	char p[8], secret[72], t[8];
	unsigned int port, n;

	if (sscanf(value, "1:%7[0-9]:%71[0-9a-f]:%7[0-9]", p, secret, t) != 3 ||
	    strlen(secret) != 2 * NCA_SECRET_BYTES || nca_parse_u32(p, 1, 65535, &port) ||
	    nca_parse_u32(t, 1, 3600, &n))
		return -EINVAL;
	*seconds = (int)n;
	return snprintf(hub, size, "%s %u %s %u", host, port, secret, n) < (int)size ? 0 : -ENOSPC;
}
