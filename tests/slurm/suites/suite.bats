#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Other releases of Slurm: what depends on the release, in labs of Debian suites.  SUITES names
# them ("bookworm trixie sid"); the tests of plugin.bats run on a suite with LAB_SUITE=SUITE.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2030,SC2031 # each test has its own output
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

# bats starts a process for each test: a variable is set for all of them here.
SUITES=${SUITES:-trixie}
declare -gA release=([bookworm]=22.05 [trixie]=24.11 [sid]=26.05)

setup_file() {
	local suite said
	((EUID == 0)) || skip "needs root"
	type -P apt-get dpkg-deb cc >/dev/null || skip "needs apt, dpkg and a C compiler"
	# What is said while packages are fetched belongs to no test.
	for suite in $SUITES; do
		said=$("$BATS_TEST_DIRNAME/../../../contrib/lab" --suite="$suite" --no-plugin -- true 2>&1) && continue
		[[ $said != *"could not be fetched"* ]] || skip "needs the packages of Debian $suite, which could not be fetched"
		echo "$said"
		return 1
	done
}

setup() {
	LAB=$BATS_TEST_DIRNAME/../../../contrib/lab
	PLUGIN_SH=$BATS_TEST_DIRNAME/../../../contrib/lab.d/plugin.sh
}

# in_lab [OPTION...] SCRIPT: bash in a lab of $suite with the plugin; sets output, stderr, status
in_lab() {
	echo "suite $suite"
	run --separate-stderr timeout 150 "$LAB" --plugin --suite="$suite" "${@:1:$#-1}" -- bash -c "cd; $batch; ${*: -1}"
	printf '%s\n' "$output" "$stderr"
}

# In the lab: a job, and what it printed.  (sbatch --wait would ask after 2 s and then after 10.)
batch='batch() { sbatch --quiet "$@" && while [[ -n $(squeue --noheader) ]]; do sleep 0.1; done; cat out; }'

# ours: a program that prints the variables that the step got from us
ours='env | grep -E "^(NCCL_|GLOO_|TP_|MASTER_|RANK=|WORLD_SIZE=|PET_|SLURM_NCCL)"'

# count NUMBER LINE: LINE is NUMBER times in output
count() {
	(($(grep -cxF -- "$2" <<<"$output") == $1)) || { echo "not $1 times: $2"; return 1; }
}

@test "the lab runs the suite's Slurm and the suite's programs, and sees the source tree" {
	for suite in $SUITES; do
		in_lab 'srun -N1 srun --version; scontrol show config | grep -E "^SLURM_VERSION"
			id -un; head -n1 "$LAB_SRC/tests/slurm/suites/suite.bats"; ! touch "$LAB_SRC/x" 2>&1; . /etc/os-release; echo "$PRETTY_NAME"'
		((status == 0))
		[[ ${lines[0]} == "slurm-wlm ${release[$suite]}."* ]]
		[[ ${lines[1]} == *"= ${release[$suite]}."* ]]
		[[ ${lines[2]} == lab && ${lines[3]} == '#!'* ]]
		[[ ${lines[*]: -1} == *"$suite"* ]]
	done
}

@test "eth0 does not join the nodes: bond0 it is, on both, and one line says so" {
	for suite in $SUITES; do
		in_lab --split "srun --nccl-autoconf -N2 bash -c '$ours'"
		((status == 0))
		count 2 NCCL_SOCKET_IFNAME==bond0
		count 2 MASTER_ADDR=10.10.0.11
		count 1 RANK=0
		count 1 RANK=1
		[[ $output != *SLURM_NCCL* ]]
		[[ $stderr == "nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), TCP, rendezvous 10.10.0.11:"* ]]
		(($(wc -l <<<"$stderr") == 1))
	done
}

@test "bond0 does not join the nodes: eth0 it is" {
	for suite in $SUITES; do
		in_lab --split=bond0 "srun --nccl-autoconf -N2 bash -c '$ours'"
		count 2 NCCL_SOCKET_IFNAME==eth0
		count 2 MASTER_ADDR=10.10.0.11
	done
}

