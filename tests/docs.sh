#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the program can say must stand in the manual: words, commands, codes of warnings. Prints TAP.
set -u

src=${srcdir:-.}
page=$src/doc/nccl-autoconf.1.rst

n=0
check() # NAME MISSING
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		echo "$2" | sed 's/^/# not in the manual: /'
	fi
}

# Prints those of standard input that the page does not name in bold.
missing()
{
	while read -r word; do
		grep -qE "\*\*$word([=*]|\*\*)" "$page" || echo "$word"
	done
}

echo 1..4

program=${NCCL_AUTOCONF:-wrapper/nccl-autoconf}
help=$("$program" --help)
check 'every word' "$(echo "$help" | sed '1,/^words of LIST/d' | sed -n 's/^  \([a-z-]*\).*/\1/p' | missing)"
check 'every command' "$(echo "$help" | sed -n '/^commands:/,/^$/s/^  \([a-z]*\).*/\1/p' | missing)"
check 'every code' "$(cat "$src"/lib/*.c "$src"/wrapper/*.c | tr -d '\n' |
	grep -oE '(nca_step_warn|nca_plan_warn)\([^";]*"[a-z-]+"|warning [a-z-]+:|\{"[a-z-]+",[[:space:]]*NCA_LAYOUT_|"rdma-[a-z-]+"' |
	grep -oE '"[a-z-]+"|warning [a-z-]+' | sed 's/^warning //; s/"//g' | sort -u | missing)"

listed=$(sed -n '/^TRAINERS$/,/^MESSAGES$/s/^    //p' "$page" | grep .)
said=$("$program" trainers | grep .)
check 'the listing of trainers' "$(diff - /dev/fd/3 3<<-LISTED <<-SAID | sed -n 's/^[<>] //p'
	$listed
	LISTED
	$said
	SAID
)"
