/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's choice of interfaces, HCA ports and GIDs. */
#include <stdio.h>

#include "nccl_rules.h"

/* The first release that does so. */
#define SINCE_AUTO_GID 22100
#define SINCE_HOLES 22602   /* gid_attrs/types/N may be unreadable */
#define SINCE_RANGE 22200   /* a range without "/" is no crash */
#define SINCE_RUNNING 22803 /* IFF_RUNNING is required, virbr is last */
#define SINCE_RAILS 23005   /* name:port:rail:plane, an empty port is none */

#define LIST_MAX 32
#define IFS_MAX 16

const int nccl_versions[NCCL_VERSIONS] = {21806, 22005, 22105, 22606, 22809, 23007};
const char *const nccl_version_names[NCCL_VERSIONS] = {"2.18.6", "2.20.5", "2.21.5",
						       "2.26.6", "2.28.9", "2.30.7"};

struct entry {
	char name[256];
	int port; /* -1: any */
};

struct list {
	bool excludes, whole;
	struct entry entry[LIST_MAX];
	size_t n;
};

static void read_entry(struct entry *e, const char *text, size_t len, int version)
{
	const char *colon = memchr(text, ':', len);
	size_t n = colon ? (size_t)(colon - text) : len;
	bool empty = colon && (colon + 1 == text + len || colon[1] == ':');

	snprintf(e->name, sizeof(e->name), "%.*s", (int)n, text);
	e->port = !colon || (empty && version >= SINCE_RAILS) ? -1 : atoi(colon + 1);
}

static void read_list(struct list *list, const char *text, size_t most, int version)
{
	*list = (struct list){.excludes = text && *text == '^'};
	if (!text)
		return;
	text += list->excludes;
	list->whole = *text == '=';
	text += list->whole;
	while (*text && list->n < most) {
		size_t len = strcspn(text, ",");

		if (len && *text != ':')
			read_entry(&list->entry[list->n++], text, len, version);
		text += len + (text[len] == ',');
	}
}

static bool takes(const struct list *list, const char *name, int port)
{
	bool found = !list->n;
	size_t i;

	for (i = 0; !found && i < list->n; i++) {
		const struct entry *e = &list->entry[i];

		found = (list->whole ? streq(name, e->name) : nca_has_prefix(name, e->name)) &&
			(port == -1 || e->port == -1 || port == e->port);
	}
	return found != list->excludes;
}

bool nccl_takes_port(const char *list, const char *device, int port, int version)
{
	struct list l;

	read_list(&l, list, LIST_MAX, version);
	return takes(&l, device, port);
}

static size_t find(const struct nccl_ifaddr *ifs, size_t n, const char *text, int family,
		   int version, size_t most, size_t *ret)
{
	size_t i, k, found = 0;
	struct list list;

	read_list(&list, text, IFS_MAX, version);
	for (i = 0; i < n && found < most; i++) {
		if ((version >= SINCE_RUNNING && !ifs[i].running) ||
		    (family && ifs[i].ip.family != family) ||
		    (ifs[i].ip.family == 6 && nca_ip_is_loopback(&ifs[i].ip)) ||
		    !takes(&list, ifs[i].name, -1))
			continue;
		for (k = 0; k < found && !streq(ifs[ret[k]].name, ifs[i].name); k++)
			;
		if (k == found)
			ret[found++] = i;
	}
	return found;
}

size_t nccl_interfaces(const struct nccl_ifaddr *ifs, size_t n, const char *ifname,
		       const char *family, int version, size_t most, size_t *ret)
{
	static const char *const before[] = {"ib", "^docker,lo", "docker", "lo"};
	static const char *const since[] = {"ib", "^docker,lo,virbr", "docker", "lo", "virbr"};
	bool new = version >= SINCE_RUNNING;
	const char *const *order = new ? since : before;
	size_t i, found = 0, steps = new ? ARRAY_SIZE(since) : ARRAY_SIZE(before);
	int want = nca_same(family, "AF_INET") ? 4 : nca_same(family, "AF_INET6") ? 6 : 0;

	if (ifname && strlen(ifname) > 1)
		return find(ifs, n, ifname, want, version, most, ret);
	for (i = 0; i < steps && !found; i++)
		found = find(ifs, n, order[i], want, version, most, ret);
	return found;
}

