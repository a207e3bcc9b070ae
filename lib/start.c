/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the hub. Linked into the plugin: libc only. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <nca/listen.h>
#include <nca/number.h>
#include <nca/spawn.h>
#include <nca/start.h>

/* Of the hub's host, which listens; more than its answer takes is a firewall. */
#define EXCUSE_SECONDS 3

/* Ports that are left to srun, at most. */
#define SPARE_MAX 64

/* Listens on up to n ports from first to last; returns on how many. */
static int listen_range(int first, int last, int *fds, int n)
{
	int port, used = 0;

	for (port = first; port <= last && used < n; port++) {
		fds[used] = nca_listen(port);
		used += fds[used] >= 0;
	}
	return used;
}

/*
 * A port of SrunPortRange, but none that srun itself still needs, without which it ends: it listens
 * once for every 48 nodes for their messages and once for their output (srun 22.05, step_launch.c
 * and step_io.c, _estimate_nports).
 */
static int open_in_range(const struct nca_start *s, struct nca_error *err)
{
	int fds[SPARE_MAX + 1], spare, n, i;
	size_t groups = s->nnodes / 48 + 1;

	spare = (int)(groups < SPARE_MAX / 2 ? 2 * groups : SPARE_MAX);
	n = listen_range(s->port_first, s->port_last, fds, spare + 1);
	for (i = n == spare + 1; i < n; i++)
		close(fds[i]);
	if (n == spare + 1)
		return fds[0];
	return nca_fail(err, -EADDRINUSE, "SrunPortRange %u-%u has no free port to spare",
			s->port_first, s->port_last);
}

static int open_listener(const struct nca_start *s, struct nca_error *err)
{
	int fd;

	if (s->port_first)
		return open_in_range(s, err);
	fd = nca_listen(0);
	return fd >= 0 ? fd : nca_fail(err, fd, "cannot listen for the nodes: %s", strerror(-fd));
}

struct secrets {
	char key[2 * NCA_SECRET_BYTES + 1];
	char excuse[NCA_EXCUSE_HEX + 1];
};

