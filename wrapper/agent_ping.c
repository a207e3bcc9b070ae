/* SPDX-License-Identifier: Apache-2.0 */
/* Open, connect, send: one message of the hub each, so that all nodes have done it before any goes
 * on. */
#include <errno.h>
#include <fcntl.h>

#include "agent_ping.h"

static int on_open(struct nca_agent *a, const struct nca_open *asked, struct nca_error *err)
{
	nca_autoclose int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct nca_opened opened = {0};
	int rc;

	if (root < 0)
		return nca_fail(err, -errno, "/: %m");
	nca_pinger_close(a->pinger);
	rc = nca_pinger_open(asked, root, a->pool, &opened, &a->pinger, err);
	return rc ? rc : nca_agent_answer(a, NCA_MSG_OPENED, &nca_opened_shape, &opened, 0, err);
}

static int on_link(struct nca_agent *a, const struct nca_link_up *link, struct nca_error *err)
{
	struct nca_linked linked = {0};
	int rc = nca_pinger_link(a->pinger, link, a->pool, &linked, err);

	return rc ? rc : nca_agent_answer(a, NCA_MSG_LINKED, &nca_linked_shape, &linked, 0, err);
}

static int on_ping(struct nca_agent *a, struct nca_error *err)
{
	struct nca_pinged pinged = {0};
	int rc = nca_pinger_ping(a->pinger, a->pool, &pinged, err);

	return rc ? rc : nca_agent_answer(a, NCA_MSG_PINGED, &nca_pinged_shape, &pinged, 0, err);
}

bool nca_agent_pings(uint32_t type)
{
	return type == NCA_MSG_OPEN || type == NCA_MSG_LINK || type == NCA_MSG_PING;
}

int nca_agent_ping(struct nca_agent *a, const struct nca_frame *f, struct nca_error *err)
{
	void *object = NULL;
	int rc;

	if (f->type != NCA_MSG_OPEN && !a->pinger)
		return nca_fail(err, -EPROTO, "message %u of the hub: nothing is open", f->type);
	switch (f->type) {
	case NCA_MSG_OPEN:
		rc = nca_agent_parse(a, &nca_open_shape, f, &object, err);
		return rc ? rc : on_open(a, object, err);
	case NCA_MSG_LINK:
		rc = nca_agent_parse(a, &nca_link_up_shape, f, &object, err);
		return rc ? rc : on_link(a, object, err);
	default:
		return on_ping(a, err);
	}
}
