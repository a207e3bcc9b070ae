/* SPDX-License-Identifier: Apache-2.0 */
/* The preflight's result as nodes by rails, for people: a table and a picture. Pure. */
#ifndef NCA_GRID_H
#define NCA_GRID_H

#include <nca/preflight.h>

struct nca_grid_rail {
	int rail;
	char *name; /* of its HCA port where that is the same on all nodes, else "rail 3" */
	bool named; /* it is */
};

struct nca_grid_row {
	const char *node;
	const struct nca_tested **cells; /* one per rail; NULL: the node has none there */
	bool ok;			 /* all of them are */
};

typedef NCA_LIST(const struct nca_grid_row *) nca_grid_rows;

struct nca_grid {
	NCA_LIST(struct nca_grid_rail) rails; /* by number */
	NCA_LIST(struct nca_grid_row) rows;   /* as the result has them */
	size_t bad;			      /* rows that are not ok */
};

/* Sorts the result's ports into the grid, which points into it. Where a node has two ports in one
 * rail, the first counts. -ENOMEM. */
int nca_grid_make(const struct nca_preflight *result, struct nca_pool *pool, struct nca_grid *ret);

/* What stands in a cell: the state, and the port where the rail has no name; "-": no port. NULL
 * when memory is short. */
const char *nca_grid_cell(const struct nca_grid *grid, const struct nca_grid_row *row, size_t rail,
			  struct nca_pool *pool);

/* The rows that are worth their room: all where there are at most `max`, else only those that are
 * not ok, and at most `max` of them. -ENOMEM. */
int nca_grid_pick(const struct nca_grid *grid, size_t max, struct nca_pool *pool,
		  nca_grid_rows *ret);

/* What the rows are that were not picked, as "62 more nodes: ok on all rails"; "" where all were.
 * NULL when memory is short. */
const char *nca_grid_rest(const struct nca_grid *grid, const nca_grid_rows *picked,
			  struct nca_pool *pool);

/* "degraded: 1 of 128 HCA ports not ok, on 1 of 16 nodes; tested in 0.4 s". NULL when memory is
 * short. */
const char *nca_grid_headline(const struct nca_preflight *result, const struct nca_grid *grid,
			      struct nca_pool *pool);

/* "rdma-dead: node2 mlx5_0:1: it receives nothing…". NULL when memory is short. */
const char *nca_grid_finding(const struct nca_finding *finding, struct nca_pool *pool);

/* The table, line by line, below a line of headings; no line where there is no row to show. Rails
 * that do not fit into 100 columns stand in a table below. -ENOMEM. */
int nca_grid_table(const struct nca_grid *grid, struct nca_pool *pool, nca_strs *lines);

/*
 * The same as SVG 1.1: a box per HCA port with its state in words and as colour; the headline, and
 * below it what was found. NULL when memory is short.
 */
char *nca_grid_picture(const struct nca_preflight *result, const struct nca_grid *grid,
		       struct nca_pool *pool);

#endif
