# SPDX-License-Identifier: Apache-2.0
"""Machines of known products."""
from build import bond, hca, infiniband, job, link, loopback, near, node, pair, roce, route


def b200(i):
    links = [
        loopback(),
        link('eno1', '10.1.0.%d/16' % i, speed=1000),
        link('ens1f0', speed=100000, mtu=9000, master='bond0'),
        link('ens2f0', speed=100000, mtu=9000, master='bond0'),
        bond('bond0', ['ens1f0', 'ens2f0'], '10.20.0.%d/16' % i, speed=200000)
    ]
    hcas = [infiniband('mlx5_%d' % k, '0000:%02x:00.0' % (0x18 + 8 * k)) for k in (0, 1, 2, 3, 6, 7, 8, 9)]
    mg = [infiniband('mlx5_%d' % k, '0000:%02x:00.0' % (0x18 + 8 * k), vpd={'SMDL': 'SW_MNG'}) for k in (4, 5, 10, 11)]
    lag = [roce('mlx5_bond_0', 'bond0', links, '0000:a0:00.0', rate=100, lag={'bond': 'bond0', 'slaves': ['0000:a0:00.0', '0000:b0:00.0']})]
    st = [infiniband('mlx5_14', '0000:a0:00.1'), infiniband('mlx5_15', '0000:b0:00.1')]
    return node('b200-%d' % i,
                links,
                hcas + mg + lag + st, ('bond0', '10.20.255.254'),
                dist=near(['mlx5_%d' % k for k in (0, 1, 2, 3, 6, 7, 8, 9)], 8,
                          ['mlx5_%d' % k for k in (4, 5, 10, 11, 14, 15)] + ['mlx5_bond_0']))


job('b200',
    'DGX B200: SW_MNG NVLink managers, storage IB on BlueField',
    pair(b200),
    ifs='bond0',
    hcas=['mlx5_%d' % k for k in (0, 1, 2, 3, 6, 7, 8, 9)],
    socket_ifname_any={'b200-1': ['eno1'], 'b200-2': ['eno1']})


def b300(i):
    links = [loopback(), link('enp5s0f0', '10.1.0.%d/24' % i, speed=25000)]
    hcas = [infiniband('mlx5_%d' % k, '0000:%02x:00.0' % (0x18 + 8 * k), rate=None) for k in range(8)]
    st = [infiniband('mlx5_8', '0000:a0:00.0', rate=400), infiniband('mlx5_9', '0000:b0:00.0', rate=400)]
    return node('b300-%d' % i,
                links,
                hcas + st, ('enp5s0f0', '10.1.0.254'),
                dist=near(['mlx5_%d' % k for k in range(8)], 8, ['mlx5_8', 'mlx5_9']))


job('b300', 'XDR ports of unknown rate, storage of known rate', pair(b300), ifs='enp5s0f0', hcas=['mlx5_%d' % k for k in range(8)])


def gb300(i):
    links = [
        loopback(),
        link('enP5p9s0', '10.9.0.%d/24' % i, speed=1000, driver='igb'),
        link('enP6p3s0f0np0', master='bond0', speed=200000),
        link('enP22p3s0f0np0', master='bond0', speed=200000),
        bond('bond0', ['enP6p3s0f0np0', 'enP22p3s0f0np0'], '10.40.0.%d/22' % i, speed=400000)
    ]
    hcas = [infiniband('mlx5_%d' % k, '000%d:03:00.0' % k, rate=800) for k in (0, 1, 4, 5)]
    bf = [
        roce('mlx5_2', 'enP6p3s0f0np0', links, '0006:03:00.0', 200, ndevs=['bond0']),
        hca('mlx5_3', '0006:03:00.1', 200, 'Ethernet', netdev='enP6p3s0f1np1', gids=[])
    ]
    d = {h['name']: ['NODE', 'NODE', 'SYS', 'SYS'] if k < 3 else ['SYS', 'SYS', 'NODE', 'NODE'] for k, h in enumerate(hcas + bf)}
    return node('gb%d' % i, links, hcas + bf, ('bond0', '10.40.3.254'), gpus=4, dist=d)


