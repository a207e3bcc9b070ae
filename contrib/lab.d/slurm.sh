# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Part of contrib/lab: munged, slurmctld on the login host, slurmd on each node.

readonly start_seconds=30
readonly slurmd_port=6818
readonly srun_ports=61000-62999 # what --split lets pass, outside the ephemeral ports

declare -A daemon_pid

# shellcheck disable=SC2154 # nodes and configless are set by contrib/lab
start_slurm() {
	local slurmd=(slurmd -D) i
	conf_dir=$LAB_DIR
	[[ -z ${LAB_SLURMSTEPD-} ]] || slurmd+=(-d "$LAB_SLURMSTEPD")
	if [[ -n $configless ]]; then
		make_configless
		slurmd+=(--conf-server login)
	fi
	export SLURM_CONF=$conf_dir/slurm.conf
	write_config
	[[ -z $configless ]] || unset SLURM_CONF
	dd if=/dev/urandom of="$LAB_DIR/munge/key" bs=128 count=1 status=none
	chmod 400 "$LAB_DIR/munge/key"
	deadline=$((SECONDS + start_seconds))

	start munged login munged --foreground --force --num-threads=2 \
		--key-file="$LAB_DIR/munge/key" --socket="$LAB_DIR/munge/socket" \
		--pid-file="$LAB_DIR/munge/pid" --log-file="$LAB_DIR/munge/log" \
		--seed-file="$LAB_DIR/munge/seed"
	await munged munged_answers
	start slurmctld login slurmctld -D -f "$conf_dir/slurm.conf"
	await slurmctld slurmctld_answers
	[[ -z $vm ]] || await_guests
	for ((i = 1; i <= nodes; i++)); do
		mkdir "$LAB_DIR/spool/node$i"
		touch "$LAB_DIR/log/node$i.log" # slurmd itself would make it unreadable for COMMAND
		if [[ -n $vm ]]; then
			start_node "$i"
		else
			start "slurmd-node$i" "node$i" "${slurmd[@]}"
		fi
	done
	for ((i = 1; i <= nodes; i++)); do
		await "slurmd-node$i" node_is_idle "node$i"
	done
	[[ -z ${LAB_FAULT-} ]] || break_vm "$LAB_FAULT" || fail "the fault $LAB_FAULT could not be made" "$LAB_DIR/log/console-node2.log"
}

# make_configless: only login has the directory conf_dir.  Where Slurm's programs
# look if they are told of no file they find what slurmd has fetched, on login
# that directory.
make_configless() {
	local host directory
	conf_dir=$LAB_DIR/conf
	mkdir "$conf_dir" /run/slurm /run/munge
	ln -s "$conf_dir" /run/slurm/conf
	# slurmd asks slurmctld before it knows which socket is munged's.
	ln -s "$LAB_DIR/munge/socket" /run/munge/munge.socket.2
	# shellcheck disable=SC2154 # host_pid is set by network.sh
	for host in "${!host_pid[@]}"; do
		[[ ! -d /etc/slurm ]] || hide_directory "$host" /etc/slurm
		[[ $host != login ]] || continue
		# SlurmdSpoolDir too: slurmd puts the files there before it knows what
		# %n is.
		for directory in "$conf_dir" /run/slurm "$LAB_DIR/spool"; do
			hide_directory "$host" "$directory"
		done
	done
}

# hide_directory HOST DIRECTORY: it is empty there, and what is written stays there
hide_directory() {
	on_host "$1" mount -t tmpfs -o mode=755,nosuid lab "$2"
}

# start NAME HOST PROGRAM [ARG...]: a daemon, with what it says in log/NAME.log
start() {
	# In a session of its own: keys typed at COMMAND's terminal are not for it.
	become_on_host "$2" setsid "${@:3}" </dev/null >"$LAB_DIR/log/$1.log" 2>&1 &
	daemon_pid[$1]=$!
}

# await NAME CHECK [ARG...]: until CHECK holds for that daemon
await() {
	until "${@:2}"; do
		kill -0 "${daemon_pid[$1]}" 2>/dev/null || fail "$1 ended while starting" "$LAB_DIR/log/$1.log"
		((SECONDS < deadline)) || fail "$1 is not ready after $start_seconds s" "$LAB_DIR/log/$1.log"
		sleep 0.05
	done
}

munged_answers() {
	munge --socket="$LAB_DIR/munge/socket" --no-input >/dev/null 2>&1
}

slurmctld_answers() {
	client scontrol ping | grep -q 'is UP'
}

node_is_idle() {
	[[ $(client sinfo --noheader --nodes="$1" --format=%T) == idle ]]
}

