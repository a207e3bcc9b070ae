#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What goes wrong at the start of a step, on a real Slurm: the step runs within its limit as without us, or ends where
# it is told to (strict), one line says why, and nothing of ours is left.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab or by the stand-in
# shellcheck disable=SC2030,SC2031 # each test has its own stderr
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
	# The stand-ins are root's, and the lab's user is to reach them.
	chmod 755 "$BATS_RUN_TMPDIR"
}

setup() {
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	helper=''
}

# What the scripts in the lab use: seen, a program that prints what we may set; file NAME, waits for what a stand-in
# makes; connected, until a node is with the hub; until_gone, until the hub has ended
prelude='
	cat >seen <<-\END
		#!/bin/bash
		env | grep -E "^(NCCL_[^A]|GLOO_|TP_|MASTER_|RANK=|WORLD_SIZE=|PET_|SLURM_NCCL)"
		echo "$SLURM_PROCID:ran"
	END
	chmod +x seen
	pause() { read -rt 0.05 <> <(:); }
	file() { local i; for ((i = 0; i < 200; i++)); do [[ -e $1 ]] && return; pause; done; echo "no $1"; return 1; }
	hub() { pgrep -r R,S,D,T -f "^(/bin/bash )?/[^ ]*/(nccl-autoconf|stand-in) hub\$"; }
	connected() { local i; for ((i = 0; i < 200; i++)); do ss -Htnp state established | grep -q nccl-autoconf && return; pause; done; echo "no connection"; }
	until_gone() { local i; for ((i = 0; i < 200; i++)); do hub >/dev/null || return 0; pause; done; echo "the hub stays"; }
'

left='
	for i in {1..200}; do
		left=$(pgrep -r R,S,D,T -l nccl-autoconf; pgrep -r R,S,D,T -l stand-in; pgrep -r R,S,D,T -l "${slurm_own-slurmstepd}")
		[[ $left ]] || break
		pause
	done
	echo "$left" $(ls -A "$TMPDIR" /dev/shm | grep -v ":$") $(sinfo -h -o %T | grep -E "drain|down") >left
	[[ -z $(tr -d "[:space:]" <left) ]] || echo "left behind: $(<left)"
'

# in_lab [OPTION...] SCRIPT: bash in a lab with the plugin and the stand-in, if there is one; sets output, stderr,
# status, and prints the seconds that SCRIPT took
in_lab() {
	LAB_PLUGSTACK_ARGS=${helper:+helper=$helper} run --separate-stderr timeout 150 "$LAB" "${@:1:$#-1}" --plugin -- bash -c "cd; $prelude
		SECONDS=0
		${*: -1}
		status=\$?; echo \"seconds \$SECONDS\"
		$left
		exit \$status"
	stderr=$(grep -vE '^srun: (job [0-9]+ (queued and waiting|has been allocated)|.*[Ss]tep creat(ion|ed) )' <<<"$stderr" || :)
	! grep -E 'left behind|stays' <<<"$output" || show "something is left"
}

show() {
	printf '%s\n' "$1" "--- output" "$output" "--- stderr" "$stderr"
	return 1
}

# stand_in WHEN LINE...: a program in our place, which behaves like that WHEN it is called so, and else is ours
stand_in() {
	helper=$BATS_TEST_TMPDIR/stand-in
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_RUN_TMPDIR"/test 2>/dev/null || :
	printf '%s\n' '#!/bin/bash' 'real=(/run/lab.*/bin/nccl-autoconf) home=(/run/lab.*/home)' "if $1; then" "${@:2}" "fi" \
		'exec "$real" "$@"' >"$helper"
	chmod 755 "$helper"
}

node2='[[ $1 == agent && $HOSTNAME == node2 ]]'
hub='[[ $1 == hub ]]'

# unset_and_run SECONDS: both tasks ran within that time, and nothing is set
unset_and_run() {
	((status == 0 && $(grep -cxE '[01]:ran' <<<"$output") == 2)) || show "a task did not run"
	! grep -q '=' <<<"$output" || show "something is set"
	(($(sed -n 's/^seconds //p' <<<"$output") <= $1)) || show "more than $1 s"
}

