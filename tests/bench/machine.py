#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Describes a recorded machine to tests/netns/tree.py, which makes a tree of it. usage: machine.py NODE.json

IPv4 addresses only, no routes: what the bench wants is as many devices and files as the machine has.
"""
import json
import sys

STACKED = ('bond', 'vlan', 'bridge', 'vxlan', 'veth', 'dummy', 'macvlan')


def bus(address):
    return int(address.split(':')[1], 16)


def tree(pci):
    """Bridges before what is behind them, each with the range of buses behind it."""
    below = {}
    for p in pci:
        below.setdefault(p.get('parent'), []).append(p)

    def walk(p):
        inner = [line for child in below.get(p['addr'], []) for line in walk(child)]
        behind = [bus(line[1]) for line in inner]
        if p.get('kind') == 'hostbridge':
            return inner
        buses = [f'{min(behind):x}', f'{max(behind):x}'] if behind else []
        kind = '0604' if behind else p.get('class') or 'ff00'
        words = [p.get(key) or '0' for key in ('vendor', 'device')]
        own = ['pci', p['addr'], p.get('parent') or f"hostbridge:{p['addr'][:7]}", kind,
               *(w.removeprefix('0x').zfill(4) for w in words), str(p.get('numa') or 0), *buses]
        return [own] + inner

    known = {p['addr'] for p in pci}
    return [line for p in pci if p.get('parent') not in known for line in walk(p)]


def interfaces(node, devices):
    index = {i['name']: i['ifindex'] for i in node['interfaces']}
    for i in node['interfaces']:
        if i['name'] == 'lo':
            continue
        words = [f"mtu={i.get('mtu') or 1500}"]
        words += [f"kind={i['kind']}"] if i.get('kind') in STACKED else []
        words += [f"{key}={index[i[key]]}" for key in ('link', 'master') if i.get(key) in index]
        words += [f"pci={i['pci']}"] if i.get('pci') in devices else []
        words += [f"speed={i['speed_mbps']}"] if i.get('speed_mbps') else []
        yield ['net', str(i['ifindex']), i['name'], *words]
        for a in i.get('addresses') or []:
            if a['family'] == 'inet':
                yield ['addr', str(i['ifindex']), f"{a['addr']}/{a['prefixlen']}"]


def hcas(node, devices):
    for h in node['hcas']:
        if h.get('pci') not in devices:
            continue
        port = h['ports'][0]
        yield ['hca', h['name'], h['pci'], port.get('link_layer') or 'Unspecified', f"{port.get('rate_gbps') or 0:g}",
               'Gb/sec', '(4X)']
        if h.get('driver') == 'efa':
            yield ['table', h['name'], '1']  # linux drivers/infiniband/hw/efa/efa_verbs.c: gid_tbl_len
        for g in port.get('gids') or []:
            yield ['gid', h['name'], str(g['index']), g['gid'], (g.get('type') or 'RoCE v2').replace(' ', '_'),
                   *([g['ndev']] if g.get('ndev') else [])]


def main():
    with open(sys.argv[1], encoding='utf-8') as f:
        node = json.load(f)
    node = node.get('nodes', [node])[0]
    lines = tree(node['pci'])
    devices = {line[1] for line in lines}
    for line in [['file', 'proc/sys/kernel/hostname', node['name']], *lines, *interfaces(node, devices),
                 *hcas(node, devices)]:
        print(' '.join(line))


if __name__ == '__main__':
    main()