# slurm_is_at_least YEAR.MONTH
slurm_is_at_least() {
	local release
	read -r _ release < <(slurmd -V)
	[[ $1 == "$(printf '%s\n' "$1" "$release" | sort -V | head -n 1)" ]]
}

client() {
	on_host login "$@" 2>/dev/null
}

# shellcheck disable=SC2154 # nodes, gpus, plugin_file, configless, contain_spank and slurm_conf are set by contrib/lab
write_config() {
	local node_gres='' slurmd_parameters=config_overrides plugstack='' line i
	if ((gpus)); then
		node_gres="Gres=gpu:$gpus"
		# Character devices: with plain files Slurm counts the GPUs but does
		# not set CUDA_VISIBLE_DEVICES.
		for ((i = 0; i < gpus; i++)); do
			mknod -m 666 "$LAB_DIR/dev/gpu$i" c 1 3
		done
		cat >"$conf_dir/gres.conf" <<-END
			NodeName=node[1-$nodes] Name=gpu Flags=nvidia_gpu_env File=$LAB_DIR/dev/gpu[0-$((gpus - 1))]
		END
	fi
	echo "${LAB_PLUGSTACK_BEFORE-}" >"$conf_dir/plugstack.conf"
	if [[ -n $plugin_file ]]; then
		echo "optional $LAB_DIR/bin/spank_nccl_autoconf.so helper=$LAB_DIR/bin/nccl-autoconf ${LAB_PLUGSTACK_ARGS-}"
	fi >>"$conf_dir/plugstack.conf"
	echo "${LAB_PLUGSTACK_AFTER-}" >>"$conf_dir/plugstack.conf"

	# slurmd looks for a cgroup file system unless it is told what to use, even
	# if nothing here uses cgroups.
	if slurm_is_at_least 23.11; then
		echo "CgroupPlugin=disabled"
	else
		echo "CgroupPlugin=cgroup/v1"
	fi >"$conf_dir/cgroup.conf"

	[[ -z ${LAB_TOPOLOGY_CONF-} ]] || printf '%s\n' "$LAB_TOPOLOGY_CONF" >"$conf_dir/topology.conf"

	if [[ -n $contain_spank ]]; then
		slurm_is_at_least 24.05 ||
			fail "--contain-spank needs Slurm 24.05 or newer, and this is $(slurmd -V): add --suite=trixie"
		slurmd_parameters+=,contain_spank
		write_private_tmp
	fi

	# With PlugStackConfig it would be a file of the node's own.
	[[ -n $configless ]] || plugstack=PlugStackConfig=$conf_dir/plugstack.conf
	# TreeWidth: nodes that cannot reach each other cannot forward messages.
	# MinJobAge: sbatch --wait asks after 2 s and then every 10 s; a job that is
	# forgotten before has no exit status.
	cat >"$conf_dir/slurm.conf" <<-END
		ClusterName=lab
		SlurmctldHost=login
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$LAB_DIR/munge/socket
		${configless:+SlurmctldParameters=enable_configless}
		$plugstack
		StateSaveLocation=$LAB_DIR/state
		SlurmdSpoolDir=$LAB_DIR/spool/%n
		SlurmctldPidFile=$LAB_DIR/slurmctld.pid
		SlurmdPort=$slurmd_port
		${split:+SrunPortRange=$srun_ports}
		SlurmdPidFile=$LAB_DIR/slurmd-%n.pid
		SlurmdLogFile=$LAB_DIR/log/%n.log
		SlurmctldSyslogDebug=quiet
		SlurmdSyslogDebug=quiet
		TmpFS=$LAB_DIR/tmp
		MailProg=/bin/true
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
		SlurmdParameters=$slurmd_parameters
		${contain_spank:+JobContainerType=job_container/tmpfs}
		${contain_spank:+PrologFlags=Contain}
		TreeWidth=65533
		ReturnToService=2
		MinJobAge=17
		KillWait=5
		${node_gres:+GresTypes=gpu}
		NodeName=node[1-$nodes] CPUs=8 RealMemory=16000 $node_gres
		${LAB_SLURM_CONF-}
		PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
	# RDMA needs locked memory, and the login host's limit is not the node's.
	[[ -z $vm ]] || echo PropagateResourceLimitsExcept=MEMLOCK >>"$conf_dir/slurm.conf"
	for line in "${slurm_conf[@]}"; do
		sed -i "/^${line%%=*}=/d" "$conf_dir/slurm.conf"
	done
	printf '%s\n' "${slurm_conf[@]}" >>"$conf_dir/slurm.conf"
}

# write_private_tmp: each job has its own /tmp
write_private_tmp() {
	cat >"$conf_dir/job_container.conf" <<-END
		AutoBasePath=true
		BasePath=$LAB_DIR/spool/%n/container
	END
}
