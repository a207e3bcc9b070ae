# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/lab: the lab's directory and the files that its hosts see.

# shellcheck disable=SC2154 # src, suite, suite_dir, plugin and helper_file are set by contrib/lab
make_files() {
	# A private /run and not a directory in /tmp: nothing has to be removed
	# from the machine afterwards, not even after SIGKILL; sockets of the
	# machine's nscd and munged are out of sight; and others can write to no
	# parent directory, which the plugin demands of its helper.
	mount -t tmpfs -o mode=755,nosuid lab /run
	LAB_DIR=$(mktemp -d /run/lab.XXXXXX)
	chmod 755 "$LAB_DIR"
	mkdir "$LAB_DIR"/{bin,dev,home,log,munge,spool,src,state}
	mkdir -m 1777 "$LAB_DIR/tmp"

	mount --bind "$src" "$LAB_DIR/src"
	mount -o remount,bind,ro "$LAB_DIR/src"
	[[ -z $helper_file ]] || install -m 755 "$helper_file" "$LAB_DIR/bin/nccl-autoconf"
	if [[ $plugin == build ]]; then
		plugin_file=$LAB_DIR/bin/spank_nccl_autoconf.so
		"$src/contrib/lab.d/plugin.sh" "$suite_dir/root/usr/include" "$plugin_file" >"$LAB_DIR/log/plugin.log" 2>&1 ||
			fail "the plugin does not compile against the Slurm headers of Debian $suite" "$LAB_DIR/log/plugin.log"
	elif [[ -n $plugin_file ]]; then
		install -m 644 "$plugin_file" "$LAB_DIR/bin/spank_nccl_autoconf.so"
	fi
	if [[ -n $suite ]]; then
		[[ -z $helper_file ]] || borrow_libraries
		enter_suite
		[[ -z $helper_file ]] || check_helper
	fi
	make_user
	# Without a name server unknown names fail at once.  Where resolv.conf is a
	# link into /run it is gone already.
	[[ ! -e /etc/resolv.conf ]] || replace_etc resolv.conf </dev/null
}

# replace_etc NAME <CONTENT: shows it as /etc/NAME inside the lab
replace_etc() {
	cat >"$LAB_DIR/$1"
	mount --bind "$LAB_DIR/$1" "/etc/$1"
}

make_user() {
	local id=61000 passwd group
	while getent passwd "$id" || getent group "$id"; do
		((++id))
	done >/dev/null
	passwd=$(sed '/^lab:/d' /etc/passwd)
	group=$(sed '/^lab:/d' /etc/group)
	printf '%s\n' "$passwd" "lab:x:$id:$id::$LAB_DIR/home:/bin/bash" | replace_etc passwd
	printf '%s\n' "$group" "lab:x:$id:" | replace_etc group
	chown "$id:$id" "$LAB_DIR/home"
}
