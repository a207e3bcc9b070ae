# SPDX-License-Identifier: Apache-2.0
"""Virtual machines and vendors' fabrics."""
from build import hca, infiniband, job, link, loopback, node, pair, roce, route


def ndv4(i):
    links = [
        loopback(),
        link('eth0', '10.8.0.%d/20' % i, driver='hv_netvsc', speed=50000),
        link('enP1s1', speed=50000, driver='mlx5_core', netvsc_vf=True, master='eth0')
    ] + [link('ib%d' % k, '172.16.%d.%d/16' % (k, i), kind='infiniband', speed=200000, mtu=2044) for k in range(8)]
    hcas = [infiniband('mlx5_ib%d' % k, '000%d:00:00.0' % k, 200, netdev='ib%d' % k, is_vf=True)
            for k in range(8)] + [hca('mlx5_an0', '0101:00:02.0', 50, netdev='enP1s1', gids=[], is_vf=True)]
    return node('nd%d' % i,
                links,
                hcas, ('eth0', '10.8.0.1'),
                host={'vendor': 'Microsoft', 'product': 'VM', 'arch': 'x86_64', 'virtual': True},
                environment={'NCCL_TOPO_FILE': '/opt/microsoft/ndv4-topo.xml', 'NCCL_IB_PCI_RELAXED_ORDERING': '1'},
                environment_origin='nccl.conf')


job('ndv4', 'Azure NDv4: eight HDR VFs, IPoIB in one /16, the VF of eth0', pair(ndv4), ifs='eth0', hcas=['mlx5_ib%d' % k for k in range(8)])


def a3u(i, env=None):
    links = [
        loopback(),
        link('enp0s19', '10.128.0.%d/32' % i, driver='gve', mtu=8244),
        link('enp192s20', '10.129.0.%d/32' % i, driver='gve', mtu=8244)
    ]
    hcas = []
    for k in range(8):
        links.append(link('gpu%drdma0' % k, '10.%d.0.%d/32' % (140 + k, i), speed=400000, mtu=8896, driver='mlx5_core'))
        hcas.append(roce('mlx5_%d' % k, 'gpu%drdma0' % k, links, '0000:%02x:00.0' % (0x90 + k), 400, is_vf=True))
    rt = [route('10.128.0.1/32', 'enp0s19'), route('10.129.0.0/16', 'enp192s20', '10.129.0.1')
          ] + [route('10.%d.0.0/16' % (140 + k), 'gpu%drdma0' % k, '10.%d.0.1' % (140 + k)) for k in range(8)]
    kw = {'environment': env, 'environment_origin': 'image', 'nccl_net_plugin': 'libnccl-net.so'} if env else {}
    return node('a3u%d' % i, links, hcas, ('enp0s19', '10.128.0.1'), host={'vendor': 'Google', 'virtual': True}, routes=rt, **kw)


job('gcp-a3-ultra',
    'A3 Ultra without gIB: eight RoCE VFs with /32 addresses',
    pair(a3u),
    ifs='enp0s19',
    hcas=['mlx5_%d' % k for k in range(8)])
job('gcp-a3-ultra-gib',
    'A3 Ultra, gIB plug-in chosen by the image',
    [a3u(i, {'NCCL_NET': 'gIB', 'NCCL_CROSS_NIC': '0', 'NCCL_NET_GDR_LEVEL': 'PIX'}) for i in (1, 2)],
    ifs='enp0s19',
    hcas=[],
    net='plugin')


def sling(i):
    links = [loopback(), link('nmn0', '10.100.32.%d/22' % i, speed=1000)
             ] + [link('hsn%d' % k, '10.249.%d.%d/16' % (k, i), speed=200000, mtu=9000, driver='cxi_ss1') for k in range(4)]
    return node('nid00%d' % i, links, [], ('nmn0', '10.100.35.254'), gpus=4, sysctl={'net.ipv4.conf.all.arp_ignore': '1'})


job('perlmutter',
    'Slingshot 11: hsn0-3 in one /16, management 1G with the default route',
    pair(sling),
    ifs='hsn0',
    hcas=[],
    net='plugin',
    socket_ifname_any={n: ['hsn1', 'hsn2', 'hsn3'] for n in ('nid001', 'nid002')})


def p4d(i):
    links = [
        loopback(),
        link('ens32', '10.0.1.%d/24' % (10 + i), driver='ena'),
        link('ens64', '10.0.1.%d/24' % (60 + i), driver='ena'),
        link('docker0', '172.17.0.1/16', kind='bridge', bridge={'ports': []}, up=False)
    ]
    hcas = [
        hca('rdmap%ds27' % k,
            '0000:%02x:1b.0' % k,
            100,
            'Unspecified',
            driver='efa',
            node_type='7: unspecified',
            transport='unspecified (4)',
            gids=[{'index': 0, 'gid': 'fe80:0000:0000:0000:0000:0000:0000:000%d' % i, 'type': 'IB/RoCE v1', 'ndev': None}])
        for k in (16, 32, 144, 160)
    ]
    return node('ip-10-0-1-1%d' % i,
                links,
                hcas, [('ens32', '10.0.1.1')],
                host={'vendor': 'Amazon EC2', 'product': 'p4d.24xlarge', 'virtual': True},
                routes=[route('10.0.1.0/24', 'ens32')])


