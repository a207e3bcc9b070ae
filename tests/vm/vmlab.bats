#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Real bonds and real verbs, in virtual machines: what is found there, and that a port that says ACTIVE can be dead.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr
# shellcheck disable=SC2030,SC2031 # each test has its own output

bats_require_minimum_version 1.5.0

setup_file() {
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	[[ ! -e /usr/include/slurm/spank.h ]] ||
		"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -fPIC -shared \
			-o "$BATS_FILE_TMPDIR/container.so" "$BATS_TEST_DIRNAME/../slurm/spank_container.c"
}

setup() {
	((EUID == 0)) || skip "needs root"
	type -P qemu-system-x86_64 >/dev/null || skip "needs QEMU"
	VMLAB=$BATS_TEST_DIRNAME/../../contrib/vmlab
}

# in_vmlab [OPTION...] SCRIPT: bash on the login host; sets output, stderr, status
in_vmlab() {
	run --separate-stderr timeout 400 "$VMLAB" "${@:1:$#-1}" --plugin -- bash -c "cd; ${*: -1}"
	echo "$output" "$stderr"
}

# An RC ping over mlx5_0 between the nodes, by another program than ours; the first messages may come before the server
ping='
	srun -w node1 timeout 60 stdbuf -oL ibv_rc_pingpong -d mlx5_0 -g 1 -n 20 -s 256 >server 2>&1 &
	for i in {1..10}; do
		srun -Q -w node2 timeout 10 stdbuf -oL ibv_rc_pingpong -d mlx5_0 -g 1 -n 20 -s 256 10.11.0.11 >client 2>&1 && echo ping works
		grep -q "connect to" client || break
	done
	cat client; scancel -u root; wait'

@test "bond, rails and HCAs are found, agreed and work; a snapshot says what ip, rdma and ibv_devinfo say, through ten faults" {
	in_vmlab --root '
		srun --nccl-autoconf -N2 -l bash -c "env | grep -E ^NCCL_" | sort
		srun -N1 -w node1 python3 $LAB_SRC/tests/vm/detect.py $LAB_SRC/contrib/lab.d/vm-fault
		'"$ping"
	((status == 0))
	[[ $stderr == *'nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), RoCE v2 on mlx5_0,mlx5_1 (2 x 200 Gb/s), rendezvous 10.10.0.11:'* ]]
	[[ $output == *'0: NCCL_IB_HCA==mlx5_0:1,mlx5_1:1'*'1: NCCL_IB_HCA==mlx5_0:1,mlx5_1:1'* ]]
	(($(grep -c '^ok ' <<<"$output") == 10))
	! grep '^not ok' <<<"$output" || false
	grep -x 'ping works' <<<"$output"
}

