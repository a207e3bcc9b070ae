/* SPDX-License-Identifier: Apache-2.0 */
/* Words that somebody may have meant. */
#include <stdio.h>

#include <nca/near.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edit distance of two words of at most 31 characters; longer ones are far from everything. */
static size_t distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j, row[32];

	if (la > 31 || lb > 31)
		return 31;
	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			size_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

static void append(char *buf, const char *text)
{
	size_t n = strlen(buf);

	snprintf(buf + n, NCA_NEAR_MAX - n, "%s", text);
}

void nca_near_add(const char *word, const char *known, const char *suffix, char *buf)
{
	if (distance(word, known) > (strlen(word) > 4 ? 2 : 1) &&
	    (strlen(word) < 3 || !nca_has_prefix(known, word)))
		return;
	append(buf, buf[0] ? " or " : ", did you mean ");
	append(buf, known);
	append(buf, suffix);
}

void nca_near_end(char *buf)
{
	if (buf[0])
		append(buf, "?");
}
