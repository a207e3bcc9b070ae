/* SPDX-License-Identifier: Apache-2.0 */
/* Numeric addresses as sockets take them. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include <nca/sockaddr.h>

int nca_sockaddr_parse(const char *text, int port, struct sockaddr_storage *ret, socklen_t *len,
		       struct nca_error *err)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *list;
	char service[16];

	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(text, service, &hints, &list))
		return nca_fail(err, -EINVAL, "%s port %d: not an IP address", text, port);
	memcpy(ret, list->ai_addr, list->ai_addrlen);
	*len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}
