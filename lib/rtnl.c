/* SPDX-License-Identifier: Apache-2.0 */
/* Asks rtnetlink for dumps. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <libmnl/libmnl.h>

#include "nlattr.h"
#include "rtnl.h"

#define TRIES_MAX 4
#define DUMP_MAX ((size_t)32 << 20)

/* The kernel fills as much as it is given, up to 32 KiB. */
#define RECV_MAX ((size_t)32768)

static void put_request(struct nlmsghdr *nlh, int type, int family)
{
	if (type == RTM_GETLINK) {
		struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

		ifi->ifi_family = (unsigned char)family;
		mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	} else if (type == RTM_GETADDR) {
		struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));

		ifa->ifa_family = (unsigned char)family;
	} else if (type == RTM_GETNEIGH) {
		struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));

		ndm->ndm_family = (unsigned char)family;
	} else {
		struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));

		rtm->rtm_family = (unsigned char)family;
		rtm->rtm_type = RTN_UNICAST;
	}
}

static int ask(struct mnl_socket *nl, int type, int family, unsigned int seq)
{
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = (unsigned short)type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = seq;
	put_request(nlh, type, family);
	return mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0 ? -errno : 0;
}

/* 1: more to come, 0: the last part, -EAGAIN: interrupted, -errno. */
static int check_part(const char *buf, size_t n, unsigned int seq, bool *interrupted)
{
	const struct nlmsghdr *nlh = (const void *)buf;
	int len = (int)n;

	for (; nca_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_seq != seq)
			return -EPROTO;
		*interrupted |= !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
		if (nlh->nlmsg_type == NLMSG_DONE)
			return *interrupted ? -EAGAIN : 0;
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);

			if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*e) || e->error >= 0)
				return -EPROTO;
			return e->error;
		}
	}
	return 1;
}

static int keep(struct nca_pool *pool, struct nca_dump *dump, size_t *size, const void *buf,
		size_t n)
{
	if (n > *size - dump->len) {
		size_t bigger = 2 * (*size + n);
		void *data = bigger > DUMP_MAX ? NULL : nca_pool_alloc(pool, bigger);

		if (!data)
			return bigger > DUMP_MAX ? -EMSGSIZE : -ENOMEM;
		if (dump->len)
			memcpy(data, dump->data, dump->len);
		dump->data = data;
		*size = bigger;
	}
	memcpy((char *)dump->data + dump->len, buf, n);
	dump->len += n;
	return 0;
}

static int receive(struct mnl_socket *nl, unsigned int seq, struct nca_pool *pool,
		   struct nca_dump *ret)
{
	nca_autofree char *buf = malloc(RECV_MAX);
	bool interrupted = false;
	size_t size = 0;
	int rc = buf ? 1 : -ENOMEM;

	ret->len = 0;
	ret->data = NULL;
	while (rc > 0) {
		ssize_t n = mnl_socket_recvfrom(nl, buf, RECV_MAX);

		if (n <= 0)
			return n == 0 ? -EPROTO : errno == EAGAIN ? -ETIMEDOUT : -errno;
		rc = check_part(buf, (size_t)n, seq, &interrupted);
		if (rc >= 0 || rc == -EAGAIN) {
			int kept = keep(pool, ret, &size, buf, (size_t)n);

			rc = kept ? kept : rc;
		}
	}
	return rc;
}

static int dump(struct mnl_socket *nl, int type, int family, struct nca_pool *pool,
		struct nca_dump *ret)
{
	const struct timeval patience = {.tv_sec = 2};
	int fd = mnl_socket_get_fd(nl), on = 1, rc = -EAGAIN;
	unsigned int seq;

	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	/* Both are refinements that an old kernel or a sandbox may refuse. */
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (seq = 1; seq <= TRIES_MAX && rc == -EAGAIN; seq++) {
		rc = ask(nl, type, family, seq);
		rc = rc ? rc : receive(nl, seq, pool, ret);
	}
	return rc == -EAGAIN ? 0 : rc;
}

int nca_rtnl_dump(int type, int family, struct nca_pool *pool, struct nca_dump *ret)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	struct nca_dump bytes = {0};
	int rc;

	if (!nl)
		return -errno;
	rc = dump(nl, type, family, pool, &bytes);
	mnl_socket_close(nl);
	if (!rc)
		*ret = bytes;
	return rc;
}
