#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside a lab: wall time of a bare srun and of one with us, in turn. usage: launch.py ROUNDS NODES; prints JSON."""
import json
import statistics
import subprocess
import sys
import time


def seconds(options, nodes):
    start = time.monotonic()
    subprocess.run(['srun', '-Q', '--immediate=30', *options, f'-N{nodes}', 'true'], check=True,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    rounds, nodes = int(sys.argv[1]), sys.argv[2]
    bare, ours = [], []
    seconds([], nodes)
    seconds(['--nccl-autoconf=quiet'], nodes)
    for _ in range(rounds):
        bare.append(seconds([], nodes))
        ours.append(seconds(['--nccl-autoconf=quiet'], nodes))
    print(json.dumps({'bare': statistics.median(bare), 'ours': statistics.median(ours),
                      'bare_all': bare, 'ours_all': ours}))


if __name__ == '__main__':
    main()
