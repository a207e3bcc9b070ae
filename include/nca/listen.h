/* SPDX-License-Identifier: Apache-2.0 */
/* Listening TCP sockets. libc only: the plugin links it too. */
#ifndef NCA_LISTEN_H
#define NCA_LISTEN_H

/*
 * Listens on a port of every address, IPv6 and IPv4 at once, IPv4 alone where the kernel has no
 * IPv6; port 0: the kernel's choice. Non-blocking, closed on exec, without SO_REUSEADDR: a port in
 * TIME_WAIT counts as taken. The socket, or -errno.
 */
int nca_listen(int port);

/* The port that a socket is bound to, or -errno. */
int nca_listen_port(int fd);

#endif
