#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The comparison behind contrib/vmlab faults: a preflight that says the same of everything passes nothing.
#
# shellcheck disable=SC2154 # bats sets output

bats_require_minimum_version 1.5.0

setup() {
	FAULTS=$BATS_TEST_DIRNAME/../../contrib/lab.d/vm-faults
	DATA=$BATS_TEST_DIRNAME/faults # recorded in such a lab
}

# changed NAME PYTHON: a recorded file in which something else stands
changed() {
	python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
f = d['preflight']['findings']
$2
json.dump(d, sys.stdout)" "$DATA/$1.json" >"$BATS_TEST_TMPDIR/changed.json"
}

# differs NAME: from the changed file
differs() {
	run -1 "$FAULTS" compare "$1" "$BATS_TEST_TMPDIR/changed.json"
}

@test "what was recorded is what the table says" {
	for name in healthy rdma-in port-down; do
		run -0 "$FAULTS" compare "$name" "$DATA/$name.json"
	done
	run -0 "$FAULTS" compare agent-dies "$DATA/agent-dies.txt"
}

@test "a preflight that always says healthy fails every row; only a bond's failover is one" {
	passed=()
	for row in $("$FAULTS" list); do
		! "$FAULTS" compare "$row" "$DATA/healthy.json" || passed+=("$row")
	done
	(("$("$FAULTS" list | wc -l)" > 20))
	[[ ${passed[*]} == slave-down/3 ]]
}

@test "a preflight that always blames fails every control, and every row of another fault" {
	for name in rdma-in port-down; do
		run -1 "$FAULTS" compare healthy "$DATA/$name.json"
		[[ $output == *', expected nothing'* ]]
	done
	run -1 "$FAULTS" compare healthy "$DATA/agent-dies.txt"
	passed=()
	for row in $("$FAULTS" list); do
		! "$FAULTS" compare "$row" "$DATA/rdma-in.json" || passed+=("$row")
	done
	[[ ${passed[0]} == rdma-in/3 ]]
	for row in "${passed[@]:1}"; do # one way of being deaf looks like another
		[[ $row == @(acks|rp-filter)/3 ]]
	done
}

@test "code, node, HCA and direction are compared exactly, and one finding too many is one" {
	for change in "f[0]['code'] = 'rdma-large'" "f[0]['node'] = 'node3'" "del f[0]['node']" "f[0]['hca'] = 'mlx5_1:1'" \
		"del f[0]['hca']" "f[0]['direction'] = 'out'" "del f[0]['direction']" "f[0]['peer'] = 'node1'" \
		"f.append(dict(f[0], node='node3'))" "f.clear()"; do
		changed rdma-in "$change"
		differs rdma-in
		[[ $output == found*expected* ]]
	done
}

@test "what the planner saw: the HCA is the one that only that node rejects" {
	changed port-down "d['plan']['warnings'][0]['node'] = 'node3'"
	differs port-down
	changed port-down "
for n in d['plan']['nodes']:
    n['decisions'] = [dict(x, rule='port-down') if x['subject'] == 'mlx5_0:1' else x for x in n['decisions']]"
	differs port-down
	[[ $output == *'found rail-down node2 - - -'* ]]
}

@test "a control that was not tested, or has no preflight at all, is none" {
	changed healthy "d['preflight']['verdict'] = 'untested'"
	differs healthy
	changed healthy "del d['preflight']"
	differs healthy
	[[ $output == *'has tested nothing'* ]]
}

@test "bad usage and a row that there is not" {
	run -2 "$FAULTS"
	run -2 "$FAULTS" compare healthy
	run -1 "$FAULTS" compare nothing "$DATA/healthy.json"
	[[ $output == *'no such row: nothing: vm-faults list names them' ]]
	run -1 "$FAULTS" run nothing
	[[ $output == *'no such row: nothing'* ]]
}
