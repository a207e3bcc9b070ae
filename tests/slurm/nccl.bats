#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The real NCCL, asked for a unique id: which interface it would meet its peers
# on, with our variables and without.  That needs no GPU.
#
# Read from the environment: NCCL_LIB, libnccl.so.2 as configure has found it.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab

bats_require_minimum_version 1.5.0

load ../nccl/uniqueid.sh

setup_file() {
	build_uniqueid
}

setup() {
	need_nccl
}

# answers SPLIT COMMAND INTERFACE NETWORK: so COMMAND lets NCCL answer on both
# nodes, in a lab of that kind
answers() {
	run -0 timeout 60 "$LAB" --plugin --split="$1" -- bash -c "$2"
	[[ $output == *"version 2."* ]]
	local found
	found=$(grep -E '^(address|interface) ' <<<"$output" | sort)
	[[ $found == "address $4.11
address $4.12
interface $3
interface $3" ]]
}

@test "eth0 keeps the nodes apart: NCCL takes it" {
	answers eth0 "srun -N2 $UNIQUEID" eth0 192.168.100
}

@test "eth0 keeps the nodes apart: NCCL takes bond0 from us" {
	answers eth0 "srun --nccl-autoconf -N2 $UNIQUEID" bond0 10.10.0
}

# NCCL takes the first interface, which here is right by accident.  The name
# that was right on another cluster is not.
@test "bond0 keeps the nodes apart: NCCL takes it from a script of another cluster" {
	answers bond0 "NCCL_SOCKET_IFNAME=bond0 srun -N2 $UNIQUEID" bond0 192.168.100
}

@test "bond0 keeps the nodes apart: NCCL takes eth0 from us" {
	answers bond0 "srun --nccl-autoconf -N2 $UNIQUEID" eth0 10.10.0
}
