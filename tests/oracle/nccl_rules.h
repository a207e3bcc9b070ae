/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NCCL does with the variables that are set for it, by version: an implementation of its own,
 * for tests, which the recorded rows beside it (lists.tsv, interfaces.tsv, gids.tsv) hold to what
 * NCCL's code answers.
 */
#ifndef NCA_TEST_NCCL_RULES_H
#define NCA_TEST_NCCL_RULES_H

#include <nca/addr.h>

/* The versions of the recorded rows, as 10000 * major + 100 * minor + patch. */
#define NCCL_VERSIONS 6
extern const int nccl_versions[NCCL_VERSIONS];
extern const char *const nccl_version_names[NCCL_VERSIONS];

/* Does NCCL_IB_HCA=list (NULL: unset) take a port? Entries behind the 32nd are not read. */
bool nccl_takes_port(const char *list, const char *device, int port, int version);

/* One entry of getifaddrs(). */
struct nccl_ifaddr {
	const char *name;
	struct nca_ip ip;
	bool running;
};

/*
 * The interfaces that NCCL uses, at most `most` (1 for the bootstrap, 16 for NET/Socket): indexes
 * into ifs. ifname and family are NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY, NULL: unset. Returns
 * how many.
 */
size_t nccl_interfaces(const struct nccl_ifaddr *ifs, size_t n, const char *ifname,
		       const char *family, int version, size_t most, size_t *ret);

/* One populated entry of a RoCE port's table. */
struct nccl_gid {
	int index;
	int roce; /* 1 or 2 */
	unsigned char raw[16];
};

/* The 16 bytes of an address as a GID. */
void nccl_gid_raw(const struct nca_ip *ip, unsigned char *raw);

#define NCCL_GID_ERROR (-2)
#define NCCL_GID_CRASH (-3)

/*
 * The GID index that NCCL uses on a RoCE port whose table has `length` entries; the strings are
 * NCCL_IB_GID_INDEX, NCCL_IB_ADDR_FAMILY and NCCL_IB_ADDR_RANGE, NULL: unset.
 */
int nccl_gid_index(const struct nccl_gid *gids, size_t n, int length, const char *index,
		   const char *family, const char *range, int version);

#endif
