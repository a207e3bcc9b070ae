#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Launchers that copy one node's environment to all, on two nodes whose interfaces have their names the other way round:
# what differs stands in a file at one path, which the real NCCL reads, also in a login outside the job.
#
# Read from the environment: NCCL_LIB, libnccl.so.2 as configure has found it.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

load ../nccl/uniqueid.sh

setup_file() {
	build_uniqueid
}

setup() {
	need_nccl
}

# in_lab [OPTION...] SCRIPT: bash on the login host; $uniqueid there is the program; sets output, stderr, status
in_lab() {
	run --separate-stderr timeout 120 "$LAB" --split=mixed "${@:1:$#-1}" -- \
		bash -c "cd; export uniqueid='$UNIQUEID'; ${*: -1}"
	echo "$output" "$stderr"
}

# has LINE...: every LINE is one of output
has() {
	local line
	for line; do
		grep -qxF -- "$line" <<<"$output" || { echo "missing: $line"; return 1; }
	done
}

# What a launcher copies: node1's environment; then NCCL on both nodes
step='srun --nccl-autoconf=$words -N2 -l bash -c "env | grep -E ^NCCL_; cat \$NCCL_CONF_FILE; $uniqueid"'

@test "one environment for both nodes, and each node's own file" {
	in_lab --plugin "words=broadcast; echo NCCL_IB_TC=7 >.nccl.conf; $step"
	((status == 0))
	# The environment names no interface; the files do, and keep what the user's own says
	! grep -E '^[01]: NCCL_IB_TC' <<<"$(grep -v =7 <<<"$output")" || false
	has '0: NCCL_SOCKET_IFNAME==bond0' '1: NCCL_SOCKET_IFNAME==eth0' '0: NCCL_IB_TC=7' '1: NCCL_IB_TC=7'
	[[ $(grep -c NCCL_SOCKET_IFNAME= <<<"$output") == 2 ]]
	[[ $(grep -o 'NCCL_CONF_FILE=.*' <<<"$output" | sort -u | wc -l) == 1 ]]
	has '0: address 10.10.0.11' '1: address 10.10.0.12' '0: interface bond0' '1: interface eth0'
	[[ $stderr == *'warning broadcast-differs: GLOO_SOCKET_IFNAME would be bond0 on node1 and eth0 on node2'* ]]
}

@test "trainer= of a launcher that copies does it by itself" {
	for trainer in ray mpirun deepspeed-pdsh; do
		in_lab --plugin "srun --nccl-autoconf=layout=node,trainer=$trainer -N2 -l bash -c \"env | grep -E '^(NCCL|MASTER|N[A-Z]*)_'; true\""
		((status == 0))
		[[ $output == *"0: NCCL_CONF_FILE="* ]]
		[[ $(sed -n 's/^0: //p' <<<"$output") == "$(sed -n 's/^1: //p' <<<"$output")" ]]
	done
	in_lab --plugin "srun --nccl-autoconf=layout=node,trainer=deepspeed -N2 -l bash -c 'env | grep ^NCCL_'"
	has '0: NCCL_SOCKET_IFNAME==bond0' '1: NCCL_SOCKET_IFNAME==eth0'
}

@test "without it the environments differ, and NCCL on the other node takes the wrong network by the first one's" {
	in_lab --plugin "srun --nccl-autoconf=quiet -N1 -n1 -w node1 true; export NCCL_SOCKET_IFNAME==bond0; srun -N2 -l \$uniqueid"
	has '0: address 10.10.0.11' '1: address 192.168.100.12'
}

@test "the file goes with the step" {
	in_lab --plugin "srun --nccl-autoconf=broadcast -N2 bash -c 'ls \$NCCL_CONF_FILE'; srun -N2 ls -A /run/nccl-autoconf"
	((status == 0))
	[[ $output =~ ^/run/nccl-autoconf/[0-9]+\.0/nccl\.conf$'\n'/run/nccl-autoconf/[0-9]+\.0/nccl\.conf$ ]]
}

@test "and with a step that is killed" {
	in_lab --plugin '
		srun --nccl-autoconf=broadcast -N2 bash -c "touch there.\$SLURM_PROCID; sleep 60" &
		until [[ -e there.0 && -e there.1 ]]; do sleep 0.1; done
		scancel -u lab; wait; srun -N2 ls -A /run/nccl-autoconf'
	[[ -z $output ]]
}

@test "without the plugin: the wrapper does the same" {
	in_lab --no-plugin 'nccl-autoconf srun --nccl-autoconf=broadcast -N2 -l -- $uniqueid'
	has '0: address 10.10.0.11' '1: address 10.10.0.12'
}

