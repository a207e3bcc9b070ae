#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The two stories of the manual (doc/story-llamafactory.md, doc/story-deepspeed.md): as people type it by hand, and with
# us, on two nodes whose eth0 lets nothing but Slurm through, so that port 29500 is open on bond0 alone.
# tests/slurm/trainers.py stands for the launchers, contrib/examples/train.py over Gloo for the model.
#
# Read from the environment: NCCL_LIB, libnccl.so.2 as configure has found it.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

load ../nccl/uniqueid.sh

setup_file() {
	build_uniqueid
	# Debian's torchrun 1.13 fails under Python 3.11 with its own default for
	# the first two; and it looks after its workers every five seconds.
	export PET_REDIRECTS=2 PET_TEE=2 PET_MONITOR_INTERVAL=0.1
	export OMP_NUM_THREADS=1
}

setup() {
	((EUID == 0)) || skip "needs root"
	[[ -x /usr/bin/torchrun ]] || skip "needs the package python3-torch"
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
}

prelude='
	mkdir bin
	for name in llamafactory-cli deepspeed; do cp "$LAB_SRC/tests/slurm/trainers.py" "bin/$name"; done
	export PATH=$PWD/bin:/usr/bin:$PATH LAYOUT=node SCRIPT="$LAB_SRC/contrib/examples/train.py --timeout 3"
	# batch: the script on standard input as a job, and what it has said
	batch() {
		local i
		{ echo "#!/bin/bash"; cat; echo; echo "touch ended"; } >job
		sbatch --nodes=2 --gpus-per-node=2 job >/dev/null
		for ((i = 0; i < 600; i++)); do
			[[ ! -e ended ]] || break
			sleep 0.1
		done
		cat slurm-*.out
	}
'

# in_lab TRAINER [OPTION...] SCRIPT
in_lab() {
	run env uniqueid="$BATS_FILE_TMPDIR/uniqueid ${NCCL_LIB-}" timeout 100 "$LAB" "${@:2:$#-2}" --plugin -- \
		bash -c "cd; export TRAINER=$1; $prelude ${*: -1}"
	echo "$output"
	((status != 124))
}

# trains ADDRESS: four ranks met there, and learned something
trains() {
	((status == 0))
	[[ $(grep -oE "rank [0-3] of 4 on node[12] via $1:[0-9]+" <<<"$output" | cut -d' ' -f2,6 | sort) == $'0 node1\n1 node1\n2 node2\n3 node2' ]]
	[[ $output =~ loss\ ([0-9.]+)\ at\ step\ 1,\ ([0-9.]+)\ at\ step\ 20 ]]
	awk -v first="${BASH_REMATCH[1]}" -v last="${BASH_REMATCH[2]}" 'BEGIN { exit !(last < first / 2) }'
}

@test "LLaMA-Factory by hand: the first node's name is an address that node2 does not reach" {
	in_lab llamafactory --split --gpus=2 '
		export PET_RDZV_CONF=timeout=3
		srun -N2 --gpus-per-node=2 --kill-on-bad-exit bash -c "FORCE_TORCHRUN=1 NNODES=2 NODE_RANK=\$SLURM_NODEID NPROC_PER_NODE=2 \
			MASTER_ADDR=\$(scontrol show hostnames | head -n 1) MASTER_PORT=29500 llamafactory-cli train x.yaml"'
	((status != 0))
	[[ $output == *"timed out after 3s while trying to connect to (node1, 29500)"* && $output != *"loss "* ]]
}

@test "LLaMA-Factory by hand: without FORCE_TORCHRUN nodes with one GPU train alone, with us they meet" {
	in_lab llamafactory --split --gpus=1 'unset SCRIPT; export DRY=1
		srun -N2 --gpus-per-node=1 bash -c "NNODES=2 NODE_RANK=\$SLURM_NODEID MASTER_ADDR=10.10.0.11 MASTER_PORT=29500 llamafactory-cli train x.yaml"
		srun --nccl-autoconf -N2 --gpus-per-node=1 llamafactory-cli train x.yaml'
	((status == 0))
	[[ $(grep -cx 'llamafactory node: rank 0 of 1' <<<"$output") == 2 ]]
	[[ $(grep -oE 'rank [01] of 2$' <<<"$output" | sort -u | wc -l) == 2 ]]
}

