#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# nccl-autoconf check, with a srun in Slurm's place that answers for the nodes: what is printed, the exit status, and what
# that srun is given.
#
# shellcheck disable=SC2030,SC2031 # each test has its own environment
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
	NCA=${NCCL_AUTOCONF:-$BATS_TEST_DIRNAME/../../wrapper/nccl-autoconf}
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin tmp
	# The wrapper's save= file is the only one in TMPDIR
	cat >bin/srun <<-\END
		#!/bin/bash
		env | grep -E '^S(LURM|RUN)_' | cut -d= -f1 | grep -v ^SLURM_NCCL_ | sort >given
		echo "$@" | sed "s| [^ ]*/nccl-autoconf run| nccl-autoconf run|" >arguments
		echo "srun: what srun says" >&2
		[[ ! -e answer ]] || cat answer >tmp/nccl-autoconf.*
		[[ ! -e refuse ]]
	END
	chmod +x bin/srun
	ln -s "$(type -P false)" bin/scontrol # the real one looks a minute for the cluster of a SLURM_CONF that is not there
	export PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp SLURM_JOB_ID=7 SLURM_JOB_NODELIST='node[1-4]' SLURM_JOB_NUM_NODES=4
	unset SLURM_STEP_NODELIST SLURM_PROCID NCCL_AUTOCONF
}

# answer [PREFLIGHT]: the nodes of a recorded job ($job) agree, and these messages were exchanged between them
answer() {
	local file=$BATS_TEST_DIRNAME/../jobs/${job:-m-hgx-h100-roce-8x400}.json
	"$NCA" plan --json "$file" >made.json
	python3 - "$file" "$@" >answer <<-\END
		import json, sys
		job = json.load(open(sys.argv[1]))
		job["plan"] = json.load(open("made.json"))
		if len(sys.argv) > 2:
		    job["preflight"] = {"schema": "preflight/1", "findings": [], **json.loads(sys.argv[2])}
		json.dump(job, sys.stdout)
	END
}

port() { # NODE RAIL STATE
	echo "{\"node\": \"$1\", \"hca\": \"mlx5_$2\", \"port\": 1, \"rail\": $2, \"state\": \"$3\"}"
}

# check STATUS [ARG...]
check() {
	run --separate-stderr "-$1" timeout 60 "$NCA" check "${@:2}"
}

failed() {
	answer "{\"verdict\": \"failed\", \"seconds\": 0.41, \"exclude\": \"node2\",
		\"ports\": [$(port node1 0 ok), $(port node1 1 ok), $(port node2 0 ok), $(port node2 1 failed)],
		\"findings\": [{\"code\": \"port-dead\", \"node\": \"node2\", \"text\": \"mlx5_1:1: nothing comes in\"}],
		\"hints\": [\"node2 mlx5_1:1: symbol_error rose by 3\"]}"
}

@test "healthy: the table, one line, status 0, and not a word of srun's" {
	answer "{\"verdict\": \"healthy\", \"seconds\": 0.41, \"ports\": [$(port node1 0 ok), $(port node2 0 ok)]}"
	check 0
	[[ -z $stderr ]]
	diff <(echo "$output") - <<-END
		node   mlx5_0
		node1  ok
		node2  ok
		healthy: 2 nodes, 1 rail; tested in 0.4 s
	END
}

@test "failed: what was found, and at last the line to paste; status 1" {
	failed
	check 1
	[[ -z $stderr ]]
	diff <(echo "$output") - <<-END
		node   mlx5_0  mlx5_1
		node1  ok      ok
		node2  ok      failed
		port-dead: node2 mlx5_1:1: nothing comes in
		hint: node2 mlx5_1:1: symbol_error rose by 3
		failed: 1 of 4 HCA ports not ok, on 1 of 2 nodes; tested in 0.4 s
		--exclude=node2
	END
}

@test "the step was refused for it: what was found counts, not srun's status" {
	failed
	: >refuse
	check 1
	[[ -z $stderr && $(tail -n 1 <<<"$output") == --exclude=node2 ]]
}

@test "degraded is status 1 too" {
	answer "{\"verdict\": \"degraded\", \"ports\": [$(port node1 0 ok), $(port node2 0 degraded)]}"
	check 1
	[[ $(tail -n 1 <<<"$output") == 'degraded: 1 of 2 HCA ports not ok, on 1 of 2 nodes' ]]
}

