# SPDX-License-Identifier: Apache-2.0
"""Other settings, versions and firmware."""
from build import job
from lists import ALL, WARNS, everywhere, user_node

job('set-gid3', 'GID index 3 is right', everywhere({'NCCL_IB_GID_INDEX': '3'}), ifs='eth0', hcas=ALL)
job('set-gid0', 'GID index 0 is link-local', everywhere({'NCCL_IB_GID_INDEX': '0'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['NCCL_IB_GID_INDEX'])
x = everywhere({'NCCL_IB_GID_INDEX': '3'})
for h in x[1]['hcas']:
    for g in h['ports'][0]['gids']:
        g['index'] += 2
job('set-gid3-one-wrong', 'index 3 is right on node 1, wrong on node 2', x, **WARNS, ifs='eth0', hcas=ALL, warn_names=['u2'])
job('set-gidtext', 'GID index is no number', everywhere({'NCCL_IB_GID_INDEX': 'three'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['NCCL_IB_GID_INDEX'])
job('set-disable-one',
    'NCCL_IB_DISABLE=1 on node 2 only', [user_node(1), user_node(2, {'NCCL_IB_DISABLE': '1'})],
    **WARNS,
    verdict_any=['choose+warn', 'fallback', 'choose'],
    net='Socket',
    warn_names=['NCCL_IB_DISABLE'])
job('set-disable', 'NCCL_IB_DISABLE=1 everywhere', everywhere({'NCCL_IB_DISABLE': '1'}), net='Socket', verdict='choose')
job('set-disable0', 'NCCL_IB_DISABLE=0', everywhere({'NCCL_IB_DISABLE': '0'}), ifs='eth0', hcas=ALL)
job('set-net-ib-tcp',
    'NCCL_NET=IB without HCAs',
    everywhere({'NCCL_NET': 'IB'}, hc=False),
    **WARNS,
    verdict_any=['choose+warn', 'fallback', 'refuse'],
    net='Socket',
    ifs='eth0',
    warn_names=['NCCL_NET'])
job('set-net-libfabric',
    'NCCL_NET of an EFA image, InfiniBand or RoCE here',
    everywhere({'NCCL_NET': 'AWS Libfabric'}),
    **WARNS,
    ifs='eth0',
    warn_names=['NCCL_NET'])
job('set-gid-family', 'IPv6 GIDs are asked for, and there are none', everywhere({'NCCL_IB_ADDR_FAMILY': 'AF_INET6'}), **WARNS, ifs='eth0', hcas=ALL,
    env={'NCCL_IB_ADDR_FAMILY': 'AF_INET'}, warn_names=['NCCL_IB_ADDR_FAMILY'])
job('set-gid-family4', 'IPv4 GIDs are asked for', everywhere({'NCCL_IB_ADDR_FAMILY': 'AF_INET'}), ifs='eth0', hcas=ALL,
    env={'NCCL_IB_ADDR_FAMILY': None})
job('set-gid-v1', 'RoCE v1 is asked for', everywhere({'NCCL_IB_ROCE_VERSION_NUM': '1'}), **WARNS, ifs='eth0', hcas=ALL,
    warn_names=['NCCL_IB_ROCE_VERSION_NUM'])
job('set-gid-v2', 'RoCE v2 is asked for', everywhere({'NCCL_IB_ROCE_VERSION_NUM': '2'}), ifs='eth0', hcas=ALL)
job('set-family',
    'NCCL_SOCKET_FAMILY=ipv4 does nothing',
    everywhere({'NCCL_SOCKET_FAMILY': 'ipv4'}),
    **WARNS,
    ifs='eth0',
    hcas=ALL,
    warn_names=['NCCL_SOCKET_FAMILY'])
job('set-family6',
    'NCCL_SOCKET_FAMILY=AF_INET6 without any IPv6',
    everywhere({'NCCL_SOCKET_FAMILY': 'AF_INET6'}),
    **WARNS,
    ifs='eth0',
    hcas=ALL,
    warn_names=['NCCL_SOCKET_FAMILY'])
job('set-comm-id', 'NCCL_COMM_ID inherited', everywhere({'NCCL_COMM_ID': '192.168.7.7:23456'}), **WARNS, hcas=ALL, ifs='eth0', warn_names=['NCCL_COMM_ID'])
job('set-retry', 'NCCL_IB_RETRY_CNT=15', everywhere({'NCCL_IB_RETRY_CNT': '15'}), **WARNS, hcas=ALL, ifs='eth0', warn_names=['NCCL_IB_RETRY_CNT'])
job('set-gloo-eq',
    'GLOO_SOCKET_IFNAME==eth0',
    everywhere({'GLOO_SOCKET_IFNAME': '=eth0'}),
    **WARNS,
    hcas=ALL,
    ifs='eth0',
    warn_names=['GLOO_SOCKET_IFNAME'])
job('set-gloo-lo',
    'GLOO_SOCKET_IFNAME=lo',
    everywhere({'GLOO_SOCKET_IFNAME': 'lo'}),
    **WARNS,
    hcas=ALL,
    ifs='eth0',
    warn_names=['GLOO_SOCKET_IFNAME'],
    gloo_ifname={'u1': 'eth0', 'u2': 'eth0'})
job('set-master-local',
    'MASTER_ADDR=localhost on two nodes',
    everywhere({'MASTER_ADDR': 'localhost', 'MASTER_PORT': '29500'}),
    **WARNS,
    hcas=ALL,
    ifs='eth0',
    warn_names=['MASTER_ADDR'])
job('set-master-127',
    'MASTER_ADDR=127.0.0.1',
    everywhere({'MASTER_ADDR': '127.0.0.1'}),
    **WARNS,
    hcas=ALL,
    ifs='eth0',
    warn_names=['MASTER_ADDR'])
job('set-master-docker',
    'MASTER_ADDR=172.17.0.1',
    everywhere({'MASTER_ADDR': '172.17.0.1'}),
    **WARNS,
    hcas=ALL,
    ifs='eth0',
    warn_names=['MASTER_ADDR'])
job('set-master-ok',
    'MASTER_ADDR on eth1',
    everywhere({'MASTER_ADDR': '10.1.0.1'}),
    hcas=ALL,
    ifs='eth1',
    master_addr='10.1.0.1',
    socket_ifname_any={'u1': ['eth0'], 'u2': ['eth0']})
job('set-master-node2',
    'MASTER_ADDR is node 2',
    everywhere({'MASTER_ADDR': '10.0.0.2'}),
    **WARNS,
    verdict_any=['choose', 'choose+warn'],
    hcas=ALL,
    ifs='eth0',
    warn_names=['MASTER_ADDR'])
x = everywhere({'MASTER_PORT': '29500'})
x[0]['ports_in_use'] = [29500]
job('set-port-busy', 'MASTER_PORT=29500 is in use', x, **WARNS, hcas=ALL, ifs='eth0', warn_names=['MASTER_PORT', '29500'])
job('set-port-low', 'MASTER_PORT=80', everywhere({'MASTER_PORT': '80'}), **WARNS, hcas=ALL, ifs='eth0', warn_names=['MASTER_PORT'])
x = everywhere({'MASTER_PORT': '23456'})
x[0]['firewall'] = {'input': 'drop', 'accept': [{'proto': 'tcp', 'ports': [22, 29500] + list(range(32768, 61000))}]}
job('set-port-closed',
    'MASTER_PORT closed by the firewall',
    x,
    verdict='refuse',
    verdict_any=['refuse', 'choose+warn'],
    warn_names=['firewall', 'port'])
job('misspelt', 'NCCL_SOCKET_IFNAMES', everywhere({'NCCL_SOCKET_IFNAMES': 'eth0'}), **WARNS, hcas=ALL, ifs='eth0', warn_names=['NCCL_SOCKET_IFNAMES'])
job('misspelt2', 'NCCL_IB_HCAS', everywhere({'NCCL_IB_HCAS': 'mlx5_0'}), **WARNS, hcas=ALL, ifs='eth0', warn_names=['NCCL_IB_HCAS'])
job('misspelt3', 'NCCL_IFNAME', everywhere({'NCCL_IB_GID_INDX': '3'}), **WARNS, hcas=ALL, ifs='eth0', warn_names=['NCCL_IB_GID_INDX'])
job('cumem-mnnvl',
    'NCCL_CUMEM_ENABLE=0 is legitimate without MNNVL',
    everywhere({'NCCL_CUMEM_ENABLE': '0', 'NCCL_DEBUG': 'INFO', 'NCCL_IB_TIMEOUT': '22', 'NCCL_P2P_LEVEL': 'NVL'}),
    hcas=ALL,
    ifs='eth0')
job('topo-missing',
    'harmless set of an OCI script',
    everywhere({
        'NCCL_IB_TC': '41', 'NCCL_IB_SL': '0', 'NCCL_IB_QPS_PER_CONNECTION': '4', 'NCCL_IB_SPLIT_DATA_ON_QPS': '0', 'NCCL_NET_PLUGIN':
        'none', 'NCCL_IB_GID_INDEX': '3', 'NCCL_SOCKET_IFNAME': 'eth0', 'NCCL_IB_HCA': '=mlx5_0,mlx5_1,mlx5_10,mlx5_11'
    }),
    hcas=ALL,
    ifs='eth0')


def vers(a, b):
    x = everywhere(None)
    x[0]['nccl_version'] = a
    x[1]['nccl_version'] = b
    return x


job('nccl-differs',
    '2.21 and 2.27 cannot talk',
    vers('2.21.5', '2.27.3'),
    verdict='refuse',
    verdict_any=['refuse', 'choose+warn'],
    warn_names=['2.27.3'])


def sw(k, v):
    x = [user_node(i) for i in (1, 2, 3)]
    for n in x:
        n['software'] = {'kernel': '6.8.0-45', 'ofed': '24.10', 'gpu_driver': '570.86', 'nccl': '2.26.2'}
    x[1]['software'][k] = v
    return x


job('ofed-differs', 'OFED on one node', sw('ofed', '23.04'), **WARNS, hcas=ALL, ifs='eth0', warn_names=['23.04'])
job('driver-differs', 'GPU driver on one node', sw('gpu_driver', '535.1'), **WARNS, hcas=ALL, ifs='eth0', warn_names=['535.1'])
x = [user_node(i) for i in (1, 2, 3)]
for n in x:
    for h in n['hcas']:
        h['fw_ver'] = '28.41.1000'
x[2]['hcas'][1]['fw_ver'] = '28.36.1010'
job('fw-differs', 'firmware of one HCA', x, **WARNS, hcas=ALL, ifs='eth0', warn_names=['28.36'])
x = [user_node(i) for i in (1, 2, 3)]
for n in x:
    for k, h in enumerate(n['hcas']):
        h['fw_ver'] = '28.41.100%d' % k
job('fw-equal', 'firmware differs by card, not by node', x, hcas=ALL, ifs='eth0')

job('set-range', 'NCCL_IB_ADDR_RANGE holds all rails', everywhere({'NCCL_IB_ADDR_RANGE': '10.0.0.0/8'}), ifs='eth0', hcas=ALL)
job('set-range-bare', 'NCCL_IB_ADDR_RANGE without a length', everywhere({'NCCL_IB_ADDR_RANGE': '10.0.0.0'}), **WARNS, ifs='eth0', hcas=ALL,
    warn_names=['NCCL_IB_ADDR_RANGE'])
job('set-range-other', 'NCCL_IB_ADDR_RANGE of another network', everywhere({'NCCL_IB_ADDR_RANGE': '172.16.0.0/12'}), **WARNS, ifs='eth0', hcas=ALL,
    warn_names=['NCCL_IB_ADDR_RANGE'])
x = everywhere({'NCCL_CUMEM_ENABLE': '0'})
for n in x:
    for gpu in n['gpus']:
        gpu['model'] = 'NVIDIA GB200'
job('set-no-cumem', 'NCCL_CUMEM_ENABLE=0 switches off MNNVL', x, **WARNS, ifs='eth0', hcas=ALL, warn_names=['NCCL_CUMEM_ENABLE'])
