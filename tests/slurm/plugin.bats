#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The plugin, the hub and the agents on a real Slurm: what is injected, what is printed, what is left alone.
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

# in_lab [OPTION...] SCRIPT: bash in a lab with the plugin; sets output, stderr, status
in_lab() {
	run --separate-stderr timeout 150 "$LAB" "${@:1:$#-1}" --plugin -- bash -c "cd; ${*: -1}"
	# Where the step before has not quite ended
	stderr=$(grep -vE '^srun: (job [0-9]+ (queued and waiting|has been allocated)|.*[Ss]tep creat(ion|ed) )' <<<"$stderr" || :)
}

# ours FILTER: a program that prints the variables we may set, sorted; for use in the lab
ours='env | grep -E "^(NCCL_|GLOO_|TP_|NVSHMEM_|MASTER_|RANK=|LOCAL_RANK=|WORLD_SIZE=|LOCAL_WORLD_SIZE=|PET_|NNODES=|NODE_RANK=|NPROC_PER_NODE=|SLURM_NCCL)" | sort'

# has LINE...: every LINE is a line of output
has() {
	local line
	for line; do
		grep -qxF -- "$line" <<<"$output" || { echo "missing: $line"; echo "$output"; echo "$stderr"; return 1; }
	done
}

# lacks PATTERN...
lacks() {
	local pattern
	for pattern; do
		! grep -E -- "$pattern" <<<"$output" || { echo "unwanted: $pattern"; return 1; }
	done
}

@test "split=eth0: bond0 joins the nodes, so bond0 it is, on every task" {
	in_lab --split "srun --nccl-autoconf -N2 --ntasks-per-node=2 bash -c '$ours | sed s/^/\$SLURM_PROCID:/'"
	((status == 0))
	for rank in 0 1 2 3; do
		has "$rank:NCCL_SOCKET_IFNAME==bond0" "$rank:GLOO_SOCKET_IFNAME=bond0" "$rank:TP_SOCKET_IFNAME=bond0" \
			"$rank:MASTER_ADDR=10.10.0.11" "$rank:WORLD_SIZE=4" "$rank:LOCAL_WORLD_SIZE=2" \
			"$rank:RANK=$rank" "$rank:LOCAL_RANK=$((rank % 2))"
	done
	lacks SLURM_NCCL PET_ NNODES
	[[ $stderr == "nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), TCP, rendezvous 10.10.0.11:"* ]]
	(($(wc -l <<<"$stderr") == 1))
}

@test "split=bond0: the same names the other way round, so eth0 it is" {
	in_lab --split=bond0 "srun --nccl-autoconf -N2 bash -c '$ours'"
	has NCCL_SOCKET_IFNAME==eth0 GLOO_SOCKET_IFNAME=eth0 MASTER_ADDR=10.10.0.11
	[[ $stderr == "nccl-autoconf: 2 nodes on eth0 (10.10.0.0/24), TCP, "* ]]
}

@test "explain says why the other interface is not it" {
	in_lab --split 'srun --nccl-autoconf=explain -N2 true'
	grep -E '^ +eth0 +rejected +connect-failed +.*192\.168\.100\.1' <<<"$stderr"
	grep -E '^ +bond0 +chosen ' <<<"$stderr"
}

@test "both networks join the nodes: one is chosen without a test failing, in well under a second" {
	in_lab "srun --nccl-autoconf -N2 bash -c '$ours'"
	(($(grep -c '^NCCL_SOCKET_IFNAME=' <<<"$output") == 2))
	lacks connect-failed
}

@test "a plain srun has what it has without the plugin" {
	local plain
	# Values that differ from one lab to the next; the names stay
	plain='srun -N2 -l env | sed -E "s/^([0-9]+: [A-Z_]*(PORT|PID|CLUSTER|DIR|HOME|PATH|PWD|CONF|SRC|TIME|SLUID)[A-Z_]*)=.*/\1/" | sort'
	run "$LAB" --no-plugin -- bash -c "cd; $plain"
	local without=$output
	in_lab "$plain"
	diff <(echo "$without") <(echo "$output")
	[[ -z $stderr ]]
}

@test "--export=NONE and --export=NAME keep what we set" {
	in_lab --split "srun --export=NONE --nccl-autoconf=quiet -N2 /bin/bash -c '$ours'; srun --export=HOME --nccl-autoconf=quiet -N2 /bin/bash -c '$ours'"
	(($(grep -cxF NCCL_SOCKET_IFNAME==bond0 <<<"$output") == 4))
	lacks SLURM_NCCL
	[[ -z $stderr ]]
}

