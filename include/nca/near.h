/* SPDX-License-Identifier: Apache-2.0 */
/* Words that somebody may have meant. Pure and libc only: the plugin links it too. */
#ifndef NCA_NEAR_H
#define NCA_NEAR_H

#include <nca/util.h>

/* Room for the names that nca_near_add() collects. */
#define NCA_NEAR_MAX 256

/*
 * Adds ", did you mean KNOWN" or " or KNOWN" to buf, a string of NCA_NEAR_MAX bytes, if the word is
 * near to the known name: by at most two edits, one in words of up to four letters, or as its
 * beginning of at least three. suffix ("=") is printed behind the name.
 */
void nca_near_add(const char *word, const char *known, const char *suffix, char *buf);

/* Ends what was collected with a question mark; nothing stays nothing. */
void nca_near_end(char *buf);

#endif
