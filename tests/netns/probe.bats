#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The probe against ip(8), in a network namespace of each test's own, and against recorded trees.
# A namespace and all in it end with the last process inside: nothing is left to clean up.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the namespace

setup() {
	HERE=$BATS_TEST_DIRNAME
	NCA=${NCCL_AUTOCONF:-$HERE/../../nccl-autoconf}
	[[ -x $NCA ]] || skip "nccl-autoconf is not built"
	type -P python3 jq >/dev/null || skip "needs python3 and jq"
	export HERE NCA BATS_TEST_TMPDIR
}

# Runs the commands of standard input in a namespace with sysfs of its own, then compares.
compare_in_namespace() {
	((EUID == 0)) || skip "needs root"
	unshare --net --mount true 2>/dev/null || skip "needs namespaces"
	{
		echo 'set -e'
		echo 'mount -t sysfs sysfs /sys'
		echo 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad 2>/dev/null || :'
		cat
		echo '"$NCA" snapshot >"$BATS_TEST_TMPDIR/node.json"'
		echo 'python3 "$HERE/compare.py" "$BATS_TEST_TMPDIR/node.json"'
	} | unshare --net --mount bash
}

node() {
	jq -c "$1" "$BATS_TEST_TMPDIR/node.json"
}

@test "an empty namespace: only lo, which is down" {
	compare_in_namespace <<<''
	[[ $(node '.interfaces | map(.name)') == *'"lo"'* ]]
	[[ $(node '.hcas') == '[]' ]]
}

@test "veth pairs, a bridge, addresses of all scopes" {
	compare_in_namespace <<-'END'
		ip link set lo up
		ip link add v0 type veth peer name v1
		ip link add br7 type bridge
		ip link set v0 master br7
		for i in v0 v1 br7; do ip link set $i up; done
		ip addr add 10.9.0.1/24 dev br7
		ip addr add 10.9.0.2/24 dev br7
		ip addr add 169.254.3.1/24 dev v1 scope link
		ip addr add fd09::1/64 dev v1 nodad
		ip addr add fd09::2/64 dev v1 nodad preferred_lft 0
	END
	[[ $(node '.interfaces[] | select(.name == "br7") | .bridge.ports') == '["v0"]' ]]
	[[ $(node '.interfaces[] | select(.name == "v1") | .netns_peer') == false ]]
}

@test "a veth whose peer is in another namespace" {
	compare_in_namespace <<-'END'
		mkfifo "$BATS_TEST_TMPDIR/there"
		exec 7> >(exec unshare --net sh -c 'echo >"$BATS_TEST_TMPDIR/there"; exec cat')
		read <"$BATS_TEST_TMPDIR/there"
		ip link add v0 type veth peer name v1 netns $!
		ip link set v0 up
	END
	[[ $(node '.interfaces[] | select(.name == "v0") | .netns_peer') == true ]]
}

@test "routes: gateways, tables, metrics, several next hops, kinds that do not lead anywhere" {
	compare_in_namespace <<-'END'
		ip link set lo up
		ip link add v0 type veth peer name v1
		ip link set v0 up
		ip link set v1 up
		ip addr add 10.9.0.1/24 dev v0
		ip addr add fd09::1/64 dev v0 nodad
		ip route add default via 10.9.0.254 metric 50 proto dhcp
		ip route add 10.10.0.0/16 via 10.9.0.2 table 101
		ip route add 10.11.0.0/16 nexthop via 10.9.0.2 nexthop via 10.9.0.3
		ip route add 10.13.0.1/32 dev v0 src 10.9.0.1
		ip route add blackhole 10.12.0.0/16
		ip -6 route add fd10::/64 via fd09::2 proto bgp
	END
	[[ $(node '.routes[] | select(.dst == "10.11.0.0/16") | .nexthops | length') == 2 ]]
}

