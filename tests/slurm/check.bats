#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# nccl-autoconf check in a job and in a step: a srun inside another one, with all that the outer one leaves. The lab's
# nodes have no HCA: that they agree is what is said.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
}

# in_lab [OPTION...] SCRIPT: bash in a lab; sets output, status. The script's steps leave nodes to others, and srun's own
# words about a task's status are not looked at
in_lab() {
	run timeout 150 "$BATS_TEST_DIRNAME/../../contrib/lab" "${@:1:$#-1}" -- bash -c "cd; export SLURM_OVERCOMMIT=1; ${*: -1}"
	output=$(grep -vE '^srun: (error: node[0-9]*: tasks? [0-9,-]+: Exited|job [0-9]+ |.*[Ss]tep creat(ion|ed) )' <<<"$output" || :)
}

# A line per step: which nodes were asked, and the status
summary='said() { local s=0; "$@" >out || s=$?; echo "$(grep -o "[0-9]* nodes on [a-z0-9]*" out) $s $(wc -l <out)"; }'

steps="$summary"'
	said srun -s -N2 nccl-autoconf check
	said srun -s -N2 -n4 --distribution=cyclic nccl-autoconf check --svg=x.svg
	said srun -s -N2 -w node2,node3 --gpus-per-node=2 --mem-per-cpu=10 sh -c "nccl-autoconf check"
	said srun -s -N3 --gpus-per-task=1 --export=NONE "$(type -P nccl-autoconf)" check --nccl-autoconf=explain
	grep -c "untested: no HCA port was tested" x.svg'

@test "as the program of a step, whatever its tasks were given, without the plugin" {
	in_lab -n 3 --gpus=2 --no-plugin "$steps"
	((status == 0))
	diff <(echo "$output") <(printf '%s\n' '2 nodes on eth0 3 3' '2 nodes on eth0 3 3' '2 nodes on eth0 3 3' '3 nodes on eth0 3 3' 1)
}

@test "and with the plugin, on for all" {
	LAB_PLUGSTACK_ARGS=default=on in_lab -n 3 --gpus=2 --plugin "$steps"
	((status == 0))
	[[ $(grep -c 'nodes on eth0 3 3' <<<"$output") == 4 ]]
}

@test "the other tasks end with 0 at once, and one speaks: JSON of a step of many tasks is one document" {
	in_lab --no-plugin 'srun -s -N2 -n8 --label nccl-autoconf check --json | sed -n "s/^0: //p" |
		python3 -c "import json, sys; print(json.load(sys.stdin)[\"verdict\"])"
		srun -s -N2 -n8 --label nccl-autoconf check --jsn'
	[[ $output == $'untested\n0: nccl-autoconf: check: bad option --jsn, did you mean --json?' ]]
}

@test "in a batch script with other wishes for its steps, beside a running step, and submitted inside a step" {
	in_lab -n 3 --gpus=2 --no-plugin "$summary"'
		cat >job <<-\END
			#!/bin/bash
			#SBATCH -N2 --ntasks-per-node=2 --gpus-per-task=1 --cpus-per-task=1 -o said
			'"$summary"'
			srun bash -c "touch there.\$SLURM_PROCID; until [[ -e done ]]; do sleep 0.1; done" &
			until [[ -e there.0 && -e there.3 ]]; do sleep 0.1; done
			said nccl-autoconf check
			said srun --overlap nccl-autoconf check
			touch done
			wait
		END
		srun -N3 bash -c "((SLURM_PROCID)) || sbatch -W job >/dev/null"
		cat said'
	[[ $(grep -c '2 nodes on eth0 3 3' <<<"$output") == 2 ]]
}

@test "a shell that salloc starts in a step of its own checks the job's nodes" {
	in_lab --no-plugin --slurm-conf=LaunchParameters=use_interactive_step "$summary"'
		echo "$(declare -f said); said nccl-autoconf check" | salloc -Q -N2 2>/dev/null'
	[[ $output == '2 nodes on eth0 3 3' ]]
}