@test "sbatch header: two srun lines, each its own; off in one; nothing in the batch step" {
	in_lab --split '
		cat >job <<-\END
			#!/bin/bash
			#SBATCH --nccl-autoconf=quiet
			#SBATCH -N2
			#SBATCH -o out
			env | grep -E "^(NCCL|MASTER|SLURM_NCCL)" && echo "in the batch step"
			srun -N2 bash -c "echo one \$NCCL_SOCKET_IFNAME \$MASTER_PORT"
			srun -N2 bash -c "echo two \$NCCL_SOCKET_IFNAME \$MASTER_PORT"
			srun -N2 --nccl-autoconf=off bash -c "echo off \$NCCL_SOCKET_IFNAME"
		END
		sbatch -W job >/dev/null; cat out'
	((status == 0))
	(($(grep -c '^one =bond0 [0-9]*$' <<<"$output") == 2))
	(($(grep -c '^two =bond0 [0-9]*$' <<<"$output") == 2))
	(($(grep -cx off <<<"$output") == 2))
	(($(awk '/^(one|two)/ { print $3 }' <<<"$output" | sort -u | wc -l) == 2)) # a port for each step
	lacks "in the batch step"
}

@test "NCCL_AUTOCONF switches on, and the command line off again" {
	in_lab --split "export NCCL_AUTOCONF=quiet; srun -N2 bash -c '$ours'; srun --nccl-autoconf=off -N2 bash -c 'env | grep MASTER'"
	(($(grep -cxF NCCL_SOCKET_IFNAME==bond0 <<<"$output") == 2))
	(($(grep -c ^MASTER_ADDR= <<<"$output") == 2))
}

@test "site default: net only, silent, and only where Slurm gave GPUs" {
	LAB_PLUGSTACK_ARGS=default=on in_lab --split --gpus=2 "
		srun -N2 --gpus-per-node=2 --ntasks-per-node=2 bash -c '$ours'; echo ---; srun -N2 bash -c '$ours'"
	(($(grep -cxF NCCL_SOCKET_IFNAME==bond0 <<<"$output") == 4))
	lacks MASTER_ RANK
	[[ -z $(sed '1,/^---$/d' <<<"$output") ]]
	[[ -z $stderr ]]
}

@test "layout task: as many tasks as GPUs" {
	in_lab --split --gpus=2 "srun --nccl-autoconf -N2 --gpus-per-node=2 --ntasks-per-node=2 bash -c '$ours'"
	has RANK=3 LOCAL_RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=2
	lacks PET_ NNODES
}

@test "layout node: one task and several GPUs per node" {
	in_lab --split --gpus=2 "srun --nccl-autoconf -N2 --gpus-per-node=2 --ntasks-per-node=1 bash -c '$ours'"
	has PET_NNODES=2 PET_NODE_RANK=0 PET_NODE_RANK=1 PET_NPROC_PER_NODE=2 PET_MASTER_ADDR=10.10.0.11 \
		NNODES=2 NODE_RANK=1 NPROC_PER_NODE=2 MASTER_ADDR=10.10.0.11
	lacks '^RANK=' '^LOCAL_RANK=' '^WORLD_SIZE='
}

@test "layout= and nproc= decide where the shape does not" {
	in_lab --split "srun --nccl-autoconf=layout=node,nproc=3 -N2 bash -c '$ours'"
	has PET_NPROC_PER_NODE=3 PET_NODE_RANK=1
	lacks '^RANK='
}

@test "an unclear shape gets the network, and one line says so" {
	in_lab --split --gpus=2 "srun --nccl-autoconf=quiet -N2 --gpus-per-node=2 --ntasks-per-node=4 bash -c '$ours'"
	has NCCL_SOCKET_IFNAME==bond0
	lacks MASTER_ RANK
	[[ $stderr == *"warning layout-unclear: "*"4 tasks for 2 GPUs"*layout=* ]]
}

@test "one node: only the rendezvous, no line; one task: nothing" {
	in_lab --split "srun --nccl-autoconf -N1 -n2 bash -c '$ours'; echo ---; srun --nccl-autoconf -N1 -n1 bash -c '$ours'"
	has RANK=0 RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
	lacks SOCKET_IFNAME
	[[ -z $(sed '1,/^---$/d' <<<"$output") ]]
	[[ -z $stderr ]]
}