@test "every kind of virtual interface that this kernel has" {
	compare_in_namespace <<-'END'
		ip link add low type veth peer name peer
		ip link add front type bridge
		ip link set low up
		# A kernel without a kind is no fault of ours; what it has must be right.
		while read -r words; do
			ip link add $words 2>/dev/null || echo "# this kernel cannot: ip link add $words"
		done <<-KINDS
			link low name low.2973 type vlan id 2973
			link low name mv0 type macvlan mode bridge
			d0 type dummy
			bond7 type bond mode active-backup
			vx0 type vxlan id 7 dstport 4789 dev low
		KINDS
		for i in low.2973 mv0 d0; do ip link set $i up 2>/dev/null || :; done
	END
	(($(node '[.interfaces[] | select(.kind == "veth" or .kind == "bridge")] | length') == 3))
}

@test "a tunnel without link layer, and alternative names" {
	compare_in_namespace <<-'END'
		ip tuntap add tun0 mode tun 2>/dev/null || :
		ip link add br0 type bridge
		ip link property add dev br0 altname front
	END
	[[ $(node '.interfaces[] | select(.name == "br0") | .altnames') == '["front"]' ]]
}

write_roce_tree() {
	python3 "$HERE/tree.py" "$BATS_TEST_TMPDIR/tree" <<-'END'
		file proc/sys/kernel/hostname node1.cluster
		pci 0000:15:01.0 hostbridge:0000:15 0604 8086 352a 0 16 1a
		pci 0000:16:00.0 0000:15:01.0 0604 1000 c030 0 17 1a
		pci 0000:17:00.0 0000:16:00.0 0604 1000 c030 0 18 18
		pci 0000:17:01.0 0000:16:00.0 0604 1000 c030 0 19 19
		pci 0000:18:00.0 0000:17:00.0 0200 15b3 101d 0
		pci 0000:18:00.1 0000:17:00.0 0200 15b3 101d 0
		pci 0000:19:00.0 0000:17:01.0 0302 10de 2330 0
		pci 0000:a1:00.0 hostbridge:0000:a1 0200 15b3 101d 1
		hca mlx5_bond_0 0000:18:00.0 Ethernet 100 Gb/sec (4X EDR)
		hca mlx5_2 0000:a1:00.0 Ethernet 200 Gb/sec (4X HDR)
		net 2 eth0 pci=0000:18:00.0 speed=100000 master=4 perm=02:00:00:00:00:12
		net 3 eth1 pci=0000:18:00.1 speed=100000 master=4 perm=02:00:00:00:00:13
		net 4 bond0 kind=bond mode=4 speed=200000 mtu=9000
		net 5 bond0.2973 kind=vlan vlan=2973 link=4
		net 6 eth2 pci=0000:a1:00.0 speed=200000 mtu=4200
		addr 5 10.40.0.30/24
		addr 6 10.41.0.30/24
		gid mlx5_bond_0 3 0000:0000:0000:0000:0000:ffff:0a28:001e RoCE_v2 bond0.2973
		gid mlx5_bond_0 1 fe80:0000:0000:0000:0000:00ff:fe00:0001 RoCE_v2 bond0
		gid mlx5_2 3 0000:0000:0000:0000:0000:ffff:0a29:001e RoCE_v2 eth2
	END
	"$NCA" snapshot --sysroot="$BATS_TEST_TMPDIR/tree" >"$BATS_TEST_TMPDIR/node.json"
}

@test "a recorded tree: the bond, its slaves and the VLAN on it" {
	write_roce_tree
	[[ $(node .name) == '"node1"' ]]
	[[ $(node '.interfaces[] | select(.name == "bond0") | .bond | [.mode, .lacp_rate, .slaves]') == \
		'["802.3ad","fast",["eth0","eth1"]]' ]]
	[[ $(node '.interfaces[] | select(.name == "eth1") | [.mac, .master, .pci, .speed_mbps]') == \
		'["02:00:00:00:00:13","bond0","0000:18:00.1",100000]' ]]
	[[ $(node '.interfaces[] | select(.name == "bond0.2973") | [.vlan.id, .link, .addresses[0].addr]') == \
		'[2973,"bond0","10.40.0.30"]' ]]
}

