#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# PyTorch trains over Gloo on two nodes whose host names resolve to a network
# that does not join them.  Both tests run with the names of the networks
# changed over: nothing in an interface's name says which one is right.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab

bats_require_minimum_version 1.5.0

setup_file() {
	# Debian's torchrun 1.13 fails under Python 3.11 with its own default for
	# these two, in Std.from_str("0").
	export PET_REDIRECTS=2 PET_TEE=2
	export OMP_NUM_THREADS=1
}

setup() {
	((EUID == 0)) || skip "needs root"
	[[ -x /usr/bin/torchrun ]] || skip "needs the package python3-torch"
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	TRAIN='/usr/bin/python3 $LAB_SRC/contrib/examples/train.py'
}

# trains SPLIT SRUN-OPTION...: a training of four ranks on two nodes, started so
# in a lab of that kind
trains() {
	local rank
	run -0 timeout 60 "$LAB" --plugin --split="$1" -- bash -c "srun ${*:2}"
	for rank in 0 1 2 3; do
		grep -Eq "^rank $rank of 4 on node$((rank / 2 + 1)) via 10\.10\.0\.11:[0-9]+$" <<<"$output"
	done
	(($(sed -n 's/^rank .* via //p' <<<"$output" | sort -u | wc -l) == 1)) # one port
	[[ $output =~ loss\ ([0-9.]+)\ at\ step\ 1,\ ([0-9.]+)\ at\ step\ 20 ]]
	awk -v first="${BASH_REMATCH[1]}" -v last="${BASH_REMATCH[2]}" 'BEGIN { exit !(last < first / 2) }'
}

# fails_by_hand SPLIT: the usual recipe gets as far as connecting, and its log
# names the address, which is that of the interface called SPLIT
fails_by_hand() {
	run ! timeout 60 "$LAB" --plugin --split="$1" -- bash -c '
		srun -w node1 ip -o -4 address show
		srun -N2 --ntasks-per-node=2 --kill-on-bad-exit $LAB_SRC/contrib/examples/by-hand.sh '"$TRAIN"' --timeout 4'
	((status != 124))
	local address
	address=$(sed -n "s,^[0-9]*: $1 *inet \([0-9.]*\)/.*,\1,p" <<<"$output")
	[[ -n $address && $output == *"rank 3 on node2 connects to node1 ($address) port 29500"* ]]
	[[ $output == *"timed out after 4s while trying to connect to (node1, 29500)"* ]]
	[[ $output != *" via "* && $output != *"loss "* ]]
}

@test "eth0 keeps the nodes apart: a task per rank trains" {
	trains eth0 "--nccl-autoconf -N2 --ntasks-per-node=2 $TRAIN"
	[[ $output == *"nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), TCP, rendezvous 10.10.0.11:"* ]]
}

@test "eth0 keeps the nodes apart: torchrun on each node trains" {
	trains eth0 '--nccl-autoconf=nproc=2 -N2 --ntasks-per-node=1 torchrun $LAB_SRC/contrib/examples/train.py'
}

@test "eth0 keeps the nodes apart: the rendezvous made by hand fails" {
	fails_by_hand eth0
}

@test "bond0 keeps the nodes apart: a task per rank trains" {
	trains bond0 "--nccl-autoconf -N2 --ntasks-per-node=2 $TRAIN"
	[[ $output == *"nccl-autoconf: 2 nodes on eth0 (10.10.0.0/24), TCP, rendezvous 10.10.0.11:"* ]]
}

@test "bond0 keeps the nodes apart: torchrun on each node trains" {
	trains bond0 '--nccl-autoconf=layout=node,nproc=2 -N2 --ntasks-per-node=1 torchrun $LAB_SRC/contrib/examples/train.py'
}

@test "bond0 keeps the nodes apart: the rendezvous made by hand fails" {
	fails_by_hand bond0
}
