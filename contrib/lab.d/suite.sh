# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/lab: the packages of another Debian suite, and with them
# another release of Slurm, as the root directory of the lab.  They are
# unpacked, not installed: no maintainer script runs, and this machine's own
# packages are not touched.

# Slurm, what the lab itself calls, what tests call, and what nccl-autoconf
# links (where a suite has another version of a library, this machine's is used:
# see borrow_libraries).  A change of the list makes a new tree.
readonly suite_packages="slurmctld slurmd slurm-client munge libslurm-dev \
bash coreutils dash debianutils diffutils findutils grep hostname iproute2 libc-bin mawk \
mount netbase procps python3 sed util-linux libhwloc15 libibverbs1 libjansson4 libmnl0"

# prepare_suite: sees to it that $suite_dir/root is there.  Before any namespace:
# it needs the network.  The lock is held until this shell ends, so that a tree
# that a lab runs in is not replaced.
# shellcheck disable=SC2154 # suite, suite_dir and keep_suite_lock are set by contrib/lab
prepare_suite() {
	mkdir -p -- "$suite_dir" || fail "$suite_dir cannot be made: set XDG_CACHE_HOME to a directory with 250 MB of room"
	exec {keep_suite_lock}>"$suite_dir/lock"
	flock --shared "$keep_suite_lock"
	suite_is_complete && return
	flock --exclusive "$keep_suite_lock"
	suite_is_complete || fetch_suite
	flock --shared "$keep_suite_lock"
}

suite_is_complete() {
	[[ -d $suite_dir/root && $(cat -- "$suite_dir/packages" 2>/dev/null) == "$suite_packages" ]]
}

