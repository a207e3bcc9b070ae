/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's lists of names, as NCCL_SOCKET_IFNAME and NCCL_IB_HCA hold them. Pure. */
#ifndef NCA_NAMES_H
#define NCA_NAMES_H

#include <nca/util.h>

/*
 * Would NCCL take a device of that name (and port; -1: none, as for interfaces) by this list?
 * Rules of parseStringList() and matchIf() (src/misc/utils.cc, 2.5.6 to 2.30.7): "^" excludes, then
 * "=" means whole names, else an entry is a prefix; both stand once, before the whole list;
 * "name:port" names a port; blanks and "=" inside the list belong to a name; an empty list takes
 * all; of sockets, a list of one character counts as empty.
 */
bool nca_names_match(const char *list, const char *name, int port);

/* Is the list of whole names? */
bool nca_names_exact(const char *list);

/* What makes a list mean something else than it seems to, and the cure; NULL: nothing. A constant
 * text. */
const char *nca_names_fault(const char *list);

/* The entry after `at` (NULL: the first), its name being n bytes long; NULL: there is no other. */
const char *nca_names_next(const char *list, const char *at, size_t *n);

#endif