# says LINE: one line of ours, which may have patterns, and nothing else
says() {
	# shellcheck disable=SC2053 # a pattern
	[[ $stderr == $1 && $stderr != *$'\n'* ]] || show "not said, or more: $1"
}

not_agreed() {
	says "nccl-autoconf: warning not-agreed: $1; nothing is set on any node, the step runs as without us"
}

step='srun --nccl-autoconf=timeout=20 -N2 ./seen'

# faulty TEXT LINE...: what one node's helper does, and what is said of it at once
faulty() {
	stand_in "$node2" "${@:2}"
	in_lab --split "$step"
	unset_and_run 8
	not_agreed "$1"
}

@test "the agent crashes: at once, one line" {
	faulty 'node2: the agent was ended by signal 11' 'kill -SEGV $$'
}

@test "the agent lacks a library or cannot be run" {
	faulty 'node2: */stand-in does not start: try it there' 'exit 127'
}

@test "the agent exits with 0 and says nothing" {
	faulty 'node2: the agent ended with status 0' 'exit 0'
}

@test "the agent is stopped" {
	faulty 'node2: the agent was ended by signal 9' 'kill -STOP $$'
}

@test "the agent writes a gigabyte, also to where its answer belongs" {
	faulty 'node2: the agent ended with status 3' 'head -c 1000000000 /dev/zero' 'head -c 1000000000 /dev/zero >&3' 'exit 3'
}

@test "the agent has no descriptors left" {
	faulty 'node2: *' 'ulimit -n 4; exec "$real" "$@"'
}

@test "the agent has no memory" {
	faulty 'node2: *' 'ulimit -v 4000; exec "$real" "$@"'
}

@test "the agent may start no process: it needs none" {
	stand_in "$node2" 'ulimit -u 0; exec "$real" "$@"'
	in_lab --split "$step"
	says 'nccl-autoconf: 2 nodes on bond0 *'
}

@test "the agent may write no file: it needs none" {
	stand_in '[[ $1 == agent ]]' 'ulimit -f 0; exec "$real" "$@"'
	in_lab --split "$step"
	says 'nccl-autoconf: 2 nodes on bond0 *'
}

# A pipe that nobody writes to stands for a driver, or a home directory, that does not answer
@test "what the probe reads does not answer: its own limit, not the hub's, and what it was is named" {
	in_lab --split "mkfifo .nccl.conf; $step"
	unset_and_run 8
	not_agreed "node[12]: no answer for 2 s while reading nccl.conf and the user's own: *"
}

@test "the agent dies after it has reported" {
	# When the hub asks for connections, this node's is over.
	faulty 'node2: *' '"$real" "$@" & for i in {1..400}; do
			[[ $(ss -Htnp state established 2>/dev/null) == *"pid=$!,"* ]] && break; done; kill -KILL $!; wait $!; exit 5'
}

@test "the agent reports twice" {
	faulty 'node2*node2*' '"$real" "$@" & exec "$real" "$@"'
}

