#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Others set variables in a task too: a container's plugin before ours or behind it, TaskProlog. spank_container.c does what
# pyxis does; the image and the hook of these tests know another network and another rendezvous than the nodes have agreed on.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr
# shellcheck disable=SC2030,SC2031 # each test sets the lab up for itself

bats_require_minimum_version 1.5.0

setup_file() {
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	[[ ! -e /usr/include/slurm/spank.h ]] ||
		"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -fPIC -shared \
			-o "$BATS_FILE_TMPDIR/container.so" "$BATS_TEST_DIRNAME/spank_container.c"
}

setup() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
	[[ -e $BATS_FILE_TMPDIR/container.so ]] || skip "needs slurm/spank.h"
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	# What NVIDIA's images for PyTorch and enroot's 50-slurm-pytorch.sh set
	container="optional $BATS_FILE_TMPDIR/container.so PYTORCH_VERSION=2 MASTER_ADDR=node1 MASTER_PORT=61234 WORLD_SIZE=1"
}

# in_lab [OPTION...] SCRIPT: bash in a lab where eth0 joins no nodes; $program there is a program whose first task prints its
# variables when it has been looked at; sets output, stderr, status
in_lab() {
	run --separate-stderr timeout 100 "$LAB" --split "${@:1:$#-1}" -- bash -c "cd; export program='$program'; ${*: -1}"
	stderr=$(grep -vE '^srun: job [0-9]+ (queued and waiting|has been allocated)' <<<"$stderr" || :)
	printf '%s\n' "$output" "$stderr"
}

# The agent's socket has a name of the kernel's choice, and closes when the hub has been told
program='bash -c "
	for ((i = 0; i < 600; i++)); do grep -qE \" 00010000 .* @[0-9a-f]{5}\$\" /proc/net/unix || break; sleep 0.05; done
	env | grep -E \"^(NCCL_|MASTER_|RANK=|LOCAL_RANK=|WORLD_SIZE=|PET_)\" | sort | sed s/^/\$SLURM_PROCID:/"'

# asks OPTION...: srun with us and the program
asks() {
	in_lab --plugin --gpus=2 "eval srun --nccl-autoconf=quiet -N2 $* \"\$program\""
	((status == 0))
}

# has LINE...: every LINE is a line of output
has() {
	local line
	for line; do
		grep -qxF -- "$line" <<<"$output" || { echo "missing: $line"; return 1; }
	done
}

readonly tasks="--ntasks-per-node=2 --gpus-per-node=2" node="--ntasks-per-node=1 --gpus-per-node=2"

@test "nobody else sets anything: no warning, in both layouts" {
	asks "$tasks"
	has 0:NCCL_SOCKET_IFNAME==bond0 3:RANK=3 3:LOCAL_RANK=1
	[[ -z $stderr ]]
	asks "$node"
	has 0:NCCL_SOCKET_IFNAME==bond0 1:PET_NODE_RANK=1
	[[ -z $stderr ]]
}

@test "a container's plugin before ours: we have the last word, in both layouts" {
	export LAB_PLUGSTACK_BEFORE="$container NCCL_SOCKET_IFNAME=eth0 NCCL_COLLNET_ENABLE=1"
	asks "$tasks"
	for rank in 0 1 2 3; do
		has "$rank:NCCL_SOCKET_IFNAME==bond0" "$rank:MASTER_ADDR=10.10.0.11" "$rank:WORLD_SIZE=4" "$rank:RANK=$rank" \
			"$rank:LOCAL_RANK=$((rank % 2))" "$rank:NCCL_COLLNET_ENABLE=1"
	done
	! grep MASTER_PORT=61234 <<<"$output" || false
	[[ -z $stderr ]]
	asks "$node"
	has 0:NCCL_SOCKET_IFNAME==bond0 1:MASTER_ADDR=10.10.0.11 1:PET_NODE_RANK=1 1:PET_MASTER_ADDR=10.10.0.11
	! grep MASTER_PORT=61234 <<<"$output" || false
	[[ -z $stderr ]]
}