job('gb300',
    'GB300: all NODE/SYS, CX-8 IB, BlueField front end',
    pair(gb300),
    ifs='bond0',
    hcas=['mlx5_0', 'mlx5_1', 'mlx5_4', 'mlx5_5'],
    socket_ifname_any={'gb1': ['enP5p9s0'], 'gb2': ['enP5p9s0']})


def a100roce(i):
    links = [
        loopback(),
        link('enp226s0', '10.0.0.%d/24' % i, speed=1000),
        link('ens6f0', '10.30.0.%d/24' % i, speed=200000, mtu=9000),
        link('ens6f1', '10.31.0.%d/24' % i, speed=200000, mtu=9000)
    ]
    hcas = []
    rt = []
    for k in range(8):
        links.append(link('rail%d' % k, '10.%d.0.%d/24' % (100 + k, i), speed=200000, mtu=9000))
        hcas.append(roce('mlx5_%d' % k, 'rail%d' % k, links, '0000:%02x:00.0' % (0x10 + k), 200))
        rt.append(route('10.96.0.0/11', 'rail%d' % k, '10.%d.0.254' % (100 + k), table=str(100 + k)))
    st = [roce('mlx5_8', 'ens6f0', links, '0000:e0:00.0', 200), roce('mlx5_9', 'ens6f1', links, '0000:e0:00.1', 200)]
    return node('r%d' % i,
                links,
                hcas + st, ('enp226s0', '10.0.0.254'),
                dist=near(['mlx5_%d' % k for k in range(8)], 8, ['mlx5_8', 'mlx5_9']),
                routes=rt)


job('a100-roce-routed',
    '8 routed RoCE rails with source tables, 2 storage ports of the same rate',
    pair(a100roce),
    ifs='enp226s0',
    hcas=['mlx5_%d' % k for k in range(8)],
    env={'NCCL_CROSS_NIC': None})


def l40s(i):
    links = [
        loopback(),
        link('eno1np0', '172.16.4.%d/24' % i, speed=25000),
        link('eno2np1', up=False),
        link('ens3np0', '10.77.1.%d/24' % i, speed=200000, mtu=9000),
        link('ens5np0', '10.77.2.%d/24' % i, speed=200000, mtu=9000)
    ]
    hcas = [
        roce('mlx5_0', 'eno1np0', links, '0000:04:00.0', 25),
        hca('mlx5_1', '0000:04:00.1', 25, state='DOWN', netdev='eno2np1', gids=[]),
        roce('mlx5_2', 'ens3np0', links, '0000:41:00.0', 200),
        roce('mlx5_3', 'ens5np0', links, '0000:c1:00.0', 200)
    ]
    d = {
        'mlx5_0': ['NODE'] * 2 + ['SYS'] * 2, 'mlx5_1': ['NODE'] * 2 + ['SYS'] * 2, 'mlx5_2': ['NODE', 'NODE', 'SYS', 'SYS'], 'mlx5_3':
        ['SYS', 'SYS', 'NODE', 'PHB']
    }
    return node('l40s-%d' % i, links, hcas, ('eno1np0', '172.16.4.254'), gpus=4, dist=d)


job('l40s',
    'L40S: nothing on a switch, 2 x 200G RoCE, unrouted rails',
    pair(l40s),
    ifs='eno1np0',
    hcas=['mlx5_2', 'mlx5_3'],
    env={'NCCL_CROSS_NIC': '0'})


