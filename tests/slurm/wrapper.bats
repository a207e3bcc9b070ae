#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# nccl-autoconf srun: a Slurm without the plugin gives the same.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
}

setup() {
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
}

# in_lab [OPTION...] SCRIPT: bash in a lab; sets output, stderr, status
in_lab() {
	run --separate-stderr timeout 150 "$LAB" "${@:1:$#-1}" -- bash -c "cd; ${*: -1}"
	stderr=$(grep -vE '^srun: (job [0-9]+ (queued and waiting|has been allocated)|.*[Ss]tep creat(ion|ed) )' <<<"$stderr" || :)
}

# The variables we may set, by rank, without what differs from step to step
ours='env | grep -E "^(NCCL_|GLOO_|TP_|NVSHMEM_|MASTER_ADDR|RANK=|LOCAL_RANK=|WORLD_SIZE=|LOCAL_WORLD_SIZE=|PET_[^=]*[^T]=|NNODES=|NODE_RANK=|NPROC_PER_NODE=|SLURM_NCCL)" | sed "s/^/$SLURM_PROCID:/"'

# Prints the processes of ours that do not end on their own soon after srun; zombies are the lab's to reap
gone='for i in {1..200}; do left=$(pgrep -r R,S,D,T -l nccl-autoconf) || break; read -rt 0.05 <> <(:); done; echo -n "$left"'

# same OPTION SRUN_OPTIONS: plugin and wrapper, asked alike, give the same
same() {
	local with_plugin
	in_lab "$1" --plugin "srun --nccl-autoconf $2 bash -c '$ours' | sort"
	with_plugin=$output
	[[ -n $with_plugin ]]
	in_lab "$1" --no-plugin "nccl-autoconf srun $2 -- bash -c '$ours' | sort"
	diff <(echo "$with_plugin") <(echo "$output")
	[[ $stderr == "nccl-autoconf: 2 nodes on "* ]]
}

@test "split=eth0, one task per node: as the plugin" {
	same --split '-N2'
}

@test "split=eth0, four tasks per node: as the plugin" {
	same --split '-N2 --ntasks-per-node=4'
}

@test "split=bond0, one and four tasks per node: as the plugin" {
	same --split=bond0 '-N2'
	same --split=bond0 '-N2 --ntasks-per-node=4'
}

@test "beside a plugin that is on: once, and the words are still there for the tasks" {
	in_lab --plugin 'export NCCL_AUTOCONF=net
		nccl-autoconf srun -N2 -- bash -c "env | grep ^NCCL_AUTOCONF="
		unset NCCL_AUTOCONF
		nccl-autoconf srun -N2 -- bash -c "env | grep ^NCCL_AUTOCONF=; srun --overlap -N1 -n1 bash -c \"env | grep -c ^NCCL_AUTOCONF=\"; true"'
	((status == 0))
	[[ $output == $'NCCL_AUTOCONF=net\nNCCL_AUTOCONF=net\n0\n0' ]]
	[[ $(grep -c '2 nodes on' <<<"$stderr") == 2 ]]
}

@test "a launcher per node: as the plugin" {
	in_lab --gpus=2 --plugin "srun --nccl-autoconf -N2 --ntasks-per-node=1 --gpus-per-node=2 bash -c '$ours' | sort"
	local with_plugin=$output
	in_lab --gpus=2 --no-plugin "nccl-autoconf srun -N2 --ntasks-per-node=1 --gpus-per-node=2 -- bash -c '$ours' | sort"
	diff <(echo "$with_plugin") <(echo "$output")
	grep -x '1:PET_NODE_RANK=1' <<<"$output"
}

@test "beside the plugin the wrapper works too" {
	in_lab --split --plugin "nccl-autoconf srun -N2 -- bash -c '$ours' | sort"
	grep -x '1:NCCL_SOCKET_IFNAME==bond0' <<<"$output"
}

