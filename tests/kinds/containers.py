# SPDX-License-Identifier: Apache-2.0
"""Containers and what their hosts have."""
from build import bond, infiniband, job, link, loopback, near, node, pair, roce, route
from storage import rs2


def pod(i):
    links = [loopback(), link('eth0', '10.244.%d.7/32' % i, kind='veth', mtu=1450, link=None)]
    hcas = []
    for k in range(8):
        links.append(link('net%d' % (k + 1), '192.168.%d.%d/24' % (k + 1, i + 10), speed=400000, mtu=9000))
        hcas.append(
            roce('mlx5_%d' % (k + 6), 'net%d' % (k + 1), links, '0000:%02x:00.2' % (0x18 + 8 * k), 400, is_vf=True, start=4 + 2 * (i % 2)))
    return node('pod-%d' % i,
                links,
                hcas, ('eth0', '169.254.1.1'),
                in_container=True,
                dist=near(['mlx5_%d' % (k + 6) for k in range(8)]),
                routes=[route('169.254.1.1/32', 'eth0')])


job('k8s-calico-pod',
    'Calico pod: veth /32 with default route, eight SR-IOV rails, GID tables start higher',
    pair(pod),
    ifs='eth0',
    hcas=['mlx5_%d' % (k + 6) for k in range(8)],
    gid_index={'pod-1': 9, 'pod-2': 7},
    env={'NCCL_CROSS_NIC': '0'})


def flannel(i):
    return node('k%d' % i, [
        loopback(),
        link('ens3', '10.1.1.%d/24' % i, speed=10000),
        link('flannel.1', '10.244.%d.0/32' % i, kind='vxlan', link='ens3', mtu=1450),
        link('cni0', '10.244.%d.1/24' % i, kind='bridge', bridge={'ports': ['vetha']}, mtu=1450),
        link('vetha', kind='veth', master='cni0', mtu=1450),
        link('kube-ipvs0', '10.96.0.1/32', '10.96.0.10/32', kind='dummy', up=False),
        link('nodelocaldns', '169.254.20.10/32', kind='dummy')
    ],
                gw=('ens3', '10.1.1.254'),
                routes=[route('10.244.%d.0/24' % (3 - i), 'flannel.1', '10.244.%d.0' % (3 - i))])


job('flannel', 'k8s host with flannel, cni0, ipvs, nodelocaldns', pair(flannel), ifs='ens3', net='Socket')


def calico(i):
    return node('c%d' % i, [loopback(), link('tunl0', '10.42.%d.1/32' % i, kind='tun', mtu=1480)] +
                [link('cali%04x' % k, 'fe80::ecee:eeff:feee:eeee/64', kind='veth') for k in range(3)] + [
                    link('bond0.20', '10.3.0.%d/24' % i, kind='vlan', link='bond0', vlan={'id': 20}),
                    link('eno1', master='bond0', speed=25000),
                    link('eno2', master='bond0', speed=25000),
                    bond('bond0', ['eno1', 'eno2'], speed=50000)
                ],
                gw=('bond0.20', '10.3.0.254'),
                routes=[route('10.42.%d.0/26' % (3 - i), 'tunl0', '10.3.0.%d' % (3 - i))])


job('calico-host', 'host with IPIP tunnel and VLAN on a bond', pair(calico), ifs='bond0.20', net='Socket')


def ipoibtcp(i):
    return node('p%d' % i, [
        loopback(),
        link('eno1', '10.0.0.%d/24' % i, speed=1000),
        link('ib0', '10.10.0.%d/24' % i, kind='infiniband', mtu=2044, speed=200000)
    ], [infiniband('mlx5_0', '0000:01:00.0', 200, netdev='ib0')], ('eno1', '10.0.0.254'),
                dev_infiniband='absent',
                in_container=True)


job('ipoib-for-tcp',
    'devices absent, IPoIB is far faster than 1G',
    pair(ipoibtcp),
    verdict='fallback',
    net='Socket',
    ifs='ib0',
    warn_names=['infiniband', 'open'])


def opens(i):
    n = rs2(i)
    n['name'] = 'op%d' % i
    n['in_container'] = True
    for k, h in enumerate(n['hcas']):
        h['uverbs_opens'] = k in (0, 1)
    return n


job('opens-two', 'pod with two of ten devices', pair(opens), ifs='eno1', hcas=['mlx5_0', 'mlx5_1'])


def opensdiff(i):
    n = rs2(i)
    n['name'] = 'od%d' % i
    n['in_container'] = True
    for k, h in enumerate(n['hcas']):
        h['uverbs_opens'] = k in ((0, 1) if i == 1 else (0, 3))
    return n


job('opens-different',
    'pods with different devices',
    pair(opensdiff),
    ifs='eno1',
    hcas=['mlx5_0'],
    verdict='choose+warn',
    warn_names=['mlx5', 'rail'])


def macv(i):
    return node('mv%d' % i, [
        loopback(),
        link('eth0', '10.244.%d.9/24' % i, kind='veth', mtu=1450),
        link('net1', '192.168.77.%d/24' % i, kind='macvlan', mtu=9000, speed=100000)
    ],
                gw=('eth0', '10.244.%d.1' % i),
                in_container=True,
                gpus=1)


job('pod-macvlan-tcp', 'pod: CNI veth and a macvlan of the fast network, TCP', pair(macv), ifs='net1', net='Socket')


def swarm(i):
    return node(
        'sw%d' % i,
        [loopback(),
         link('eth0', '10.0.1.%d/24' % (10 + i), kind='veth', mtu=1450),
         link('eth1', '172.18.0.%d/16' % (3), kind='veth')],
        gw=('eth1', '172.18.0.1'),
        in_container=True,
        gpus=1)


job('swarm', 'docker swarm: overlay eth0 joins, gwbridge eth1 has the default route', pair(swarm), ifs='eth0', net='Socket')


def own_device(i, **more):
    """A pod to which the RDMA device of net1 was moved; sysfs shows those of the host too."""
    links = [loopback(), link('eth0', '10.244.%d.7/24' % i, kind='veth', mtu=1450), link('net1', '10.9.0.%d/24' % i, speed=200000, mtu=9000)]
    hcas = [roce('mlx5_2', 'net1', links, None, 200)]
    hcas += [roce('mlx5_2', 'net1', links, None, 200) | {'name': 'mlx5_%d' % k} for k in (3, 4)]
    for h in hcas[1:]:
        h['ports'][0] |= {'netdev': h['name'] + 'v', 'gids': None}
    return node('od%d' % i, links, hcas, ('eth0', '169.254.1.1'), gpus=1, in_container=True, **more)


job('rdma-namespaces-exclusive',
    'the devices of the other interfaces are in other namespaces', [own_device(i, rdma_netns_mode='exclusive') for i in (1, 2)],
    ifs='eth0',
    hcas=['mlx5_2'])
