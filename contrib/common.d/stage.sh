# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/demo and contrib/check: a private directory, and one line of
# progress for everything that takes time.

work='' log=''

fail() {
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	exit 1
}

# colour NAME TEXT: only on a terminal
colour() {
	local -A code=([bold]=1 [red]=31 [green]=32 [yellow]=33)
	if [[ -t 1 && ${TERM-dumb} != dumb ]]; then
		printf '\e[%dm%s\e[0m' "${code[$1]}" "$2"
	else
		printf '%s' "$2"
	fi
}

# Sets work, a directory that goes when the script ends.  The plain user of the
# lab has to read what is built in it; only root may write.
make_work_directory() {
	((EUID == 0)) || fail "packages and network namespaces need root: run it with sudo"
	umask 022
	work=$(mktemp -d "${TMPDIR:-/tmp}/nccl-autoconf.XXXXXX")
	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	chmod 755 "$work"
	unshare --mount true 2>/dev/null ||
		fail "this machine allows no namespaces: in a container, start it with more privileges (--privileged)"
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
	rm -rf "$work"
	remove_policy
}

# stage TITLE COMMAND [ARG...]: says what is done, does it, and leaves to the
# caller to say how it went, after the seconds; what COMMAND says is in $log.
stage() {
	local begin=$SECONDS status=0
	log=$work/log
	printf '%-64s ' "$1"
	"${@:2}" >"$log" 2>&1 </dev/null || status=$?
	printf '%4d s  ' $((SECONDS - begin))
	return "$status"
}

# must TITLE COMMAND [ARG...]: a stage without which nothing that follows can be
must() {
	if stage "$@"; then
		colour green ok
		echo
	else
		colour red failed
		printf '\n\n'
		tail -n 60 "$log"
		echo
		fail "'$1' failed; above is the end of what it said"
	fi
}
