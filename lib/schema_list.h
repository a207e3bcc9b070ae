/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a document as the schema's reader and writer see them: every NCA_LIST() has one of
 * these layouts. */
#ifndef NCA_SCHEMA_LIST_H
#define NCA_SCHEMA_LIST_H

#include <nca/schema.h>

struct nca_strs_list {
	char **v;
	size_t n;
};

struct nca_ints_list {
	int *v;
	size_t n;
};

struct nca_any_list {
	void *v;
	size_t n;
};

struct nca_pairs_list {
	struct nca_pair *v;
	size_t n;
};

struct nca_rows_list {
	struct nca_row *v;
	size_t n;
};

#endif