@test "NCCL by hand: with the right MASTER_ADDR it still takes eth0" {
	[[ -n ${NCCL_LIB-} ]] || skip "configure found no NCCL: give it --with-nccl=PREFIX"
	in_lab llamafactory --split 'MASTER_ADDR=10.10.0.11 srun -N2 $uniqueid; srun --nccl-autoconf=quiet -N2 $uniqueid'
	((status == 0))
	[[ $(grep ^address <<<"$output" | sort) == "address 10.10.0.11
address 10.10.0.12
address 192.168.100.11
address 192.168.100.12" ]]
}

@test "LLaMA-Factory with us: one line, on the open port" {
	in_lab llamafactory --split --gpus=2 'export MASTER_PORT=29500; srun --nccl-autoconf -N2 --gpus-per-node=2 llamafactory-cli train x.yaml'
	trains 10.10.0.11
	[[ $output == *"nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), TCP, rendezvous 10.10.0.11:29500"* ]]
	[[ $output == *"rank 0 of 4 on node1 via 10.10.0.11:29500"* ]]
}

@test "mlx5_2 without a cable is no part of the recorded job" {
	run -0 "${NCCL_AUTOCONF:-nccl-autoconf}" plan --explain "$BATS_TEST_DIRNAME/../jobs/m-lab2-bond10g-roce-a.json"
	[[ $output =~ mlx5_2:1\ +rejected\ +port-down\ +DOWN ]]
	[[ $output == *NCCL_IB_HCA==mlx5_0:1,mlx5_1:1* && $output == *NCCL_SOCKET_IFNAME==bond0* ]]
}

@test "DeepSpeed by hand: the first address of the first host is the wrong one" {
	in_lab deepspeed --split --gpus=2 'batch <<-\END
		printf "node%d slots=1\n" 1 2 >hostfile
		export NCCL_SOCKET_IFNAME=bond0
		echo GLOO_SOCKET_IFNAME=bond0 >.deepspeed_env
		deepspeed --hostfile hostfile
	END'
	[[ $output == *"timed out after 3s while trying to connect to (192.168.100.11, 29500)"* && $output != *"loss "* ]]
}

@test "DeepSpeed with us: env and hostfile in the batch script" {
	in_lab deepspeed --split --gpus=2 'batch <<-\END
		nccl-autoconf hostfile >hostfile
		nccl-autoconf env --format=docker >.deepspeed_env
		set -a; . ./.deepspeed_env; set +a
		deepspeed --hostfile hostfile --master_addr $MASTER_ADDR --master_port $MASTER_PORT
	END'
	trains 10.10.0.11
}

@test "DeepSpeed with us where names differ: each node's NCCL finds its own, by hand one of them does not" {
	[[ -n ${NCCL_LIB-} ]] || skip "configure found no NCCL: give it --with-nccl=PREFIX"
	in_lab deepspeed --split=mixed --gpus=2 'printf "import os\nos.execvp(\"%s\", \"%s\".split())\n" "${uniqueid%% *}" "$uniqueid" >ask.py
		export SCRIPT=$PWD/ask.py
		batch <<-\END
				nccl-autoconf hostfile >hostfile
			(export NCCL_SOCKET_IFNAME=bond0; deepspeed --hostfile hostfile) | sed "s/^/hand: /"
			eval "$(nccl-autoconf env 2>/dev/null)"
			deepspeed --hostfile hostfile --master_addr $MASTER_ADDR --master_port $MASTER_PORT
		END'
	[[ $(grep -E '^(hand: )?address' <<<"$output" | sort -u) == "address 10.10.0.11
address 10.10.0.12
hand: address 10.10.0.11
hand: address 192.168.100.12" ]]
}

@test "DeepSpeed with us: srun and --no_ssh" {
	in_lab deepspeed --split --gpus=2 'unset SCRIPT; printf "node%d slots=2\n" 1 2 >hostfile
		srun --nccl-autoconf -N2 --gpus-per-node=2 sh -c "deepspeed --hostfile hostfile --no_ssh --node_rank \$NODE_RANK \
			--master_addr \$MASTER_ADDR --master_port \$MASTER_PORT"'
	((status == 0))
	[[ $(grep -c '^deepspeed node: rank [0-3] of 4$' <<<"$output") == 4 ]]
}
