# SPDX-License-Identifier: Apache-2.0
"""Which interface, where TCP carries the data or the control."""
from build import bond, job, link, loopback, node, pair, route


def dk():
    return link('docker0', '172.17.0.1/16', kind='bridge', bridge={'ports': []}, up=False)


def mgmt40(i):
    return node('t%d' % i, [
        loopback(),
        link('eno1', '10.1.0.%d/24' % i, speed=40000),
        link('e1', master='bond0', speed=25000),
        link('e2', master='bond0', speed=25000),
        bond('bond0', ['e1', 'e2'], '10.2.0.%d/24' % i, speed=50000)
    ],
                gw=('eno1', '10.1.0.254'))


job('tcp-bond50-vs-40', 'LACP bond 2x25 against 40G with default route', pair(mgmt40), ifs='bond0', net='Socket')


def mgmt40ab(i):
    return node('t%d' % i, [
        loopback(),
        link('eno1', '10.1.0.%d/24' % i, speed=40000, mtu=9000),
        link('e1', master='bond0', speed=25000),
        link('e2', master='bond0', speed=25000),
        bond('bond0', ['e1', 'e2'], '10.2.0.%d/24' % i, mode='active-backup', speed=None)
    ],
                gw=('eno1', '10.1.0.254'))


job('tcp-ab-bond25-vs-40', 'active-backup bond of 25G against 40G', pair(mgmt40ab), ifs='eno1', net='Socket')


def zoo(i):
    return node('z%d' % i, [
        loopback(),
        link('enp5s0', '192.168.10.%d/24' % (20 + i), speed=10000),
        dk(),
        link('br-4f2a9c', '172.18.0.1/16', kind='bridge', bridge={'ports': ['veth1']}),
        link('veth1', kind='veth', master='br-4f2a9c'),
        link('virbr0', '192.168.122.1/24', kind='bridge', bridge={'ports': []}, up=False),
        link('tailscale0', '100.101.1.%d/32' % i, kind='tun', mtu=1280),
        link('wg0', '10.9.0.%d/24' % i, kind='tun', mtu=1420),
        link('podman0', '10.88.0.1/16', kind='bridge', bridge={'ports': []}),
        link('enx001', '192.168.10.%d/24' % (120 + i), up=False)
    ],
                gw=('enp5s0', '192.168.10.1'),
                routes=[route('100.64.0.0/10', 'tailscale0', table='52')])


job('zoo', 'docker, tailscale, wireguard, virbr, podman beside one NIC', pair(zoo), ifs='enp5s0', net='Socket')


def islands(i):
    return node(
        'h%d' % i,
        [loopback(), link('enp3s0', '192.168.1.10/24', speed=1000),
         link('wg0', '10.9.0.%d/24' % i, kind='tun', mtu=1420)],
        gw=('enp3s0', '192.168.1.1'),
        gpus=1)


job('two-homes', 'two sites with the same address, WireGuard joins them', pair(islands), ifs='wg0', net='Socket')


def zt(i):
    return node(
        'q%d' % i,
        [loopback(),
         link('enp3s0', '192.168.%d.10/24' % i, speed=1000),
         link('ztabcdef', '10.147.17.%d/24' % i, kind='tun', mtu=2800)],
        gw=('enp3s0', '192.168.%d.1' % i),
        gpus=1)


job('zerotier', 'two LANs of home routers; default routes exist, and no names', pair(zt), verdict='choose+warn', warn_names=['ztabcdef'], unsure=True)


def wifi(i):
    return node(
        'w%d' % i,
        [loopback(), link('enp2s0', '192.168.1.%d/24' % (30 + i), speed=2500),
         link('wlp4s0', '192.168.1.%d/24' % (60 + i))],
        gpus=1,
        routes=[])


def wf(i):
    n = wifi(i)
    for r in n['routes']:
        r['metric'] = 100 if r['dev'] == 'enp2s0' else 600
        r['protocol'] = 'kernel'
    n['routes'] += [
        dict(route('default', 'enp2s0', '192.168.1.1'), metric=100),
        dict(route('default', 'wlp4s0', '192.168.1.1'), metric=600)
    ]
    return n


job('wifi-same-subnet', 'cable and WLAN in one subnet, metrics tell', pair(wf), ifs='enp2s0', net='Socket')


def ten(i):
    n = node('x%d' % i,
             [loopback(),
              link('enp1s0f0', '10.0.0.%d/24' % i, speed=10000),
              link('enp1s0f1', '10.0.0.%d/24' % (100 + i), speed=10000)],
             gpus=2)
    return n


job('two-ports-one-subnet', 'two equal ports in one subnet', pair(ten), ifs='enp1s0f0', net='Socket')


def l3(i):
    return node('l%d' % i, [loopback(), link('eth0', '10.%d.0.5/24' % i, speed=10000)], gw=('eth0', '10.%d.0.1' % i))


job('l3-8', 'eight nodes in eight subnets, joined by gateways', [l3(i) for i in range(1, 9)], ifs='eth0', net='Socket')


def l3two(i):
    return node(
        'l%d' % i,
        [loopback(), link('eno1', '10.%d.0.5/24' % i, speed=1000),
         link('ens1', '172.30.%d.5/24' % i, speed=100000, mtu=9000)],
        gw=('eno1', '10.%d.0.1' % i),
        routes=[route('172.30.0.0/16', 'ens1', '172.30.%d.1' % i)])


