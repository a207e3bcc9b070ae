#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Part of contrib/lab --vm: process 1 of a guest.  Sets the node up, then does what its console says, line by line.
#
# Usage: vm-guest.sh LAB_DIR NUMBER

LAB_DIR=$1 number=$2
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$LAB_DIR/bin HOME=/root

set_files() {
	mkdir /dev/pts /dev/shm
	mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
	ln -sf /proc/self/fd /dev/fd
	mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm
	mkdir -m 1777 /run/nccl-autoconf
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	# Its own sockets, and what Slurm keeps of a node
	mount -t tmpfs -o mode=755 spool "$LAB_DIR/spool"
}

set_network() {
	local host=$((10 + number)) device
	hostname "node$number"
	# Addresses of IPv6 are usable at once if nobody looks for duplicates.
	echo 0 | tee /proc/sys/net/ipv6/conf/{all,default}/accept_dad >/dev/null
	ip link set lo up
	for device in eth1 eth2; do
		ethtool -s "$device" speed 100000 duplex full
	done
	ip link add bond0 type bond mode active-backup miimon 100
	ip link set eth1 master bond0
	ip link set eth2 master bond0
	ethtool -s eth3 speed 200000 duplex full
	ethtool -s eth4 speed 200000 duplex full
	for device in eth0=192.168.100 bond0=10.10.0 eth3=10.11.0 eth4=10.12.0; do
		ip link set "${device%=*}" up
		ip addr add "${device#*=}.$host/24" broadcast + dev "${device%=*}"
	done
	ip route add default via 192.168.100.1
}

# As a board's cards are called
set_rdma() {
	local pair
	for pair in mlx5_bond_0=bond0 mlx5_0=eth3 mlx5_1=eth4; do
		rdma link add "rxe-${pair#*=}" type rxe netdev "${pair#*=}"
		rdma dev set "rxe-${pair#*=}" name "${pair%=*}"
	done
	# There is no udev
	[[ -d /dev/infiniband ]] || mkdir /dev/infiniband
	chmod 666 /dev/infiniband/*
}

# start_slurm NAME
start_slurm() {
	install -m 400 "$LAB_DIR/munge/key" /run/munge.key
	mount -t tmpfs -o mode=755 munge "$LAB_DIR/munge"
	install -m 400 /run/munge.key "$LAB_DIR/munge/key"
	munged --force --num-threads=2 --key-file="$LAB_DIR/munge/key" --socket="$LAB_DIR/munge/socket" \
		--pid-file="$LAB_DIR/munge/pid" --log-file="$LAB_DIR/munge/log" --seed-file="$LAB_DIR/munge/seed" || return
	mkdir "$LAB_DIR/spool/$1"
	ulimit -l unlimited
	SLURM_CONF=$LAB_DIR/slurm.conf setsid slurmd -D -N "$1" </dev/null >"$LAB_DIR/log/slurmd-$1.log" 2>&1 &
	echo $! >/run/slurmd.pid
}

stty -echo
set_files
set_network
set_rdma
echo lab-ready
while IFS= read -r line; do
	line=${line%$'\r'}
	eval "$line" </dev/null
	echo "lab-done $?"
done
echo o >/proc/sysrq-trigger
sleep 10
