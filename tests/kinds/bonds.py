# SPDX-License-Identifier: Apache-2.0
"""Bonds, LAG, VLANs, VFs, subnets of rails."""
from build import bond, hca, job, link, loopback, near, node, pair, roce, route


def abtwo(i):
    links = [
        loopback(),
        link('e1', master='bond0', speed=100000),
        link('e2', master='bond0', speed=100000),
        bond('bond0', ['e1', 'e2'], '10.4.0.%d/24' % i, mode='active-backup', speed=100000)
    ]
    links[3]['bond']['active_slave'] = 'e1'
    h = [roce('mlx5_0', 'e1', links, '0000:3b:00.0', 100, ndevs=['bond0']), hca('mlx5_1', '0000:3b:00.1', 100, netdev='e2', gids=[])]
    return node('ab%d' % i, links, h, ('bond0', '10.4.0.254'), gpus=4)


job('ab-bond-two-devices', 'active-backup without LAG: only the active device has GIDs', pair(abtwo), ifs='bond0', hcas=['mlx5_0'])


def lagmixed(i):
    if i == 1:
        links = [
            loopback(),
            link('e1', master='bond0', speed=100000),
            link('e2', master='bond0', speed=100000),
            bond('bond0', ['e1', 'e2'], '10.4.0.1/24', speed=200000)
        ]
        h = [roce('mlx5_bond_0', 'bond0', links, '0000:3b:00.0', 100, lag={'bond': 'bond0', 'slaves': ['0000:3b:00.0', '0000:3b:00.1']})]
        d = 'bond0'
    else:
        links = [loopback(), link('ens1', '10.4.0.2/24', speed=100000, mtu=9000)]
        h = [roce('mlx5_0', 'ens1', links, '0000:3b:00.0', 100)]
        d = 'ens1'
    return node('lm%d' % i, links, h, (d, '10.4.0.254'), gpus=4)


job('lag-on-one-node',
    'LAG on node 1, one port on node 2',
    pair(lagmixed),
    links=['bond0', 'ens1'],
    hcas={'lm1': ['mlx5_bond_0'], 'lm2': ['mlx5_0']},
    env={'NCCL_IB_QPS_PER_CONNECTION': None})


def one_leg(i, mode='802.3ad', down=(2, )):
    links = [
        loopback(),
        link('e1', master='bond0', speed=100000),
        link('e2', master='bond0', speed=100000, up=i not in down),
        bond('bond0', ['e1', 'e2'], mode=mode),
        link('bond0.7', '10.4.0.%d/24' % i, kind='vlan', link='bond0', vlan={'id': 7})
    ]
    h = [roce('mlx5_bond_0', 'bond0', links, '0000:3b:00.0', 100, ndevs=['bond0.7'])]
    return node('ol%d' % i, links, h, ('bond0.7', '10.4.0.254'), gpus=4)


job('bond-leg-down',
    'a port of the RoCE bond of node 2 has no link', [one_leg(i) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='bond0.7',
    hcas=['mlx5_bond_0'],
    warn_names=['ol2 mlx5_bond_0 port 1 has a bond of 1'])
job('bond-spare-down', 'the same of an active-backup bond', [one_leg(i, 'active-backup') for i in (1, 2, 3)], ifs='bond0.7', hcas=['mlx5_bond_0'])
job('bond-leg-down-all', 'no node has cabled the second port', [one_leg(i, down=(1, 2)) for i in (1, 2)], hcas=['mlx5_bond_0'])


def fourbond(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000)]
    h = []
    for k in range(4):
        links += [
            link('p%da' % k, master='bond%d' % (k + 1), speed=200000),
            link('p%db' % k, master='bond%d' % (k + 1), speed=200000),
            bond('bond%d' % (k + 1), ['p%da' % k, 'p%db' % k], '10.%d.0.%d/24' % (60 + k, i), speed=400000)
        ]
        h.append(
            roce('mlx5_bond_%d' % k,
                 'bond%d' % (k + 1),
                 links,
                 '0000:%02x:00.0' % (0x20 + 16 * k),
                 200,
                 lag={'bond': 'bond%d' % (k + 1), 'slaves': []}))
    return node('fb%d' % i, links, h, ('eno1', '10.0.0.254'), gpus=8, dist=near(['mlx5_bond_%d' % k for k in range(4)], 8))


job('four-lags',
    'four LAG rails, unrouted',
    pair(fourbond),
    ifs='eno1',
    hcas=['mlx5_bond_%d' % k for k in range(4)],
    env={'NCCL_IB_QPS_PER_CONNECTION': '2', 'NCCL_CROSS_NIC': '0'})


def vlanone(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000)]
    if i == 1:
        links += [
            link('ens1', speed=200000, mtu=9000),
            link('ens1.100', '10.100.0.1/24', kind='vlan', link='ens1', vlan={'id': 100}, mtu=9000)
        ]
        nd = ['ens1', 'ens1.100']
    else:
        links += [link('ens1', '10.100.0.2/24', speed=200000, mtu=9000)]
        nd = ['ens1']
    return node('vo%d' % i, links, [roce('mlx5_0', 'ens1', links, '0000:41:00.0', 200, ndevs=nd)], ('eno1', '10.0.0.254'), gpus=2)