@test "net and rdzv inject one half each" {
	in_lab --split "srun --nccl-autoconf=net,quiet -N2 bash -c '$ours'; echo ---; srun --nccl-autoconf=rdzv,quiet -N2 bash -c '$ours'"
	output=$(sed '/^---$/,$d' <<<"$output") lacks MASTER_ RANK
	output=$(sed '1,/^---$/d' <<<"$output") lacks IFNAME
	has NCCL_SOCKET_IFNAME==bond0 MASTER_ADDR=10.10.0.11
}

@test "what the user has set stays" {
	in_lab --split "export NCCL_SOCKET_IFNAME==bond0 MASTER_PORT=23456; srun --nccl-autoconf -N2 bash -c '$ours'"
	has NCCL_SOCKET_IFNAME==bond0 MASTER_PORT=23456
	[[ $stderr == *"rendezvous 10.10.0.11:23456" ]]
}

@test "what the user has set and cannot work is replaced, and a warning says so" {
	in_lab --split "export NCCL_SOCKET_IFNAME=eth7; srun --nccl-autoconf=quiet -N2 bash -c '$ours'"
	has NCCL_SOCKET_IFNAME==bond0
	[[ $stderr == *"warning env-no-interface: "*NCCL_SOCKET_IFNAME=eth7* ]]
}

@test "the rendezvous port lies in rdzv-ports and is free to bind at once, also without SO_REUSEADDR" {
	in_lab --split '
		cat >bind.py <<-END
			import os, socket
			port = int(os.environ["MASTER_PORT"])
			if os.environ["RANK"] == "0":
			    for i in range(3):
			        socket.socket().bind(("", port + i))
			print(port)
		END
		for i in 1 2 3; do
			srun --nccl-autoconf=quiet,rdzv-ports=25000-25008 -N2 python3 bind.py || exit
		done'
	((status == 0))
	(($(grep -cxE '2500[0-6]' <<<"$output") == 6))
}

@test "two steps side by side get different ports, though only two fit" {
	in_lab --split '
		cat >meet <<-\END
			#!/bin/bash
			echo "$SLURM_STEP_ID $MASTER_PORT"
			mkfifo "$TMPDIR/meet" 2>/dev/null
			# Neither step ends before the other has its port.
			if ((SLURM_PROCID == 0)); then
				if ((SLURM_STEP_ID == 0)); then : <"$TMPDIR/meet"; else : >"$TMPDIR/meet"; fi
			fi
		END
		cat >both <<-\END
			#!/bin/bash
			for i in 1 2; do
				srun --overlap --nccl-autoconf=quiet,rdzv-ports=26000-26005 -N2 ./meet &
			done
			wait
		END
		chmod +x meet both; salloc -Q -N2 ./both'
	((status == 0))
	(($(sort -u <<<"$output" | wc -l) == 2))
	(($(cut -d" " -f2 <<<"$output" | sort -u | wc -l) == 2))
}

@test "a nested srun does not take our variables for the user's" {
	in_lab --split 'salloc -Q -N2 --ntasks-per-node=4 srun --overlap --nccl-autoconf=quiet -N1 -n2 --ntasks-per-node=2 bash -c "
		[[ \$RANK == 0 ]] || exit 0
		srun --overlap -N1 -n1 env | grep -cE \"^(RANK|MASTER_ADDR|NCCL_AUTOCONF_VARS)=\""'
	[[ $output == 0 ]]
}

@test "a bad word is refused with the near one; in the environment it is a warning" {
	in_lab 'srun --nccl-autoconf=explian -N2 true'
	((status != 0))
	[[ $stderr == *'unknown word "explian", did you mean explain?'* ]]
	in_lab 'NCCL_AUTOCONF=explian srun -N2 echo ran'
	((status == 0))
	has ran
	[[ $stderr == *'NCCL_AUTOCONF=explian: unknown word'*'(ignored)'* ]]
}

@test "save= writes a job that plans to the same network again" {
	in_lab --split 'srun --nccl-autoconf=quiet,save=job.json -N2 true; nccl-autoconf plan --json job.json | grep -c "\"socket_ifname\": \"\(eth0\|bond0\)\""'
	[[ $output == 2 ]]
}

@test "exit status and signals are the program's, and no process of ours stays" {
	in_lab --split 'srun --nccl-autoconf=quiet -N2 bash -c "exit 7"; echo "exit $?"
		for i in {1..200}; do left=$(pgrep -r R,S,D,T -l nccl-autoconf) || break; read -rt 0.05 <> <(:); done; echo "left: $left"'
	has "exit 7" "left: "
}
