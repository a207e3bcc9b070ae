/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel answers to an rtnetlink dump, as bytes: the only socket that asks it. */
#ifndef NCA_RTNL_H
#define NCA_RTNL_H

#include "probe_parts.h"

/*
 * Asks for a dump of RTM_GETLINK, RTM_GETADDR, RTM_GETNEIGH (AF_UNSPEC) or RTM_GETROUTE (AF_INET or
 * AF_INET6), again while the kernel says that it changed under way (at most four times; then the
 * last answer counts). Kernels before 4.20 answer with more than was asked for. The bytes belong to
 * the pool. 0 or -errno; -EMSGSIZE above 32 MiB, a full Internet routing table.
 */
int nca_rtnl_dump(int type, int family, struct nca_pool *pool, struct nca_dump *ret);

#endif
