# SPDX-License-Identifier: Apache-2.0
"""HCAs of the storage beside those for computing."""
from build import infiniband, job, link, loopback, near, node, pair, roce

M8 = ['mlx5_%d' % k for k in range(8)]


def ibstor_rocecompute(i, known=True, virtual=False):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = []
    for k in range(8):
        links.append(link('ens%dnp0' % (k + 1), '10.11.%d.%d/24' % (k, i), speed=400000, mtu=9000))
        hcas.append(roce('mlx5_%d' % k, 'ens%dnp0' % (k + 1), links, '0000:%02x:00.0' % (0x18 + 8 * k), 400))
    links.append(link('ib0', '10.50.0.%d/16' % i, kind='infiniband', speed=100000))
    hcas.append(infiniband('mlx5_8', '0000:c8:00.0', 100, netdev='ib0'))
    return node('s%d' % i, links, hcas, ('eno1', '10.0.0.254'), dist=near(M8, 8, ['mlx5_8']) if known else None)


job('ib-storage-roce-compute', '8 x 400G RoCE next to GPUs, one 100G IB port for Lustre', pair(ibstor_rocecompute), ifs='eno1', hcas=M8)
job('ib-storage-roce-compute-nodist', 'the same, no distances', [ibstor_rocecompute(i, False) for i in (1, 2)], ifs='eno1', hcas=M8)


def stor_faster(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = [infiniband('mlx5_%d' % k, '0000:%02x:00.0' % (0x18 + 8 * k), 200)
            for k in range(4)] + [infiniband('mlx5_4', '0000:a0:00.0', 400),
                                  infiniband('mlx5_5', '0000:a8:00.0', 400)]
    return node('f%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=4, dist=near(M8[:4], 4, ['mlx5_4', 'mlx5_5']))


job('storage-faster', 'storage NDR is faster than compute HDR, only distance tells', pair(stor_faster), ifs='eno1', hcas=M8[:4])


def stor_slower(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    return node('sl%d' % i,
                links, [infiniband('mlx5_%d' % k, '0000:%02x:00.0' % (0x18 + 8 * k), 400)
                        for k in range(4)] + [infiniband('mlx5_4', '0000:a0:00.0', 100)], ('eno1', '10.0.0.254'),
                gpus=4)


job('storage-slower-nodist', 'NDR and an EDR storage port, no distances', pair(stor_slower), ifs='eno1', hcas=M8[:4])


def stor_prefix(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = [infiniband('mlx5_%d' % k, None, 200, prefix='fec0:0000:0000:0001')
            for k in range(8)] + [infiniband('mlx5_%d' % k, None, 200, prefix='fec0:0000:0000:0002') for k in (8, 9)]
    for h in hcas:
        h['numa'] = None
    return node('sp%d' % i, links, hcas, ('eno1', '10.0.0.254'))


job('ib-two-subnets', '8 compute and 2 storage IB ports that only the subnet prefix tells apart', pair(stor_prefix), ifs='eno1', hcas=M8)


def rs(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    h = []
    for k in range(8):
        links.append(link('gpu%d' % k, '10.2%d.0.%d/24' % (k, i), speed=400000, mtu=9000))
        h.append(roce('mlx5_%d' % k, 'gpu%d' % k, links, '0000:%02x:00.0' % (0x20 + 8 * k), 400))
    for k in (8, 9):
        links.append(link('sto%d' % k, '10.30.%d.%d/24' % (k, i), speed=200000, mtu=9000))
        h.append(roce('mlx5_%d' % k, 'sto%d' % k, links, '0000:%02x:00.0' % (0x90 + 8 * k), 200))
    return node('rs%d' % i, links, h, ('eno1', '10.0.0.254'), gpus=8)


job('roce-storage-slower', 'storage RoCE at 200, no distances', pair(rs), ifs='eno1', hcas=['mlx5_%d' % k for k in range(8)])


def rs2(i):
    n = rs(i)
    n['name'] = 'rt%d' % i
    for h in n['hcas'][8:]:
        h['ports'][0]['rate_gbps'] = 400
    for l in n['interfaces'][-2:]:
        l['speed_mbps'] = 400000
    n['distances'] = near(['mlx5_%d' % k for k in range(8)], 8, ['mlx5_8', 'mlx5_9'])
    return n


job('roce-storage-equal', 'storage RoCE at the same rate: distance', pair(rs2), ifs='eno1', hcas=['mlx5_%d' % k for k in range(8)])


def rs3(i):
    n = rs2(i)
    n['name'] = 'ru%d' % i
    del n['distances']
    return n


job('roce-storage-equal-nodist',
    'the same without distances: 10 for 8 GPUs is unsure',
    pair(rs3),
    ifs='eno1',
    verdict='choose+warn',
    warn_names=['hcas-unclear', 'NCCL_IB_HCA'],
    unsure=True)
job('sample-of-64', 'one snapshot stands for 64 nodes', [rs2(1)], nnodes=64, ifs='eno1', hcas=['mlx5_%d' % k for k in range(8)])


def fast_storage(i):
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = [infiniband('mlx5_%d' % k, None, 100) for k in range(4)] + [infiniband('mlx5_4', None, 200)]
    return node('fs%d' % i, links, hcas, ('eno1', '10.0.0.254'), gpus=4)


job('fast-storage-nodist', 'one faster port, no distances: the four, unsure', pair(fast_storage), verdict='choose+warn', ifs='eno1', hcas=M8[:4],
    warn_names=['NCCL_IB_HCA'], unsure=True)