def thor(i):
    links = [
        loopback(),
        link('eno1', speed=25000, master='bond0'),
        link('eno2', speed=25000, master='bond0'),
        bond('bond0', ['eno1', 'eno2'], '10.5.0.%d/24' % i, speed=50000, mtu=1500)
    ]
    hcas = [roce('bnxt_re_bond0', 'bond0', links, '0000:63:00.0', 25, driver='bnxt_en')]
    for k in range(8):
        links.append(link('gpu%d_eth' % k, '10.%d.0.%d/24' % (210 + k, i), speed=400000, mtu=9000))
        hcas.append(roce('bnxt_re%d' % k, 'gpu%d_eth' % k, links, '0000:%02x:00.0' % (0x06 + 16 * k), 400, driver='bnxt_en'))
    return node('mi%d' % i, links, hcas, ('bond0', '10.5.0.254'), dist=near(['bnxt_re%d' % k for k in range(8)], 8, ['bnxt_re_bond0']))


job('mi300x-bnxt',
    'Thor2 rails, front-end LAG of the same driver',
    pair(thor),
    ifs='bond0',
    hcas=['bnxt_re%d' % k for k in range(8)],
    env={'NCCL_CROSS_NIC': '0'})


def ionic(i):
    links = [loopback(), link('ens9np0', '192.168.50.%d/24' % i, speed=100000)]
    hcas = []
    rt = []
    for k in range(8):
        links.append(link('benic%dp1' % (k + 1), '10.4.%d.%d/31' % (k, 2 * i + 1), speed=400000, mtu=9000, driver='ionic'))
        hcas.append(roce('ionic_%d' % k, 'benic%dp1' % (k + 1), links, '0000:%02x:00.0' % (0x06 + 16 * k), 400, driver='ionic_rdma'))
        rt.append(route('default', 'benic%dp1' % (k + 1), '10.4.%d.%d' % (k, 2 * i), table=str(101 + k)))
        rt.append(route('10.4.%d.0/24' % k, 'benic%dp1' % (k + 1), '10.4.%d.%d' % (k, 2 * i)))
    return node('am%d' % i, links, hcas, ('ens9np0', '192.168.50.254'), dist=near(['ionic_%d' % k for k in range(8)]), routes=rt)


job('ionic',
    'AMD Pollara: /31 per NIC, routed, source tables',
    pair(ionic),
    ifs='ens9np0',
    hcas=['ionic_%d' % k for k in range(8)],
    env={'NCCL_CROSS_NIC': None})


def cx3(i):
    links = [
        loopback(),
        link('eno1', '10.6.0.%d/24' % i, speed=1000),
        link('ib0', '10.66.0.%d/24' % i, kind='infiniband', mtu=65520, speed=56000)
    ]
    h = infiniband('mlx4_0', '0000:03:00.0', 56, netdev='ib0', driver='mlx4_core')
    h['ports'].append({
        'port': 2, 'state': 'DOWN', 'phys_state': 'Polling', 'link_layer': 'Ethernet', 'rate_gbps': 10, 'active_mtu': None, 'lid': None,
        'sm_lid': None, 'netdev': 'enp3s0d1', 'gids': []
    })
    return node('old%d' % i, links, [h], ('eno1', '10.6.0.254'), gpus=2)


job('cx3-two-ports',
    'One device, port 1 IB, port 2 Ethernet down',
    pair(cx3),
    ifs='eno1',
    hcas=['mlx4_0'],
    socket_ifname_any={'old1': ['ib0'], 'old2': ['ib0']})


def ibonly(i):
    links = [
        loopback(),
        link('eno1', up=False),
        link('ib0', '10.10.0.%d/16' % i, kind='infiniband', mtu=2044),
        link('ib1', kind='infiniband', up=False)
    ]
    return node(
        'ibn%d' % i,
        links,
        [infiniband('mlx5_0', '0000:17:00.0', 100, netdev='ib0'),
         infiniband('mlx5_1', '0000:65:00.0', 100, state='DOWN', netdev='ib1')], ('ib0', '10.10.255.254'),
        gpus=2)


job('ipoib-only', 'Only IPoIB joins the nodes and carries the default route', pair(ibonly), ifs='ib0', hcas=['mlx5_0'])


