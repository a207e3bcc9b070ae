# SPDX-License-Identifier: Apache-2.0
"""Link layers, subnets, RoCE v1, direct cables."""
from build import hca, infiniband, job, link, loopback, near, node, pair, roce, route
from storage import M8


def fe_ib(i):
    links = [loopback(), link('ib0', '10.10.0.%d/16' % i, kind='infiniband', mtu=2044, speed=200000)]
    return node('fi%d' % i,
                links, [infiniband('mlx5_0', '0000:17:00.0', 200, netdev='ib0')], ('ib0', '10.10.255.254'),
                gpus=4,
                dist={'mlx5_0': ['SYS', 'SYS', 'PHB', 'NODE']})


job('single-ib-default', 'one IB HCA that also carries the default route must stay', pair(fe_ib), ifs='ib0', hcas=['mlx5_0'])


def samenic(i):
    links = [loopback(), link('enp1s0', '10.9.9.%d/24' % i, speed=200000, mtu=9000)]
    return node('sn%d' % i, links, [roce('rocep1s0', 'enp1s0', links, '0000:01:00.0', 200)], ('enp1s0', '10.9.9.254'), gpus=1)


job('single-roce-default', 'one RoCE NIC for all', pair(samenic), ifs='enp1s0', hcas=['rocep1s0'])


def dual(i, same=True):
    links = [
        loopback(),
        link('eno1', '10.0.0.%d/24' % i, speed=1000),
        link('ens1f0np0', '10.1.0.%d/24' % i, speed=100000, mtu=9000),
        link('ens1f1np1', '10.2.0.%d/24' % i, speed=100000, mtu=9000)
    ]
    return node('du%d' % i,
                links, [
                    roce('mlx5_0', 'ens1f0np0', links, '0000:3b:00.0', 100, sys_image_guid='1'),
                    roce('mlx5_1', 'ens1f1np1', links, '0000:3b:00.1', 100, sys_image_guid='1')
                ], ('eno1', '10.0.0.254'),
                gpus=4)


job('dual-port-card',
    'one dual-port card, a subnet per port, no route between',
    pair(dual),
    ifs='eno1',
    hcas=['mlx5_0', 'mlx5_1'],
    env={'NCCL_CROSS_NIC': '0'})


def dual1(i):
    links = [
        loopback(),
        link('eno1', '10.0.0.%d/24' % i, speed=1000),
        link('ens1f0np0', '10.1.0.%d/24' % i, speed=100000, mtu=9000),
        link('ens1f1np1', 'fe80::1:%d/64' % i, speed=100000)
    ]
    return node('dv%d' % i,
                links, [roce('mlx5_0', 'ens1f0np0', links, '0000:3b:00.0', 100),
                        roce('mlx5_1', 'ens1f1np1', links, '0000:3b:00.1', 100)], ('eno1', '10.0.0.254'),
                gpus=4)


job('dual-port-one-ip', 'second port up without IPv4', pair(dual1), ifs='eno1', hcas=['mlx5_0'])


def mixed_layer(i):
    links = [loopback(), link('ens1np0', '10.1.0.%d/24' % i, speed=200000, mtu=9000), link('eno1', '10.0.0.%d/24' % i, speed=1000)]
    hcas = [roce('mlx5_0', 'ens1np0', links, '0000:3b:00.0', 200), infiniband('mlx5_1', '0000:5b:00.0', 200)]
    return node('ml%d' % i,
                links,
                hcas, ('eno1', '10.0.0.254'),
                gpus=4,
                dist={'mlx5_0': ['PXB', 'PXB', 'SYS', 'SYS'], 'mlx5_1': ['SYS', 'SYS', 'PXB', 'PXB']})


job('ib-roce-equal', 'one IB and one RoCE port of equal rate, both near GPUs', pair(mixed_layer), ifs='eno1', hcas=['mlx5_1'])