@test "behind ours: its values hold, and one warning says so, in both layouts" {
	export LAB_PLUGSTACK_AFTER="$container NCCL_SOCKET_IFNAME=eth0"
	asks "$tasks"
	for rank in 0 1 2 3; do
		has "$rank:NCCL_SOCKET_IFNAME=eth0" "$rank:MASTER_PORT=61234" "$rank:WORLD_SIZE=1" "$rank:RANK=$rank"
	done
	(($(wc -l <<<"$stderr") == 1))
	[[ $stderr == "nccl-autoconf: warning overridden: node1: the program has "*"NCCL_SOCKET_IFNAME=eth0 (set: =bond0)"* ]]
	[[ $stderr == *" MASTER_ADDR=node1 (set: 10.10.0.11), MASTER_PORT=61234 (set: "[0-9]*"); the container's image or a hook did it: add srun --container-env="*MASTER_PORT* ]]
	[[ $stderr == *"WORLD_SIZE=1 (set: 4)"*", or, for what was set, name our file zz-nccl-autoconf.conf so that it comes after pyxis"* && $stderr != *RANK* ]]
	asks "$node"
	(($(wc -l <<<"$stderr") == 1))
	[[ $stderr == *"overridden: node1: "*"NCCL_SOCKET_IFNAME=eth0 (set: =bond0)"* && $stderr != *WORLD_SIZE* ]]
}

@test "behind ours, with --container-env: what is set holds" {
	export LAB_PLUGSTACK_AFTER="$container keep=MASTER_ADDR keep=MASTER_PORT keep=WORLD_SIZE"
	asks "$tasks"
	has 0:MASTER_ADDR=10.10.0.11 3:WORLD_SIZE=4 3:RANK=3
	[[ -z $stderr ]]
}

@test "what the user exports stays the user's, and what an image makes of it is said" {
	LAB_PLUGSTACK_BEFORE="$container keep=MASTER_PORT" in_lab --plugin \
		'export MASTER_PORT=23456; eval srun --nccl-autoconf=quiet,layout=task -N2 "$program"'
	has 0:MASTER_PORT=23456 1:MASTER_PORT=23456 0:MASTER_ADDR=10.10.0.11
	[[ -z $stderr ]]
	LAB_PLUGSTACK_BEFORE="$container" in_lab --plugin \
		'export MASTER_PORT=23456; eval srun --nccl-autoconf=quiet,layout=task -N2 "$program"'
	has 0:MASTER_PORT=61234 1:MASTER_PORT=61234 0:MASTER_ADDR=10.10.0.11
	[[ $stderr == "nccl-autoconf: warning overridden: node1: the program has MASTER_PORT=61234 (exported: 23456); the container's image or a hook did it: add srun --container-env=MASTER_PORT" ]]
}

@test "by the site's default the image's values hold, without a word" {
	export LAB_PLUGSTACK_ARGS=default=on LAB_PLUGSTACK_BEFORE="$container NCCL_SOCKET_IFNAME=eth0"
	in_lab --plugin --gpus=2 "eval srun -N2 $tasks \"\$program\""
	has 0:NCCL_SOCKET_IFNAME=eth0 0:MASTER_ADDR=node1
	[[ -z $stderr ]]
}

@test "a container with a network of its own: nothing is said, nothing waits" {
	LAB_PLUGSTACK_BEFORE="$container net" asks "$tasks"
	has 0:MASTER_ADDR=10.10.0.11
	[[ -z $stderr ]]
}

@test "TaskProlog: what it exports or unsets is said" {
	export LAB_SLURM_CONF="TaskProlog=$BATS_TEST_TMPDIR/prolog"
	chmod 755 "$BATS_TEST_TMPDIR"
	printf '%s\n' '#!/bin/sh' 'echo export NCCL_SOCKET_IFNAME=eth0' 'echo unset MASTER_PORT' >"$BATS_TEST_TMPDIR/prolog"
	chmod 755 "$BATS_TEST_TMPDIR/prolog"
	asks "$tasks"
	has 0:NCCL_SOCKET_IFNAME=eth0 3:NCCL_SOCKET_IFNAME=eth0
	(($(wc -l <<<"$stderr") == 1))
	[[ $stderr == "nccl-autoconf: warning overridden: node1: the program has "*"NCCL_SOCKET_IFNAME=eth0 (set: =bond0)"*"no MASTER_PORT (set: "* ]]
	[[ $stderr == *"; TaskProlog, or a plugin behind ours in plugstack.conf, did it: let TaskProlog leave it alone, or "* ]]
}

@test "strict: the program runs already, so a warning is all; and by the site's default too" {
	export LAB_PLUGSTACK_AFTER="$container NCCL_SOCKET_IFNAME=eth0"
	in_lab --plugin 'eval srun --nccl-autoconf=quiet,strict,layout=task -N2 "$program"'
	((status == 0))
	has 0:NCCL_SOCKET_IFNAME=eth0 1:NCCL_SOCKET_IFNAME=eth0
	[[ $stderr == *"warning overridden: node1: "* ]]
	LAB_PLUGSTACK_ARGS=default=on in_lab --plugin --gpus=2 "eval srun -N2 $tasks \"\$program\""
	[[ $stderr == "nccl-autoconf: warning overridden: node1: "*NCCL_SOCKET_IFNAME=eth0* ]]
}

