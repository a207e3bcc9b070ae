# SPDX-License-Identifier: Apache-2.0
"""IPv6, second addresses, BGP."""
from build import job, link, loopback, node, pair, roce, route


def v6(i):
    return node('s%d' % i,
                [loopback(),
                 link('eth0', '2001:db8:1::%d/64' % i, 'fe80::%d/64' % i, speed=100000),
                 link('eth1', '169.254.8.%d/16' % i)],
                gw=('eth0', 'fe80::ff'))


job('v6-only',
    'IPv6 only, a second port with 169.254',
    pair(v6),
    ifs='eth0',
    net='Socket',
    env={'NCCL_SOCKET_FAMILY': 'AF_INET6'},
    env_also={'NCCL_SOCKET_FAMILY': [None]})


def v46(i):
    return node(
        's%d' % i,
        [loopback(),
         link('eth0', *(['10.0.0.%d/24' % i] if i == 1 else []), '2001:db8:1::%d/64' % i, 'fe80::%d/64' % i, speed=100000)],
        gw=[('eth0', 'fe80::ff')])


job('v6-mixed', 'node1 has both families, node2 IPv6 only', pair(v46), ifs='eth0', net='Socket', env={'NCCL_SOCKET_FAMILY': 'AF_INET6'})


def v6rails(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = []
    for k in range(4):
        links.append(link('r%d' % k, 'fd00:%d::%d/64' % (k + 1, i), speed=400000, mtu=9000))
        hcas.append(roce('mlx5_%d' % k, 'r%d' % k, links, None, 400))
    return node('s%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=4)


job('v6-rails-v4-mgmt',
    'IPv6-only rails, IPv4 management',
    pair(v6rails),
    ifs='eno1',
    hcas=['mlx5_%d' % k for k in range(4)],
    env={'NCCL_IB_ADDR_FAMILY': 'AF_INET6', 'NCCL_CROSS_NIC': '0', 'NCCL_SOCKET_FAMILY': None})


def announced(i):
    n = v6rails(i)
    n['routes'].append(route('::/0', 'r0', 'fe80::1'))
    return n


job('v6-default-on-a-rail',
    'a router announces itself on the first rail, IPv4 leaves by eno1',
    pair(announced),
    ifs='eno1',
    hcas=['mlx5_%d' % k for k in range(4)])


def both_rails(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = []
    for k in range(2):
        links.append(link('r%d' % k, '10.%d.0.%d/24' % (k + 1, i), 'fd00:%d::%d/64' % (k + 1, i), speed=400000, mtu=9000))
        hcas.append(roce('mlx5_%d' % k, 'r%d' % k, links, None, 400))
    return node('s%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=2,
                environment={'NCCL_IB_ADDR_FAMILY': 'AF_INET6'}, environment_origin='user')


job('rails-of-both-families',
    'the rails have both families, and the user asks for IPv6',
    pair(both_rails),
    ifs='eno1',
    hcas=['mlx5_0', 'mlx5_1'],
    gid_index={'s1': 5, 's2': 5},
    env={'NCCL_IB_ADDR_FAMILY': None})


def vip(i):
    return node('v%d' % i, [
        loopback(),
        link('eth0', '10.0.0.%d/24' % i, *(['10.0.0.100/32'] if i == 1 else []), speed=10000),
        link('eth1', '10.0.1.%d/24' % i, speed=1000)
    ],
                gw=('eth0', '10.0.0.254'))


job('vip', 'keepalived address on one node', pair(vip), ifs='eth0', net='Socket', master_addr='10.0.0.1')


def bgp(i):
    return node('b%d' % i, [
        loopback(),
        link('dummy0', '10.255.0.%d/32' % i, kind='dummy'),
        link('ens1', 'fe80::1:%d/64' % i, speed=100000),
        link('ens2', 'fe80::2:%d/64' % i, speed=100000)
    ],
                routes=[
                    dict(route('10.255.0.%d/32' % (3 - i), 'ens1'),
                         nexthops=[{'via': 'fe80::9', 'dev': 'ens1'}, {'via': 'fe80::8', 'dev': 'ens2'}])
                ])


job('bgp-dummy', 'BGP to the host, the address on dummy0', pair(bgp), ifs='dummy0', net='Socket')