def gh(i):
    links = [
        loopback(),
        link('usb0', '169.254.3.1/24', driver='cdc_ether', bmc_usb=True),
        link('enP2s2f0np0', '10.3.0.%d/24' % i, speed=100000),
        link('enP2s2f1np1', '10.3.1.%d/24' % i, speed=100000, mtu=9000)
    ]
    return node('gh%d' % i,
                links, [
                    roce('mlx5_0', 'enP2s2f0np0', links, '0002:01:00.0', 100),
                    roce('mlx5_1', 'enP2s2f1np1', links, '0002:01:00.1', 100),
                    infiniband('mlx5_2', '0003:01:00.0', 400)
                ], ('enP2s2f0np0', '10.3.0.254'),
                gpus=1,
                dist={'mlx5_0': ['NODE'], 'mlx5_1': ['NODE'], 'mlx5_2': ['NODE']})


job('gh200-ib',
    'GH200: IB NDR beside dual-port RoCE',
    pair(gh),
    ifs='enP2s2f0np0',
    hcas=['mlx5_2'],
    socket_ifname_any={'gh1': ['enP2s2f1np1'], 'gh2': ['enP2s2f1np1']})


def two4eight(i):
    links = [
        loopback(),
        link('eno1', '10.0.0.%d/24' % i, speed=10000),
        link('ib0', '10.10.1.%d/16' % i, kind='infiniband', speed=200000, mtu=2044),
        link('ib1', '10.10.2.%d/16' % i, kind='infiniband', speed=200000, mtu=2044)
    ]
    return node('te%d' % i,
                links, [
                    infiniband('mlx5_0', '0000:21:00.0', 200, netdev='ib0'),
                    infiniband('mlx5_3', '0000:a1:00.0', 200, netdev='ib1'),
                    hca('mlx5_1', '0000:62:00.0', 25, netdev='eno1', gids=[]),
                    hca('mlx5_2', '0000:62:00.1', 25, state='DOWN', netdev='eno2', gids=[])
                ], ('eno1', '10.0.0.254'),
                gpus=8,
                dist={
                    'mlx5_0': ['PXB'] * 4 + ['SYS'] * 4, 'mlx5_3': ['SYS'] * 4 + ['PXB'] * 4, 'mlx5_1': ['NODE'] * 4 + ['SYS'] * 4,
                    'mlx5_2': ['NODE'] * 4 + ['SYS'] * 4
                })


job('two-hcas-eight-gpus', 'two IB HCAs for eight GPUs, IPoIB beside', pair(two4eight), ifs='eno1', hcas=['mlx5_0', 'mlx5_3'])


def oneshared(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    return node(
        'os%d' % i,
        links,
        [infiniband('mlx5_0', '0000:21:00.0', 200), infiniband('mlx5_1', '0000:41:00.0', 200)], ('eno1', '10.0.0.254'),
        gpus=4,
        dist={'mlx5_0': ['PXB', 'PXB', 'NODE', 'NODE'], 'mlx5_1': ['NODE', 'NODE', 'NODE', 'NODE']})


job('one-near-one-far',
    'two equal IB HCAs, one behind the GPUs switch, one not (storage?)',
    pair(oneshared),
    ifs='eno1',
    hcas=['mlx5_0'],
    hcas_also={n: ['mlx5_0', 'mlx5_1'] for n in ('os1', 'os2')})


def cpu(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    return node('cp%d' % i, links, [infiniband('mlx5_0', '0000:21:00.0', 200)], ('eno1', '10.0.0.254'), gpus=0)


job('no-gpus', 'CPU nodes with IB', pair(cpu), ifs='eno1', hcas=['mlx5_0'])


def opa(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=1000), link('ib0', '10.7.0.%d/24' % i, kind='infiniband', speed=100000)]
    return node('op%d' % i, links, [infiniband('hfi1_0', '0000:18:00.0', 100, netdev='ib0', driver='hfi1')], ('eno1', '10.0.0.254'), gpus=4)


job('omnipath', 'Omni-Path is an IB link layer', pair(opa), ifs='eno1', hcas=['hfi1_0'], socket_ifname_any={'op1': ['ib0'], 'op2': ['ib0']})
