/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in text. */
#include <errno.h>
#include <stddef.h>

#include <nca/number.h>

int nca_parse_u32(const char *s, unsigned int min, unsigned int max, unsigned int *ret)
{
	unsigned long long v = 0;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] < '0' || s[i] > '9' || i >= 10)
			return -EINVAL;
		v = v * 10 + (unsigned long long)(s[i] - '0');
	}
	if (i == 0 || v < min || v > max)
		return -EINVAL;
	*ret = (unsigned int)v;
	return 0;
}
