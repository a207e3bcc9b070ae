#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# contrib/lab itself: what the other tests in this directory stand on.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged ip unshare >/dev/null || skip "needs Slurm, munge and iproute2"
}

setup() {
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	export SLURM_CONF=/nonexistent NCCL_DEBUG=INFO LAB_TEST_PASSED=on
}

teardown() {
	jobs -p | xargs --no-run-if-empty kill 2>/dev/null || : # labs of a test that failed
}

# A step for two nodes: node1 tries to connect to node2 at each address given.
write_connect() {
	cat >"$BATS_TEST_TMPDIR/connect.py" <<-'END'
		import os, socket, sys, time
		if os.environ["SLURM_PROCID"] == "1":
		    server = socket.create_server(("", 5555))
		    server.settimeout(4)
		    try:
		        while True:
		            server.accept()
		    except OSError:
		        sys.exit()
		def connect(address, port, seconds):
		    try:
		        socket.create_connection((address, port), seconds).close()
		        return True
		    except ConnectionRefusedError:
		        return None
		    except OSError:
		        return False
		def state(address):
		    give_up = time.monotonic() + 3
		    while (done := connect(address, 5555, 1)) is None and time.monotonic() < give_up:
		        time.sleep(0.05)
		    return "open" if done else "closed"
		# The address that works comes last in the argument list and is waited
		# for first, so that "closed" is said of a server that listens.
		for address in reversed(sys.argv[1:]):
		    print(address, state(address), flush=True)
	END
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
}

@test "exit status, output, input and environment of COMMAND are passed on" {
	run --separate-stderr -7 "$LAB" --no-plugin -- bash -c '
		cat; echo err >&2; id -un; id -u; hostname; echo "${NCCL_DEBUG-none} $LAB_TEST_PASSED"
		test -w ~ && test -w "$TMPDIR" && test -r "$LAB_SRC/contrib/lab" && ! touch "$LAB_SRC/x" 2>/dev/null && exit 7
	' <<<"in"
	[[ ${lines[0]} == in ]]
	[[ ${lines[1]} == lab ]]
	((lines[2] > 0))
	[[ ${lines[3]} == login ]]
	[[ ${lines[4]} == "none on" ]]
	[[ $stderr == err ]]
}

@test "a signal that ends COMMAND becomes 128+n, without a word" {
	run -137 "$LAB" --no-plugin -- sh -c 'kill -KILL $$'
	[[ -z $output ]]
}

@test "COMMAND starts where the caller is, if the plain user may" {
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	mkdir -m 755 "$BATS_TEST_TMPDIR/open"
	mkdir -m 700 "$BATS_TEST_TMPDIR/closed"
	printf '#!/bin/sh\npwd\n' >"$BATS_TEST_TMPDIR/open/program"
	chmod 755 "$BATS_TEST_TMPDIR/open/program"
	cd "$BATS_TEST_TMPDIR/open"
	run -0 "$LAB" --no-plugin -- ./program
	[[ $output == "$BATS_TEST_TMPDIR/open" ]]
	cd "$BATS_TEST_TMPDIR/closed"
	run -0 "$LAB" --no-plugin -- sh -c 'test "$PWD" = "$HOME"'
}

@test "srun, sbatch --wait and GPUs" {
	run -0 --separate-stderr "$LAB" --no-plugin --gpus=2 -- bash -ec '
		srun -N2 hostname | sort
		srun -N1 --gpus-per-node=2 sh -c "echo gpus \$CUDA_VISIBLE_DEVICES"
		cd; printf "#!/bin/sh\nsrun hostname\n" >job
		sbatch --quiet --wait -N2 -o out job; sort out
	'
	[[ $output == $'node1\nnode2\ngpus 0,1\nnode1\nnode2' ]]
}

# What node1 knows of names, addresses, routes and interfaces.
show_network='srun -N1 -w node1 bash -ec "
	getent hosts node1; getent hosts login
	ip -o -4 address show | sed -n \"s/^\([0-9]*\): \([a-z0-9]*\) *inet \([0-9.]*\).*/\2 \3/p\"
	ip route show default; ls /sys/class/net | xargs"'

@test "without --split both networks join the nodes" {
	write_connect
	run -0 "$LAB" --no-plugin -- bash -ec "$show_network; srun -N2 python3 '$BATS_TEST_TMPDIR/connect.py' 192.168.100.12 10.10.0.12"
	[[ $output == *"192.168.100.11  node1"* ]]
	[[ $output == *"192.168.100.1   login"* ]]
	[[ $output == *"eth0 192.168.100.11"*"bond0 10.10.0.11"* ]]
	[[ $output == *"default via 192.168.100.1 dev eth0"* ]]
	[[ $output == *"bond0 eth0 lo"* ]]
	[[ $output == *"10.10.0.12 open"*"192.168.100.12 open"* ]]
}

