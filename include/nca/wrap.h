/* SPDX-License-Identifier: Apache-2.0 */
/* Text in columns. Pure. */
#ifndef NCA_WRAP_H
#define NCA_WRAP_H

#include <stddef.h>

/* How much of the text fits into so many columns: up to and with the last blank or comma; at least
 * one word. */
size_t nca_wrap_fitting(const char *text, size_t columns);

#endif
