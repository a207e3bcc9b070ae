/* SPDX-License-Identifier: Apache-2.0 */
#include <netdb.h>
#include <sys/socket.h>

#include "master_name.h"

void nca_master_name_resolve(struct nca_job *job, struct nca_pool *pool)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct nca_node *first = job->nodes.v;
	const char *set = nca_pairs_get(first->environment, "MASTER_ADDR");
	struct addrinfo *list;
	char text[NI_MAXHOST];

	if (!set || !nca_node_is_named(first, set))
		return;
	/* resolv.conf(5): a name server that does not answer must not keep the step waiting. */
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);
	if (getaddrinfo(set, NULL, &hints, &list))
		return;
	if (!getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof(text), NULL, 0,
			 NI_NUMERICHOST))
		first->hostname_resolves_to = nca_pool_strdup(pool, text);
	freeaddrinfo(list);
}