@test "a place where nothing can be written: nothing is set on any node, and the line names it" {
	conf=$(mktemp)
	chmod 644 "$conf"
	echo conf-dir=/proc >"$conf"
	LAB_PLUGSTACK_ARGS=conf=$conf in_lab --plugin 'srun --nccl-autoconf=broadcast -N2 -l bash -c "env | grep ^NCCL_; true"'
	rm "$conf"
	((status == 0))
	[[ -z $output ]]
	[[ $stderr == *'warning not-agreed: node'[12]': /proc/nccl-autoconf.'*': No such file or directory; nothing is set on any node'* ]]
}

# What a batch script does, and then a login on each node, with the script's environment: another job stands for it, since
# it does not share the first one's namespaces
@test "env in a batch script, for a launcher of its own: a login outside the job reads the node's file" {
	in_lab --plugin --gpus=2 '
		cat >job <<-\END
			#!/bin/bash
			#SBATCH -N2 --gpus-per-node=2 --overcommit --oversubscribe
			nccl-autoconf env --format=docker >docker
			nccl-autoconf env --format=json >json
			eval "$(nccl-autoconf env)"
			env | grep -E "^(NCCL_|MASTER_|PET_|RANK|NNODES)" >vars
			nccl-autoconf env --format=docker >again
			srun bash -c "echo plain \$MASTER_PORT \$NCCL_CONF_FILE"
			nccl-autoconf hostfile >hosts
			nccl-autoconf hostfile --format=mpich --slots=3 >mpich
			touch ready; until [[ -e done ]]; do sleep 0.1; done
		END
		sbatch job >/dev/null
		for ((i = 0; i < 300; i++)); do [[ ! -e ready ]] || break; sleep 0.1; done
		cat slurm-*.out vars docker json hosts mpich
		diff <(grep -E "^(MASTER|NCCL_CONF)" vars | sort) <(grep -E "^(MASTER|NCCL_CONF)" again | sort) && echo the same again
		while IFS= read -r line; do export "${line?}"; done <vars
		srun --oversubscribe --overcommit -N2 -l $uniqueid
		touch done'
	((status == 0))
	has 'node1 slots=2' 'node2 slots=2' 'node1:3' 'node2:3' MASTER_ADDR=10.10.0.11 \
		'0: address 10.10.0.11' '1: address 10.10.0.12'
	[[ $(grep -cE '^NCCL_CONF_FILE=/run/nccl-autoconf/[0-9]+/nccl.conf$' <<<"$output") == 2 ]]
	! grep -E '^(PET_|RANK|NNODES|NCCL_SOCKET_IFNAME)' <<<"$output" || false
	has 'the same again'
	# A plain step of the script has what the script has
	[[ $(sed -n 's/^MASTER_PORT=/plain /p' <<<"$output") == *"$(grep -oE '^plain [0-9]+' <<<"$output" | sort -u)"* ]]
	[[ $(grep -cE '^plain [0-9]+ /run/nccl-autoconf/' <<<"$output") == 2 ]]
	[[ $(grep -c '^ "MASTER_ADDR": "10.10.0.11"' <<<"$output") == 1 ]]
}

@test "env in a batch script where the plugin is on: by the header, the environment, or the site" {
	for on in '#SBATCH --nccl-autoconf' 'export NCCL_AUTOCONF=on' ''; do
		site=default=off
		[[ $on ]] || site=default=on
		LAB_PLUGSTACK_ARGS=$site in_lab --plugin --gpus=2 "
			printf '%s\n' '#!/bin/bash' '#SBATCH -N2 --gpus-per-node=2' '${on:-:}' 'nccl-autoconf env; touch ready' >job
			sbatch job >/dev/null
			for ((i = 0; i < 300; i++)); do [[ ! -e ready ]] || break; sleep 0.1; done
			cat slurm-*.out"
		((status == 0))
		has "export MASTER_ADDR='10.10.0.11'"
		grep -q "^export NCCL_CONF_FILE='/run/nccl-autoconf/" <<<"$output"
	done
}

@test "env and hostfile outside a job, and with bad words: what to type" {
	NCA=${NCCL_AUTOCONF:-$BATS_TEST_DIRNAME/../../wrapper/nccl-autoconf}
	run -1 --separate-stderr env -u SLURM_JOB_ID "$NCA" env
	[[ -z $output && $stderr == 'nccl-autoconf: env: this is not inside a job: type it in an sbatch script or under salloc' ]]
	run -2 --separate-stderr "$NCA" env --format=csh
	[[ $stderr == 'nccl-autoconf: env: --format=csh: takes shell, docker or json' ]]
	run -2 --separate-stderr "$NCA" hostfile --slots=0
	[[ $stderr == 'nccl-autoconf: hostfile: --slots=0: takes a number from 1 to 65536' ]]
}
