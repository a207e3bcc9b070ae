/* SPDX-License-Identifier: Apache-2.0 */
/* Numeric addresses as sockets take them. */
#ifndef NCA_SOCKADDR_H
#define NCA_SOCKADDR_H

#include <sys/socket.h>

#include <nca/error.h>

/* IPv4 or IPv6, with "%scope" if there is one; no name is looked up. -EINVAL with the text. */
int nca_sockaddr_parse(const char *text, int port, struct sockaddr_storage *ret, socklen_t *len,
		       struct nca_error *err);

#endif
