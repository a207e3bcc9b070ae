# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/demo and contrib/check: what has to be installed on a Debian
# machine, and how it is done on one that may already run Slurm.

packages=(
	# to build
	autoconf automake libtool pkg-config gcc make libc6-dev
	libslurm-dev libhwloc-dev libibverbs-dev libmnl-dev libjansson-dev libsodium-dev
	python3-docutils
	# the lab and what runs in it
	slurmctld slurmd slurm-client munge iproute2 netbase util-linux procps ibverbs-providers
	python3 python3-torch
	# to test
	bats openmpi-bin python3-mpi4py libcmocka-dev jq shellcheck clang-format
)

# The services among them
daemons=(munge slurmctld slurmd)

policy=/usr/sbin/policy-rc.d
policy_is_ours=''

install_packages() {
	local missing new_daemons
	mapfile -t missing < <(missing_packages)
	if ((${#missing[@]} == 0)); then
		must "packages: all ${#packages[@]} are installed" true
		return
	fi
	type -P apt-get >/dev/null ||
		fail "no apt-get on this machine, and these Debian packages or their like are missing: ${missing[*]}"
	mapfile -t new_daemons < <(unknown_daemons "${missing[@]}")
	make_policy
	must "packages: lists" apt-get update
	must "packages: ${#missing[@]} of ${#packages[@]} to install" \
		without_daemons "${apt_install[@]}" "${missing[@]}"
	remove_policy
	must "packages: services stay off" disable_daemons "${new_daemons[@]}"
}

missing_packages() {
	printf '%s\n' "${packages[@]}" | sort | comm -23 - <(
		# shellcheck disable=SC2016 # expanded by dpkg-query
		dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
			sed -n 's/^installed //p' | sort
	)
}

# unknown_daemons PACKAGE...: services of these packages that the machine does
# not have yet, neither from a package nor from the site.
unknown_daemons() {
	local name
	for name in "${daemons[@]}"; do
		[[ " $* " != *" $name "* ]] || service_exists "$name" || echo "$name"
	done
}

service_exists() {
	local file
	for file in "/etc/init.d/$1" /{etc,run,lib,usr/local/lib}/systemd/system/"$1.service"; do
		[[ ! -e $file ]] || return 0
	done
	return 1
}

# Nothing is removed to make room, for example another Slurm; configuration
# that exists is kept.
apt_install=(
	env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends --no-remove
	-o Dpkg::Options::=--force-confold
)

# Debian starts the services of what it installs, unless policy-rc.d answers
# 101.  Ours does, and only in the mount namespace of this command: whatever else
# is started or upgraded meanwhile meets the machine's own policy, and one that
# exists is covered for us but not touched.
# shellcheck disable=SC2154 # work is set by stage.sh
without_daemons() {
	printf '#!/bin/sh\nexit 101\n' >"$work/policy-rc.d"
	chmod 755 "$work/policy-rc.d"
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount bash -c '
		mount --bind "$1" "$2" || exit
		"$2"
		(($? == 101)) || { echo "$1 cannot be executed: set TMPDIR to a file system without noexec"; exit 1; }
		exec "${@:3}"' bash "$work/policy-rc.d" "$policy" "$@"
}

# Only a file can be covered.  Where there is none, one that allows everything
# means the same, even if it were left behind.
make_policy() {
	[[ ! -e $policy && ! -L $policy ]] || return 0
	policy_is_ours=yes
	printf '#!/bin/sh\n# left by nccl-autoconf, may be removed\nexit 0\n' >"$policy"
	chmod 755 "$policy"
}

remove_policy() {
	[[ -z $policy_is_ours ]] || rm -f "$policy"
	policy_is_ours=''
}

# The next boot is not to start them either.
disable_daemons() {
	local name
	for name in "$@"; do
		update-rc.d "$name" disable || return
	done
}