@test "header, --export=NONE, off, and a plain srun" {
	for suite in $SUITES; do
		in_lab --split '
			cat >job <<-\END
				#!/bin/bash
				#SBATCH --nccl-autoconf=quiet -N2 -o out
				env | grep -E "^(NCCL|MASTER|SLURM_NCCL)" && echo "in the batch step"
				srun bash -c "echo header \$NCCL_SOCKET_IFNAME"
				srun --nccl-autoconf=off bash -c "echo off \$NCCL_SOCKET_IFNAME"
			END
			batch job
			srun --export=NONE --nccl-autoconf=quiet -N2 /bin/bash -c "echo none \$NCCL_SOCKET_IFNAME \$SLURM_NCCL_AUTOCONF"
			srun -N2 bash -c "env | grep -E \"^(NCCL|MASTER|SLURM_NCCL)\" || echo plain"
			pgrep -cx nccl-autoconf'
		count 2 "header =bond0"
		count 2 off
		count 2 "none =bond0"
		count 2 plain
		[[ $output != *"in the batch step"* && $stderr != *nccl-autoconf* ]]
		[[ ${lines[*]: -1} == 0 ]]
	done
}

@test "what a task prolog sets in the place of what was agreed is said, from a job's private /tmp too" {
	local contain
	for suite in $SUITES; do
		for contain in '' --contain-spank; do
			[[ $suite$contain != bookworm--contain-spank ]] || continue # no contain_spank yet
			in_lab --split $contain '
				printf "%s\n" "#!/bin/sh" "echo export NCCL_SOCKET_IFNAME=eth0" >prolog; chmod 755 prolog
				srun --task-prolog=$PWD/prolog --nccl-autoconf=quiet -N2 bash -c "
					for ((i = 0; i < 600; i++)); do grep -q overridden err && break; sleep 0.05; done
					echo \$SLURM_PROCID \$NCCL_SOCKET_IFNAME" 2>err
				cat err >&2'
			count 1 "0 eth0"
			count 1 "1 eth0"
			[[ $stderr == "nccl-autoconf: warning overridden: node1: the program has NCCL_SOCKET_IFNAME=eth0 (set: =bond0); TaskProlog, or"* ]]
		done
	done
}

@test "a cancelled step ends at once, and nothing of ours stays" {
	for suite in $SUITES; do
		in_lab '
			srun --nccl-autoconf=quiet -N2 bash -c "touch \$HOME/\$SLURM_PROCID; exec sleep 1000" &
			until [[ -e 0 && -e 1 ]]; do sleep 0.05; done
			SECONDS=0; scancel --state=running 1; wait $!; ((SECONDS < 30)) && echo "soon"
			for i in {1..200}; do pgrep -x nccl-autoconf >/dev/null || break; sleep 0.05; done; pgrep -cx nccl-autoconf
			sinfo --noheader --format=%T | sort -u'
		count 1 soon
		count 1 0
		[[ $output != *drain* && $output != *down* ]]
	done
}

@test "a plugin for another release is refused: Slurm says so and the step runs" {
	local include=$BATS_TEST_TMPDIR/include plugin=$BATS_TEST_TMPDIR/plugin.so
	for suite in $SUITES; do
		rm -rf "$include"
		mkdir "$include"
		cp -r "${XDG_CACHE_HOME:-/var/cache}/nccl-autoconf-lab/$suite/root/usr/include/slurm" "$include"
		sed -i 's/\(SLURM_VERSION_NUMBER\) .*/\1 0x150804/' "$include/slurm/slurm_version.h"
		"$PLUGIN_SH" "$include" "$plugin"

		in_lab --plugin="$plugin" 'srun -N2 echo ran; echo "exit $?"; srun --nccl-autoconf -N2 true; echo "exit $?"
			for i in {1..100}; do [[ $(sinfo --noheader --format=%T) != idle ]] || break; sleep 0.1; done
			sinfo --noheader --format="state %T"'
		count 2 ran
		count 1 "exit 0"
		count 1 "exit 255"
		count 1 "state idle"
		[[ $stderr == *"srun: plugin_load_from_file: Incompatible Slurm plugin "*"/spank_nccl_autoconf.so version (21.08.4)"* ]]
		[[ $stderr == *"srun: unrecognized option '--nccl-autoconf'"* ]]
		[[ $suite == sid || $stderr == *"srun: error: spank: "*"/spank_nccl_autoconf.so: Incompatible plugin version"* ]]
	done
}

# hands_over SALLOC-OPTIONS SRUN STDERR: an asynchronous step of two tasks started by SRUN, which has nothing of ours
hands_over() {
	# The step waits in stepmgr, which is an extern step.
	in_lab --split --gpus=1 --slurm-conf=SlurmctldParameters=enable_stepmgr --slurm-conf=PrologFlags=Contain "
		export LAB_ENV='env | grep -E \"^(NCCL|MASTER|RANK|SLURM_NCCL)\"; echo ran'
		salloc -Q $1 -N2 bash -c '$2 bash -c \"\$LAB_ENV\" && swait --timeout=20; pgrep -cx nccl-autoconf'
		cat out.*"
	[[ $stderr == "$3" ]]
	count 2 ran
	count 1 0
	[[ $output != *=* ]]
}