job('p4d', 'EFA, two ENA in one subnet', pair(p4d), ifs='ens32', hcas=[], net='plugin')


def erdma(i):
    links = [loopback(), link('eth0', '172.20.0.%d/20' % i, driver='virtio_net'), link('eth1', '172.20.16.%d/20' % i, driver='virtio_net')]
    hcas = [
        roce('erdma_0', 'eth0', links, '0000:00:05.0', 100, types=('v2', ), ll=False, driver='erdma', node_type='4: RNIC'),
        roce('erdma_1', 'eth1', links, '0000:00:06.0', 100, types=('v2', ), ll=False, driver='erdma', node_type='4: RNIC')
    ]
    return node('ecs%d' % i, links, hcas, ('eth0', '172.20.15.253'), host={'vendor': 'Alibaba Cloud', 'virtual': True})


job('erdma', 'Two eRDMA devices, one below the default route', pair(erdma), ifs='eth0')


def irdma(i):
    links = [loopback(), link('ens1f0', '10.6.0.%d/24' % i, speed=100000, mtu=9000), link('eno1', '10.7.0.%d/24' % i, speed=1000)]
    return node('ir%d' % i, links, [
        hca('irdma0',
            '0000:31:00.0',
            100,
            netdev='ens1f0',
            node_type='4: RNIC',
            driver='irdma',
            gids=[{'index': 0, 'gid': '4c4c:4c4c:4c4c:0000:0000:0000:0000:0000', 'type': 'IB/RoCE v1', 'ndev': None}])
    ], ('eno1', '10.7.0.254'))


job('irdma-iwarp', 'E810 in iWARP mode', pair(irdma), verdict='choose', ifs='ens1f0', hcas=[], net='Socket')


def vfvm(i):
    links = [loopback(), link('eth0', '10.0.0.%d/24' % i, driver='virtio_net')]
    hcas = []
    for k in range(4):
        links.append(link('eth%d' % (k + 1), '10.224.%d.%d/24' % (k, i), speed=100000, mtu=4220))
        hcas.append(roce('mlx5_%d' % k, 'eth%d' % (k + 1), links, '0000:00:%02x.0' % (6 + k), 100, is_vf=True))
    return node('vm%d' % i, links, hcas, ('eth0', '10.0.0.254'), gpus=4, host={'vendor': 'QEMU', 'virtual': True})


job('vf-vm',
    'VM with four RoCE VFs, virtio front end',
    pair(vfvm),
    ifs='eth0',
    hcas=['mlx5_%d' % k for k in range(4)],
    env={'NCCL_CROSS_NIC': '0'})


def azsmall(i):
    links = [
        loopback(),
        link('eth0', '10.8.0.%d/20' % i, driver='hv_netvsc', speed=50000),
        link('enP1s1', speed=50000, driver='mlx5_core', netvsc_vf=True, master='eth0'),
        link('ib0', '172.16.1.%d/16' % i, kind='infiniband', mtu=2044)
    ]
    return node('az%d' % i,
                links, [
                    hca('mlx5_0', '0101:00:02.0', 50, netdev='enP1s1', gids=[], is_vf=True),
                    infiniband('mlx5_ib0', '0001:00:00.0', 100, is_vf=True, netdev='ib0')
                ], ('eth0', '10.8.0.1'),
                gpus=8,
                host={'vendor': 'Microsoft', 'virtual': True})


job('azure-one-ib', 'one IB VF for eight GPUs', pair(azsmall), ifs='eth0', hcas=['mlx5_ib0'])


def hostres(i):
    return node('hr%d' % i, [loopback(), link('eth0', '10.0.0.%d/24' % i, speed=10000)],
                gw=('eth0', '10.0.0.254'),
                hostname_resolves_to='127.0.1.1')


job('debian-hosts',
    'host name resolves to 127.0.1.1',
    pair(hostres),
    ifs='eth0',
    net='Socket',
    master_addr='10.0.0.1',
    gloo_ifname={'hr1': 'eth0', 'hr2': 'eth0'})

without = p4d(2)
without['hcas'] = []
job('efa-on-one-node', 'EFA on one node only', [p4d(1), without], verdict='fallback', net='Socket', ifs='ens32', env={'NCCL_NET': 'Socket'},
    warn_names=['ip-10-0-1-12'])

job('efa-no-plugin',
    'NCCL_NET_PLUGIN=none switches off what EFA needs: TCP is meant',
    [p4d(i) | {'environment': {'NCCL_NET_PLUGIN': 'none'}, 'environment_origin': 'user'} for i in (1, 2)],
    net='Socket',
    ifs='ens32')
job('efa-no-plugin-on-one',
    'the same on one node alone', [p4d(1) | {'environment': {'NCCL_NET_PLUGIN': 'none'}, 'environment_origin': 'user'}, p4d(2)],
    verdict='choose+warn',
    net='Socket',
    ifs='ens32',
    warn_names=['NCCL_NET_PLUGIN'])