@test "nested: what the outer step gave is not taken for the user's" {
	in_lab --no-plugin 'nccl-autoconf srun --nccl-autoconf=quiet,rdzv-ports=21000-21099,layout=task -N1 -n1 --overlap -- \
		nccl-autoconf srun --nccl-autoconf=quiet,rdzv-ports=22000-22099,layout=task -N1 -n1 --overlap -- \
		bash -c "echo \$MASTER_PORT"'
	[[ $output =~ ^220[0-9][0-9]$ ]]
}

@test "inside sbatch" {
	in_lab --split --no-plugin '
		cat >job <<-\END
			#!/bin/bash
			#SBATCH -N2
			#SBATCH -o out
			nccl-autoconf srun --nccl-autoconf=quiet -N2 -- bash -c "echo \$NCCL_SOCKET_IFNAME \$RANK"
		END
		sbatch -W job >/dev/null; sort out'
	[[ $output == $'=bond0 0\n=bond0 1' ]]
}

@test "in a namespace of its own: own mounts, no /dev/infiniband, own /tmp" {
	in_lab --split --no-plugin "nccl-autoconf srun -N2 -- true; srun -N2 true
		cp \$(type -P nccl-autoconf) .
		PATH=\$PWD:\$PATH nccl-autoconf srun --nccl-autoconf=quiet -N2 -- unshare -Urm bash -c 'mount -t tmpfs t /tmp; env | grep NCCL_SOCKET'"
	(($(grep -cx NCCL_SOCKET_IFNAME==bond0 <<<"$output") == 2))
}

@test "same process, standard input, signals and exit status" {
	in_lab --no-plugin 'echo in | nccl-autoconf srun --nccl-autoconf=quiet -N2 -- bash -c "
		((\$SLURM_TASK_PID == \$\$)) && echo same
		if ((RANK == 0)); then read -r line; echo \$line; fi
		exit 3"'
	((status == 3))
	(($(grep -cx same <<<"$output") == 2))
	grep -x in <<<"$output"
	in_lab --no-plugin 'nccl-autoconf srun --nccl-autoconf=quiet -N2 -- bash -c "kill -TERM \$\$"'
	((status == 143))
}

@test "nothing of ours stays, and the program has no child that it does not know" {
	in_lab --no-plugin 'nccl-autoconf srun --nccl-autoconf=quiet -N2 --ntasks-per-node=2 -- bash -c "pgrep -P \$\$ -l nccl; true"; '"$gone"
	[[ -z $output ]]
}

@test "off is srun alone; a program that does not exist" {
	in_lab --no-plugin "nccl-autoconf srun --nccl-autoconf=off -N2 -- bash -c '$ours'"
	[[ -z $output$stderr ]]
	in_lab --no-plugin 'nccl-autoconf srun --nccl-autoconf=quiet -N2 -- ./nothing'
	((status == 127))
	[[ $stderr == *"./nothing: No such file or directory"* ]]
}

@test "what the probe reads does not answer: one line, and no task waits for the hub's limit" {
	in_lab --no-plugin 'mkfifo .nccl.conf; SECONDS=0; nccl-autoconf srun -N2 -- hostname; ((SECONDS < 20)) && echo soon; '"$gone"
	[[ $(sort <<<"$output") == $'node1\nnode2\nsoon' ]]
	[[ $stderr == "nccl-autoconf: warning not-agreed: node"[12]": no answer for 2 s while reading nccl.conf and the user's own: "* ]]
}

@test "run without a hub, srun without a program, a bad word: what to type" {
	in_lab --no-plugin 'srun -N2 nccl-autoconf run -- ./train'
	((status == 2))
	[[ $stderr == *"there is no hub; type: nccl-autoconf srun OPTIONS -- ./train"* ]]
	in_lab --no-plugin 'nccl-autoconf srun -N2 ./train'
	((status == 2))
	[[ $stderr == *'name the program after "--"'* ]]
	in_lab --no-plugin 'nccl-autoconf srun --nccl-autoconf=explian -N2 -- true'
	((status == 2))
	[[ $stderr == *'did you mean explain?'* ]]
}
