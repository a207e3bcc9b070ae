/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a netlink message by their number, checked for length; header only. */
#ifndef NCA_NLATTR_H
#define NCA_NLATTR_H

#include <libmnl/libmnl.h>

#include <nca/pool.h>

/* As mnl_nlmsg_ok(), which takes a length above INT_MAX for a negative one (libmnl 1.0.4). */
static inline bool nca_nlmsg_ok(const struct nlmsghdr *nlh, int left)
{
	return mnl_nlmsg_ok(nlh, left) && nlh->nlmsg_len <= (uint32_t)left;
}

/* The messages of a dump, up to the first that is not whole. */
#define NCA_NLMSG_FOREACH(nlh, left, dump)                                                         \
	for (left = (int)(dump)->len, nlh = (dump)->data; nlh && nca_nlmsg_ok(nlh, left);          \
	     nlh = mnl_nlmsg_next(nlh, &left))

/* Of that type, with its fixed header whole. */
static inline bool nca_nlmsg_is(const struct nlmsghdr *nlh, int type, size_t header)
{
	return nlh->nlmsg_type == type && mnl_nlmsg_get_payload_len(nlh) >= header;
}

static inline void nca_nlattr_put(const struct nlattr *a, const struct nlattr **tb, size_t n)
{
	if (mnl_attr_get_type(a) < n)
		tb[mnl_attr_get_type(a)] = a;
}

/* Fills tb[0..n-1]; NULL where there is no such attribute, the last one where there are several. */
static inline void nca_nlattr_index(const struct nlmsghdr *nlh, size_t header,
				    const struct nlattr **tb, size_t n)
{
	const struct nlattr *a;

	memset(tb, 0, n * sizeof(*tb));
	mnl_attr_for_each(a, nlh, header) nca_nlattr_put(a, tb, n);
}

/* As nca_nlattr_index(), of the attributes inside another one, which may be NULL. */
static inline void nca_nlattr_nested(const struct nlattr *nest, const struct nlattr **tb, size_t n)
{
	const struct nlattr *a;

	memset(tb, 0, n * sizeof(*tb));
	if (nest)
		mnl_attr_for_each_nested(a, nest) nca_nlattr_put(a, tb, n);
}

static inline bool nca_nlattr_has(const struct nlattr *a, size_t size)
{
	return a && mnl_attr_get_payload_len(a) >= size;
}

static inline int nca_nlattr_u8(const struct nlattr *a)
{
	return nca_nlattr_has(a, sizeof(uint8_t)) ? mnl_attr_get_u8(a) : -1;
}

static inline int nca_nlattr_u16(const struct nlattr *a)
{
	return nca_nlattr_has(a, sizeof(uint16_t)) ? mnl_attr_get_u16(a) : -1;
}

/* -1 also for what an int cannot hold. */
static inline int nca_nlattr_u32(const struct nlattr *a)
{
	return nca_nlattr_has(a, sizeof(uint32_t)) && mnl_attr_get_u32(a) <= INT32_MAX
		       ? (int)mnl_attr_get_u32(a)
		       : -1;
}

/* A copy, cut at the first '\0'; NULL where the attribute is missing. */
static inline char *nca_nlattr_str(struct nca_pool *pool, const struct nlattr *a)
{
	return a ? nca_pool_strndup(pool, mnl_attr_get_payload(a), mnl_attr_get_payload_len(a))
		 : NULL;
}

#endif
