#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The architecture as a test, by nm: the decision does no I/O, and the plugin needs and exports only what it should.
# Looks at the build in LAB_BUILDDIR; prints TAP.
set -u

build=${LAB_BUILDDIR:-.}
archive=$build/lib/.libs/libpure.a
plugin=$build/plugin/.libs/spank_nccl_autoconf.so
[ -e "$plugin" ] || plugin=

# What reads or writes anything outside the arguments. vsnprintf and snprintf write to memory; jansson's dump and load
# functions for files are not in the list of what the pure code calls either.
io='^(open|openat|fopen|fopen64|fdopen|read|write|pread|pwrite|socket|connect|bind|accept|send|recv|sendto|recvfrom|poll|select|epoll_.*|ioctl|getenv|secure_getenv|setenv|time|clock_gettime|gettimeofday|printf|puts|fputs|fprintf|vfprintf|perror|system|popen|fork|vfork|execv.*|execl.*|stat|lstat|fstat|readlink|opendir|getaddrinfo|gethostname|getpid|getuid|random|rand|getrandom|syslog|exit|_exit|abort|json_load_file|json_loadf|json_loadfd|json_dump_file|json_dumpf|json_dumpfd)$'

# The tables of words and pins print their own help to a stream that the caller opens.
excused='^(option|pin)\.o: (fprintf|fputs|fwrite)$'

n=0
check() # NAME FOUND
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		echo "$2" | sed 's/^/# /'
	fi
}

if [ -n "$plugin" ]; then echo 1..4; else echo 1..1; fi

found=$(nm -u --format=posix -A "$archive" | sed -n 's/.*\[\(.*\)\]: \([^ @]*\).*/\1: \2/p' |
	sed 's/^libpure_la-//' | grep -E ": ${io#^}" | sed 's/__.*_chk$//' | grep -vE "$excused")
check 'pure objects do no I/O' "$found"

if [ -n "$plugin" ]; then
	found=$(nm -D --defined-only --format=posix "$plugin" | cut -d' ' -f1 |
		grep -vE '^(plugin_(name|type|version)|slurm_spank_[a-z_]+)$')
	check 'the plugin exports only what Slurm looks for' "$found"

	found=$(nm -D -u --format=posix "$plugin" | cut -d' ' -f1 |
		grep -vE '@GLIBC_|^(spank_[a-z_]+|slurm_(error|info|get_srun_port_range)|_ITM_.*|__gmon_start__)$')
	check "the plugin needs only libc and Slurm's documented calls" "$found"

	found=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libc\.so')
	check 'the plugin loads only libc' "$found"
fi
