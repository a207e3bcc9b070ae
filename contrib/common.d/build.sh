# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/demo and contrib/check: builds a copy of the source tree, so
# that a read-only tree or one of another user stays as it is.

# shellcheck disable=SC2154 # work and root are set by the script
copy_source() {
	mkdir "$work/src"
	if git_here rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		# With what is not committed yet, without what is built.  The index
		# may name files that are gone from the tree.
		git_here ls-files -z --cached --others --exclude-standard | sort -zu |
			tar -C "$root" --null --ignore-failed-read -cf - -T - | tar -C "$work/src" -xf - --no-same-owner
	else
		tar -C "$root" --exclude=./.git -cf - . | tar -C "$work/src" -xf - --no-same-owner || return
		[[ ! -e $work/src/Makefile ]] || make -C "$work/src" distclean
	fi
}

# Root asks about the tree of the user that called sudo, which git refuses
# otherwise.
git_here() {
	git -c safe.directory="$root" -C "$root" "$@"
}

# Everything from the tree to configure
prepare_source() (
	copy_source && cd "$work/src" && autoreconf --force --install
)

# build NAME [CONFIGURE-OPTION...]: into $work/NAME
build() (
	mkdir "$work/$1" && cd "$work/$1" && ../src/configure --quiet "${@:2}" && make -j"$(nproc)"
)
