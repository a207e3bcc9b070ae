# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/lab --vm: the nodes are virtual machines with a kernel of their
# own, and so with real bonds and real (software) RDMA.  Their root is this
# machine's, read-only over 9p, with a layer of their own above it; the lab's
# directory is shared.  Their network cards are taps on bridges of the lab.
#
# shellcheck disable=SC2154 # here, LAB_DIR and start_seconds are of contrib/lab and slurm.sh

# What a guest loads, in this order; the kernel's package resolves the rest.
readonly vm_modules="virtio_pci virtio_net virtio_rng 9pnet_virtio 9p overlay crc32_generic crc32c_generic \
bonding 8021q dummy veth bridge macvlan sch_netem sch_prio cls_u32 act_gact nf_tables nft_chain_nat nft_limit nft_compat \
ib_uverbs rdma_ucm rdma_rxe"

readonly boot_seconds=120 # of emulated time beside others

# name of the network, as address and bridge; the first is management
declare -rA vm_subnet=([management]=192.168.100 [data]=10.10.0 [rail1]=10.11.0 [rail2]=10.12.0)

declare -A vm_pid vm_to vm_from

# prepare_kernel: sees to it that $vm_dir has Debian's kernel and the first file
# system of the guests.  Before any namespace: it needs the network.
# shellcheck disable=SC2154 # vm_dir is set by contrib/lab
prepare_kernel() {
	local package
	mkdir -p -- "$vm_dir" || fail "$vm_dir cannot be made: set XDG_CACHE_HOME to a directory with 600 MB of room"
	exec {keep_vm_lock}>"$vm_dir/lock"
	flock --exclusive "$keep_vm_lock"
	if [[ ! -d $vm_dir/kernel ]]; then
		package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
		[[ -n $package ]] || fail "apt knows no linux-image-amd64: run apt-get update"
		printf 'lab: fetching %s (about 70 MB) into %s\n' "$package" "$vm_dir" >&2
		rm -rf -- "$vm_dir/work"
		mkdir -- "$vm_dir/work"
		(cd -- "$vm_dir/work" && apt-get --quiet download "$package") >"$vm_dir/log" 2>&1 ||
			fail "$package could not be fetched" "$vm_dir/log"
		dpkg-deb -x "$vm_dir/work/$package"_*.deb "$vm_dir/work/root"
		depmod --basedir "$vm_dir/work/root" "${package#linux-image-}"
		mv -- "$vm_dir/work/root" "$vm_dir/kernel"
	fi
	make_initrd
	flock --unlock "$keep_vm_lock"
}

# The modules in the order in which they are to be loaded, an init, and busybox.
make_initrd() {
	local version sum work=$vm_dir/work module
	version=$(basename -- "$vm_dir"/kernel/lib/modules/*)
	sum=$(cat "$here/lab.d/vm.sh" "$here/lab.d/vm-init" | sha256sum | cut -d ' ' -f 1)
	[[ $(cat -- "$vm_dir/initrd.sum" 2>/dev/null) != "$version $sum" ]] || return 0
	rm -rf -- "$work"
	mkdir -p -- "$work"/initrd/{bin,modules}
	cp -- "$(type -P busybox)" "$work/initrd/bin/busybox"
	install -m 755 -- "$here/lab.d/vm-init" "$work/initrd/init"
	for module in $vm_modules; do
		modprobe --dirname="$vm_dir/kernel" --set-version="$version" --show-depends "$module" 2>>"$vm_dir/log"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/list"
	while read -r module; do
		cp -- "$module" "$work/initrd/modules"
		echo "/modules/${module##*/}"
	done <"$work/list" >"$work/initrd/modules/list"
	(cd -- "$work/initrd" && find . | cpio --quiet --create --format=newc | gzip -1) >"$vm_dir/initrd.new"
	mv -- "$vm_dir/initrd.new" "$vm_dir/initrd"
	cp -- "$vm_dir"/kernel/boot/vmlinuz-* "$vm_dir/vmlinuz"
	printf '%s\n' "$version $sum" >"$vm_dir/initrd.sum"
	rm -rf -- "$work"
}

# shellcheck disable=SC2154 # nodes is set by contrib/lab
make_networks() {
	local i network
	{
		echo "127.0.0.1 localhost"
		echo "${vm_subnet[management]}.1 login"
		for ((i = 1; i <= nodes; i++)); do
			echo "${vm_subnet[management]}.$((10 + i)) node$i"
		done
	} | replace_etc hosts
	mkdir -p /run/nccl-autoconf /run/vm
	for network in "${!vm_subnet[@]}"; do
		ip link add "$network" type bridge mcast_snooping 0
		ip link set "$network" up
	done
	make_host login
	plug login eth0 management 1
	for ((i = 1; i <= nodes; i++)); do
		boot "$i"
	done
}

