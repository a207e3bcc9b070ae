#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Every way to launch, asked for and by a site's default, on a real Slurm: what is injected, what is printed, and that
# nothing of ours is left.  The table of doc/design.md, row by row.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab
# shellcheck disable=SC2030,SC2031 # each test has its own stderr
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
	# Files of root's for the lab's user, who is to reach them
	chmod 755 "$BATS_RUN_TMPDIR"
}

setup() {
	LAB=$BATS_TEST_DIRNAME/../../contrib/lab
	export LAB_PLUGSTACK_ARGS=${LAB_PLUGSTACK_ARGS-}
}

# What the scripts in the lab use: vars [WORD] prints what we may set, each with its rank or with WORD; started, how many programs of ours
# run; slurm_conf LINE..., a configuration for clients that has these lines instead; on_terminal COMMAND, what its
# terminal shows; batch FILE, sbatch until the job has ended
prelude='
	cat >vars <<-\END
		#!/bin/bash
		env | grep -E "^(NCCL_[^A]|GLOO_|TP_|NVSHMEM_|MASTER_|RANK=|LOCAL_RANK=|WORLD_SIZE=|LOCAL_WORLD_SIZE=|PET_|NNODES=|NODE_RANK=|NPROC_PER_NODE=|SLURM_NCCL)" | sed "s/^/${1-${SLURM_PROCID-none}}:/"
		echo "${1-${SLURM_PROCID-none}}:ran"
	END
	cat >started <<-\END
		#!/bin/bash
		echo "started $(pgrep -c nccl-autoconf)"
	END
	chmod +x vars started
	slurm_conf() {
		local line
		[[ $SLURM_CONF == $PWD/slurm.conf ]] || cp "$SLURM_CONF" slurm.conf
		for line; do sed -i -e "/^${line%%=*}=/d" -e "1i $line" slurm.conf; done
		export SLURM_CONF=$PWD/slurm.conf
	}
	batch() { # sbatch --wait asks every two seconds, and ever less often
		local i
		sbatch "$@" >submitted || return
		for ((i = 0; i < 300; i++)); do
			[[ $(squeue -h -t PD,R,CF) ]] || return 0
			read -rt 0.1 <> <(:)
		done
		return 1
	}
	on_terminal() {
		python3 -c "import pty, sys; pty.spawn([\"bash\", \"-c\", sys.argv[1]])" "$1" </dev/null
	}
'

# Says what a step has left when it has had time to end, also in the directories that are meant for it
left='
	for i in {1..200}; do left=$(pgrep -r R,S,D,T -l nccl-autoconf; pgrep -r R,S,D,T -l slurmstepd); [[ $left ]] || break; read -rt 0.05 <> <(:); done
	echo -n "$left" $(ls -A "$TMPDIR" /dev/shm | grep -v ":$") >left
	[[ ! -s left ]] || echo "left behind: $(<left)"
'

# in_lab [OPTION...] SCRIPT: bash in a lab with the plugin; sets output, stderr, status
in_lab() {
	run --separate-stderr timeout 150 "$LAB" "${@:1:$#-1}" --plugin -- bash -c "cd; $prelude
		${*: -1}
		status=\$?
		$left
		exit \$status"
	stderr=$(grep -vE '^(srun|salloc): (job [0-9]+ |.*[Ss]tep creat(ion|ed) |Granted|Relinquishing|Pending)' <<<"$stderr" || :)
	lacks "left behind"
}

# by_site [OPTION...] SCRIPT: as in_lab, with the site's default on
by_site() {
	LAB_PLUGSTACK_ARGS=default=on in_lab "$@"
}

show() {
	printf '%s\n' "$1" "--- output" "$output" "--- stderr" "$stderr"
	return 1
}

# has LINE...: every LINE is a line of output
has() {
	local line
	for line; do
		grep -qxF -- "$line" <<<"$output" || show "missing: $line"
	done
}

# lacks PATTERN...: of output
lacks() {
	local pattern
	for pattern; do
		! grep -qE -- "$pattern" <<<"$output" || show "unwanted: $pattern"
	done
}