job('l3-fast', 'fast network routed by a static route, default by the slow one', [l3two(i) for i in (1, 2, 3)], ifs='ens1', net='Socket')


def ovs(i):
    return node('o%d' % i, [
        loopback(),
        link('enp1s0', speed=25000, master='ovs-system'),
        link('ovs-system', kind='openvswitch', up=False),
        link('br-ex', '10.5.5.%d/24' % i, kind='openvswitch'),
        link('br-int', kind='openvswitch', up=False),
        link('ovn-k8s-mp0', '10.128.%d.2/23' % (2 * i), kind='openvswitch', mtu=1400)
    ],
                gw=('br-ex', '10.5.5.254'),
                routes=[route('10.128.0.0/14', 'ovn-k8s-mp0', '10.128.%d.1' % (2 * i))])


job('ovs', 'OpenShift: the address is on br-ex', pair(ovs), ifs='br-ex', net='Socket')


def team(i):
    return node('m%d' % i, [
        loopback(),
        link('p1p1', master='team0', speed=10000),
        link('p1p2', master='team0', speed=10000),
        link('team0', '10.8.8.%d/24' % i, kind='team')
    ],
                gw=('team0', '10.8.8.254'))


job('team', 'team0', pair(team), ifs='team0', net='Socket')


def bmcdup(i):
    return node('d%d' % i,
                [loopback(), link('enx1', '10.255.255.1/30', driver='cdc_ncm'),
                 link('eno1', '10.8.8.%d/24' % i, speed=1000)],
                gw=('eno1', '10.8.8.254'))


job('bmc-routable', 'BMC USB with 10.255.255.1/30 on both', pair(bmcdup), ifs='eno1', net='Socket')


def hetero(i):
    nm = {1: 'eno1', 2: 'eth0', 3: 'enp129s0f1'}[i]
    links = [loopback()] + [link('x%d' % k, up=False) for k in range(i)] + [link(nm, '10.8.8.%d/24' % i, speed=10000)]
    return node('e%d' % i, links, gw=(nm, '10.8.8.254'))


job('hetero-names', 'three names on three nodes', [hetero(i) for i in (1, 2, 3)], links=['eno1', 'eth0', 'enp129s0f1'], net='Socket')


def thunder(i):
    return node(
        'tb%d' % i,
        [loopback(), link('thunderbolt0', '169.254.7.%d/16' % i, mtu=65520),
         link('enp4s0', '192.168.0.%d/24' % i, speed=1000)],
        gw=('enp4s0', '192.168.0.254'),
        gpus=1)


job('thunderbolt', 'link-local thunderbolt', pair(thunder), ifs='enp4s0', net='Socket')


def peersnet(i):
    n = node('pe%d' % i, [loopback(), link('eno1', '10.0.0.%d/24' % i), link('eno2', '10.1.0.%d/24' % i)], gpus=2)
    n['peers'] = [{'name': 'pe%d' % k, 'addresses': ['10.1.0.%d' % k]} for k in (1, 2)]
    return n


job('node-addr', 'equal networks, NodeAddr decides', pair(peersnet), ifs='eno2', net='Socket', unsure=True)


def spare(i):
    links = [loopback(), link('eth0', '10.0.0.%d/24' % i, speed=10000)]
    if i != 3: links.append(link('bond0', '10.9.0.%d/24' % i, kind='bond', speed=50000, bond={'mode': '802.3ad', 'slaves': []}))
    return node('sp%d' % i, links, gw=('eth0', '10.0.0.254'))


job('spare-without-bond', 'bond0 on two of three', [spare(i) for i in (1, 2, 3)], ifs='eth0', net='Socket')


def nocarrier(i):
    return node(
        'nc%d' % i,
        [loopback(), link('eth0', '10.0.0.%d/24' % i, speed=10000, up=(i != 2)),
         link('eth1', '10.1.0.%d/24' % i, speed=1000)],
        gw=('eth1', '10.1.0.254'))


job('no-carrier', 'fast port without carrier on one node', [nocarrier(i) for i in (1, 2, 3)], ifs='eth1', net='Socket')


def asym(i):
    links = [loopback(), link('eth0', '10.0.%d.5/24' % i, speed=10000), link('eth1', '10.5.0.%d/24' % i, speed=10000)]
    return node('as%d' % i, links, gw=('eth0', '10.0.%d.1' % i), gpus=1)


job('routed-vs-same-subnet', 'equal speed: one network routed, one in one subnet', pair(asym), ifs='eth1', net='Socket')


def onlymgmt(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000), link('ens1', '10.5.%d.1/30' % i, speed=100000)]
    return node('om%d' % i, links, gw=('eno1', '10.0.0.254'), gpus=1)


job('fast-but-unjoined', '100G ports in /30s without routes', pair(onlymgmt), ifs='eno1', net='Socket')


def nomtu(i):
    links = [loopback(), link('eth0', '10.0.0.%d/24' % i), link('eth1', '10.1.0.%d/24' % i, mtu=9000)]
    return node('jm%d' % i, links, gw=('eth0', '10.0.0.254'), gpus=1)


job('jumbo', 'speeds unknown, jumbo frames on eth1', pair(nomtu), ifs='eth1', net='Socket')
