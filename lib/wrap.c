/* SPDX-License-Identifier: Apache-2.0 */
/* Text in columns. */
#include <string.h>

#include <nca/wrap.h>

size_t nca_wrap_fitting(const char *text, size_t columns)
{
	size_t n = 0, i;

	if (strlen(text) <= columns)
		return strlen(text);
	for (i = 0; text[i] && (i < columns || !n); i++)
		if (text[i] == ' ' || (text[i] == ',' && i + 1 < columns))
			n = i + 1;
	return n ? n : strlen(text);
}