@test "no process of ours and no descriptor is left in the program" {
	LAB_PLUGSTACK_AFTER=$container in_lab --plugin 'srun --nccl-autoconf=quiet,net -N2 bash -c "
		for ((i = 0; i < 600; i++)); do pgrep -f \"[n]ccl-autoconf agent\" || break; sleep 0.05; done >/dev/null
		pgrep -lf \"[n]ccl-autoconf agent\"; ls -l /proc/\$\$/fd | grep socket: | grep -vE \" [0-2] ->\"; true"'
	((status == 0))
	[[ -z $output ]]
}

@test "the wrapper inside the container: ranks that pyxis has set are each task's own, those of a batch script are not" {
	export LAB_PLUGSTACK_BEFORE="optional $BATS_FILE_TMPDIR/container.so PYTORCH_VERSION=2"
	in_lab --no-plugin "eval nccl-autoconf srun --nccl-autoconf=quiet,strict,layout=task -N2 --ntasks-per-node=2 -- \"\$program\""
	has 0:RANK=0 3:RANK=3 3:LOCAL_RANK=1 3:WORLD_SIZE=4
	[[ -z $stderr ]]
	unset LAB_PLUGSTACK_BEFORE
	in_lab --no-plugin "export RANK=0; eval nccl-autoconf srun --nccl-autoconf=quiet,layout=task -N2 --ntasks-per-node=2 -- \"\$program\""
	[[ $stderr == *"warning env-same-rank: RANK=0 "* ]]
}

@test "the wrapper inside the container has the last word, and takes what the image sets for the user's" {
	LAB_PLUGSTACK_BEFORE="$container NCCL_SOCKET_IFNAME=eth7 NCCL_IB_TIMEOUT=20" in_lab --no-plugin \
		"eval nccl-autoconf srun --nccl-autoconf=quiet,net -N2 -- \"\$program\""
	has 0:NCCL_SOCKET_IFNAME==bond0 1:NCCL_SOCKET_IFNAME==bond0 0:NCCL_IB_TIMEOUT=20 0:MASTER_PORT=61234
	[[ $stderr == *"warning env-no-interface: "*NCCL_SOCKET_IFNAME=eth7* ]]
}

# As docker reads a file of variables: a line is one, and nothing is quoted
run_container='xargs -d "\n" -a docker.$SLURM_PROCID env -i'

@test "env in a task: a container that it starts gets what the task has, and no step is made for it" {
	in_lab --plugin "srun --nccl-autoconf=quiet,layout=task -N2 --ntasks-per-node=2 bash -c '
		export NCCL_DEBUG_FILE=\"a b\" NCCL_LINES=a\$'\\''\\n'\\''b OTHER=1
		PATH=\$LAB_DIR/bin nccl-autoconf env --format=docker >docker.\$SLURM_PROCID
		$run_container /usr/bin/env | sort >inside.\$SLURM_PROCID
		env | grep -E \"^(NCCL_[^A]|GLOO_|TP_|NVSHMEM_|MASTER_|RANK=|LOCAL_|WORLD_|JAX_)\" | grep -v ^NCCL_LINES= | sort | diff - inside.\$SLURM_PROCID &&
			sed s/^/\$SLURM_PROCID:/ inside.\$SLURM_PROCID'"
	((status == 0))
	has 0:RANK=0 3:RANK=3 3:LOCAL_RANK=1 3:MASTER_ADDR=10.10.0.11 3:NCCL_SOCKET_IFNAME==bond0 "2:NCCL_DEBUG_FILE=a b"
	! grep -E 'OTHER|SLURM|AUTOCONF|LINES' <<<"$output" || false
	(($(grep -cxF "nccl-autoconf: env: NCCL_LINES is left out: docker takes no value of more than one line" <<<"$stderr") == 4))
}

@test "env in a task of a launcher, and of the wrapper: shell and JSON too" {
	in_lab --no-plugin --gpus=2 'nccl-autoconf srun --nccl-autoconf=quiet -N2 --ntasks-per-node=1 --gpus-per-node=2 -- bash -c "
		eval \"\$(nccl-autoconf env | sed s/^export./export\ X_/)\"; echo \$SLURM_PROCID \$X_PET_NODE_RANK \$X_NCCL_SOCKET_IFNAME
		nccl-autoconf env --format=json | python3 -c \"import json, sys; print(json.load(sys.stdin)[\\\"PET_NODE_RANK\\\"])\""'
	has '0 0 =bond0' '1 1 =bond0' 0 1
	[[ -z $stderr ]]
}