static const struct nccl_gid *at(const struct nccl_gid *gids, size_t n, int index)
{
	static const struct nccl_gid zero;
	size_t i;

	for (i = 0; i < n; i++)
		if (gids[i].index == index)
			return &gids[i];
	return &zero;
}

/* 4 where the GID maps IPv4, else 6: the zero GID too. */
static int family_of(const struct nccl_gid *g)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(g->raw, mapped, sizeof(mapped)) ? 6 : 4;
}

/* Only fe80::/64 counts as link-local, and no IPv4 address does. */
static bool is_valid(const struct nccl_gid *g)
{
	static const unsigned char zero[16], local[8] = {0xfe, 0x80};

	return memcmp(g->raw, zero, 16) && memcmp(g->raw, local, 8);
}

struct want {
	int family;
	struct nca_ip range;
	int length;
};

/* A range of another family, or that cannot be read, holds everything. */
static int read_range(const char *text, struct want *want, int version)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	char addr[64];

	want->length = 0;
	if (!text || !*text)
		return 0;
	if (!slash)
		return version >= SINCE_RANGE ? 0 : NCCL_GID_CRASH;
	snprintf(addr, sizeof(addr), "%.*s", (int)(slash - text), text);
	if (nca_ip_parse(addr, &want->range) || want->range.family != want->family)
		return 0;
	want->length = atoi(slash + 1);
	if (want->length > nca_ip_bits(&want->range) || want->length < 0)
		want->length = 0;
	return 0;
}

/* An IPv4 range is compared with the last four bytes, whatever the family of the GID. */
static bool is_inside(const struct nccl_gid *g, const struct want *want)
{
	struct nca_ip ip = {.family = (unsigned char)want->family};
	struct nca_prefix prefix = nca_ip_prefix(&want->range, want->length);

	if (!want->length)
		return true;
	memcpy(ip.byte, g->raw + (want->family == 4 ? 12 : 0), want->family == 4 ? 4 : 16);
	return nca_prefix_has(&prefix, &ip);
}

/* Is the candidate better than what was found so far? < 0: NCCL fails. */
static int is_better(const struct nccl_gid *now, const struct nccl_gid *next,
		     const struct want *want, int version)
{
	bool inside = is_inside(next, want);

	if (family_of(next) != family_of(now) && family_of(next) == want->family && inside)
		return 1;
	if (family_of(next) != want->family || !is_valid(next) || !inside)
		return 0;
	if (!now->roce && version < SINCE_HOLES)
		return NCCL_GID_ERROR;
	return next->roce == 2 && (now->roce != 2 || !is_valid(now));
}

int nccl_gid_index(const struct nccl_gid *gids, size_t n, int length, const char *index,
		   const char *family, const char *range, int version)
{
	struct want want = {.family = nca_same(family, "AF_INET6") ? 6 : 4};
	int set = index && *index ? atoi(index) : -1, found = 0, i, rc;

	if (version < SINCE_AUTO_GID)
		return index && *index ? set : 0;
	if (set >= 0)
		return set;
	rc = read_range(range, &want, version);
	for (i = 1; !rc && i < length; i++) {
		int better = is_better(at(gids, n, found), at(gids, n, i), &want, version);

		if (better < 0)
			return better;
		found = better ? i : found;
	}
	return rc ? rc : found;
}

void nccl_gid_raw(const struct nca_ip *ip, unsigned char *raw)
{
	memset(raw, 0, 16);
	if (ip->family == 4)
		raw[10] = raw[11] = 0xff;
	memcpy(raw + (ip->family == 4 ? 12 : 0), ip->byte, ip->family == 4 ? 4 : 16);
}
