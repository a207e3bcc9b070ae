/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses and prefixes as values. Pure. */
#ifndef NCA_ADDR_H
#define NCA_ADDR_H

#include <nca/util.h>

/* Room for the longest text of an address. */
#define NCA_ADDR_TEXT 46

/* An address of family 4 or 6; family 0 is none. IPv4 stands in the first four bytes, the rest is
 * zero, so that equal values are equal bytes. */
struct nca_ip {
	unsigned char family;
	unsigned char byte[16];
};

struct nca_prefix {
	struct nca_ip ip; /* bits behind len are zero */
	int len;
};

/* 32 or 128. */
int nca_ip_bits(const struct nca_ip *ip);

/* "10.0.0.1", "fe80::1", "fe80::1%eth0" (the zone is dropped). -EINVAL, and *ret as it was. */
int nca_ip_parse(const char *text, struct nca_ip *ret);

/*
 * A GID as sysfs prints it: 8 groups of 4 hex digits. One that maps IPv4 (::ffff:a.b.c.d, how the
 * kernel writes IPv4 into a RoCE GID table, rdma_gid2ip()) becomes family 4. -EINVAL.
 */
int nca_ip_parse_gid(const char *text, struct nca_ip *ret);

/* The text, in buf of NCA_ADDR_TEXT bytes; "" for none. */
const char *nca_ip_text(const struct nca_ip *ip, char *buf);

/* Order of the address space; families apart. */
int nca_ip_compare(const struct nca_ip *a, const struct nca_ip *b);

/* 127/8 and ::1; 169.254/16 and fe80::/10; 0.0.0.0 and ::. */
bool nca_ip_is_loopback(const struct nca_ip *ip);
bool nca_ip_is_link_local(const struct nca_ip *ip);
bool nca_ip_is_zero(const struct nca_ip *ip);

/* The prefix of an address; len is cut to what the family has, and unknown (-1) is the whole
 * address. */
struct nca_prefix nca_ip_prefix(const struct nca_ip *ip, int len);

/* "10.0.0.0/8", "10.0.0.1" (a host), or "default" of a family (4 or 6). Family 0: of
 * any, but "default" then has none. -EINVAL. */
int nca_prefix_parse(const char *text, int family, struct nca_prefix *ret);

bool nca_prefix_has(const struct nca_prefix *prefix, const struct nca_ip *ip);

/* The last address of a prefix. */
struct nca_ip nca_prefix_last(const struct nca_prefix *prefix);

bool nca_prefix_same(const struct nca_prefix *a, const struct nca_prefix *b);

#endif
