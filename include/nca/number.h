/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in text, read strictly. Pure and libc only: the plugin links it too. */
#ifndef NCA_NUMBER_H
#define NCA_NUMBER_H

/*
 * The whole of s as a decimal number from min to max: digits only, no sign, no blank. 0, or -EINVAL
 * with *ret as it was.
 */
int nca_parse_u32(const char *s, unsigned int min, unsigned int max, unsigned int *ret);

#endif