job('vlan-on-one-node', 'tagged on node 1, native on node 2', pair(vlanone), ifs='eno1', hcas=['mlx5_0'], gid_index={'vo1': 3, 'vo2': 3})


def sriov(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000), link('ens1np0', '10.50.0.%d/24' % i, speed=200000, mtu=9000)]
    h = [roce('mlx5_0', 'ens1np0', links, '0000:41:00.0', 200)]
    for k in range(4):
        links.append(link('ens1v%d' % k, '10.50.0.%d/24' % (100 + 10 * k + i), speed=200000, mtu=9000, vf={'index': k, 'pf': 'ens1np0'}))
        h.append(roce('mlx5_%d' % (k + 1), 'ens1v%d' % k, links, '0000:41:00.%d' % (k + 2), 200, is_vf=True, physfn='0000:41:00.0'))
    links.append(link('ens1np0_r0', up=True))
    h.append(
        hca('mlx5_9',
            '0000:41:00.0',
            200,
            netdev='ens1np0_r0',
            gids=[{'index': 0, 'gid': 'fe80:0000:0000:0000:0000:00ff:fe00:0099', 'type': 'RoCE v2', 'ndev': 'ens1np0_r0'}]))
    return node('sr%d' % i, links, h, ('eno1', '10.0.0.254'), gpus=2)


job('sriov-host', 'PF, four VFs with addresses, a representor', pair(sriov), ifs='eno1', hcas=['mlx5_0'])


def vlan2(i):
    links = [
        loopback(),
        link('e1', master='bond0', speed=100000),
        link('e2', master='bond0', speed=100000),
        bond('bond0', ['e1', 'e2'], speed=200000),
        link('bond0.10', '10.10.0.%d/24' % i, kind='vlan', link='bond0', vlan={'id': 10}, mtu=1500),
        link('bond0.20', '10.20.0.%d/24' % i, kind='vlan', link='bond0', vlan={'id': 20}, mtu=9000)
    ]
    h = roce('mlx5_bond_0',
             'bond0',
             links,
             '0000:01:00.0',
             100,
             ndevs=['bond0', 'bond0.10', 'bond0.20'],
             lag={'bond': 'bond0', 'slaves': ['0000:01:00.0', '0000:01:00.1']})
    return node('vl%d' % i, links, [h], ('bond0.10', '10.10.0.254'), gpus=4)


job('bond-two-vlans',
    'RoCE LAG with management VLAN 1500 and data VLAN 9000',
    pair(vlan2),
    ifs='bond0.10',
    socket_ifname_any={n: ['bond0.20'] for n in ('vl1', 'vl2')},
    hcas=['mlx5_bond_0'],
    gid_index={'vl1': 5, 'vl2': 5})


def vrf(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000), link('vrf-rdma', kind='vrf')]
    h = []
    for k in range(2):
        links.append(link('ens%d' % k, '10.8%d.0.%d/24' % (k, i), speed=200000, mtu=9000, master='vrf-rdma'))
        h.append(roce('mlx5_%d' % k, 'ens%d' % k, links, '0000:%02x:00.0' % (0x20 + k), 200))
    n = node('vr%d' % i, links, h, ('eno1', '10.0.0.254'), gpus=2)
    for r in n['routes']:
        if r['dev'].startswith('ens'): r['table'] = '100'
    return n


job('vrf', 'rails in a VRF', pair(vrf), ifs='eno1', hcas=['mlx5_0', 'mlx5_1'])


def leaf(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    h = []
    rt = []
    for k in range(4):
        links.append(link('ens%d' % k, '10.%d.%d.2/31' % (128 + k, 2 * i), speed=400000, mtu=9000))
        h.append(roce('mlx5_%d' % k, 'ens%d' % k, links, '0000:%02x:00.0' % (0x20 + k), 400))
        rt.append(route('10.128.0.0/9', 'ens%d' % k, '10.%d.%d.3' % (128 + k, 2 * i)))
    return node('lf%d' % i, links, h, ('eno1', '10.0.0.254'), gpus=4, routes=rt)


job('leaf-31',
    '/31 per port, ECMP routes to the whole fabric', [leaf(i) for i in (1, 2, 3, 4)],
    ifs='eno1',
    hcas=['mlx5_%d' % k for k in range(4)],
    env={'NCCL_CROSS_NIC': None},
    hcas_ordered=True)


def onesub(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    h = []
    for k in range(4):
        links.append(link('ens%d' % k, '10.90.%d.%d/16' % (k, i), speed=400000, mtu=9000))
        h.append(roce('mlx5_%d' % k, 'ens%d' % k, links, '0000:%02x:00.0' % (0x20 + k), 400))
    return node('on%d' % i,
                links,
                h, ('eno1', '10.0.0.254'),
                gpus=4,
                sysctl={'net.ipv4.conf.all.arp_ignore': '1', 'net.ipv4.conf.all.arp_announce': '2'})


job('one-subnet-four-rails',
    'four rails in one /16',
    pair(onesub),
    ifs='eno1',
    hcas=['mlx5_%d' % k for k in range(4)],
    env={'NCCL_CROSS_NIC': None})
