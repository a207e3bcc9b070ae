/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of one kind of interface only: bond, bridge, VLAN, VXLAN. */
#ifndef NCA_LINK_KIND_H
#define NCA_LINK_KIND_H

#include "probe_parts.h"

struct nlattr;

/* Numbers of interfaces, -1 where there is none: only when all are known can they be named. */
struct nca_link_parents {
	int master;
	int lower;
	int active_slave;
};

/* Reads IFLA_INFO_DATA (NULL where the message has none) of a link whose kind and carrier are set.
 * 0 or -ENOMEM. */
int nca_link_set_kind(struct nca_pool *pool, struct nca_link *l, const struct nlattr *data,
		      struct nca_link_parents *up);

/* The i-th of n words, NULL where there is no such number. */
#define NCA_WORD(pool, words, i) nca_word(pool, words, ARRAY_SIZE(words), i)
char *nca_word(struct nca_pool *pool, const char *const *words, size_t n, int i);

#endif
