#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Part of contrib/demo: what a visitor is shown.  Runs in contrib/lab --split, as
# the plain user on the login host.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=/dev/null
. "$here/stage.sh"

readonly width=100
# The same program on every machine: Debian's python3 is the one that sees
# Debian's PyTorch.
PATH=$LAB_DIR/bin:/usr/bin:$PATH
export OMP_NUM_THREADS=1
# Debian's torchrun 1.13 fails under Python 3.11 with its own default for these.
export PET_REDIRECTS=2 PET_TEE=2

# Everything that is printed ends with an empty line.
heading() {
	colour bold "$1"
	printf '\n\n'
}

# paragraph <TEXT
paragraph() {
	fmt --uniform-spacing --width=$((width - 2)) | tr --squeeze-repeats ' ' | sed 's/^/  /'
	echo
}

# show COMMAND [FILTER...]: as one would type it, then what it says or what
# FILTER leaves of it, and its seconds.  Sets status.
show() {
	local begin=$SECONDS
	printf '  '
	colour bold "\$ $1"
	printf '\n\n'
	status=0
	(($# > 1)) || set -- "$1" cat
	bash -o pipefail -c "$1" 2>&1 </dev/null | "${@:2}" | wrap || status=$?
	printf '\n  %s after %d s\n' "$(verdict)" $((SECONDS - begin))
	echo
}

# Python's tracebacks without the way to them
last_lines() {
	grep --line-buffered -E '^rank |^[A-Za-z]+Error: |^srun: '
}

verdict() {
	if ((status)); then
		colour red "ended with status $status"
	else
		colour green "succeeded"
	fi
}

# Breaks lines at the width of the page, and aligns what follows.
wrap() {
	awk -v width=$((width - 4)) '{
		indent = match($0, /[^ ]/) ? RSTART + 3 : 0
		if (match($0, /^  [a-z0-9]+ +(chosen|rejected) +[^ ]+ +/))
			indent = RLENGTH
		while (length($0) > width) {
			cut = width
			while (cut > indent + 1 && substr($0, cut, 1) != " ")
				cut--
			if (cut <= indent + 1)
				cut = width
			print_trimmed(substr($0, 1, cut))
			$0 = sprintf("%*s%s", indent, "", substr($0, cut + 1))
		}
		print_trimmed($0)
	}
	function print_trimmed(line) {
		sub(/ +$/, "", line)
		print "    " line
		fflush()
	}'
}

# injected SRUN-OPTION...: a table of what the tasks of each node find
injected() {
	# shellcheck disable=SC2016 # expanded by the tasks
	srun --nccl-autoconf="$1",quiet "${@:2}" sh -c '
		for name in $(echo "$NCCL_AUTOCONF_VARS" | tr , " "); do
			echo "$SLURM_PROCID $SLURMD_NODENAME $name $(printenv "$name")"
		done' |
		sort --stable --key=1,1n |
		awk '{
			if (!($3 in known)) { known[$3]; order[++rows] = $3 }
			if (!seen[$2, $3, $4]++) value[$2, $3] = value[$2, $3] " " $4
		}
		END {
			printf "    %-36s %-20s %s\n", "", "node1", "node2"
			for (i = 1; i <= rows; i++)
				printf "    %-36s%-21s%s\n", order[i], value["node1", order[i]], value["node2", order[i]]
			print ""
		}'
}

cd "$LAB_SRC/contrib/examples"
srun -N2 true # the first step reads Slurm's files; let that be no part of what is shown

heading "1. The cluster"
paragraph <<-'END'
	node1 and node2 have two interfaces each. Host names resolve to eth0, and the default route leads
	through it, but packets between the nodes get lost there: it is for management. Only bond0 joins them.
END
show 'srun -N2 --label ip -brief -4 address show | sort | grep -v " lo "'

heading "2. By hand"
paragraph <<-'END'
	The usual recipe takes the first host name for MASTER_ADDR and 29500 for MASTER_PORT. Four ranks of
	PyTorch are to train a small model over Gloo; they wait 5 s for each other here, usually half an hour.
	Of tracebacks only the last line is shown.
END
show 'srun -N2 --ntasks-per-node=2 ./by-hand.sh python3 train.py --timeout 5' last_lines
paragraph <<-'END'
	The ranks on node2 know the address of node1 that its name resolves to, and get no answer there.
END

heading "3. With --nccl-autoconf"
paragraph <<<"The same program and the same nodes."
show 'srun --nccl-autoconf -N2 --ntasks-per-node=2 python3 train.py'
trained=$status

heading "4. With a launcher on each node"
paragraph <<<"torchrun starts two workers on each node, and finds out from its environment how they meet."
show 'srun --nccl-autoconf=nproc=2 -N2 --ntasks-per-node=1 torchrun train.py'
launched=$status

heading "5. What was injected"
paragraph <<<"Into the two tasks of each node in 3:"
injected on -N2 --ntasks-per-node=2
paragraph <<<"Into the one task of each node in 4:"
injected layout=node,nproc=2 -N2 --ntasks-per-node=1

heading "6. Why"
paragraph <<<"Every interface of every node, with the rule that decided:"
show "srun --nccl-autoconf=explain -N2 true 2>&1 | grep -v '='"
((trained == 0 && launched == 0)) || fail "a training with --nccl-autoconf did not succeed: see above"