# shellcheck disable=SC2154 # suite is set by contrib/lab
fetch_suite() {
	local log=$suite_dir/log work=$suite_dir/work archive packages
	printf 'lab: Debian %s: fetching about 50 MB of packages into %s\n' "$suite" "$suite_dir" >&2
	rm -rf -- "$suite_dir"/{root,packages,work}
	mkdir -p -- "$work"/apt/{lists,archives}/partial
	: >"$log"
	configure_apt "$work/apt"
	read -ra packages <<<"$suite_packages"
	{
		APT_CONFIG=$work/apt/apt.conf apt-get --quiet --error-on=any update &&
			APT_CONFIG=$work/apt/apt.conf apt-get --quiet --yes --no-install-recommends --download-only \
				install "${packages[@]}"
	} >"$log" 2>&1 || fail "the packages of Debian $suite could not be fetched from $(suite_mirror)" "$log"

	# Where the suite's packages still have files in /bin, they go to /usr/bin.
	mkdir -p -- "$work"/root/{etc,usr/{bin,sbin,lib,lib64},var}
	ln -s usr/{bin,sbin,lib,lib64} "$work/root"
	for archive in "$work"/apt/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$archive" | tar --extract --directory="$work/root" --keep-directory-symlink \
			--exclude=./usr/share/{doc,man,locale}/'*' || fail "${archive##*/} could not be unpacked into $work/root"
	done
	link_alternatives "$work/root"
	chmod 700 "$work/root" # old programs with the set-user-id bit are not for everybody
	mv -- "$work/root" "$suite_dir/root"
	rm -rf -- "$work"
	printf '%s\n' "$suite_packages" >"$suite_dir/packages"
}

# What maintainer scripts would have done
link_alternatives() {
	local program
	for program in "$1"/usr/sbin/slurm*-wlm; do
		ln -sf "${program##*/}" "${program%-wlm}"
	done
	ln -sf mawk "$1/usr/bin/awk"
	ln -sf dash "$1/usr/bin/sh"
}

# configure_apt DIRECTORY: apt as it is configured here (proxies and the like),
# but with nothing installed, one suite, and without hooks.
configure_apt() {
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror
	mirror=$(suite_mirror)
	[[ -n $mirror ]] || fail "apt knows no Debian mirror: name one in /etc/apt/sources.list and run apt-get update"
	[[ -f $keyring ]] || fail "$keyring is missing: install the Debian package debian-archive-keyring"
	: >"$1/status"
	printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$1/sources.list"
	(
		umask 077 # a proxy may have a password
		{
			apt-config dump | grep -vE '^(Dir|DPkg|APT::Update::(Pre|Post)-Invoke)'
			cat <<-END
				Dir::Etc::main "/dev/null";
				Dir::Etc::parts "/dev/null";
				Dir::Etc::preferences "/dev/null";
				Dir::Etc::preferencesparts "/dev/null";
				Dir::Etc::sourcelist "$1/sources.list";
				Dir::Etc::sourceparts "/dev/null";
				Dir::State "$1";
				Dir::State::lists "$1/lists";
				Dir::State::status "$1/status";
				Dir::Cache "$1";
				Dir::Cache::archives "$1/archives";
				Dir::Log "$1";
				Acquire::Languages "none";
			END
		} >"$1/apt.conf"
	)
}

# The mirror that apt uses here for Debian itself
suite_mirror() {
	apt-get indextargets --format "\$(REPO_URI) \$(LABEL)" "Created-By: Packages" 2>/dev/null |
		awk '$2 == "Debian" || $1 ~ /\/debian\/?$/ { print $1; exit }'
}

# enter_suite: the tree becomes the root directory of this process, and so of
# the lab.  Only /usr is the tree itself, and nobody can write it; /tmp, /dev and
# the lab's /run are what they were.
enter_suite() {
	local new=/mnt name
	mount -t tmpfs -o mode=755,nosuid lab "$new"
	cp -a "$suite_dir"/root/{bin,sbin,lib,lib64,etc,var} "$new"
	mkdir "$new"/{usr,proc,sys,dev,run,tmp,old}
	mkdir -m 700 "$new/root"
	mount --bind "$suite_dir/root/usr" "$new/usr"
	mount -o remount,bind,ro,nosuid,nodev "$new/usr"
	for name in proc dev run tmp; do
		mount --rbind "/$name" "$new/$name"
	done
	mount -t sysfs sysfs "$new/sys"
	cp /etc/{passwd,group} "$new/etc"
	printf '%s: files\n' passwd group shadow >"$new/etc/nsswitch.conf"
	printf 'hosts: files dns\n' >>"$new/etc/nsswitch.conf"
	touch "$new/etc/hosts"

	cd "$new" || return
	pivot_root . old
	cd /
	PATH=$PATH:/usr/bin:/bin
	hash -r
	umount --lazy /old
	rmdir /old
}

# borrow_libraries: what nccl-autoconf links and the suite does not have, or has
# in another version, comes from this machine.  It is the program of this
# machine after all; only the plugin must be made for the suite.
# shellcheck disable=SC2154 # helper_file is set by contrib/lab
borrow_libraries() {
	local name path
	mkdir "$LAB_DIR/lib"
	ldd "$helper_file" 2>/dev/null | while read -r name _ path _; do
		[[ $path != /* || -e $suite_dir/root/usr/lib/$(basename "${path%/*}")/$name ]] ||
			cp -L "$path" "$LAB_DIR/lib/$name"
	done
}

# check_helper: does this machine's program run in the suite?
check_helper() {
	if [[ -n $(ls "$LAB_DIR/lib") ]]; then
		# The agent starts with an empty environment: no LD_LIBRARY_PATH
		echo "$LAB_DIR/lib" >/etc/ld.so.conf
		ldconfig
	fi
	env -i "$LAB_DIR/bin/nccl-autoconf" --version >"$LAB_DIR/log/helper.log" 2>&1 ||
		fail "nccl-autoconf, as built on this machine, does not run on Debian $suite: build it on that release or an older one" \
			"$LAB_DIR/log/helper.log"
}