def layer_node(i):
    links = [loopback(), link('ens1np0', '10.1.0.%d/24' % i, speed=200000, mtu=9000), link('eno1', '10.0.0.%d/24' % i, speed=1000)]
    hcas = [roce('mlx5_0', 'ens1np0', links, '0000:3b:00.0', 200)]
    if i < 3: hcas.append(infiniband('mlx5_1', '0000:5b:00.0', 200))
    else: hcas.append(hca('mlx5_1', '0000:5b:00.0', 200, 'InfiniBand', state='INIT', phys='LinkUp', gids=None, lid=0, sm=0))
    return node('ln%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=4, dist={'mlx5_0': ['NODE'] * 4, 'mlx5_1': ['NODE'] * 4})


job('ib-down-on-one-roce-left',
    'IB on two of three nodes, RoCE on all: RoCE, and say so', [layer_node(i) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    hcas=['mlx5_0'],
    warn_names=['ln3'])


def numa(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000)]
    hcas = [infiniband('ibp%ds0' % k, '0000:%02x:00.0' % k, 400) for k in (24, 64, 79, 94, 154, 192, 206, 220)]
    return node('nm%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=8)


job('ibp-names',
    'names ibp24s0.. by rdma-core, no distances',
    pair(numa),
    ifs='eno1',
    hcas=['ibp%ds0' % k for k in (24, 64, 79, 94, 154, 192, 206, 220)])


def ib_node(i, n=4, init=None, pfx=None, sm=None):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = []
    for k in range(n):
        if init == k:
            hcas.append(
                hca('mlx5_%d' % k,
                    '0000:%02x:00.0' % (0x18 + 8 * k),
                    400,
                    'InfiniBand',
                    state='INIT',
                    phys='LinkUp',
                    lid=65535,
                    sm=0,
                    gids=[]))
        else:
            hcas.append(
                infiniband('mlx5_%d' % k, '0000:%02x:00.0' % (0x18 + 8 * k), 400, **({'prefix': pfx} if pfx else {}),
                           **({'sm': sm} if sm else {})))
    return node('i%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=4, dist=near(M8[:n], 4))


job('ib-init',
    'one port INIT on node 2 of 3', [ib_node(i, init=1 if i == 2 else None) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    hcas=['mlx5_0', 'mlx5_2', 'mlx5_3'],
    warn_names=['i2'])
job('ib-other-fabric',
    'nodes on two IB fabrics', [ib_node(i, pfx='fec0:0000:0000:000%d' % i) for i in (1, 2)],
    verdict='fallback',
    ifs='eno1',
    net='Socket',
    warn_names=['fabric', 'rail', 'subnet'])
job('ib-extra-node',
    'one node has 8, others 4', [ib_node(i, n=8 if i == 2 else 4) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    hcas=M8[:4],
    warn_names=['i2'])


def v1only(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000), link('ens1', '10.20.0.%d/24' % i, speed=40000, mtu=9000)]
    return node('v%d' % i,
                links, [roce('mlx4_0', 'ens1', links, '0000:05:00.0', 40, types=('v1', ), driver='mlx4_core')], ('eno1', '10.0.0.254'),
                gpus=2)


job('roce-v1',
    'RoCE v1 only, one subnet',
    pair(v1only),
    verdict='choose',
    ifs='eno1',
    hcas=['mlx4_0'],
    gid_index={'v1': 1, 'v2': 1},
    env={'NCCL_IB_ROCE_VERSION_NUM': '1'})


def v1routed(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000), link('ens1', '10.20.%d.1/24' % i, speed=40000, mtu=9000)]
    return node('v%d' % i,
                links, [roce('mlx4_0', 'ens1', links, '0000:05:00.0', 40, types=('v1', ), driver='mlx4_core')], ('eno1', '10.0.0.254'),
                gpus=2,
                routes=[route('10.20.0.0/16', 'ens1', '10.20.%d.254' % i)])


job('roce-v1-routed',
    'RoCE v1 across subnets cannot work',
    pair(v1routed),
    verdict='fallback',
    net='Socket',
    ifs='ens1',
    warn_names=['v1', 'gid'])


def mesh(i, n=3, ver=None, peers=None, **more):
    links = [loopback(), link('eno1', '192.168.0.%d/24' % i, speed=10000)]
    hcas = []
    c = 0
    for k in peers or range(1, n + 1):
        if k == i: continue
        a, b = min(i, k), max(i, k)
        links.append(link('enp%ds0' % (c + 1), '10.0.%d%d.%d/24' % (a, b, i), speed=100000, mtu=9000))
        hcas.append(roce('rocep%ds0' % (c + 1), 'enp%ds0' % (c + 1), links, '0000:%02x:00.0' % (c + 1), 100))
        c += 1
    kw = {'nccl_version': ver, **more} if ver else more
    return node('me%d' % i, links, hcas, ('eno1', '192.168.0.254'), gpus=1, **kw)


H2 = ['rocep1s0', 'rocep2s0']
job('mesh3',
    'three nodes joined by direct cables, NCCL unknown', [mesh(i) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    hcas=H2,
    env={'NCCL_IB_SUBNET_AWARE_ROUTING': '1'},
    warn_names=['2.30.7', 'mesh', 'cable'],
    unsure=True)
job('mesh3-new',
    'the same, NCCL 2.30.7', [mesh(i, 3, '2.30.7') for i in (1, 2, 3)],
    verdict='choose',
    ifs='eno1',
    hcas=H2,
    env={'NCCL_IB_SUBNET_AWARE_ROUTING': '1'})
job('mesh4-old',
    'four nodes, NCCL 2.21: cannot work over RDMA', [mesh(i, 4, '2.21.5') for i in (1, 2, 3, 4)],
    verdict='choose+warn',
    verdict_any=['choose+warn', 'fallback'],
    ifs='eno1',
    warn_names=['2.30.7', 'mesh', 'cable'])


def ring(n, **more):
    return [mesh(i, n, '2.30.7', sorted({(i - 2) % n + 1, i % n + 1}), **more) for i in range(1, n + 1)]


job('ring4',
    'four nodes in a ring of direct cables: nodes without a cable between them cannot meet', ring(4),
    verdict='fallback',
    net='Socket',
    ifs='eno1',
    warn_names=['me1 to me3'])
job('ring4-asked',
    'the same, but the user knows what it takes',
    ring(4, environment={'NCCL_IB_SUBNET_AWARE_ROUTING': '1', 'NCCL_ALGO': 'Ring'}, environment_origin='user'),
    verdict='choose',
    ifs='eno1',
    hcas=H2)
job('chain3',
    'three nodes and two cables', [mesh(1, ver='2.30.7', peers=[2]), mesh(2, ver='2.30.7', peers=[1, 3]), mesh(3, ver='2.30.7', peers=[2])],
    verdict='fallback',
    net='Socket',
    ifs='eno1',
    warn_names=['me1 to me3'])


def half_racks(i):
    net = '10.%d.0' % (20 + (i > 2))
    links = [loopback(), link('eno1', '192.168.0.%d/24' % i, speed=10000), link('ens1', '%s.%d/24' % (net, i), speed=200000)]
    return node('ra%d' % i, links, [roce('mlx5_0', 'ens1', links, rate=200)], ('eno1', '192.168.0.254'),
                routes=[route('10.0.0.0/8', 'ens1', net + '.254')])


job('two-racks',
    'two nodes in each of two racks, joined by routes: no cables', [half_racks(i) for i in (1, 2, 3, 4)],
    ifs='eno1',
    hcas=['mlx5_0'])


def no_manager(i):
    n = ib_node(i)
    for h in n['hcas']:
        h['ports'][0].update(state='INIT', lid=65535, sm_lid=0)
    return n


job('no-subnet-manager', 'cabled InfiniBand without a subnet manager on all nodes', pair(no_manager), verdict='fallback', net='Socket', ifs='eno1',
    warn_names=['INIT', 'subnet manager'])


def unplugged(i):
    n = ib_node(i)
    for h in n['hcas']:
        h['ports'][0].update(state='DOWN', phys_state='Polling', lid=65535, sm_lid=0)
    return n


job('no-cables', 'InfiniBand ports without cables', pair(unplugged), net='Socket', ifs='eno1', hcas=[])
