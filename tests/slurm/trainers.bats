#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Every trainer in both layouts, started as `nccl-autoconf trainers` says: with trainer= and without, where it is known
# without.  tests/slurm/trainers.py stands for the trainers; torchrun is Debian's.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab

bats_require_minimum_version 1.5.0

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
	[[ -x /usr/bin/torchrun ]] || skip "needs the package python3-torch"
	# Debian's torchrun 1.13 fails under Python 3.11 with its own default for
	# the first two; and it looks after its workers every five seconds.
	export PET_REDIRECTS=2 PET_TEE=2 PET_MONITOR_INTERVAL=0.1
	export OMP_NUM_THREADS=1
}

setup() {
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	table=$("${NCCL_AUTOCONF:-nccl-autoconf}" trainers --json | jq -c '.[] | select(.name != "auto")')
}

# supported LAYOUT [KNOWN]: names of the trainers that have it; of those alone that are known without trainer=
supported() {
	jq -r --arg l "$1" --arg known "${2-}" \
		'select(.[$l].supported != "no" and ($known == "" or (.known and .[$l].supported == "yes"))) | .name' <<<"$table"
}

# start LAYOUT NAME: how it is started
start() {
	jq -r --arg l "$1" --arg n "$2" 'select(.name == $n) | .[$l].start // "python train.py"' <<<"$table"
}

# What the scripts in the lab use: launch LAYOUT TRAINER WORDS START [VARIABLE...]
prelude='
	mkdir bin
	for name in accelerate deepspeed llamafactory-cli swift composer ray; do cp "$LAB_SRC/tests/slurm/trainers.py" "bin/$name"; done
	for name in train.py pretrain_gpt.py; do cp "$LAB_SRC/tests/slurm/trainers.py" "$name"; done
	ln -s /usr/bin/python3 bin/python
	printf "node%d slots=2\n" 1 2 >FILE
	export PATH=$PWD/bin:/usr/bin:$PATH
	launch() {
		local tasks=1
		[[ $1 == node ]] || tasks=2
		eval "env LAYOUT=$1 TRAINER=$2 ${*:5} srun --job-name=$2 --nccl-autoconf=quiet,$3 -N2 --ntasks-per-node=$tasks \
			--gpus-per-node=2 --kill-on-bad-exit $4"
	}
'

# in_lab [OPTION...] SCRIPT
in_lab() {
	run -0 timeout 200 "$LAB" "${@:1:$#-1}" --plugin --gpus=2 -- bash -c "cd; $prelude
		${*: -1}"
}

# meets LAYOUT NAME: every rank is there, once; those that start no workers are one process per node
meets() {
	local rank size=4
	case $1:$2 in
	node:jax | node:ray | node:submitit | node:mpirun | node:deepspeed-pdsh) size=2 ;;
	esac
	for ((rank = 0; rank < size; rank++)); do
		(($(grep -cx "$2 $1: rank $rank of $size" <<<"$output") == 1)) ||
			{ printf '%s\n' "$2 $1: rank $rank of $size is missing, or not alone" "$output"; return 1; }
	done
}

# walk LAYOUT WORDS VARIABLES NAME...: each is started with WORDS, in which NAME stands for its own
walk() {
	local name script=''
	for name in "${@:4}"; do
		script+="launch $1 $name ${2//NAME/$name} $(printf %q "$(start "$1" "$name")") $3"$'\n'
	done
	in_lab "$script"
	for name in "${@:4}"; do
		meets "$1" "$name"
	done
}

@test "trainer=, a task per worker" {
	mapfile -t names < <(supported task)
	((${#names[@]} > 12))
	walk task trainer=NAME,layout=task '' "${names[@]}"
}

@test "trainer=, a launcher per node" {
	mapfile -t names < <(supported node)
	((${#names[@]} > 12))
	walk node trainer=NAME,layout=node '' "${names[@]}"
}

@test "without trainer=, a task per worker: all that are known read one rendezvous, which PyTorch joins" {
	mapfile -t names < <(supported task known)
	((${#names[@]} > 8))
	in_lab "launch task all all 'python train.py' 'TRAINERS=\"${names[*]}\"'"
	for name in "${names[@]}"; do
		meets task "$name"
	done
}

@test "without trainer=, a launcher per node: all that are known" {
	# torchrun itself is started so by trainer.bats
	mapfile -t names < <(supported node known | grep -vxE 'torchrun|torchrun-c10d|megatron')
	((${#names[@]} > 5))
	walk node all DRY=1 "${names[@]}"
}

@test "without trainer=, torchrun with c10d, joined by PyTorch" {
	walk node all 'PET_RDZV_BACKEND=c10d TORCH=1' torchrun-c10d
}

@test "mpirun gives the ranks, which mpi4py joins, and we the network on every node" {
	/usr/bin/python3 -c 'import mpi4py' || skip "needs the package python3-mpi4py"
	in_lab 'export TRAINER=mpirun LAYOUT=task
		salloc -Q --nccl-autoconf=quiet -N2 --ntasks-per-node=2 mpirun -np 4 python train.py'
	meets task mpirun
}

@test "what breaks a layout is said before the trainer starts" {
	in_lab --split '
		ln -s /bin/true torchrun
		say() { srun --nccl-autoconf=quiet -N2 --gpus-per-node=2 --ntasks-per-node="$@" 2>&1 | sed -n "s/^nccl-autoconf: warning/$1:/p"; }
		NNODES=2 say 2 true
		LOCAL_RANK=0 say 1 ./torchrun
		say 2 ./torchrun
		FORCE_TORCHRUN=0 say 1 true
		MASTER_ADDR=192.168.100.11 say 2 true
		MASTER_ADDR=node1 say 2 true'
	for warning in '2: env-launcher: NNODES=2 *' '1: env-worker: LOCAL_RANK=0 *' '2: launcher-per-task: "./torchrun" *' \
		'1: env-no-torchrun: FORCE_TORCHRUN=0 *' '2: env-master-addr: MASTER_ADDR=192.168.100.11 is on eth0 of node1; *' \
		'2: env-master-addr: MASTER_ADDR=node1 is on eth0 of node1; *'; do
		# shellcheck disable=SC2053 # a pattern
		while read -r line && [[ $line != $warning ]]; do :; done <<<"$output"
		[[ $line ]] || { echo "not said: $warning"; echo "$output"; return 1; }
	done
	(($(wc -l <<<"$output") == 6)) || { echo "$output"; return 1; }
}
