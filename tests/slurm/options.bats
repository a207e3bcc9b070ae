#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Words and the site's file, as a table: who may say what, who wins, and what is printed.  All rows run in two labs, one
# with words in plugstack.conf and one without; both have the file.
#
# shellcheck disable=SC2016 # what is in single quotes is expanded inside the lab

bats_require_minimum_version 1.5.0

# run_rows LAB ROW...: a ROW is "NAME|ENVIRONMENT|OPTION"; leaves NAME.out, .err and .status of srun
run_rows() {
	local row name env option
	for row in "${@:2}"; do
		IFS='|' read -r name env option <<<"$row"
		printf '%s srun %s -N2 bash -c "env | sort" >%q.out 2>%q.err; echo $? >%q.status\n' "$env" "$option" \
			"$PWD/$1.$name" "$PWD/$1.$name" "$PWD/$1.$name"
	done >"$1.rows"
	timeout 120 "$BATS_TEST_DIRNAME/../../contrib/lab" --plugin -- bash -c "cd; mkdir conf; echo NCCL_SOCKET_IFNAME==eth0 >conf/.nccl.conf; . '$PWD/$1.rows'; cp ./*.json '$PWD' || :"
}

setup_file() {
	((EUID == 0)) || skip "needs root"
	type -P slurmctld slurmd srun munged >/dev/null || skip "needs Slurm and munge"
	# bats' own directory is root's alone, and the lab's user reads and writes here
	ROWS=$(mktemp -d)
	export ROWS
	cd "$ROWS" && chmod 1777 . || return
	cat >site.conf <<-\END
		# words, for all
		rdzv-ports = 21000-21099
		timout=9
		on
		[nodes=node[1-2]]
		control-interface=bond0   # both networks join the nodes
		NCCL_IB_TC=106
		UCX_TLS=tcp
		[nodes=node2]
		NCCL_IB_SL=3
		timeout=7
		[nodes=gpu[1-]
		NCCL_IB_SL=4
	END
	export LAB_PLUGSTACK_ARGS="conf=$PWD/site.conf"
	run_rows file \
		'plain||' \
		'asked||--nccl-autoconf' \
		'command||--nccl-autoconf=rdzv-ports=24000-24099' \
		'env|NCCL_AUTOCONF=rdzv-ports=23000-23099|' \
		'both|NCCL_AUTOCONF=rdzv-ports=23000-23099|--nccl-autoconf=rdzv-ports=24000-24099' \
		'words|NCCL_AUTOCONF=rdzv-ports=23000-23099|--nccl-autoconf=on' \
		'off|NCCL_AUTOCONF=on|--nccl-autoconf=off' \
		'empty|NCCL_AUTOCONF=|' \
		'empty_value||--nccl-autoconf=' \
		'bad_env|NCCL_AUTOCONF=explian|' \
		'bad_command||--nccl-autoconf=explian' \
		'elsewhere||--nccl-autoconf=default=on' \
		'quiet||--nccl-autoconf=quiet' \
		'check||--nccl-autoconf=check' \
		'check_nccl||--nccl-autoconf=check=nccl' \
		'explain||--nccl-autoconf=explain' \
		'save||--nccl-autoconf=save=saved.json' \
		'save_bad||--nccl-autoconf=save=/nonexistent/saved.json' \
		'home|HOME=$PWD/conf|--nccl-autoconf' \
		'user|NCCL_SOCKET_IFNAME==eth0 NCCL_IB_TC=0|--nccl-autoconf'
	LAB_PLUGSTACK_ARGS+=" rdzv-ports=22000-22099 quiet" run_rows plugstack \
		'asked||--nccl-autoconf' \
		'env|NCCL_AUTOCONF=rdzv-ports=23000-23099|' \
		'command||--nccl-autoconf=rdzv-ports=24000-24099'
}

teardown_file() {
	rm -rf "$ROWS"
}

# row LAB.NAME: out, err and code of it
row() {
	out=$(<"$ROWS/$1.out") err=$(<"$ROWS/$1.err") code=$(<"$ROWS/$1.status")
	echo "$out" "$err" "$code"
}

# ports RANGE: MASTER_PORT begins like this on both nodes
ports() {
	(($(grep -cE "^MASTER_PORT=$1" <<<"$out") == 2))
}

# complaints: those of the file, which are the same in every step
complaints() {
	grep -E '^nccl-autoconf: warning conf: ' <<<"$err"
}

@test "not asked for: nothing, and the file is not read" {
	row file.plain
	[[ $code == 0 && -z $err && $out != *MASTER_* ]]
}

@test "the file's words, pins and variables, by node" {
	row file.asked
	ports 210
	(($(grep -cx NCCL_SOCKET_IFNAME==bond0 <<<"$out") == 2))
	(($(grep -cx NCCL_IB_TC=106 <<<"$out") == 2))
	(($(grep -cx UCX_TLS=tcp <<<"$out") == 2))
	(($(grep -c '^NCCL_IB_SL=' <<<"$out") == 1))
	[[ $err == *'nccl-autoconf: 2 nodes on bond0 (10.10.0.0/24), TCP, rendezvous 10.10.0.11:210'* ]]
}

@test "the file's bad lines: one warning each, with file, line and the near word, and the step runs" {
	row file.asked
	(($(complaints | wc -l) == 3))
	[[ $err == *"/site.conf line 3: unknown word \"timout\", did you mean timeout=? (ignored)"* ]]
	[[ $err == *"/site.conf line 4: on may stand only in plugstack.conf (ignored)"* ]]
	[[ $err == *"/site.conf line 12: \"gpu[1-\" is no host list, as node[1-4,7],login1 (ignored)"* ]]
	((code == 0))
}

@test "precedence: command line, environment, plugstack.conf, file; word by word" {
	row file.command && ports 240
	row file.env && ports 230
	row file.both && ports 240
	row file.words && ports 230
	row plugstack.asked && ports 220
	row plugstack.env && ports 230
	row plugstack.command && ports 240
}

@test "quiet in plugstack.conf holds for who asks; so do the file's pins" {
	row plugstack.asked
	! grep -v ' warning conf: ' <<<"$err" || false
	(($(grep -cx NCCL_SOCKET_IFNAME==bond0 <<<"$out") == 2))
}

@test "off on the command line beats the environment" {
	row file.off
	[[ $code == 0 && -z $err && $out != *MASTER_ADDR* ]]
}

@test "NCCL_AUTOCONF empty is not set; an empty list on the command line is on" {
	row file.empty
	[[ $code == 0 && -z $err && $out != *MASTER_ADDR* ]]
	row file.empty_value
	ports 210
}

@test "a bad word: refused on the command line, one warning in the environment; both name the near one" {
	row file.bad_command
	((code != 0))
	[[ -z $out && $err == *'--nccl-autoconf: unknown word "explian", did you mean explain?'* ]]
	row file.elsewhere
	((code != 0))
	[[ -z $out && $err == *'default= may stand only in plugstack.conf'* ]]
	row file.bad_env
	((code == 0))
	[[ $out != *MASTER_ADDR* && $err == *'unknown word "explian", did you mean explain?'* ]]
}

@test "quiet: warnings only" {
	row file.quiet
	ports 210
	! grep -v ' warning conf: ' <<<"$err" || false
}

@test "explain: every interface with its rule, and the pins that would say the same" {
	row file.explain
	[[ $err == *$'\nnode1\n'* && $err == *$'\nnode2\n'* ]]
	grep -qE '^  eth0 +rejected +site-pin +' <<<"$err"
	grep -qE '^  bond0 +chosen +' <<<"$err"
	(($(grep -cx '  to pin: control-interface=bond0' <<<"$err") == 2))
	(($(awk 'length > 100' <<<"$(grep -v 'warning conf' <<<"$err")" | wc -l) == 0))
}

@test "save=: job and plan in one file, which plans to the same; where it cannot be written, a warning and the step runs" {
	row file.save
	((code == 0))
	run --separate-stderr "${NCCL_AUTOCONF:-$BATS_TEST_DIRNAME/../../wrapper/nccl-autoconf}" plan --json "$ROWS/saved.json"
	((status == 0))
	[[ $(jq -c '[.nodes[].env]' <<<"$output") == "$(jq -c '[.plan.nodes[].env]' "$ROWS/saved.json")" ]]
	[[ $(jq -r '.nodes[1].env.NCCL_IB_SL' <<<"$output") == 3 ]]
	row file.save_bad
	((code == 0))
	ports 210
	[[ $err == *'warning save: /nonexistent/saved.json: No such file or directory'* ]]
}

@test "what the user has set comes before pins and variables of the file" {
	row file.user
	(($(grep -cx NCCL_SOCKET_IFNAME==eth0 <<<"$out") == 2))
	(($(grep -cx NCCL_IB_TC=0 <<<"$out") == 2))
}

@test "so does what stands in the user's ~/.nccl.conf, which we would override" {
	row file.home
	! grep '^NCCL_SOCKET_IFNAME=' <<<"$out" || false
	(($(grep -cx GLOO_SOCKET_IFNAME=eth0 <<<"$out") == 2))
}

@test "check: without RDMA there is nothing to test, and nothing to warn of" {
	row file.check
	((code == 0))
	ports 210
	[[ $err == *', TCP, rendezvous '* ]]
	[[ $err != *'warning no-check'* && $err != *'RDMA tested'* ]]
}

@test "check=nccl: what it asks for is not there, and that is said" {
	row file.check_nccl
	((code == 0))
	[[ $err == *'warning no-check: this release measures no bandwidth and starts no NCCL'* ]]
}
