/* SPDX-License-Identifier: Apache-2.0 */
/* A preflight of one node on the HCAs of fake_verbs.h, with a sysfs tree of their own. */
#ifndef NCA_TEST_PING_CASE_H
#define NCA_TEST_PING_CASE_H

#include "tree.h"

#include "fake_verbs.h"
#include "lib/pinger_parts.h"

#define QPS 4
#define IB(n) "sys/class/infiniband/mlx5_" n "/ports/1/"
#define GID_A "0000:0000:0000:0000:0000:ffff:0a0b:000b"
#define GID_B "0000:0000:0000:0000:0000:ffff:0a0b:000c"

extern struct ping_case {
	struct tree tree;
	struct nca_pool *pool;
	struct nca_pinger *pinger;
	struct nca_open open;
	struct nca_opened opened;
	struct nca_link_up up;
	struct nca_linked linked;
	struct nca_pinged pinged;
	struct nca_error err;
} t;

/* Of each test; at its end nothing may be left that was made. */
int ping_set_up(void **state);
int ping_tear_down(void **state);

/* Adds a port to what is asked for, and a partner with what it has published. */
void ask(const char *hca, int port, int gid_index);
struct nca_end *peer(const char *gid, size_t qps);
void add(int port, int set, struct nca_end *end);

/* The three messages. */
int open_them(void);
int link_them(void);
int ping(void);

/* One port with that many sets, each with a partner. */
void run(int sets);

#endif
