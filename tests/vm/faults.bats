#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Every fault of the table in three virtual machines: what check says, and the healthy job after each.
#
# shellcheck disable=SC2154 # bats sets output

bats_require_minimum_version 1.5.0

setup() {
	((EUID == 0)) || skip "needs root"
	type -P qemu-system-x86_64 >/dev/null || skip "needs QEMU"
	VMLAB=$BATS_TEST_DIRNAME/../../contrib/vmlab
}

@test "every fault is found, with its node, HCA and direction, and nothing where there is none" {
	run timeout 840 "$VMLAB" faults
	echo "$output"
	((status == 0))
	rows=$("$BATS_TEST_DIRNAME/../../contrib/lab.d/vm-faults" list | wc -l)
	[[ ${lines[-1]} == "$((2 * rows + 1)) passed, 0 failed" ]]
}

@test "a row that there is not" {
	run -1 "$VMLAB" faults nothing
	[[ $output == *'no such row: nothing'* ]]
}