@test "--json is the document and nothing else, --svg a picture beside it" {
	failed
	check 1 --json --svg=x.svg
	[[ -z $stderr ]]
	python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["schema"] == "preflight/1" and d["exclude"] == "node2" and len(d["ports"]) == 4' <<<"$output"
	python3 -c 'import xml.etree.ElementTree as t; t.parse("x.svg")'
	grep -q '>failed</text>' x.svg
	check 3 --svg=nowhere/x.svg
	[[ $stderr == 'nccl-autoconf: check: nowhere/x.svg: No such file or directory' ]]
}

@test "no preflight was made: what was tested instead, status 3" {
	answer
	check 3
	[[ $(head -n 1 <<<"$output") == 'hint: no message was sent over the HCAs of these nodes, so only their'* ]]
	[[ $(tail -n 1 <<<"$output") == 'untested: no HCA port was tested' ]]
	check 3 --json
	python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["verdict"] == "untested" and d["hints"] and d["ports"] == []' <<<"$output"
}

@test "a network plug-in may well use RDMA: nothing is said of that" {
	job=m-aws-p5-48xlarge answer
	check 3
	[[ $(head -n 1 <<<"$output") == 'hint: NCCL uses a network plug-in, which only NCCL can test, so only their'* ]]
}

@test "no agreement, or no step: what was said about it, status 3" {
	check 3
	[[ -z $output && $stderr == *$'srun: what srun says\n'*'nccl-autoconf: check: the nodes did not agree' ]]
	: >refuse
	check 3 --json
	[[ -z $output && $stderr == *$'srun: what srun says\n'*'nccl-autoconf: check: the step that asks the nodes has failed' ]]
	[[ -z $(ls tmp) ]]
}

@test "bad usage: status 2, and no step" {
	check 2 --jsn
	[[ $stderr == 'nccl-autoconf: check: bad option --jsn, did you mean --json?' ]]
	check 2 node1
	[[ $stderr == 'nccl-autoconf: check: takes no argument: node1' ]]
	check 2 --nccl-autoconf=explian
	[[ $stderr == 'nccl-autoconf: check: --nccl-autoconf: '*explain* ]]
	[[ ! -e arguments ]]
	check 0 --help
	[[ $output == 'usage: nccl-autoconf check '* ]]
}

@test "outside a job: where to type it, status 3" {
	unset SLURM_JOB_ID
	check 3
	[[ -z $output && $stderr == *'this is not inside a job'* ]]
}

@test "a job's nodes, and of the script's variables those that are no matter of how its steps look" {
	export SLURM_NTASKS=8 SLURM_CPUS_PER_TASK=4 SLURM_GPUS_PER_TASK=1 SLURM_MEM_PER_CPU=100 SLURM_EXPORT_ENV=NONE \
		SLURM_HOSTFILE=hosts SLURM_CONF=x SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image=x SLURM_TRES_PER_TASK=cpu=4
	check 3
	[[ $(<arguments) == '--overlap --mpi=none -N 4 -n 4 --ntasks-per-node=1 -w node[1-4] '*' true' ]]
	[[ $(<given) == $'SLURM_CONF\nSLURM_EXPORT_ENV\nSLURM_JOB_ID\nSLURM_JOB_NODELIST\nSLURM_JOB_NUM_NODES\nSLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image' ]]
}

@test "a task of a step: the step's nodes, by the first task alone" {
	export SLURM_STEP_NODELIST='node[2-3]' SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE='2(x2)' SLURM_TASKS_PER_NODE='2(x2)'
	SLURM_PROCID=3 check 0
	SLURM_PROCID=1 check 0 --bad
	[[ -z $output$stderr && ! -e arguments ]]
	SLURM_PROCID=0 check 3
	[[ $(<arguments) == *' -N 2 -n 2 --ntasks-per-node=1 -w node[2-3] '* ]]
}

@test "a script that was submitted inside a step has that step's variables: the job's nodes" {
	export SLURM_STEP_NODELIST=node9 SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE=1 SLURM_TASKS_PER_NODE='1(x4)' SLURM_PROCID=0
	check 3
	[[ $(<arguments) == *' -N 4 -n 4 --ntasks-per-node=1 -w node[1-4] '* ]]
	# As many tasks as the job, on nodes of another one
	export SLURM_STEP_NODELIST='node[6-9]' SLURM_STEP_NUM_NODES=4 SLURM_STEP_TASKS_PER_NODE='1(x4)'
	check 3
	[[ $(<arguments) == *' -w node[1-4] '* ]]
}