@test "--split: eth0 does not join the nodes, bond0 does; Slurm works" {
	write_connect
	run -0 "$LAB" --no-plugin --split -- bash -ec "$show_network; srun -N2 python3 '$BATS_TEST_TMPDIR/connect.py' 192.168.100.12 10.10.0.12
		cd; sbatch --quiet --wait -N2 -o out --wrap 'srun hostname'; sort out"
	[[ $output == *"eth0 192.168.100.11"*"bond0 10.10.0.11"* ]]
	[[ $output == *"default via 192.168.100.1 dev eth0"* ]]
	[[ $output == *"10.10.0.12 open"*"192.168.100.12 closed"* ]]
	[[ $output == *$'node1\nnode2' ]]
}

@test "--split=bond0: the same with the names changed over" {
	write_connect
	run -0 "$LAB" --no-plugin --split=bond0 -- bash -ec "$show_network; srun -N2 python3 '$BATS_TEST_TMPDIR/connect.py' 192.168.100.12 10.10.0.12"
	[[ $output == *"192.168.100.11  node1"* ]]
	[[ $output == *"eth0 10.10.0.11"*"bond0 192.168.100.11"* ]]
	[[ $output == *"default via 192.168.100.1 dev bond0"* ]]
	[[ $output == *"10.10.0.12 open"*"192.168.100.12 closed"* ]]
}

@test "--plugin loads copies of what is built, with LAB_PLUGSTACK_ARGS" {
	local build=$BATS_TEST_TMPDIR/build
	mkdir -p "$build/plugin/.libs" "$build/wrapper"
	printf '%s\n' '#include <slurm/spank.h>' 'SPANK_PLUGIN(lab_test, 1);' \
		'int slurm_spank_local_user_init(spank_t s, int c, char **v)' \
		'{ for (int i = 0; i < c; i++) slurm_error("%s", v[i]); return 0; }' >"$build/plugin.c"
	cc -shared -fPIC -o "$build/plugin/.libs/spank_nccl_autoconf.so" "$build/plugin.c" || skip "needs a compiler and libslurm-dev"
	printf '#!/bin/sh\necho "$0 runs"\n' >"$build/wrapper/nccl-autoconf"
	chmod 755 "$build/wrapper/nccl-autoconf"

	LAB_BUILDDIR=$build LAB_PLUGSTACK_ARGS="default=on x=y" run -0 "$LAB" -- \
		sh -c 'srun true; nccl-autoconf; stat -c "%U %A" "$LAB_DIR/bin/nccl-autoconf"'
	[[ $output == *"helper=/run/lab."*"/bin/nccl-autoconf"*"default=on"*"x=y"* ]]
	[[ $output == *"/bin/nccl-autoconf runs"* ]]
	[[ $output == *"root -rwxr-xr-x"* ]]

	LAB_BUILDDIR=$build run -0 "$LAB" --no-plugin -- sh -c 'srun true; nccl-autoconf'
	[[ $output == *"/bin/nccl-autoconf runs"* && $output != *helper=* ]]
}

@test "--slurm-conf: lines take the place of the lab's own" {
	run -0 "$LAB" --no-plugin --slurm-conf=KillWait=7 --slurm-conf=PrologFlags=Alloc -- \
		bash -c 'scontrol show config | grep -oE "^(KillWait|PrologFlags) *= *[^ ]+" | tr -d " "; srun -N2 true'
	[[ $output == $'KillWait=7\nPrologFlags=Alloc' ]]
}

@test "--configless: only slurmctld has configuration files" {
	run -0 "$LAB" --no-plugin --configless -- bash -c '
		echo "${SLURM_CONF-none}"; ls "$LAB_DIR/conf" | xargs
		srun -N2 bash -c "ls /run/slurm/conf/ | xargs; ls -A \"\$LAB_DIR/conf\" | wc -l"'
	[[ ${lines[0]} == none ]]
	(($(grep -cx "cgroup.conf plugstack.conf slurm.conf" <<<"$output") == 3))
	(($(grep -cx 0 <<<"$output") == 2))
}

