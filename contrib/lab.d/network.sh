# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/lab: hosts as namespaces, and the two networks between them.
# The bridges are in the lab's own network namespace.

declare -rA subnet=([management]=192.168.100 [data]=10.10.0)
declare -A host_pid

# on_host HOST PROGRAM [ARG...]
on_host() {
	(become_on_host "$@")
}

# become_on_host HOST PROGRAM [ARG...]: ends this (sub)shell
become_on_host() {
	exec nsenter --target "${host_pid[$1]}" --net --uts --ipc --mount -- "${@:2}"
}

# role_of INTERFACE NUMBER: which network it is on that node
role_of() {
	local management=$management
	[[ $split != mixed ]] || (($2 % 2)) || management=bond0
	if [[ $1 == "$management" ]]; then
		echo management
	else
		echo data
	fi
}

# shellcheck disable=SC2154 # nodes and split are set by contrib/lab
make_networks() {
	local management=eth0 interface i
	[[ $split != bond0 ]] || management=bond0
	{
		echo "127.0.0.1 localhost"
		echo "${subnet[management]}.1 login"
		for ((i = 1; i <= nodes; i++)); do
			echo "${subnet[management]}.$((10 + i)) node$i"
		done
	} | replace_etc hosts

	ip -batch - <<-END
		link add management type bridge mcast_snooping 0
		link add data type bridge mcast_snooping 0
		link set management up
		link set data up
	END
	# As a site makes it (contrib/tmpfiles.d); each host has its own on it.
	mkdir -p /run/nccl-autoconf
	make_host login
	plug login "$management" management 1
	for ((i = 1; i <= nodes; i++)); do
		make_host "node$i"
		# Programs that take the first interface find eth0, whatever its role.
		for interface in eth0 bond0; do
			plug "node$i" "$interface" "$(role_of "$interface" "$i")" $((10 + i))
		done
		on_host "node$i" ip route add default via "${subnet[management]}.1"
	done
	[[ -z $split ]] || keep_apart "$management"
}

# keep_apart INTERFACE: nodes do not reach each other on the management network
#
# Slurm needs its own ports open between nodes all the same: srun in a batch
# script talks to the slurmd of the other nodes.  So the login host answers ARP
# for them, and forwards those ports and nothing else.  (Answering ARP takes a
# route look-up too, one without a protocol: therefore the last rules name
# protocols.)
# shellcheck disable=SC2154 # slurmd_port and srun_ports are set by slurm.sh
keep_apart() {
	local i
	for ((i = 1; i <= nodes; i++)); do
		bridge link set dev "node$i-m" isolated on
	done
	# shellcheck disable=SC2016 # expanded on the host
	on_host login bash -ec '
		cd /proc/sys/net/ipv4
		echo 0 | tee conf/all/send_redirects >"conf/$1/send_redirects"
		echo 0 >"neigh/$1/proxy_delay"
		echo 1 | tee ip_forward >"conf/$1/proxy_arp_pvlan"
	' keep_apart "$1"
	on_host login ip -batch - <<-END
		rule add pref 100 iif $1 ipproto tcp dport $slurmd_port lookup main
		rule add pref 100 iif $1 ipproto tcp sport $slurmd_port lookup main
		rule add pref 100 iif $1 ipproto tcp dport $srun_ports lookup main
		rule add pref 100 iif $1 ipproto tcp sport $srun_ports lookup main
		rule add pref 200 iif $1 ipproto tcp blackhole
		rule add pref 200 iif $1 ipproto udp blackhole
		rule add pref 200 iif $1 ipproto icmp blackhole
	END
}

# make_host NAME: namespaces, held by a process that only sleeps
make_host() {
	local from_holder
	# sysfs shows the network namespace in which it was mounted, so each host
	# mounts its own (without the machine's cgroups, which thereby stay out of
	# reach).  IPv6 addresses are usable at once if nobody looks for duplicates.
	# shellcheck disable=SC2016 # expanded on the host
	exec {from_holder}< <(exec unshare --net --uts --ipc --mount bash -ec '
		echo "$1" >/proc/sys/kernel/hostname
		mount -t sysfs sysfs /sys
		mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm
		mount -t tmpfs -o mode=1777,nosuid,nodev nccl-autoconf /run/nccl-autoconf
		for knob in /proc/sys/net/ipv6/conf/{all,default}/accept_dad; do
			[[ ! -e $knob ]] || echo 0 >"$knob"
		done
		ip link set lo up
		echo $$
		exec setsid sleep infinity </dev/null >/dev/null
	' make_host "$1")
	read -r -u "$from_holder" "host_pid[$1]" || fail "the namespaces of $1 could not be made"
	exec {from_holder}<&-
}

# plug HOST INTERFACE BRIDGE NUMBER
plug() {
	local port=$1-${3:0:1}
	ip link add "$port" master "$3" type veth peer name "$2" netns "${host_pid[$1]}"
	ip link set "$port" up
	on_host "$1" ip -batch - <<-END
		address add ${subnet[$3]}.$4/24 broadcast + dev $2
		link set $2 up
	END
}