@test "a recorded tree: ports and GIDs of two HCAs, one of them a RoCE LAG" {
	write_roce_tree
	[[ $(node '.hcas | map([.name, .pci, .ports[0].netdev, .ports[0].rate_gbps, .ports[0].active_mtu])') == \
		'[["mlx5_2","0000:a1:00.0","eth2",200,4096],["mlx5_bond_0","0000:18:00.0","bond0",200,4096]]' ]]
	[[ $(node '.hcas[1].lag') == '{"bond":"bond0","slaves":["0000:18:00.0","0000:18:00.1"]}' ]]
	[[ $(node '.hcas[1].ports[0].gids | map([.index, .type, .ndev])') == \
		'[[1,"RoCE v2","bond0"],[3,"RoCE v2","bond0.2973"]]' ]]
}

@test "a recorded tree: the PCI tree and the GPU in it" {
	write_roce_tree
	[[ $(node '.gpus | map(.pci)') == '["0000:19:00.0"]' ]]
	[[ $(node '.pci | map(select(.addr == "0000:16:00.0" or .addr == "0000:17:00.0") | .kind)') == \
		'["upstream","downstream"]' ]]
	[[ $(node '.pci | map(select(.addr == "0000:18:00.0")) | .[0].parent') == '"0000:17:00.0"' ]]
}

@test "a tree without the kernel's answers: unknown, with the reason" {
	mkdir -p "$BATS_TEST_TMPDIR/tree/proc/sys/kernel"
	echo node2 >"$BATS_TEST_TMPDIR/tree/proc/sys/kernel/hostname"
	"$NCA" snapshot --sysroot="$BATS_TEST_TMPDIR/tree" >"$BATS_TEST_TMPDIR/node.json"
	[[ $(node '[.interfaces, .routes, .unknown.interfaces]') == '[[],null,"No such file or directory"]' ]]
}

# This machine with two software HCAs in a sysfs of the test's own, after the commands in $1.
snapshot_with_hcas() {
	((EUID == 0)) || skip "needs root"
	unshare --net --mount true 2>/dev/null || skip "needs namespaces"
	unshare --net --mount bash -s "$1" <<-'END'
		set -e
		class=$BATS_TEST_TMPDIR/class
		mkdir -p $class/net
		for i in 0 1; do
			mkdir -p $class/infiniband/rxe$i/ports/1 $class/infiniband_verbs/uverbs$i
			echo rxe$i >$class/infiniband_verbs/uverbs$i/ibdev
			echo "4: ACTIVE" >$class/infiniband/rxe$i/ports/1/state
		done
		mount --bind $class /sys/class
		mount -t tmpfs tmpfs /dev
		eval "$1"
		"$NCA" snapshot >"$BATS_TEST_TMPDIR/node.json"
	END
}

@test "HCAs without device nodes: dev_infiniband is absent" {
	snapshot_with_hcas ''
	[[ $(node .dev_infiniband) == '"absent"' ]]
	[[ $(node '.hcas | map(.uverbs_opens)') == '[false,false]' ]]
	[[ $(node '.hcas[0].uverbs_error') == '"No such file or directory: /dev/infiniband/uverbs0'* ]]
}

@test "a device node that opens, and one that does not" {
	snapshot_with_hcas 'mkdir /dev/infiniband && touch /dev/infiniband/uverbs0 && ln -s uverbs1 /dev/infiniband/uverbs1'
	[[ $(node .dev_infiniband) == null ]]
	[[ $(node '.hcas | map(.uverbs_opens)') == '[true,false]' ]]
	[[ $(node '.hcas[0].uverbs_error') == null ]]
	[[ $(node '.hcas[1].uverbs_error') == '"Too many levels of symbolic links: /dev/infiniband/uverbs1"' ]]
}

@test "bad usage is 2, a tree that is not there is 1" {
	run "$NCA" snapshot --bogus
	[[ $status == 2 && $output == "nccl-autoconf: "* ]]
	run "$NCA" snapshot extra
	[[ $status == 2 ]]
	run "$NCA" snapshot --sysroot=/nonexistent
	[[ $status == 1 && $output == "nccl-autoconf: "* ]]
	run "$NCA" snapshot --help
	[[ $status == 0 && $output == usage:* ]]
}
