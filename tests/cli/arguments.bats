#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The options of the commands that people type: what is wrong is one line, and exit status 2.
#
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	NCA=${NCCL_AUTOCONF:-$BATS_TEST_DIRNAME/../../wrapper/nccl-autoconf}
	cd "$BATS_TEST_TMPDIR" || return
}

# refused TEXT COMMAND [ARG...]: the command says "COMMAND: TEXT" and nothing else
refused() {
	run --separate-stderr -2 timeout 20 "$NCA" "${@:2}"
	[[ -z $output && $stderr == "nccl-autoconf: $2: $1" ]] || { printf '%s\n' "$output" "$stderr"; return 1; }
}

commands=(check env hostfile plan show snapshot trainers)

@test "--help prints the command's, whatever else stands there" {
	local c
	for c in "${commands[@]}"; do
		run --separate-stderr -0 "$NCA" "$c" x --help
		[[ -z $stderr && $output == "usage: nccl-autoconf $c"* ]]
	done
}

@test "an option that there is not, and the one that was meant" {
	refused "bad option --jsn, did you mean --json?" show --jsn
	refused "bad option --conv=x, did you mean --conf?" show --conv=x
	refused "bad option --nothing-like-it" show --nothing-like-it
	refused "bad option --=x" env --=x
	refused "bad option -j" trainers -j
	refused "bad option -x" trainers -xyz
	refused "bad option -h" check -h
}

@test "what may be two options is none" {
	refused "bad option --s, did you mean --svg or --sysroot?" show --s
}

@test "a value that is missing, and one too many" {
	refused "--svg needs a value" check --svg
	refused "--sysroot needs a value" snapshot --sysroot
	refused "--json takes no value" trainers --json=yes
	refused "--help takes no value" plan --help=all
}

@test "a value that is none of those there are" {
	refused "--format=xml: takes shell, docker or json" env --format=xml
	refused "--format=xml: takes deepspeed, openmpi or mpich" hostfile --format=xml
	refused "--slots=0: takes a number from 1 to 65536" hostfile --slots=0
}

@test "an argument where there is none" {
	local c
	for c in check env hostfile show snapshot; do
		refused "takes no argument: x" "$c" x
		refused "takes no argument: -" "$c" -
		refused "takes no argument: --json" "$c" -- --json
	done
}

@test "the beginning of a name will do, and the last of two counts" {
	run -0 "$NCA" trainers --js torchrun
	[[ $output == "["* ]]
	run --separate-stderr -0 "$NCA" plan --conf=first --co=second "$BATS_TEST_DIRNAME/../jobs/020.json"
	[[ $stderr == *"second: No such file or directory"* && $stderr != *first* ]]
}
