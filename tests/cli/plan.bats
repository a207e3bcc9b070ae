#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# nccl-autoconf plan on documents that people and machines get wrong: a message with the place, and exit status 2.
#
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	NCA=${NCCL_AUTOCONF:-$BATS_TEST_DIRNAME/../../wrapper/nccl-autoconf}
	JOBS=$BATS_TEST_DIRNAME/../jobs
	cd "$BATS_TEST_TMPDIR" || return
}

# refused TEXT [ARG...]: plan ARG... says TEXT, prints no plan and exits with 2
refused() {
	run --separate-stderr -2 timeout 20 "$NCA" plan --json "${@:2}"
	[[ -z $output ]]
	[[ $stderr == "nccl-autoconf: "*"$1"* ]] || { echo "$stderr"; return 1; }
	(($(wc -l <<<"$stderr") == 1))
}

@test "a file that is not there, a directory, an empty file" {
	refused "nothing.json: No such file or directory" nothing.json
	refused ".: Is a directory" .
	: >empty.json
	refused "empty.json: line 1" empty.json
}

@test "truncated: file, line and column" {
	head -c 2000 "$JOBS/m-dgx-h100.json" >cut.json
	refused "cut.json: line " cut.json
}

@test "every truncation of a job is refused with a place, none crashes" {
	local size n
	size=$(stat -c %s "$JOBS/020.json")
	for ((n = 0; n < size - 1; n += 97)); do
		head -c "$n" "$JOBS/020.json" >cut.json
		refused "cut.json: line " cut.json
	done
}

@test "a value of the wrong type: its JSON path" {
	jq '.nodes[1].interfaces[0].mtu = "big"' "$JOBS/020.json" >bad.json
	refused "bad.json: nodes[1].interfaces[0].mtu: expected an integer" bad.json
}

@test "a missing key, a future version, no version" {
	jq 'del(.nodes[0].name)' "$JOBS/020.json" >bad.json
	refused "bad.json: nodes[0].name: missing" bad.json
	jq '.nodes[0].schema = "hwdesc/9"' "$JOBS/020.json" >bad.json
	refused 'bad.json: nodes[0]: schema is "hwdesc/9", this program reads "hwdesc/1"' bad.json
	jq '.schema = "job/2"' "$JOBS/020.json" >bad.json
	refused 'bad.json: document: schema is "job/2", this program reads "job/1"' bad.json
	jq 'del(.schema)' "$JOBS/020.json" >bad.json
	refused 'bad.json: document: schema is missing' bad.json
}

@test "hostile: names that would not stay in their variable, depth, bytes that are no text" {
	jq '.nodes[0].interfaces[0].name = "eth0,docker0"' "$JOBS/020.json" >bad.json
	refused "nodes[0].interfaces[0].name: expected a name" bad.json
	jq '.nodes[0].interfaces[0].name = "a\nLD_PRELOAD=x"' "$JOBS/020.json" >bad.json
	refused "nodes[0].interfaces[0].name: expected a name" bad.json
	printf '[%.0s' {1..5000} >bad.json
	refused "bad.json: line 1" bad.json
	printf '{"schema": "job/1", "x": "\xff\xfe"}' >bad.json
	refused "bad.json: line 1" bad.json
	head -c 100000 /dev/urandom >bad.json
	refused "bad.json: line 1" bad.json
}

@test "no nodes; two nodes of one name" {
	jq '.nodes = []' "$JOBS/020.json" >bad.json
	refused "no" bad.json
	jq '.nodes[1].name = .nodes[0].name' "$JOBS/020.json" >bad.json
	refused "node1" bad.json
}

@test "unknown keys are ignored, null is unknown" {
	jq '.new = {"a": 1} | .nodes[0].hcas = [] | .nodes[0].new = [] | .nodes[0].memlock_kb = null' "$JOBS/020.json" >ok.json
	run -0 "$NCA" plan --json ok.json
	[[ $(jq -r '.nodes[0].socket_ifname' <<<"$output") == ens5 ]]
}

@test "one file per node plans as the job does; standard input; --options" {
	jq '.nodes[0]' "$JOBS/020.json" >a.json
	jq '.nodes[1]' "$JOBS/020.json" >b.json
	run -0 "$NCA" plan --json a.json b.json
	[[ $(jq -r '.nodes | map(.socket_ifname) | join(",")' <<<"$output") == ens5,ens5 ]]
	run -0 "$NCA" plan --json - <"$JOBS/020.json"
	run -0 "$NCA" plan --json --options=layout=node "$JOBS/020.json"
	[[ $(jq -r '.nodes[1].env.PET_NODE_RANK' <<<"$output") == 1 ]]
	refused "did you mean layout=" --options=layuot=node "$JOBS/020.json"
}

@test "usage: help is 0 and on standard output, what is wrong is 2" {
	run -0 "$NCA" plan --help
	[[ $output == "usage: nccl-autoconf plan"* ]]
	run -0 "$NCA" --help
	run -0 "$NCA" --version
	run -2 "$NCA"
	run -2 "$NCA" plan
	run -2 "$NCA" plan --nothing x
	run -2 "$NCA" nothing
}

@test "show --svg: well-formed, with every interface; an unwritable file is 1" {
	run -0 "$NCA" show --json --svg=node.svg
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' node.svg
	for name in $(jq -r '.nodes[0].decisions[].subject' <<<"$output"); do
		grep -qF ">$name</text>" node.svg
	done
	run -1 "$NCA" show --svg=/nonexistent/node.svg
	[[ $output == *"/nonexistent/node.svg: No such file"* ]]
}