static int make_hex(char *hex, size_t size, struct nca_error *err)
{
	unsigned char raw[NCA_SECRET_BYTES];
	size_t n = size / 2, i;

	if (getrandom(raw, n, 0) != (ssize_t)n)
		return nca_fail(err, -EIO, "no random numbers: %m");
	for (i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

static int add_number(char *buf, size_t size, size_t *used, const char *prefix, unsigned long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", n);
	return nca_record_add(buf, size, used, prefix, text);
}

/*
 * The ranks of mpirun's daemons are not those of the tasks that they start, and submitit refuses a
 * rendezvous that is there already (submitit/helpers.py, TorchDistributedEnvironment.export).
 */
static bool has_own_rendezvous(const struct nca_start *s)
{
	char **e;

	if (s->argc > 0 && nca_is_mpi_daemon(s->argv[0]))
		return true;
	for (e = environ; *e; e++)
		if (nca_has_prefix(*e, "SUBMITIT_"))
			return true;
	return false;
}

/* A command line that does not fit is cut: only its first words tell a launcher. */
static int write_order(char *buf, size_t size, const struct nca_start *s,
		       const struct secrets *secrets)
{
	size_t used = 0;
	int rc, i;

	rc = nca_record_add(buf, size, &used, NCA_HUB_SECRET, secrets->key);
	rc = rc ? rc : nca_record_add(buf, size, &used, NCA_HUB_EXCUSE, secrets->excuse);
	rc = rc || !s->step ? rc : nca_record_add(buf, size, &used, NCA_HUB_STEP, s->step);
	rc = rc ? rc : add_number(buf, size, &used, NCA_HUB_NNODES, s->nnodes);
	rc = rc ? rc : add_number(buf, size, &used, NCA_HUB_SRUN, (unsigned long)getpid());
	for (i = 0; !rc && i < s->nplugstack; i++)
		rc = nca_record_add(buf, size, &used, NCA_HUB_PLUGSTACK, s->plugstack[i]);
	/* As the site's last word: what the user says comes after it. */
	if (!rc && (s->net || has_own_rendezvous(s)))
		rc = nca_record_add(buf, size, &used, NCA_HUB_PLUGSTACK, "net");
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

static int start(const struct nca_start *s, int listener, const struct secrets *secrets,
		 struct nca_error *err)
{
	struct nca_spawn spawn = {.path = s->helper, .verb = "hub", .nfds = 2};
	static char order[NCA_MAILBOX_SIZE];
	int ends[2], len, rc;

	if (access(spawn.path, X_OK) < 0)
		return nca_fail(err, -errno, "helper %s: %m", spawn.path);
	len = write_order(order, sizeof(order), s, secrets);
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
	struct secrets secrets;
	nca_autoclose int listener = open_listener(s, err);
	int rc = listener < 0 ? listener : make_hex(secrets.key, sizeof(secrets.key), err);

	rc = rc ? rc : make_hex(secrets.excuse, sizeof(secrets.excuse), err);
	if (rc)
		return rc;
	snprintf(value, NCA_START_VALUE, "%d:%d:%s:%d:%s", NCA_LAUNCH_VERSION,
		 nca_listen_port(listener), secrets.key, s->seconds, secrets.excuse);
	return start(s, listener, &secrets, err);
}

struct value {
	unsigned int port, seconds;
	char key[2 * NCA_SECRET_BYTES + 8];
	char excuse[NCA_EXCUSE_HEX + 8]; /* "": none */
};

static int read_value(const char *value, struct value *v)
{
	char port[8], seconds[8];
	int end = 0;

	v->excuse[0] = '\0';
	if (sscanf(value, "1:%7[0-9]:%71[0-9a-f]:%7[0-9]%n:%39[0-9a-f]%n", port, v->key, seconds,
		   &end, v->excuse, &end) < 3 ||
	    value[end] || strlen(v->key) != 2 * NCA_SECRET_BYTES ||
	    (v->excuse[0] && strlen(v->excuse) != NCA_EXCUSE_HEX))
		return -EINVAL;
	return nca_parse_u32(port, 1, 65535, &v->port) ||
			       nca_parse_u32(seconds, 1, 3600, &v->seconds)
		       ? -EINVAL
		       : 0;
}

int nca_start_read(const char *value, const char *host, char *hub, size_t size, int *seconds)
{
	struct value v;

	if (read_value(value, &v))
		return -EINVAL;
	*seconds = (int)v.seconds;
	return snprintf(hub, size, "%s %u %s %u", host, v.port, v.key, v.seconds) < (int)size
		       ? 0
		       : -ENOSPC;
}

/* Not getaddrinfo(): this is between fork and exec in a process with threads. */
static int set_address(const char *host, unsigned int port, struct sockaddr_storage *ret,
		       socklen_t *len)
{
	struct sockaddr_in *four = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		*len = sizeof(*four);
		return 0;
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons((uint16_t)port);
	*len = sizeof(*six);
	return inet_pton(AF_INET6, host, &six->sin6_addr) == 1 ? 0 : -EINVAL;
}

/* Behind the opening that the hub sends to all that come. */
static bool is_stopped(int fd)
{
	size_t used = 0, n = strlen(NCA_EXCUSE_STOP);
	char answer[64];
	ssize_t got;

	while (used < sizeof(answer) &&
	       (got = recv(fd, answer + used, sizeof(answer) - used, 0)) > 0)
		used += (size_t)got;
	return used >= n && memcmp(answer + used - n, NCA_EXCUSE_STOP, n) == 0;
}

int nca_start_excuse(const char *value, const char *host, const char *why)
{
	const struct timeval limit = {EXCUSE_SECONDS, 0};
	struct sockaddr_storage to;
	char text[NCA_EXCUSE_MAX];
	nca_autoclose int fd = -1;
	struct value v;
	socklen_t len;
	int n;

	if (read_value(value, &v) || !v.excuse[0] || set_address(host, v.port, &to, &len))
		return -EINVAL;
	n = snprintf(text, sizeof(text) - 1, NCA_EXCUSE_MAGIC "%s %s", v.excuse, why);
	n = n < (int)sizeof(text) - 2 ? n : (int)sizeof(text) - 2;
	text[n++] = '\n';
	fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, len) < 0 ||
	    send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		return -errno;
	return is_stopped(fd);
}