@test "srun --async hands its step over: nothing, and a line says so if asked for" {
	local left="nccl-autoconf: a step that srun does not wait for is left as it is"
	for suite in $SUITES; do
		if [[ $suite != sid ]]; then
			in_lab --split 'srun --nccl-autoconf --async -N2 true'
			[[ $stderr == *"unrecognized option '--async'"* && $stderr != *nccl-autoconf* ]]
			continue
		fi
		hands_over "" "srun --async --nccl-autoconf -o out.%t" "srun: $left"
		hands_over "" "nccl-autoconf srun --async -o out.%t --" "$left"
		LAB_PLUGSTACK_ARGS=default=on hands_over --gpus-per-node=1 "srun --async -o out.%t" ""
	done
}

@test "configless: only slurmctld has plugstack.conf" {
	for suite in $SUITES; do
		in_lab --split --configless '
			srun -N2 bash -c "ls -A \$LAB_DIR/conf | wc -l; ls /etc/slurm 2>/dev/null; grep -c nccl_autoconf /run/slurm/conf/plugstack.conf"
			cat >job <<-\END
				#!/bin/bash
				#SBATCH --nccl-autoconf=quiet -N2 -o out
				srun bash -c "echo job \$NCCL_SOCKET_IFNAME"
			END
			batch job
			srun --nccl-autoconf=quiet -N2 bash -c "echo step \$NCCL_SOCKET_IFNAME"'
		count 2 0
		count 2 1
		count 2 "job =bond0"
		count 2 "step =bond0"
	done
}

@test "contain_spank and a private /tmp" {
	for suite in $SUITES; do
		if [[ $suite == bookworm ]]; then # no contain_spank yet
			run -125 "$LAB" --suite=bookworm --no-plugin --contain-spank -- true
			[[ $output == *"--contain-spank needs Slurm 24.05"* ]]
			continue
		fi
		in_lab --split --contain-spank '
			scontrol show config | grep -oE "contain_spank|job_container/tmpfs"
			file=$(mktemp /tmp/lab.XXXXXX); trap "rm $file" EXIT
			srun --nccl-autoconf=quiet -N2 bash -c "ls /tmp | wc -l; echo step \$NCCL_SOCKET_IFNAME"
			cat >job <<-\END
				#!/bin/bash
				#SBATCH --nccl-autoconf=quiet -N2 -o out
				srun bash -c "echo job \$NCCL_SOCKET_IFNAME"
			END
			batch job; pgrep -cx nccl-autoconf'
		count 1 contain_spank
		count 1 job_container/tmpfs
		count 3 0 # /tmp of two tasks, and our processes
		count 2 "step =bond0"
		count 2 "job =bond0"
	done
}

# Each job has a /tmp of its own, so another job sees of the first one's node what a login would see
@test "broadcast in a job with a private /tmp: the file is seen from outside too" {
	for suite in $SUITES; do
		[[ $suite != bookworm ]] || continue # no contain_spank yet
		in_lab --split=mixed --contain-spank '
			cat >job <<-\END
				#!/bin/bash
				#SBATCH -N2 --oversubscribe --overcommit -o out
				nccl-autoconf env --format=docker >vars
				srun -l bash -c "ls /tmp | wc -l; sed s/^/inside:/ \$(sed -n s/NCCL_CONF_FILE=//p vars)"
				touch ready; until [[ -e done ]]; do sleep 0.1; done
			END
			sbatch job >/dev/null
			until [[ -e ready ]]; do sleep 0.1; done
			srun --oversubscribe --overcommit -N2 -l bash -c "sed s/^/outside:/ \$(sed -n s/NCCL_CONF_FILE=//p vars)"
			touch done; cat vars out'
		count 1 "0: inside:NCCL_SOCKET_IFNAME==bond0"
		count 1 "1: inside:NCCL_SOCKET_IFNAME==eth0"
		count 1 "0: outside:NCCL_SOCKET_IFNAME==bond0"
		count 1 "1: outside:NCCL_SOCKET_IFNAME==eth0"
		count 1 "0: 0"
		count 1 "1: 0"
	done
}
