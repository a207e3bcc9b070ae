/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses and prefixes as values. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include <nca/addr.h>
#include <nca/number.h>

int nca_ip_bits(const struct nca_ip *ip)
{
	return ip->family == 4 ? 32 : 128;
}

int nca_ip_parse(const char *text, struct nca_ip *ret)
{
	const char *zone = text ? strchr(text, '%') : NULL;
	struct nca_ip ip = {0};
	char buf[NCA_ADDR_TEXT];

	if (!text || (zone && (size_t)(zone - text) >= sizeof(buf)))
		return -EINVAL;
	if (zone) {
		memcpy(buf, text, (size_t)(zone - text));
		buf[zone - text] = '\0';
		text = buf;
	}
	ip.family = strchr(text, ':') ? 6 : 4;
	if (inet_pton(ip.family == 4 ? AF_INET : AF_INET6, text, ip.byte) != 1)
		return -EINVAL;
	*ret = ip;
	return 0;
}

/* The value of a hex digit plus one, so that zero is none. */
static const unsigned char hex[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* "fe80:0000:…": always 39 characters, so that no general parser is needed; there are thousands in
 * a step. */
static int parse_groups(const char *text, unsigned char *byte)
{
	int i;

	for (i = 0; i < 16; i++) {
		int high = hex[(unsigned char)text[0]];
		int low = high ? hex[(unsigned char)text[1]] : 0;

		if (!low)
			return -EINVAL;
		byte[i] = (unsigned char)((high - 1) << 4 | (low - 1));
		text += 2;
		if (i % 2 && *text++ != (i < 15 ? ':' : '\0'))
			return -EINVAL;
	}
	return 0;
}

int nca_ip_parse_gid(const char *text, struct nca_ip *ret)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct nca_ip ip = {.family = 6};
	int rc = text ? parse_groups(text, ip.byte) : -EINVAL;

	if (rc && (nca_ip_parse(text, &ip) || ip.family != 6))
		return -EINVAL;
	if (!memcmp(ip.byte, mapped, sizeof(mapped))) {
		memmove(ip.byte, ip.byte + 12, 4);
		memset(ip.byte + 4, 0, 12);
		ip.family = 4;
	}
	*ret = ip;
	return 0;
}

static char *decimal(char *to, unsigned char value, char end)
{
	if (value >= 100)
		*to++ = (char)('0' + value / 100);
	if (value >= 10)
		*to++ = (char)('0' + value / 10 % 10);
	*to++ = (char)('0' + value % 10);
	*to++ = end;
	return to;
}

const char *nca_ip_text(const struct nca_ip *ip, char *buf)
{
	char *to = buf;
	int i;

	buf[0] = '\0';
	if (ip->family == 4)
		for (i = 0; i < 4; i++)
			to = decimal(to, ip->byte[i], i < 3 ? '.' : '\0');
	else if (ip->family)
		inet_ntop(AF_INET6, ip->byte, buf, NCA_ADDR_TEXT);
	return buf;
}

int nca_ip_compare(const struct nca_ip *a, const struct nca_ip *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->byte, b->byte, sizeof(a->byte));
}

bool nca_ip_is_loopback(const struct nca_ip *ip)
{
	static const unsigned char one[16] = {[15] = 1};

	return ip->family == 4 ? ip->byte[0] == 127 : !memcmp(ip->byte, one, sizeof(one));
}

bool nca_ip_is_link_local(const struct nca_ip *ip)
{
	if (ip->family == 4)
		return ip->byte[0] == 169 && ip->byte[1] == 254;
	return ip->byte[0] == 0xfe && (ip->byte[1] & 0xc0) == 0x80;
}

bool nca_ip_is_zero(const struct nca_ip *ip)
{
	static const unsigned char zero[16];

	return !memcmp(ip->byte, zero, sizeof(zero));
}

/* Sets or clears the bits behind the first len. */
static void fill_behind(struct nca_ip *ip, int len, bool ones)
{
	int i = len / 8, bytes = nca_ip_bits(ip) / 8;
	unsigned char mask = (unsigned char)(0xff >> len % 8);

	for (; i < bytes; i++, mask = 0xff)
		ip->byte[i] = (unsigned char)(ones ? ip->byte[i] | mask : ip->byte[i] & ~mask);
}

struct nca_prefix nca_ip_prefix(const struct nca_ip *ip, int len)
{
	struct nca_prefix prefix = {*ip, nca_ip_bits(ip)};

	if (len >= 0 && len < prefix.len)
		prefix.len = len;
	fill_behind(&prefix.ip, prefix.len, false);
	return prefix;
}

int nca_prefix_parse(const char *text, int family, struct nca_prefix *ret)
{
	struct nca_ip ip = {.family = (unsigned char)family};
	char buf[NCA_ADDR_TEXT];
	size_t n = text ? strcspn(text, "/") : 0;
	unsigned int len = 0;

	if (text && streq(text, "default")) {
		*ret = nca_ip_prefix(&ip, 0);
		return 0;
	}
	if (!n || n >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, text, n);
	buf[n] = '\0';
	if (nca_ip_parse(buf, &ip) || (family && ip.family != family))
		return -EINVAL;
	if (text[n] && nca_parse_u32(text + n + 1, 0, (unsigned int)nca_ip_bits(&ip), &len))
		return -EINVAL;
	*ret = nca_ip_prefix(&ip, text[n] ? (int)len : -1);
	return 0;
}

bool nca_prefix_has(const struct nca_prefix *prefix, const struct nca_ip *ip)
{
	int whole = prefix->len / 8, rest = prefix->len % 8, i;

	if (prefix->ip.family != ip->family)
		return false;
	for (i = 0; i < whole; i++)
		if (prefix->ip.byte[i] != ip->byte[i])
			return false;
	return !rest || (prefix->ip.byte[whole] ^ ip->byte[whole]) >> (8 - rest) == 0;
}

struct nca_ip nca_prefix_last(const struct nca_prefix *prefix)
{
	struct nca_ip last = prefix->ip;

	fill_behind(&last, prefix->len, true);
	return last;
}

bool nca_prefix_same(const struct nca_prefix *a, const struct nca_prefix *b)
{
	return a->len == b->len && nca_ip_compare(&a->ip, &b->ip) == 0;
}
