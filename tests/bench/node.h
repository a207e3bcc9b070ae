/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes to measure with, and how figures are printed. */
#ifndef BENCH_NODE_H
#define BENCH_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include <nca/util.h>

/* HCAs and rails of a node. */
#define BENCH_RAILS 8

/* Room for a node's text. */
#define BENCH_NODE_MAX 32768

/* Node number i (up to 60,000) as hwdesc/1: eight HCAs, InfiniBand or RoCE with one network per
 * rail, and a bond beside them. */
void bench_write_node(char *buf, size_t size, bool roce, size_t i);

/* The root: a cost that grows by factor over so many doublings grows by this in each. */
double bench_per_doubling(double factor, int doublings);

/* One line for tests/bench/run, fields divided by tabs: name, value, unit, baseline, goal, met. */
void bench_print(const char *name, double value, const char *unit, const char *baseline,
		 double goal);

#endif
