#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside a lab: a bare srun and one with us, in turn. usage: launch.py ROUNDS NODES [FD]; prints JSON.

Seconds of wall time by round, and, where FD is open on the CPU time of the lab's control group (cpu.stat, or
cpuacct.usage of version 1), seconds of CPU by round, of all daemons and up to when they rest again.
"""
import json
import os
import re
import subprocess
import sys
import time

REST = 0.1  # seconds, in which a lab that rests uses less than 2 % of a processor


def usage(fd):
    text = os.pread(fd, 4096, 0).decode()
    found = re.match(r'usage_usec (\d+)', text)
    return int(found[1]) / 1e6 if found else int(text) / 1e9


def rest(fd):
    """CPU time used when the daemons have come to rest; after five seconds whatever they do."""
    before, deadline = usage(fd), time.monotonic() + 5
    while True:
        time.sleep(REST)
        after = usage(fd)
        if after - before < 0.02 * REST or time.monotonic() > deadline:
            return after
        before = after


def step(options, nodes, fd):
    before = rest(fd) if fd >= 0 else 0
    start = time.monotonic()
    subprocess.run(['srun', '-Q', '--immediate=30', *options, f'-N{nodes}', 'true'], check=True,
                   stderr=subprocess.DEVNULL)
    wall = time.monotonic() - start
    return wall, rest(fd) - before if fd >= 0 else 0


def main():
    rounds, nodes, fd = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else -1
    kinds = {'bare': [], 'ours': ['--nccl-autoconf=quiet']}
    figures = {kind: {'wall': [], 'cpu': []} for kind in kinds}
    for n in range(-1, rounds):
        for kind, options in kinds.items():
            wall, cpu = step(options, nodes, fd)
            if n >= 0:  # the first reads files for all others
                figures[kind]['wall'].append(wall)
                figures[kind]['cpu'].append(cpu)
    print(json.dumps(figures))


if __name__ == '__main__':
    main()
