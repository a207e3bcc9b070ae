# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For bats files that ask the real NCCL which interface it takes.  Read from the environment: NCCL_LIB, libnccl.so.2 as
# configure has found it.

# build_uniqueid: in setup_file; where the lab's user may run it
build_uniqueid() {
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -o "$BATS_FILE_TMPDIR/uniqueid" \
		"$BATS_TEST_DIRNAME/../nccl/uniqueid.c" -ldl
}

# need_nccl: in setup; sets UNIQUEID, the command, and LAB
need_nccl() {
	((EUID == 0)) || skip "needs root"
	[[ -n ${NCCL_LIB-} ]] || skip "configure found no NCCL: give it --with-nccl=PREFIX"
	# shellcheck disable=SC2034 # for the tests
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	# shellcheck disable=SC2034 # for the tests
	UNIQUEID="$BATS_FILE_TMPDIR/uniqueid $NCCL_LIB"
}
