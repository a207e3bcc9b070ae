#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: contrib/lab.d/plugin.sh INCLUDE PLUGIN
#
# Compiles the SPANK plugin against the Slurm headers below the directory
# INCLUDE (INCLUDE/slurm/spank.h) and writes it to PLUGIN.  The plugin needs
# nothing but libc and the header, so this machine's compiler makes one for any
# Slurm release without configure.  CC and CFLAGS are respected.

set -euo pipefail

src=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
(($# == 2)) || { sed -n 's/^# \(Usage: .*\)/\1/p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[[ -f $1/slurm/spank.h ]] || {
	printf 'plugin.sh: no slurm/spank.h below %s: install or unpack libslurm-dev there\n' "$1" >&2
	exit 1
}

# What it is made of, and what it exports, is written in one place only.
mapfile -t sources < <(sed -n '/^plugin_spank_nccl_autoconf_la_SOURCES/,/[^\\]$/p' "$src/Makefile.am" | grep -oE '[a-z_]+/[a-z_]+\.c')
((${#sources[@]})) || { printf 'plugin.sh: no list of sources in %s/Makefile.am\n' "$src" >&2; exit 1; }

cd -- "$src"
read -r -a words <<<"${CC:-cc} ${CFLAGS--g}"
exec "${words[@]}" -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -DNCA_HELPER='"/usr/bin/nccl-autoconf"' \
	-I. -Iinclude -isystem "$1" -fPIC -shared -Wl,-z,relro,-z,now,-z,noexecstack \
	-Wl,--version-script=plugin/spank.map -o "$2" "${sources[@]}"