# Moves the GIDs of node2's rails from index 1 to 2: another address takes the place while theirs is away
move_gids='
	srun -w node2 bash -c "
		for rail in eth3=11 eth4=12; do
			dev=\${rail%=*} net=\${rail#*=}
			ip addr add 10.98.\$net.12/24 dev \$dev
			ip addr del 10.\$net.0.12/24 dev \$dev
			ip addr add 10.99.\$net.12/24 dev \$dev
			ip addr del 10.98.\$net.12/24 dev \$dev
			ip addr add 10.\$net.0.12/24 dev \$dev
			ip addr del 10.99.\$net.12/24 dev \$dev
			for i in {1..100}; do
				grep -qs ffff:0a0 /sys/class/infiniband/mlx5_[01]/ports/1/gids/2 && break
				sleep 0.1
			done
		done"'

@test "GID indexes that differ between the nodes: one environment for both, and each node's own index in its file" {
	in_vmlab --root "$move_gids"'
		srun --nccl-autoconf=broadcast -N2 -l bash -c "env | grep -E ^NCCL_; cat \$NCCL_CONF_FILE"'
	((status == 0))
	for line in '0: NCCL_IB_GID_INDEX=1' '1: NCCL_IB_GID_INDEX=2' '0: NCCL_IB_HCA==mlx5_0:1,mlx5_1:1' '1: NCCL_IB_HCA==mlx5_0:1,mlx5_1:1'; do
		(($(grep -cxF "$line" <<<"$output") == 1))
	done
	(($(grep -oE 'NCCL_CONF_FILE=.*' <<<"$output" | sort -u | wc -l) == 1))
}

@test "--fault=rdma-in: every port of node2 says ACTIVE, and nothing comes through" {
	in_vmlab --root --fault=rdma-in 'srun -w node2 rdma link; '"$ping"
	(($(grep -c 'state ACTIVE' <<<"$output") == 3))
	! grep -x 'ping works' <<<"$output" || false
	grep '^ *remote address' <<<"$output" # both ends were there
}

# Both nodes at once; node2 breaks and mends itself
pingers='
	for fault in healthy rdma-in rdma-out rdma-large arp-dead gid-gone; do
		[[ $fault == healthy || $SLURM_NODEID == 0 ]] || "$vmfault" break $fault
		timeout 60 ./pinger $PWD/$fault mlx5_0 mlx5_1
		[[ $fault == healthy || $SLURM_NODEID == 0 ]] || "$vmfault" mend $fault
	done'

# said FAULT NODEID ANSWER START: its first partner is the other node's mlx5_0
said() {
	grep -E "^$1 $2: $3 [0-9]+ ms " <<<"$output" | grep -F "ms {\"partners\":[$4"
}

@test "the pinger: what each end of a rail sees of five faults, while the other rail works" {
	in_vmlab --root "
		cp '${LAB_BUILDDIR:-$BATS_TEST_DIRNAME/../..}/tests/vm/pinger' . && mkdir healthy rdma-in rdma-out rdma-large arp-dead gid-gone
		vmfault=\$LAB_SRC/contrib/lab.d/vm-fault srun -N2 bash -c '$pingers'"
	for node in 0 1; do
		said healthy $node linked '{"mac":"52:54:00:'
		said healthy $node pinged ']'
	done
	said rdma-in 0 pinged '{"partner":0,"status":12,"vendor":0,"failed":4}],'
	said rdma-in 1 pinged '{"partner":0,"status":12,"vendor":0,"failed":4,"received":0}],'
	said rdma-out 0 pinged '{"partner":0,"status":12,"vendor":0,"failed":4,"received":0}],'
	said rdma-out 1 pinged '{"partner":0,"status":12,"vendor":0,"failed":4}],'
	said rdma-large 0 pinged '{"partner":0,"large":12,"vendor":0,"failed":4}],'
	said rdma-large 1 pinged ']'
	said arp-dead 1 linked '{"error":110},{"mac":'
	said gid-gone 0 linked '{"error":22},{"mac":'
	said gid-gone 1 linked '{"error":61},{"mac":'
	said gid-gone 0 pinged '{"partner":0,"failed":4,"received":0}],'
}

# row NAME CONTAINER COMMAND: the program says what it has got; the container is node2's
containers='
	plugin="optional $LAB_DIR/bin/spank_nccl_autoconf.so helper=$LAB_DIR/bin/nccl-autoconf"
	row() {
		printf "optional $PWD/container.so on=node2 %s\n" "$2" >"$LAB_DIR/plugstack.conf"
		[[ $1 != plugin* ]] || echo "$plugin" >>"$LAB_DIR/plugstack.conf"
		{ eval "$3 bash -c \"\$show\"" || echo "status $?"; } 2>&1 | sed "s/^/$1: /"
	}
	show="echo \$SLURM_PROCID \$NCCL_IB_HCA \$NCCL_NET; cd /dev; echo \$SLURM_PROCID has infiniband/uverbs*"
	row one hide=/dev/infiniband/uverbs1 "nccl-autoconf srun --nccl-autoconf=check -N2 --"
	row all hide=/dev/infiniband "nccl-autoconf srun --nccl-autoconf=check -N2 --"
	row socket hide=/dev/infiniband "nccl-autoconf srun --nccl-autoconf=check,fallback=socket -N2 --"
	row memlock memlock=65536 "nccl-autoconf srun --nccl-autoconf=check -N2 --"
	row plugin hide=/dev/infiniband/uverbs1 "srun --nccl-autoconf=check -N2"'

# says ROW TEXT: on one line of the row
says() {
	(($(grep "^$1: " <<<"$output" | grep -cF -- "$2") == 1))
}

@test "check in a container: what the task cannot open no node uses, and without any HCA the step is stopped" {
	[[ -e $BATS_FILE_TMPDIR/container.so ]] || skip "needs slurm/spank.h"
	in_vmlab --root "cp '$BATS_FILE_TMPDIR/container.so' .; $containers"
	says one '0 has infiniband/uverbs0 infiniband/uverbs1 infiniband/uverbs2'
	says one '1 has infiniband/uverbs0 infiniband/uverbs2'
	says one '0 =mlx5_1:1'
	says one '1 =mlx5_1:1'
	says one 'RoCE v2 on mlx5_1 (1 x 200 Gb/s)'
	says one 'warning rail-unusable: node2 mlx5_0 port 1: the task cannot open the device: No such file or directory: /dev/infiniband/uverbs1 is not visible here: the container hides it; '
	says all 'warning hca-not-openable: node2 mlx5_0 port 1: the task has no /dev/infiniband (its container hides it)'
	says all 'nccl-autoconf: the step is not started'
	says all 'status 1'
	! grep '^all: [01] ' <<<"$output" || false
	says socket '0 Socket'
	says socket '1 Socket'
	says socket 'warning hca-not-openable: node2 '
	says memlock 'warning memlock-low: node2 memlock: the task may lock 64 kB of memory'
	says memlock 'nccl-autoconf: the step is not started'
	# Its agent is outside, where all HCAs are
	says plugin '1 has infiniband/uverbs0 infiniband/uverbs2'
	says plugin '1 =mlx5_0:1,mlx5_1:1'
	! grep '^plugin: .*warning rail' <<<"$output" || false
}

@test "a rail that is dead on all nodes of a leaf switch: one finding that names the switch, by the agents of the plugin and of the wrapper" {
	export LAB_TOPOLOGY_CONF=$'SwitchName=s1 Nodes=node[1-2]\nSwitchName=s2 Nodes=node[3-4]\nSwitchName=s0 Switches=s[1-2]'
	in_vmlab -n 4 --root --slurm-conf=TopologyPlugin=topology/tree '
		srun -w node[3-4] -N2 $LAB_SRC/contrib/lab.d/vm-fault break rdma-in
		srun --nccl-autoconf=check -N4 bash -c "echo \$NCCL_IB_HCA"
		nccl-autoconf srun --nccl-autoconf=check,missing-rail=fail -N4 -- true'
	((status == 1))
	(($(grep -cx '=mlx5_1:1' <<<"$output") == 4))
	(($(grep -cF 'warning rdma-dead: rail 0 (mlx5_0:1) of all 2 nodes on switch s2 (node3,node4): ' <<<"$stderr") == 2))
	(($(grep -c 'warning rdma' <<<"$stderr") == 2))
	[[ $stderr == *'the step is not started: leave out what failed, with --exclude=node3,node4'* ]]
}

@test "a fault that there is not, a fifth guest, another suite: what to write" {
	run -2 "$VMLAB" --fault=nothing -- true
	[[ $output == *'no such fault: contrib/vmlab --fault=list names them' ]]
	run -2 "$VMLAB" -n 5 -- true
	[[ $output == *'at most 4 nodes'* ]]
	run -2 "$VMLAB" --suite=trixie -- true
	[[ $output == *'--vm'* ]]
}
