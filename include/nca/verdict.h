/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one RC ping between two HCA ports shows. Pure.
 *
 * Seen on soft-RoCE and read in the kernel's resolver (linux-6.1 core/verbs.c, core/addr.c) and in
 * the status codes of ibv_wc_status; vendor errors are printed elsewhere and decide nothing.
 */
#ifndef NCA_VERDICT_H
#define NCA_VERDICT_H

#include <nca/util.h>

/* Which part of the path a verdict points at. */
enum nca_where {
	NCA_WHERE_NONE,	   /* it works, or nothing can be said */
	NCA_WHERE_LOCAL,   /* the end that observed */
	NCA_WHERE_PEER,	   /* the other end */
	NCA_WHERE_FORWARD, /* from here to there: our sending, their receiving, or what lies between
			    */
	NCA_WHERE_RETURN,  /* from there to here */
	NCA_WHERE_PATH,	   /* between the ends, no direction known */
};

/* What one end of a ping saw. -1: not known. */
struct nca_ping {
	int rtr_errno; /* of the move to RTR, where RoCE resolves the peer; 0: done */
	int status;    /* of the first failed small message: enum ibv_wc_status; 0: all arrived */
	int large;     /* likewise, of messages above the MTU's half */
	int received;  /* did the peer get what we sent? */
	int roce;      /* do GIDs hold IP addresses? */
	int mac_is_peers; /* does the neighbour entry hold the MAC that the peer published? */
	int peer_has_gid; /* had the peer's GID entry an address? */
	int qps, qps_failed;
};

struct nca_verdict {
	const char *word; /* stable; "ok" where it works; lib/preflight_kind.c has it for people */
	enum nca_where where;
};

/* The first row of the table that fits. Never NULL. */
const struct nca_verdict *nca_verdict_find(const struct nca_ping *ping);

/* One verdict of a pair from both ends: the more certain of the two, seen from end a. NULL: that
 * end was not heard of. */
struct nca_verdict nca_verdict_join(const struct nca_ping *a, const struct nca_ping *b);

#endif