@test "two labs at once do not see each other" {
	local i command='srun -N2 sh -c "sleep 1; hostname" | sort | xargs; squeue --noheader --states=running,pending | wc -l; echo "$LAB_DIR"'
	for i in 1 2; do
		"$LAB" --no-plugin -- bash -c "$command" >"$BATS_TEST_TMPDIR/$i" 3>&- &
	done
	wait
	for i in 1 2; do
		mapfile -t lines <"$BATS_TEST_TMPDIR/$i"
		[[ ${lines[0]} == "node1 node2" && ${lines[1]} == 0 && ${lines[2]} == /run/lab.* ]]
	done
	run ! cmp "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
}

# leftovers DIRECTORY NETNS: what there is on the machine of the lab with this
# directory and, as the kernel numbers it, this network namespace
leftovers() {
	local environ
	for environ in /proc/[0-9]*/environ; do
		! tr '\0' '\n' <"$environ" | grep -qF -- "$1" || echo "process $environ"
	done 2>/dev/null
	grep -sF -- "$1" /proc/[0-9]*/mounts || :
	lsns --noheadings --output NS,COMMAND | grep -wF -- "$2" || :
	! ls -d "$1" 2>/dev/null
}

# end_lab SIGNAL STATUS: starts a lab, ends it by that signal
end_lab() {
	local lab dir netns status=0 out=$BATS_TEST_TMPDIR/$1
	# Bash starts background commands with SIGINT ignored.
	env --default-signal=INT "$LAB" --no-plugin -- \
		sh -c 'echo "$LAB_DIR $(readlink /proc/self/ns/net)"; srun -N2 sleep 1000' >"$out" 2>&1 3>&- &
	lab=$!
	until read -r dir netns <"$out"; do
		kill -0 "$lab"
		sleep 0.05
	done 2>/dev/null
	netns=${netns//[!0-9]/}
	[[ $(leftovers "$dir" "$netns") == *process*"$netns"* ]] # the search finds a lab that runs

	SECONDS=0
	kill -"$1" "$lab"
	wait "$lab" || status=$?
	((status == $2))
	((SECONDS < 20)) # COMMAND would have run for longer
	until [[ -z $(leftovers "$dir" "$netns") ]]; do
		((SECONDS < 30)) || { leftovers "$dir" "$netns"; return 1; }
		sleep 0.05
	done
}

@test "a lab ended by a signal leaves nothing behind" {
	end_lab TERM 143
	end_lab INT 130
	end_lab HUP 129
	end_lab KILL 137
}

@test "SIGINT from a terminal reaches COMMAND and ends the lab" {
	run -0 python3 - "$LAB" <<-'END'
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], ["lab", "--no-plugin", "--", "sh", "-c", "echo ready; sleep 1000"])
		seen = b""
		while b"ready" not in seen:
		    seen += os.read(fd, 1024)
		os.write(fd, b"\x03")
		assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
	END
}

@test "wrong options name the word and the cure, status 2" {
	local words
	while read -r -a words; do
		run -2 "$LAB" "${words[@]}"
		[[ $output == "lab: '${words[0]}'"* ]]
	done <<-'END'
		--bad -- true
		-n
		-n0 -- true
		-n x -- true
		--gpus=many -- true
		--split=eth1 -- true
		--suite=potato -- true
		--plugin=/nonexistent -- true
		--slurm-conf=KillWait -- true
		true
	END
	run -2 "$LAB" -n 2 --
	[[ $output == *"COMMAND is missing"* ]]
	LAB_BUILDDIR=$BATS_TEST_TMPDIR run -2 "$LAB" --plugin -- true
	[[ $output == *"'--plugin'"*"$BATS_TEST_TMPDIR/plugin"*build* ]]
	run -0 "$LAB" --help
	[[ $output == Usage:* ]]
}

@test "what cannot start says why, status 125" {
	local bin=$BATS_TEST_TMPDIR/bin
	mkdir "$bin"
	printf '#!/bin/sh\necho "slurmd: no such luck" >&2\nexit 1\n' >"$bin/slurmd"
	chmod 755 "$bin/slurmd"
	PATH=$bin:$PATH run -125 "$LAB" --no-plugin -- true
	[[ $output == *"slurmd-node1 ended while starting"*"no such luck"* ]]

	ln -s "$(type -P bash)" "$(type -P dirname)" "$(type -P unshare)" "$(type -P setpriv)" "$bin"
	PATH=$bin run -125 "$LAB" --no-plugin -- true
	[[ $output == "lab: the program "*" is missing: install the Debian package "* ]]

	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	cp "$LAB" "$BATS_TEST_TMPDIR/lab"
	run -125 setpriv --reuid=65534 --clear-groups "$BATS_TEST_TMPDIR/lab" --no-plugin -- true
	[[ $output == *"only root"* ]]
}