# card NUMBER NETWORK SLOT BUS: a tap on the network's bridge, as options of QEMU
card() {
	local tap=node$1-${2:0:1}$3
	tap=${tap//\//}
	ip tuntap add dev "$tap" mode tap
	ip link set dev "$tap" master "$2" up
	qemu+=(-netdev "tap,id=$tap,ifname=$tap,script=no,downscript=no"
		-device "virtio-net-pci,netdev=$tap,romfile=,mac=52:54:00:00:0$1:0$3,bus=$4,addr=${5:-0x$3}")
}

# boot NUMBER: a guest, with its console as two pipes.  The cards of the rails
# are below a PCIe switch each, as on a board with GPUs.
# shellcheck disable=SC2054 # QEMU's commas
boot() {
	local to from qemu=(qemu-system-x86_64 -M q35 -accel tcg -cpu max -m 1500 -smp 1 -nodefaults -no-reboot
		-display none -serial stdio -kernel "$vm_dir/vmlinuz" -initrd "$vm_dir/initrd"
		-append "console=ttyS0 quiet panic=-1 net.ifnames=0 lab=$LAB_DIR number=$1"
		-device virtio-rng-pci,bus=pcie.0,addr=0x3
		-virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$LAB_DIR,mount_tag=lab,security_model=passthrough,multidevs=remap"
		-device pcie-root-port,id=port1,bus=pcie.0,addr=0x10,chassis=1
		-device x3130-upstream,id=up1,bus=port1
		-device xio3130-downstream,id=down1,bus=up1,chassis=2,slot=1
		-device pcie-root-port,id=port2,bus=pcie.0,addr=0x11,chassis=3
		-device x3130-upstream,id=up2,bus=port2
		-device xio3130-downstream,id=down2,bus=up2,chassis=4,slot=2)
	card "$1" management 4 pcie.0
	card "$1" data 5 pcie.0
	card "$1" data 6 pcie.0
	card "$1" rail1 7 down1 0x0
	card "$1" rail2 8 down2 0x0
	mkfifo "/run/vm/to.$1" "/run/vm/from.$1"
	exec {to}<>"/run/vm/to.$1" {from}<>"/run/vm/from.$1"
	setsid "${qemu[@]}" <&"$to" >&"$from" 2>&1 &
	vm_pid[node$1]=$! vm_to[node$1]=$to vm_from[node$1]=$from
}

# next_line NODE: of its console, in $line, kept in its log
next_line() {
	line=
	until IFS= read -r -t 5 -u "${vm_from[$1]}" line; do
		kill -0 "${vm_pid[$1]}" 2>/dev/null || fail "the guest $1 has ended" "$LAB_DIR/log/console-$1.log"
		((SECONDS < deadline)) || fail "the guest $1 does not answer" "$LAB_DIR/log/console-$1.log"
	done
	line=${line%$'\r'}
	printf '%s\n' "$line" >>"$LAB_DIR/log/console-$1.log"
}

# guest NODE COMMAND: a line of shell, as root in the guest; returns its status
guest() {
	local line
	printf '%s\n' "$2" >&"${vm_to[$1]}"
	until next_line "$1"; [[ $line == *'lab-done '* ]]; do
		:
	done
	return "${line##*lab-done }"
}

# The guests boot side by side; each says when it is up.
await_guests() {
	local i line
	deadline=$((SECONDS + boot_seconds))
	for ((i = 1; i <= nodes; i++)); do
		until next_line "node$i"; [[ $line == *lab-ready* ]]; do
			:
		done
	done
	deadline=$((SECONDS + start_seconds))
}

# start_node NUMBER: slurmd, in the guest
start_node() {
	guest "node$1" "start_slurm node$1" || fail "Slurm does not start in node$1" "$LAB_DIR/log/console-node$1.log"
	# shellcheck disable=SC2034 # read by slurm.sh
	daemon_pid["slurmd-node$1"]=${vm_pid[node$1]}
}

# break_vm FAULT: of node2, or of the wire, which is here
break_vm() {
	local program=$LAB_DIR/src/contrib/lab.d/vm-fault
	case $("$program" where "$1") in
	node) guest node2 "$program break $1" ;;
	wire) "$program" break "$1" ;;
	esac
}
