/* SPDX-License-Identifier: Apache-2.0 */
/* Whose MAC stands in the kernel's table. */
#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libmnl/libmnl.h>

#include <nca/addr.h>

#include "lib/pinger_parts.h"
#include "lib/probe_parts.h"

static void put_neighbour(char *buf, size_t *len, int ifindex, int family, const char *dst,
			  const char *mac)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf + *len);
	struct ndmsg *ndm;
	char addr[16];

	nlh->nlmsg_type = RTM_NEWNEIGH;
	ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));
	ndm->ndm_family = (unsigned char)family;
	ndm->ndm_ifindex = ifindex;
	assert_int_equal(inet_pton(family, dst, addr), 1);
	mnl_attr_put(nlh, NDA_DST, family == AF_INET ? 4 : 16, addr);
	if (mac)
		mnl_attr_put(nlh, NDA_LLADDR, 6, mac);
	*len += nlh->nlmsg_len;
}

static void test_neighbour(void **state)
{
	static const struct {
		int ifindex;
		const char *ip, *mac;
	} rows[] = {
		{2, "10.0.0.1", "02:00:00:00:00:01"},
		{3, "10.0.0.1", "02:00:00:00:00:02"},
		{4, "10.0.0.1", NULL},
		{2, "10.0.0.2", NULL},
		{2, "fe80::1", "02:00:00:00:00:03"},
		{2, "a00:1::", NULL},
		{2, "10.0.0.3", NULL},
	};
	char buf[1024] __attribute__((aligned(8)));
	struct nca_dump dump = {.data = buf};
	nca_autopool struct nca_pool *pool = nca_pool_new();
	size_t i;

	(void)state;
	put_neighbour(buf, &dump.len, 2, AF_INET, "10.0.0.1", "\2\0\0\0\0\1");
	put_neighbour(buf, &dump.len, 3, AF_INET, "10.0.0.1", "\2\0\0\0\0\2");
	put_neighbour(buf, &dump.len, 2, AF_INET6, "fe80::1", "\2\0\0\0\0\3");
	put_neighbour(buf, &dump.len, 2, AF_INET, "10.0.0.2", NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nca_ip ip;
		char *mac;

		assert_int_equal(nca_ip_parse(rows[i].ip, &ip), 0);
		mac = nca_neighbour_find(&dump, rows[i].ifindex, &ip, pool);
		assert_true(rows[i].mac ? nca_same(mac, rows[i].mac) : !mac);
	}
	dump.len -= 1; /* the last is not whole */
	assert_non_null(nca_neighbour_find(&dump, 2, &(struct nca_ip){4, {10, 0, 0, 1}}, pool));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