@test "the agent reports in another node's place" {
	faulty 'node[12] comes in the place of node[12]' 'exec python3 -c "
import mmap, os, sys
box = mmap.mmap(3, 0)
at = box.find(b\"nodeid=1\")
box[at:at + 8] = b\"nodeid=0\"
os.execv(sys.argv[1], sys.argv[1:])" "$real" "$@"'
}

@test "the agent gets what it does not understand" {
	faulty 'node2: plugin and program do not fit: *' 'exec python3 -c "
import mmap, os, sys
box = mmap.mmap(3, 0)
at = box.find(b\"nodeid=1\")
box[at:at + 8] = b\"nodeid=x\"
os.execv(sys.argv[1], sys.argv[1:])" "$real" "$@"'
}

@test "the agent writes garbage where its answer belongs" {
	stand_in "$node2" 'head -c 131072 /dev/urandom >&3'  'exit 0'
	in_lab --split "${step/=20/=1}"
	unset_and_run 8
	not_agreed '1 of 2 nodes reported within 1 s, not node2: *'
}

@test "a node reports too late: all or nothing" {
	stand_in "$node2" 'for i in {1..25}; do read -rt 0.1 <> <(:); done'
	in_lab --split "${step/=20/=1}"
	unset_and_run 10
	not_agreed '1 of 2 nodes reported within 1 s, not node2: *'
}

@test "a node list of 4096 characters" {
	stand_in '[[ $1 == agent ]]' '[[ $HOSTNAME == node1 ]] || for i in {1..25}; do read -rt 0.1 <> <(:); done
		exec python3 -c "
import mmap, os, sys
box = mmap.mmap(3, 0)
end = box.find(b\"\\0\\0\", 8)
records = box[8:end].split(b\"\\0\")
long = b\"node1,node2,\" + b\",\".join(b\"n%d\" % i for i in range(1000))
records = [b\"env:SLURM_STEP_NODELIST=\" + long[:4096] if r.startswith(b\"env:SLURM_STEP_NODELIST\") else r for r in records]
new = b\"\\0\".join(records) + b\"\\0\\0\"
box[8:8 + len(new)] = new
os.execv(sys.argv[1], sys.argv[1:])" "$real" "$@"'
	in_lab --split "${step/=20/=1}"
	unset_and_run 10
	not_agreed '1 of 2 nodes reported within 1 s, not node2: *'
}

@test "strict: the step ends before its first task, on all nodes" {
	stand_in "$node2" 'kill -SEGV $$'
	# More than once: what ends the step must not be faster than the tasks by chance.
	for _ in 1 2 3; do
		in_lab --split 'srun --nccl-autoconf=strict,timeout=20 -N2 ./seen'
		((status != 0))
		! grep -q ran <<<"$output" || show "a task ran"
		[[ $stderr == "nccl-autoconf: warning not-agreed: node2: the agent was ended by signal 11; the step is stopped (strict)"* ]]
		(($(grep -c nccl-autoconf <<<"$stderr") == 1))
	done
}

@test "helper missing, not executable, somebody else's, writable by others, a directory: one line" {
	local name=$BATS_TEST_TMPDIR/program
	# helper TEXT: what is said where the nodes' helper is this, and srun's is right
	says_of_helper() {
		helper=$name
		in_lab --split 'sed "s,helper=[^ ]* *helper=[^ ]*,helper=$LAB_DIR/bin/nccl-autoconf," "$LAB_DIR/plugstack.conf" >plugstack.conf
			sed "s,^PlugStackConfig=.*,PlugStackConfig=$PWD/plugstack.conf," "$SLURM_CONF" >slurm.conf
			SLURM_CONF=$PWD/slurm.conf '"$step"
		unset_and_run 8
		not_agreed "node[12]: helper $name: $1"
	}
	chmod 755 "$BATS_TEST_TMPDIR"
	says_of_helper 'No such file or directory'
	: >"$name"
	says_of_helper 'not a program that every user may run'
	chmod 777 "$name"
	says_of_helper 'others can write it'
	chmod 755 "$name"
	chown 65534 "$name"
	says_of_helper 'its owner is neither root nor the Slurm user'
	rm "$name"
	mkdir "$name"
	says_of_helper 'not a program that every user may run'
}

@test "helper missing everywhere, for srun too: one line" {
	helper=/nonexistent/nccl-autoconf
	in_lab --split "$step"
	unset_and_run 8
	says 'srun: error: nccl-autoconf: helper /nonexistent/nccl-autoconf: No such file or directory; the step runs as without --nccl-autoconf'
}

@test "the hub ends at once, by a signal or without a word: one node says so" {
	local end
	for end in 'kill -SEGV $$' 'exit 0'; do
		stand_in "$hub" "$end"
		in_lab --split "$step"
		unset_and_run 15
		says '*nccl-autoconf: *; the * as without *'
	done
}

@test "the hub is stopped: the nodes' own limit, and one node says so" {
	stand_in "$hub" 'kill -STOP $$'
	in_lab --split 'srun --nccl-autoconf=timeout=20 -N2 ./seen; status=$?; hub | xargs -r kill -KILL; (exit $status)'
	unset_and_run 20
	says '*nccl-autoconf: node1: no hub at *; the tasks run as without us'
}

@test "the hub is killed while it waits: one node says so" {
	stand_in "$node2" ': >$home/waiting; until [[ -e $home/go ]]; do read -rt 0.05 <> <(:); done'
	in_lab --split "$step"' & srun=$!; file waiting; connected; kill -KILL $(hub); until_gone; : >go; wait $srun'
	unset_and_run 15
	says '*nccl-autoconf: node1: @(srun'"'"'s side ended before it had decided|no hub at *); the tasks run as without us'
}

# prolog LINE...: an option for in_lab, whose script has LINE... run as root on node2 when it makes ~/root, until there
# is ~/done; of_step there prints the processes of the node's slurmstepd, first the one that started the others
prolog() {
	printf '%s\n' '#!/bin/bash' '[[ $HOSTNAME == node2 ]] || exit 0' 'of_step() {
			for p in $(pgrep -f "^slurmstepd: .*[.]0]"); do
				[[ $(readlink /proc/$p/ns/uts) == "$(readlink /proc/self/ns/uts)" ]] && echo $p
			done
		}; export -f of_step' \
		'read -r < <(exec setsid bash -c "echo; exec </dev/null >/dev/null 2>&1; cd /run/lab.*/home
			until [[ -e root ]]; do read -rt 0.05 <> <(:); done' "${@//\$/\\$}" 'touch done")' >"$BATS_TEST_TMPDIR/prolog"
	chmod 755 "$BATS_TEST_TMPDIR/prolog"
	echo "--slurm-conf=Prolog=$BATS_TEST_TMPDIR/prolog"
}

# That srun waits for the node's output until somebody ends it is Slurm's own.
@test "slurmstepd is killed while it waits: its task starts all the same, and nothing stays" {
	stand_in "$node2" ': >$home/waiting; until [[ -e $home/go ]]; do read -rt 0.05 <> <(:); done'
	in_lab --split --slurm-conf=KillWait=1 "$(prolog 'kill -KILL $(of_step | head -n 1)')" '
		srun --nccl-autoconf=timeout=20 -N2 bash -c "env | grep -c =bond0 >set.\$SLURM_PROCID" & srun=$!
		file waiting; : >root; file done; : >go; file set.0; file set.1; scancel 1; wait $srun; cat set.*'
	(($(grep -cxE '[1-9]' <<<"$output") == 2)) || show "a task did not start, or without variables"
	(($(sed -n 's/^seconds //p' <<<"$output") <= 20)) || show "too long"
	(($(grep -c 'nccl-autoconf' <<<"$stderr") == 1)) || show "not one line"
}

@test "slurmstepd and all that it has started are killed while it waits: the other node is told" {
	stand_in "$node2" ': >$home/waiting; while :; do read -rt 0.2 <> <(:); done'
	in_lab --split --slurm-conf=KillWait=1 "$(prolog 'kill -KILL $(of_step)')" '
		srun --nccl-autoconf=timeout=2 -N2 bash -c "env | grep -c =bond0 >set.\$SLURM_PROCID" & srun=$!
		file waiting; : >root; file done; file set.0; scancel 1; wait $srun; cat set.*'
	grep -qx 0 <<<"$output" || show "the other task did not start"
	(($(sed -n 's/^seconds //p' <<<"$output") <= 20)) || show "too long"
	[[ $stderr == "nccl-autoconf: warning not-agreed: 1 of 2 nodes reported within 2 s, not node2: "* ]] || show "not said"
}

# No hub can tell that node's task: it waits as long as it may.
@test "the agent sleeps: all or nothing, and it is ended" {
	stand_in "$node2" 'exec sleep 1000'
	in_lab --split "${step/=20/=1}; "'status=$?; for i in {1..80}; do pgrep -fx "sleep 1000" || break; pause; done >asleep
		! pgrep -fx "sleep 1000" || echo "the agent stays"; (exit $status)'
	unset_and_run 40
	not_agreed '1 of 2 nodes reported within 1 s, not node2: *'
}

@test "the hub sleeps: the nodes' own limit, and one node says so" {
	stand_in "$hub" 'exec sleep 1000'
	in_lab --split "${step/=20/=1}; "'status=$?; pkill -KILL -fx "sleep 1000"; (exit $status)'
	unset_and_run 40
	says '*nccl-autoconf: node1: no hub at *; the tasks run as without us'
}

# Slurm's own names for the nodes are in slurm.conf; nobody else knows them. On a busy machine 24.11's
# slurmstepd is then still there long after the job, for a reason not yet known: only what is ours is looked for.
@test "no name resolves, of a node or of srun's host: it takes none" {
	printf '%s\n' '#!/bin/bash' ': >/etc/hosts' >"$BATS_TEST_TMPDIR/prolog"
	chmod 755 "$BATS_TEST_TMPDIR/prolog"
	in_lab --split --slurm-conf='SlurmctldHost=login(192.168.100.1)' --slurm-conf=Prolog="$BATS_TEST_TMPDIR/prolog" \
		--slurm-conf='NodeName=node[1-2] NodeAddr=192.168.100.[11-12] CPUs=8 RealMemory=16000' '
		slurm_own="^\$"; salloc -Q -N2 bash -c "srun true; getent hosts login node1 node2 \$HOSTNAME && echo known; '"$step"'
			nccl-autoconf srun --nccl-autoconf=quiet -N2 -- ./seen"'
	! grep -q known <<<"$output" || show "a name is known"
	(($(grep -cx 'MASTER_ADDR=10.10.0.11' <<<"$output") == 4 && $(grep -cx 'NCCL_SOCKET_IFNAME==bond0' <<<"$output") == 4)) ||
		show "not set"
	says 'nccl-autoconf: 2 nodes on bond0 *'
}

# waiting SCRIPT [SECONDS]: what ends the step while one node keeps the others waiting
waiting() {
	stand_in "$node2" ': >$home/waiting; while :; do read -rt 0.2 <> <(:); done'
	in_lab --split "$step & srun=\$!; file waiting; $1; wait \$srun"'; until_gone; echo over'
	grep -qx over <<<"$output"
	! grep -q ran <<<"$output" || show "a task ran"
	(($(sed -n 's/^seconds //p' <<<"$output") <= ${2-20})) || show "too long"
	! grep -qE '(^|error: )nccl-autoconf:' <<<"$stderr" || show "something is said"
}

# Slurm looks for jobs whose time is over every 30 seconds.
@test "the time limit comes while it waits" {
	step=${step/=20/=100} waiting 'scontrol update jobid=1 EndTime=now+1' 45
	[[ $stderr == *"DUE TO TIME LIMIT"* ]]
}

@test "scancel while it waits" {
	waiting 'scancel 1'
}

@test "SIGTERM to srun while it waits" {
	waiting 'kill -TERM $srun'
}

@test "SIGINT, as by a person, while it waits" {
	# For a child in the background bash ignores SIGINT.
	step="env --default-signal=INT $step" waiting 'for i in {1..20}; do kill -INT $srun 2>/dev/null || break; pause; done'
}

@test "srun killed while it waits: the hub ends, nothing stays once the job is cancelled" {
	waiting 'kill -KILL $srun; until_gone; scancel 1'
}

@test "read-only root, full /tmp and no /run to write for srun and the hub; a file that cannot be saved is one warning" {
	in_lab --split 'unshare --map-current-user --keep-caps -m bash -c "
			mount -t tmpfs -o size=4k full /tmp; head -c 100000 /dev/zero >/tmp/full
			mount -o bind /run /run && mount -o remount,bind,ro /run; mount -o remount,bind,ro /
			srun --nccl-autoconf=save=/tmp/job.json,timeout=20 -N2 ./seen" 2>&1 | grep -v "^head:"'
	grep -q '^nccl-autoconf: 2 nodes on bond0' <<<"$output" || show "not agreed"
	grep -q '^nccl-autoconf: warning save: ' <<<"$output" || show "no warning"
	(($(grep -c 'NCCL_SOCKET_IFNAME==bond0' <<<"$output") == 2))
}

# Where it has fewer than it needs, srun itself hangs or crashes, now and then already above that.
@test "few more descriptors than srun needs: the step runs, and one line says how" {
	in_lab --split '
		for ((n = 32; n > 8; n--)); do (ulimit -n $n; timeout 5 srun -N2 true >/dev/null 2>&1) || break; done
		(ulimit -n $((n + 8)); srun --nccl-autoconf=timeout=20 -N2 ./seen)'
	((status == 0 && $(grep -cxE '[01]:ran' <<<"$output") == 2)) || show "a task did not run"
	says '*nccl-autoconf: *'
}