# says LINE...: standard error is one line for each LINE, which may have patterns
says() {
	local lines i
	mapfile -t lines < <([[ -z $stderr ]] || echo "$stderr")
	((${#lines[@]} == $#)) || show "$# lines expected"
	for ((i = 1; i <= $#; i++)); do
		# shellcheck disable=SC2053 # a pattern
		[[ ${lines[i - 1]} == ${!i} ]] || show "not said: ${!i}"
	done
}

silent() {
	[[ -z $stderr ]] || show "something is said"
}

network=(NCCL_SOCKET_IFNAME==bond0 GLOO_SOCKET_IFNAME=bond0 TP_SOCKET_IFNAME=bond0)
rendezvous='(MASTER_|RANK=|WORLD_SIZE|PET_|NNODES|NPROC)'
anything="^[0-9a-z]+:(NCCL_|GLOO_|TP_|NVSHMEM_|SLURM_NCCL)|$rendezvous"
agreed='nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), TCP*'

# has_network RANK...
has_network() {
	local rank
	for rank; do
		has "$rank:ran" "${network[@]/#/$rank:}"
	done
}

# has_rendezvous SIZE RANK...
has_rendezvous() {
	local rank
	for rank in "${@:2}"; do
		has "$rank:ran" "$rank:RANK=$rank" "$rank:WORLD_SIZE=$1"
		grep -qx "$rank:MASTER_PORT=[0-9]*" <<<"$output" || show "no port"
	done
	(($(grep -o 'MASTER_PORT=.*' <<<"$output" | sort -u | wc -l) == 1))
}

@test "batch step, asked for by the bare word in the header: nothing in the batch step, all in its srun, off is off" {
	in_lab --split '
		printf "%s\n" "#!/bin/bash" "#SBATCH --nccl-autoconf" "#SBATCH -N2" "#SBATCH -o out" "./vars batch" ./started \
			"srun ./vars" "srun --nccl-autoconf=off bash -c \"./vars off:\\\$SLURM_PROCID; ./started\"" >job
		batch job; cat out'
	has batch:ran "started 0" off:0:ran off:1:ran
	lacks '^batch:[A-Z]' '^off:.*='
	has_network 0 1
	has_rendezvous 2 0 1
	grep -q '^nccl-autoconf: 2 nodes on bond0' <<<"$output"
	(($(grep -c '^started 0' <<<"$output") == 3))
}

@test "batch step by site default: nothing, also with GPUs and several nodes; its srun gets the network, silently" {
	by_site --split --gpus=2 '
		printf "%s\n" "#!/bin/bash" "#SBATCH -N2" "#SBATCH --gpus-per-node=2" "#SBATCH -o out" "./vars batch" ./started "srun ./vars" >job
		batch job; cat out'
	has batch:ran "started 0"
	lacks '^batch:[A-Z]' "$rendezvous" nccl-autoconf
	has_network 0 1
}

# Waits in the lab for the extern steps of two nodes and prints what runs below them
extern='
	below_extern() {
		local i
		for ((i = 0; i < 100; i++)); do
			(($(pgrep -fc "^slurmstepd: .*extern") == 2)) && break
			read -rt 0.05 <> <(:)
		done
		echo "extern $(pgrep -fc "^slurmstepd: .*extern")"
		pgrep -P "$(pgrep -fd, "^slurmstepd: .*extern")" -a | grep -v " sleep 100000000$" | sed "s/^/below: /"
	}; export -f below_extern'

@test "extern step: nothing there, before a step and after it; the srun beside it is as any" {
	in_lab --split --slurm-conf=PrologFlags=Contain "$extern"'
		salloc -Q --nccl-autoconf -N2 bash -c "srun --nccl-autoconf=off -N2 true; below_extern; ./started; srun ./vars; below_extern"'
	has "started 0"
	(($(grep -cx "extern 2" <<<"$output") == 2))
	lacks '^below'
	has_network 0 1
	has_rendezvous 2 0 1
	says "$agreed"
	by_site --split --gpus=2 --slurm-conf=PrologFlags=Contain "$extern"'
		salloc -Q --gpus-per-node=2 -N2 bash -c "srun --nccl-autoconf=off -N2 true; below_extern; ./started; srun ./vars"'
	has "extern 2" "started 0"
	lacks '^below' "$rendezvous"
	has_network 0 1
	silent
}

# For salloc, which starts a "shell" on the first node: a script of ours
interactive='slurm_conf LaunchParameters=use_interactive_step
	printf "%s\n" "#!/bin/bash" "./vars step; ./started; srun --overlap -N2 ./vars" >shell; chmod +x shell'

@test "interactive step of salloc: nothing there, and its srun is as any" {
	in_lab --split "$interactive"'
		on_terminal "SHELL=\$PWD/shell salloc -Q --nccl-autoconf -N2" | tr -d "\r"'
	has step:ran "started 0"
	lacks '^step:[A-Z]'
	has_network 0 1
	has_rendezvous 2 0 1
	by_site --split --gpus=2 "$interactive"'
		on_terminal "SHELL=\$PWD/shell salloc -Q --gpus-per-node=2 -N2" | tr -d "\r"'
	has step:ran "started 0"
	lacks '^step:[A-Z]' "$rendezvous" nccl-autoconf:
}

@test "--pty, asked for: the network only, and the terminal shows whole lines" {
	in_lab --split 'on_terminal "srun --nccl-autoconf -N2 --pty ./vars" | sed "s/\r$/<CR>/"'
	has '0:NCCL_SOCKET_IFNAME==bond0<CR>' '0:ran<CR>'
	lacks "$rendezvous"
	# shellcheck disable=SC2053 # a pattern
	[[ $(head -n 1 <<<"$output") == $agreed"<CR>" ]] || show "not said first, and in a line of its own"
	# Every line begins at the left margin.
	! grep -qv '<CR>$' <<<"$output" || show "a line without carriage return"
}

@test "--pty: whoever asks for all gets all; a program's own --pty is none of srun's" {
	in_lab --split 'on_terminal "srun --nccl-autoconf=all,quiet -N2 --pty ./vars" | tr -d "\r"'
	has 0:RANK=0 0:WORLD_SIZE=2 0:ran
	in_lab --split 'srun --nccl-autoconf=quiet -N2 bash -c ./vars --pty'
	has_rendezvous 2 0 1
}

@test "--pty by site default: nothing, and nothing started" {
	by_site --split --gpus=2 'on_terminal "srun -N2 --gpus-per-node=2 --pty bash -c \"./vars; ./started\"" | tr -d "\r"'
	has 0:ran "started 0"
	lacks "$anything" nccl-autoconf
}

# Not --split, which sets SrunPortRange: one thread of srun per component takes a port of it, and where two meet, Slurm
# goes on with the socket that is bound already ("all ports in range exhausted", one run in thirty, also without us)
@test "het step: nothing, and one line if asked for" {
	in_lab 'srun --nccl-autoconf -N1 ./vars : -N1 bash -c "./vars; ./started"'
	has 0:ran 1:ran "started 0"
	lacks "$anything"
	says 'srun: nccl-autoconf: a heterogeneous step is left as it is'
	by_site --gpus=2 'srun -N1 --gpus-per-node=2 ./vars : -N1 --gpus-per-node=2 bash -c "./vars; ./started"'
	has 0:ran 1:ran "started 0"
	lacks "$anything"
	silent
}

@test "two het components in one job, each with an srun of its own: as any step" {
	in_lab -n 4 --split 'salloc -Q -N2 : -N2 bash -c "srun --het-group=1 --nccl-autoconf=quiet -N2 ./vars"'
	has_network 0 1
	has_rendezvous 2 0 1
	silent
}

@test "one node, one task: nothing, unless a layout is named; by site default nothing is started" {
	in_lab 'srun --nccl-autoconf -N1 -n1 bash -c "./vars; ./started"'
	has 0:ran "started 0"
	lacks "$anything"
	silent
	in_lab --gpus=2 'srun --nccl-autoconf -N1 -n1 --gpus-per-node=1 ./vars'
	has 0:ran
	lacks "$anything"
	silent
	in_lab 'srun --nccl-autoconf=layout=task -N1 -n1 ./vars'
	has_rendezvous 1 0
	lacks IFNAME
	silent
	in_lab --gpus=2 'srun --nccl-autoconf=trainer=torchrun -N1 -n1 --gpus-per-node=1 ./vars'
	has 0:ran 0:PET_NNODES=1 0:PET_NPROC_PER_NODE=1
	lacks IFNAME
	silent
	by_site --gpus=2 'srun -N1 --gpus-per-node=1 bash -c "./vars; ./started"'
	has 0:ran "started 0"
	lacks "$anything"
	silent
}

@test "one node, several GPUs: the rendezvous without a line; by site default nothing is started" {
	in_lab --gpus=2 'srun --nccl-autoconf -N1 --gpus-per-node=2 ./vars'
	has 0:PET_NNODES=1 0:PET_NPROC_PER_NODE=2 0:MASTER_ADDR=127.0.0.1
	lacks IFNAME
	silent
	by_site --gpus=2 'srun -N1 --ntasks-per-node=2 --gpus-per-node=2 bash -c "./vars; ./started"'
	has 0:ran 1:ran "started 0"
	lacks "$anything"
	silent
}

@test "several nodes without GPUs: as asked; by site default nothing is started" {
	in_lab --split 'srun --nccl-autoconf -N2 ./vars'
	has_network 0 1
	has_rendezvous 2 0 1
	says "$agreed"
	by_site --split 'srun -N2 bash -c "./vars; ./started"'
	has 0:ran 1:ran "started 0"
	lacks "$anything"
	silent
}

@test "several nodes with GPUs: all if asked for; by site default the network, or all where the site says so" {
	local split
	for split in eth0 bond0; do
		in_lab --split=$split --gpus=1 'srun --nccl-autoconf -N2 --gpus-per-node=1 ./vars'
		[[ $split == eth0 ]] || output=${output//eth0/bond0} stderr=${stderr//eth0/bond0}
		has_network 0 1
		has_rendezvous 2 0 1
		says "$agreed"
	done
	by_site --split --gpus=1 'srun -N2 --gpus-per-node=1 ./vars'
	has_network 0 1
	lacks "$rendezvous"
	silent
	LAB_PLUGSTACK_ARGS='default=on all' in_lab --split --gpus=1 'srun -N2 --gpus-per-node=1 ./vars'
	has_network 0 1
	has_rendezvous 2 0 1
	silent
}

# A suite's lab has no Open MPI, which is larger than all else in it.
# bats test_tags=openmpi
@test "mpirun on the login host: its daemons on all nodes, and so all ranks, get the network only" {
	type -P mpirun >/dev/null || skip "needs Open MPI"
	in_lab -n 3 --split 'salloc -Q --nccl-autoconf -N3 mpirun -np 3 --map-by node bash -c "SLURM_PROCID=\$OMPI_COMM_WORLD_RANK ./vars"'
	has_network 0 1 2
	lacks "$rendezvous"
	by_site -n 3 --split --gpus=1 'salloc -Q --gpus-per-node=1 -N3 mpirun -np 3 --map-by node bash -c "SLURM_PROCID=\$OMPI_COMM_WORLD_RANK ./vars"'
	has_network 0 1 2
	lacks "$rendezvous"
}

# bats test_tags=openmpi
@test "mpirun in a batch script, which is the daemon of its own node: nothing on any node, not on some" {
	type -P mpirun >/dev/null || skip "needs Open MPI"
	in_lab -n 3 '
		printf "%s\n" "#!/bin/bash" "#SBATCH --nccl-autoconf" "#SBATCH -N3" "#SBATCH -o out" \
			"mpirun -np 3 --map-by node bash -c \"SLURM_PROCID=\\\$OMPI_COMM_WORLD_RANK ./vars\"" >job
		batch job; cat out'
	has 0:ran 1:ran 2:ran
	lacks "$anything"
	by_site -n 3 --gpus=1 '
		printf "%s\n" "#!/bin/bash" "#SBATCH -N3 --gpus-per-node=1 -o out" \
			"mpirun -np 3 --map-by node bash -c \"SLURM_PROCID=\\\$OMPI_COMM_WORLD_RANK ./vars\"" >job
		batch job; cat out'
	has 0:ran 1:ran 2:ran
	lacks "$anything" nccl-autoconf:
}

# daemons SRUN_OPTIONS NODES PROGRAM: a batch script of three nodes in which PROGRAM is started on NODES of them
daemons() {
	in_lab -n 3 --split --gpus=1 "cp vars $3
		printf '%s\n' '#!/bin/bash' '#SBATCH -N3 --gpus-per-node=1 -o out' 'srun $1 -N$2 ./$3' >job
		batch job; cat out"
}

@test "orted, prted and hydra_pmi_proxy are daemons: the network on all nodes of the job, or a line that says no" {
	daemons --nccl-autoconf 3 orted
	has_network 0 1 2
	lacks "$rendezvous"
	daemons --nccl-autoconf=quiet 3 hydra_pmi_proxy
	has_network 0 1 2
	lacks "$rendezvous" nccl-autoconf
	daemons --nccl-autoconf 2 prted
	has 0:ran 1:ran "srun: nccl-autoconf: a program that mpirun starts here and on other nodes is left as it is"
	lacks "$anything"
	LAB_PLUGSTACK_ARGS='default=on all' daemons "" 3 prted
	has_network 0 1 2
	lacks "$rendezvous" nccl-autoconf
	LAB_PLUGSTACK_ARGS=default=on daemons "" 2 orted
	has 0:ran 1:ran
	lacks "$anything" nccl-autoconf
}

@test "srun --external-launcher: the network only" {
	in_lab --split 'salloc -Q -N2 srun --external-launcher --nccl-autoconf=quiet ./vars'
	# Before 23.11 srun refuses it, with us as without us.
	[[ $stderr != *"unrecognized option '--external-launcher'"* ]] || return 0
	grep -q ':NCCL_SOCKET_IFNAME==bond0' <<<"$output"
	lacks "$rendezvous"
}

@test "SUBMITIT_* is set: the network only, unless all is asked for" {
	in_lab --split 'export SUBMITIT_EXECUTOR=slurm; srun --nccl-autoconf -N2 ./vars'
	has_network 0 1
	lacks "$rendezvous"
	in_lab --split 'export SUBMITIT_EXECUTOR=slurm; srun --nccl-autoconf=all,quiet -N2 ./vars'
	has_rendezvous 2 0 1
	LAB_PLUGSTACK_ARGS='default=on all' in_lab --split --gpus=1 'export SUBMITIT_EXECUTOR=slurm; srun -N2 --gpus-per-node=1 ./vars'
	has_network 0 1
	lacks "$rendezvous"
	silent
}

@test "--mpi=pmi2: PMI's ranks and ours are the same" {
	in_lab --split 'srun --mpi=list 2>&1 | grep -q pmi2 || { echo none; exit; }
		srun --mpi=pmi2 --nccl-autoconf=quiet -N2 --ntasks-per-node=2 bash -c "./vars; ((PMI_RANK == RANK)) && echo \$RANK:same"'
	[[ $output != none ]] || skip "this Slurm has no pmi2"
	has_network 0 1 2 3
	has_rendezvous 4 0 1 2 3
	has 0:same 1:same 2:same 3:same
}

@test "array: every task of it has its own" {
	in_lab --split -n 4 '
		printf "%s\n" "#!/bin/bash" "#SBATCH --nccl-autoconf" "#SBATCH -N2" "#SBATCH -a 0-1" "#SBATCH -o out-%a" "srun ./vars" >job
		batch job; sed "s/^/0./" out-0; sed "s/^/1./" out-1'
	has 0.0:RANK=0 0.1:RANK=1 1.0:RANK=0 1.1:RANK=1 1.0:NCCL_SOCKET_IFNAME==bond0 0.1:NCCL_SOCKET_IFNAME==bond0
	(($(grep -c 'nccl-autoconf: 2 nodes on bond0' <<<"$output") == 2))
}

@test "--overlap: two steps at once on the same nodes, each with its own port" {
	in_lab --split 'mkfifo one two
		salloc -Q -N2 bash -c "
			srun --overlap --nccl-autoconf -N2 bash -c \"./vars a.\\\$SLURM_PROCID; ((SLURM_PROCID)) || : >one\" &
			srun --overlap --nccl-autoconf -N2 bash -c \"./vars b.\\\$SLURM_PROCID; ((SLURM_PROCID)) || : <one\" &
			wait"'
	has a.0:RANK=0 a.1:RANK=1 b.0:RANK=0 b.1:RANK=1 a.0:NCCL_SOCKET_IFNAME==bond0 b.1:NCCL_SOCKET_IFNAME==bond0
	(($(grep -o 'MASTER_PORT=.*' <<<"$output" | sort -u | wc -l) == 2))
	says "$agreed" "$agreed"
}

@test "--multi-prog: every program" {
	in_lab --split 'cp vars other; printf "%s\n" "0-1 ./vars" "2-3 ./other" >programs
		srun --nccl-autoconf -N2 -n4 --multi-prog programs'
	has_network 0 1 2 3
	has_rendezvous 4 0 1 2 3
	says "$agreed"
}

# requeued SBATCH-OPTION: a job of two nodes that is put back once, and what its two runs have printed
requeued() {
	in_lab --split --gpus=1 '
		printf "%s\n" "#!/bin/bash" "#SBATCH '"$1"' -N2 --requeue -o out --open-mode=append" "srun ./vars" "echo run=\$SLURM_RESTART_COUNT" \
			"[[ \$SLURM_RESTART_COUNT ]] || scontrol requeue \$SLURM_JOB_ID" >job
		sbatch job >submitted
		# A job that is put back waits for two minutes, unless it is told not to: not before it waits, and not so
		# often that the scheduler never gets to it.
		for ((i = told = 0; i < 900; i++)); do
			grep -qx run=1 out 2>/dev/null && break
			if ((i >= told)) && [[ $(squeue -h -j 1 -o %T:%r) == PENDING:BeginTime ]]; then
				scontrol update jobid=1 StartTime=now
				told=$((i + 50))
			fi
			read -rt 0.1 <> <(:)
		done
		cat out'
	has run= run=1
	has_network 0 1
	(($(grep -cx '1:NCCL_SOCKET_IFNAME==bond0' <<<"$output") == 2))
}

@test "requeue: the second run is as the first" {
	requeued --nccl-autoconf
	(($(grep -cx '1:RANK=1' <<<"$output") == 2 && $(grep -c 'nccl-autoconf: 2 nodes on bond0' <<<"$output") == 2))
	LAB_PLUGSTACK_ARGS=default=on requeued --gpus-per-node=1
	lacks "$rendezvous" nccl-autoconf:
}

@test "nested srun: its own rendezvous, not the outer step's; nothing of that where it says off" {
	in_lab --split 'salloc -Q -N2 --ntasks-per-node=4 srun --nccl-autoconf=quiet -N2 -n2 --ntasks-per-node=1 bash -c "
		./vars outer.\$SLURM_PROCID; ((SLURM_PROCID)) && exit
		srun --overlap --nccl-autoconf=quiet -N2 -n4 --ntasks-per-node=2 ./vars
		srun --overlap --nccl-autoconf=off -N2 -n2 --ntasks-per-node=1 bash -c \"./vars | sed s/^/off./\""'
	has outer.0:RANK=0 outer.1:WORLD_SIZE=2 off.0:ran off.1:ran
	lacks '^off\..*='
	has_network 0 1 2 3
	output=$(grep -v '^outer' <<<"$output") has_rendezvous 4 0 1 2 3
	(($(grep -o 'MASTER_PORT=.*' <<<"$output" | sort -u | wc -l) == 2))
	silent
}

@test "salloc --nccl-autoconf: every srun inside; one says off" {
	in_lab --split 'salloc -Q --nccl-autoconf -N2 bash -c "srun ./vars; srun --nccl-autoconf=off bash -c \"./vars off.\\\$SLURM_PROCID\"; ./vars none"'
	has off.0:ran off.1:ran none:ran
	lacks '^(off|none).*='
	has_network 0 1
	has_rendezvous 2 0 1
	says "$agreed"
}

@test "by site default, whatever starts it: the network, silently, and nothing of an outer step where it says off" {
	by_site -n 4 --split --gpus=1 '
		cat >inside <<-\END
			#!/bin/bash
			as() { sed "s/^/$1./"; }; export -f as
			srun ./vars | as salloc
			srun --overlap ./vars | as one &
			srun --overlap ./vars | as two
			wait
			echo "0-1 ./vars" >programs
			srun --multi-prog programs | as multi
			srun --mpi=pmi2 ./vars | as pmi2
			srun --external-launcher ./vars 2>&1 | as external
			srun bash -c "((SLURM_PROCID)) || { srun --overlap ./vars | as nested; srun --overlap --nccl-autoconf=off ./vars | as off; }"
		END
		printf "%s\n" "#!/bin/bash" "#SBATCH -N2 --gpus-per-node=1 -a 0-1 -o out-%a" "srun ./vars" >job
		chmod +x inside; salloc -Q -N2 --gpus-per-node=1 ./inside
		salloc -Q -N2 --gpus-per-node=1 : -N2 --gpus-per-node=1 bash -c "srun --het-group=1 ./vars | sed s/^/het./"
		batch job; sed "s/^/array0./" out-0; sed "s/^/array1./" out-1'
	local row
	for row in salloc one two multi pmi2 nested het array0 array1; do
		has_network $row.0 $row.1
	done
	# Before 23.11 srun refuses it.
	! grep -q '^external.*:ran' <<<"$output" || has_network external.0 external.1
	has off.0:ran off.1:ran
	lacks '^off.*=' "$rendezvous" nccl-autoconf:
	silent
}

# A plugstack.conf that loads nothing of ours by itself, but what each host has in its own /dev/shm
by_host=$'\ninclude /dev/shm/*.conf'

# with_own_plugstack [OPTION...] SCRIPT: in_lab where only that counts; $plugin is the line for it
with_own_plugstack() {
	local include=/usr/include file so
	if [[ -n ${LAB_SUITE-} ]]; then
		include=${XDG_CACHE_HOME:-/var/cache}/nccl-autoconf-lab/$LAB_SUITE/root/usr/include
		so=$BATS_FILE_TMPDIR/suite.so
		"$BATS_TEST_DIRNAME/../../contrib/lab.d/plugin.sh" "$include" "$so"
	else
		for file in "${LAB_BUILDDIR:-$BATS_TEST_DIRNAME/../..}"/plugin/{.libs/,}spank_nccl_autoconf.so; do
			[[ ! -f $file ]] || { so=$file && break; }
		done
	fi
	install -m 644 "$so" "$BATS_FILE_TMPDIR/ours.so"
	printf '#include <slurm/spank.h>\nint slurm_spank_exit(spank_t s, int c, char **v) { (void)s; (void)c; (void)v; return 0; }\nSPANK_PLUGIN(nothing, 1)\n' |
		cc -isystem "$include" -shared -fPIC -x c -o "$BATS_FILE_TMPDIR/nothing.so" - || skip "needs a compiler and Slurm's headers"
	LAB_PLUGSTACK_ARGS=$by_host run --separate-stderr timeout 150 "$LAB" "${@:1:$#-1}" --plugin="$BATS_FILE_TMPDIR/nothing.so" -- bash -c "cd; $prelude
		plugin=\"optional $BATS_FILE_TMPDIR/ours.so helper=\$LAB_DIR/bin/nccl-autoconf\"
		on() { srun -w \"\$1\" bash -c 'echo \"\$0\" >/dev/shm/ours.conf' \"\$2\"; }
		${*: -1}
		status=\$?; rm -f /dev/shm/ours.conf
		$left
		exit \$status"
	stderr=$(grep -vE '^srun: (job [0-9]+ |.*[Ss]tep creat(ion|ed) )' <<<"$stderr" || :)
	lacks "left behind"
}

@test "plugstack include, and twice: once is enough" {
	with_own_plugstack --split 'echo "$plugin" >/dev/shm/ours.conf; on node1 "$plugin"; on node2 "$plugin"
		srun --nccl-autoconf -N2 ./vars'
	has_network 0 1
	has_rendezvous 2 0 1
	says "$agreed"
	with_own_plugstack --split 'twice=$plugin$'"'\n'"'$plugin; echo "$twice" >/dev/shm/ours.conf; on node1 "$twice"; on node2 "$twice"
		srun --nccl-autoconf -N2 bash -c "./vars; ((SLURM_PROCID)) || ./started" 2>err; grep -v "option.*already" err >&2; true'
	has_network 0 1
	has_rendezvous 2 0 1
	grep -q '^nccl-autoconf: 2 nodes on bond0' <<<"$stderr"
	(($(grep -c 'nccl-autoconf: 2 nodes' <<<"$stderr") == 1))
	with_own_plugstack --split --gpus=1 'plugin+=" default=on"; echo "$plugin" >/dev/shm/ours.conf; on node1 "$plugin"; on node2 "$plugin"
		srun -N2 --gpus-per-node=1 ./vars'
	has_network 0 1
	lacks "$rendezvous"
	silent
}

@test "a node without the plugin: nothing on any node, within the limit, and the line names it" {
	with_own_plugstack --split 'echo "$plugin" >/dev/shm/ours.conf; on node1 "$plugin"
		SECONDS=0; srun --nccl-autoconf=timeout=1 -N2 ./vars; echo "after $((SECONDS < 10))"'
	has 0:ran 1:ran "after 1"
	lacks '^[0-9]:(NCCL_|GLOO_|TP_)' "$rendezvous"
	says 'nccl-autoconf: warning not-agreed: 1 of 2 nodes reported within 1 s, not node2: *; nothing is set on any node, *'
	with_own_plugstack --split --gpus=1 'echo "$plugin default=on timeout=1" >/dev/shm/ours.conf; on node1 "$plugin"
		srun -N2 --gpus-per-node=1 ./vars'
	has 0:ran 1:ran
	lacks '^[0-9]:(NCCL_|GLOO_|TP_)' "$rendezvous"
	says 'nccl-autoconf: warning not-agreed: 1 of 2 nodes reported within 1 s, not node2: *'
}

@test "no node has the plugin: the step runs, and nothing waits" {
	with_own_plugstack --split 'echo "$plugin" >/dev/shm/ours.conf; srun --nccl-autoconf=timeout=1 -N2 ./vars'
	has 0:ran 1:ran
	lacks '^[0-9]:(NCCL_|GLOO_|TP_)' "$rendezvous"
	with_own_plugstack --split --gpus=1 'echo "$plugin default=on" >/dev/shm/ours.conf; srun -N2 --gpus-per-node=1 ./vars'
	has 0:ran 1:ran
	lacks '^[0-9]:(NCCL_|GLOO_|TP_)' "$rendezvous"
}

@test "another version on one node: nothing on any node, and a line that says so" {
	# The number behind the three letters is the protocol's; nothing else in the program has this sequence.
	perl -pe 's/NCA\x01/NCA\x02/g' "$(type -P "${LAB_BUILDDIR:-$BATS_TEST_DIRNAME/../..}/wrapper/nccl-autoconf")" >"$BATS_FILE_TMPDIR/newer"
	chmod 755 "$BATS_FILE_TMPDIR/newer"
	with_own_plugstack --split 'echo "$plugin" >/dev/shm/ours.conf; on node1 "$plugin"; on node2 "$plugin helper='"$BATS_FILE_TMPDIR/newer"'"
		SECONDS=0; srun --nccl-autoconf=timeout=20 -N2 ./vars; echo "after $((SECONDS < 10))"'
	has 0:ran 1:ran "after 1"
	lacks "$anything"
	says 'nccl-autoconf: warning not-agreed: *version 2 of the protocol*; nothing is set on any node, *'
	with_own_plugstack --split --gpus=1 'echo "$plugin default=on" >/dev/shm/ours.conf; on node1 "$plugin"; on node2 "$plugin helper='"$BATS_FILE_TMPDIR/newer"'"
		srun -N2 --gpus-per-node=1 ./vars'
	has 0:ran 1:ran
	lacks "$anything"
	says 'nccl-autoconf: warning not-agreed: *version 2 of the protocol*; nothing is set on any node, *'
}

# A range with as many ports as srun itself needs: one more is refused, not taken from it
narrow='
	for n in 3 4 5 6 7 8; do
		base=$((62000 + 20 * n))
		slurm_conf SrunPortRange=$base-$((base + n - 1))
		timeout 20 srun -N2 true 2>/dev/null && break
	done
	base=$((base + 1000)); slurm_conf SrunPortRange=$base-$((base + n - 1))'

@test "SrunPortRange: the hub lies in it, and where srun needs all of it, the step runs and one line says why" {
	in_lab 'slurm_conf SrunPortRange=62000-62019
		srun --nccl-autoconf -N2 bash -c "./vars; ss -Htln sport = :62000 >&2"'
	has_rendezvous 2 0 1
	in_lab "$narrow; srun --nccl-autoconf -N2 ./vars"
	has 0:ran 1:ran
	lacks "$anything"
	says 'srun: error: nccl-autoconf: SrunPortRange * has no free port to spare; the step runs as without --nccl-autoconf'
	by_site --gpus=1 "$narrow; srun -N2 --gpus-per-node=1 ./vars"
	has 0:ran 1:ran
	lacks "$anything"
	says 'srun: error: nccl-autoconf: SrunPortRange * has no free port to spare; the step runs as without --nccl-autoconf'
}
