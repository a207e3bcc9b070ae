#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a guest of contrib/vmlab, as root: a snapshot says what ip, rdma and ibv_devinfo say, before and after faults, and no
fault makes it wait: see DEADLINE.

usage: detect.py VM_FAULT      prints TAP
"""
import json
import os
import re
import subprocess
import sys
import time

FAULT = sys.argv[1]
LAB = ['setpriv', '--reuid=lab', '--regid=lab', '--init-groups', '--']
ROWS = []
# Of a step's probe, in seconds (wrapper/exchange.c); a machine may be slow, but not only where something is broken
DEADLINE = 2
SLOWEST = {}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def snapshot(user=()):
    start = time.monotonic()
    text = run(*user, 'nccl-autoconf', 'snapshot', '--compact')
    SLOWEST['row'] = max(SLOWEST.get('row', 0), time.monotonic() - start)
    return json.loads(text)


def links(snap):
    return {i['name']: i for i in snap['interfaces']}


def hcas(snap):
    return {h['name']: h for h in snap['hcas']}


def differ(what, ours, theirs, errors):
    if ours != theirs:
        errors.append(f'{what}: snapshot {ours!r}, tool {theirs!r}')


def compare_links(snap, errors):
    ours = links(snap)
    theirs = json.loads(run('ip', '-d', '-j', 'addr'))
    differ('interfaces', sorted(ours), sorted(t['ifname'] for t in theirs), errors)
    for t in theirs:
        name, o = t['ifname'], ours[t['ifname']]
        info = t.get('linkinfo', {})
        differ(f'{name} ifindex', o['ifindex'], t['ifindex'], errors)
        differ(f'{name} mtu', o['mtu'], t['mtu'], errors)
        # ip prints LOWER_UP for what the snapshot has as both, and a flag of its own
        differ(f'{name} flags', sorted(set(o['flags']) - {'RUNNING'}), sorted(set(t['flags']) - {'NO-CARRIER'}), errors)
        differ(f'{name} operstate', o['operstate'], t['operstate'].lower(), errors)
        differ(f'{name} master', o.get('master'), t.get('master'), errors)
        differ(f'{name} link', o.get('link'), t.get('link'), errors)
        if info.get('info_kind') in ('bond', 'vlan'):
            differ(f'{name} kind', o['kind'], info['info_kind'], errors)
        if info.get('info_kind') == 'bond':
            differ(f'{name} active slave', o['bond'].get('active_slave'), info['info_data'].get('active_slave'), errors)
            differ(f'{name} mode', o['bond']['mode'], info['info_data']['mode'], errors)
        differ(f'{name} addresses', sorted((a['family'], a['addr'], a['prefixlen'], a['scope']) for a in o['addresses']),
               sorted((a['family'], a['local'], a['prefixlen'], a['scope']) for a in t['addr_info']), errors)


def compare_rdma(snap, errors):
    ours = hcas(snap)
    theirs = json.loads(run('rdma', '-j', 'link'))
    differ('HCAs', sorted(ours), sorted(t['ifname'] for t in theirs), errors)
    for t in theirs:
        port = ours[t['ifname']]['ports'][0]
        differ(f"{t['ifname']} state", port['state'], t['state'], errors)
        differ(f"{t['ifname']} physical state", port['phys_state'].upper(), t['physical_state'].replace('_', ''), errors)
        differ(f"{t['ifname']} netdev", port['netdev'], t.get('netdev'), errors)


def gid_key(text):
    """An address in any notation, as eight groups."""
    import ipaddress
    return ipaddress.ip_address(text).exploded


def compare_gids(snap, errors):
    for name, hca in hcas(snap).items():
        text = run('ibv_devinfo', '-v', '-d', name)
        theirs = {int(i): (gid_key(g), kind.strip()) for i, g, kind in
                  re.findall(r'GID\[\s*(\d+)\]:\s*([0-9a-fA-F:.]+),? *(.*)', text) if gid_key(g) != gid_key('::')}
        ours = {g['index']: (gid_key(g['gid']), g['type']) for g in hca['ports'][0]['gids']}
        differ(f'{name} GIDs', {i: g for i, (g, _) in ours.items()}, {i: g for i, (g, _) in theirs.items()}, errors)
        mtu = re.search(r'active_mtu:\s*(\d+)', text)
        differ(f'{name} active MTU', hca['ports'][0]['active_mtu'], int(mtu.group(1)), errors)


def compare_pci(snap, errors):
    known = {line.split()[0] for line in run('lspci', '-D').splitlines()}
    for o in snap['interfaces']:
        path = f"/sys/class/net/{o['name']}/device"
        theirs = next((p for p in reversed(os.path.realpath(path).split('/')) if p in known), None) \
            if os.path.exists(path) else None
        differ(f"{o['name']} PCI", o.get('pci'), theirs, errors)


def same(errors):
    snap = snapshot()
    compare_links(snap, errors)
    compare_rdma(snap, errors)
    compare_gids(snap, errors)
    compare_pci(snap, errors)
    return snap


def row(name):
    def add(function):
        ROWS.append((name, function))
        return function
    return add


def fault(what, name):
    run(FAULT, what, name)


def settle(condition, seconds=20):
    """Until the kernel has followed; miimon and the GID table take their time."""
    end = time.monotonic() + seconds
    while not condition(snapshot()) and time.monotonic() < end:
        time.sleep(0.1)


@row('healthy: links, bond, addresses, HCAs, ports, GIDs, PCI')
def healthy(errors):
    snap = same(errors)
    differ('bond0 active slave', links(snap)['bond0']['bond']['active_slave'], 'eth1', errors)
    differ('mlx5_0', hcas(snap)['mlx5_0']['ports'][0]['state'], 'ACTIVE', errors)


@row('bond failover')
def failover(errors):
    fault('break', 'slave-down')
    settle(lambda s: links(s)['bond0']['bond'].get('active_slave') == 'eth2')
    snap = same(errors)
    differ('active slave', links(snap)['bond0']['bond']['active_slave'], 'eth2', errors)
    fault('mend', 'slave-down')


@row('VLAN on the bond')
def vlan(errors):
    run('ip', 'link', 'add', 'link', 'bond0', 'name', 'bond0.100', 'type', 'vlan', 'id', '100')
    run('ip', 'addr', 'add', '10.100.0.11/24', 'dev', 'bond0.100')
    run('ip', 'link', 'set', 'bond0.100', 'up')
    settle(lambda s: any(g['ndev'] == 'bond0.100' for g in hcas(s)['mlx5_bond_0']['ports'][0]['gids']))
    snap = same(errors)
    differ('lower device', links(snap)['bond0.100']['link'], 'bond0', errors)
    run('ip', 'link', 'del', 'bond0.100')


@row('address removed')
def address(errors):
    fault('break', 'gid-gone')
    settle(lambda s: not any(a['family'] == 'inet' for a in links(s)['eth3']['addresses']))
    snap = same(errors)
    if any('0000:ffff:0a0b' in g['gid'] for g in hcas(snap)['mlx5_0']['ports'][0]['gids']):
        errors.append('the GID of the address is still there')
    fault('mend', 'gid-gone')


@row('port down')
def port(errors):
    fault('break', 'port-down')
    settle(lambda s: hcas(s)['mlx5_0']['ports'][0]['state'] == 'DOWN')
    snap = same(errors)
    differ('state', hcas(snap)['mlx5_0']['ports'][0]['state'], 'DOWN', errors)
    fault('mend', 'port-down')
    settle(lambda s: hcas(s)['mlx5_0']['ports'][0]['state'] == 'ACTIVE')


@row('no device node')
def no_device(errors):
    fault('break', 'no-device')
    snap = snapshot()
    differ('opens', hcas(snap)['mlx5_0']['uverbs_opens'], False, errors)
    differ('the other opens', hcas(snap)['mlx5_1']['uverbs_opens'], True, errors)
    fault('mend', 'no-device')


@row('only root may open it')
def permission(errors):
    fault('break', 'no-permission')
    snap = snapshot(LAB)
    differ('opens', hcas(snap)['mlx5_0']['uverbs_opens'], False, errors)
    differ('why', hcas(snap)['mlx5_0'].get('uverbs_error', '').split(':')[0], 'Permission denied', errors)
    differ('the other opens', hcas(snap)['mlx5_1']['uverbs_opens'], True, errors)
    fault('mend', 'no-permission')


@row('a limit of 64 KiB of locked memory')
def memlock(errors):
    snap = snapshot(['prlimit', '--memlock=65536:65536', *LAB])
    differ('memlock_kb', snap['memlock_kb'], 64, errors)


@row('RDMA of its own network namespace only')
def exclusive(errors):
    run('rdma', 'system', 'set', 'netns', 'exclusive')
    snap = snapshot(['unshare', '--net'])
    differ('mode', snap.get('rdma_netns_mode'), 'exclusive', errors)
    for name, hca in hcas(snap).items():
        differ(f'{name} opens', hca.get('uverbs_opens'), False, errors)
    run('rdma', 'system', 'set', 'netns', 'shared')


@row('healthy again')
def again(errors):
    settle(lambda s: hcas(s)['mlx5_0']['ports'][0]['state'] == 'ACTIVE')
    same(errors)


print(f'1..{len(ROWS)}')
failed = 0
for number, (name, function) in enumerate(ROWS, 1):
    problems = []
    SLOWEST['row'] = 0
    try:
        function(problems)
    except (subprocess.CalledProcessError, KeyError, IndexError, AttributeError) as e:
        problems.append(f'{e!r} {getattr(e, "stderr", "") or ""}')
    SLOWEST.setdefault('healthy', SLOWEST['row'])
    if SLOWEST['row'] > 4 * SLOWEST['healthy'] + DEADLINE:
        problems.append(f"a snapshot took {SLOWEST['row']:.2f} s, undisturbed {SLOWEST['healthy']:.2f} s")
    print(('not ok' if problems else 'ok'), number, '-', name)
    print(f"# slowest snapshot: {SLOWEST['row']:.2f} s")
    for problem in problems:
        print('#', problem.replace('\n', '\n# '))
    failed += bool(problems)
sys.exit(failed > 0)
