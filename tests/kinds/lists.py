# SPDX-License-Identifier: Apache-2.0
"""NCCL_SOCKET_IFNAME and NCCL_IB_HCA that are set already."""
from build import job, link, loopback, near, node, roce


def user_node(i, env=None, origin='user', hc=True, **kw):
    links = [
        loopback(),
        link('docker0', '172.17.0.1/16', kind='bridge', bridge={'ports': []}),
        link('eth0', '10.0.0.%d/24' % i, speed=10000),
        link('eth1', '10.1.0.%d/24' % i, speed=1000)
    ]
    hcas = []
    if hc:
        for k in range(4):
            links.append(link('rdma%d' % k, '10.2%d.0.%d/16' % (k, i), speed=200000, mtu=9000))
            hcas.append(roce('mlx5_%d' % (k if k < 2 else k + 8), 'rdma%d' % k, links, '0000:%02x:00.0' % (k + 1), 200))
    kw.setdefault('dist', near([h['name'] for h in hcas], 4) if hc else None)
    n = node('u%d' % i, links, hcas, ('eth0', '10.0.0.254'), gpus=4, **kw)
    if env:
        n['environment'] = env
        n['environment_origin'] = origin
    return n


ALL = ['mlx5_0', 'mlx5_1', 'mlx5_10', 'mlx5_11']


def everywhere(env, **kw):
    return [user_node(i, env, **kw) for i in (1, 2)]


WARNS = dict(verdict='choose+warn')
job('set-eth0', 'NCCL_SOCKET_IFNAME=eth0 is right', everywhere({'NCCL_SOCKET_IFNAME': 'eth0'}), ifs='eth0', hcas=ALL)
job('set-eth1', 'slower but right: kept', everywhere({'NCCL_SOCKET_IFNAME': '=eth1'}), ifs='eth1', hcas=ALL)
job('set-eth', 'prefix takes two', everywhere({'NCCL_SOCKET_IFNAME': 'eth'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['NCCL_SOCKET_IFNAME'])
job('set-not-docker', '^docker0 brings back lo', everywhere({'NCCL_SOCKET_IFNAME': '^docker0'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['lo'])
job('set-not-lo-docker',
    '^lo,docker: fine, takes eth0',
    everywhere({'NCCL_SOCKET_IFNAME': '^lo,docker'}),
    ifs='eth0',
    hcas=ALL,
    verdict='choose+warn',
    verdict_any=['choose', 'choose+warn'],
    warn_names=['NCCL_SOCKET_IFNAME'])
job('set-blank',
    'list with blanks: " eth0" after the comma',
    everywhere({'NCCL_SOCKET_IFNAME': 'ib0, eth0'}),
    **WARNS,
    ifs='eth0',
    hcas=ALL,
    warn_names=['blank'])
job('set-eqeq', '=eth1,=eth0', everywhere({'NCCL_SOCKET_IFNAME': '=ib0,=eth0'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['"="', '=ib0,eth0'])
job('set-quotes',
    'quotes from nccl.conf',
    everywhere({'NCCL_SOCKET_IFNAME': '"eth0"'}, origin='nccl.conf'),
    **WARNS,
    ifs='eth0',
    hcas=ALL,
    warn_names=['quote'])
job('set-crlf',
    'carriage return from nccl.conf',
    everywhere({'NCCL_SOCKET_IFNAME': 'eth0\r'}, origin='nccl.conf'),
    **WARNS,
    ifs='eth0',
    hcas=ALL,
    warn_names=['carriage', 'CRLF'])
job('set-missing', 'ib0 does not exist', everywhere({'NCCL_SOCKET_IFNAME': 'ib0'}, origin='image'), **WARNS, ifs='eth0', hcas=ALL, warn_names=['ib0'])
job('set-one-node', 'set on node 1 only to eth1', [user_node(1, {'NCCL_SOCKET_IFNAME': '=eth1'}), user_node(2)], ifs='eth1', hcas=ALL)
job('set-two-nets',
    'eth0 on node 1, eth1 on node 2',
    [user_node(1, {'NCCL_SOCKET_IFNAME': '=eth0'}), user_node(2, {'NCCL_SOCKET_IFNAME': '=eth1'})],
    **WARNS,
    hcas=ALL,
    warn_names=['NCCL_SOCKET_IFNAME'])
job('set-ip', 'an address for a name', everywhere({'NCCL_SOCKET_IFNAME': '10.0.0.1'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['=eth0'])
job('set-cidr', 'a subnet for a name', everywhere({'NCCL_SOCKET_IFNAME': '10.1.0.0/24'}), **WARNS, ifs='eth1', hcas=ALL, warn_names=['=eth1'])
job('set-hca-all', 'NCCL_IB_HCA=mlx5 is all', everywhere({'NCCL_IB_HCA': 'mlx5'}), ifs='eth0', hcas=ALL)
job('set-hca-prefix',
    'NCCL_IB_HCA=mlx5_0,mlx5_1 takes mlx5_10 too',
    everywhere({'NCCL_IB_HCA': 'mlx5_0,mlx5_1'}),
    **WARNS,
    ifs='eth0',
    warn_names=['mlx5_10'])
job('set-hca-exact', 'two of four', everywhere({'NCCL_IB_HCA': '=mlx5_0,mlx5_1'}), ifs='eth0', hcas=ALL[:2])
job('set-hca-not', '^=mlx5_11', everywhere({'NCCL_IB_HCA': '^=mlx5_11'}), ifs='eth0', hcas=ALL[:3])
job('set-hca-missing',
    '=mlx5_7',
    everywhere({'NCCL_IB_HCA': '=mlx5_7'}),
    **WARNS,
    verdict_any=['choose+warn', 'fallback'],
    ifs='eth0',
    warn_names=['mlx5_7'])
job('set-hca-some-missing', '=mlx5_0,mlx5_7', everywhere({'NCCL_IB_HCA': '=mlx5_0,mlx5_7'}), **WARNS, ifs='eth0', hcas=['mlx5_0'], warn_names=['mlx5_7'])
job('set-hca-blank',
    'mlx5_0, mlx5_1',
    everywhere({'NCCL_IB_HCA': '=mlx5_0, mlx5_1'}),
    **WARNS,
    ifs='eth0',
    hcas=['mlx5_0'],
    warn_names=['blank'],
    hcas_also={n: ['mlx5_0', 'mlx5_1'] for n in ('u1', 'u2')})
job('set-hca-eqeq',
    '=mlx5_0,=mlx5_1',
    everywhere({'NCCL_IB_HCA': '=mlx5_0,=mlx5_1'}),
    **WARNS,
    ifs='eth0',
    hcas=['mlx5_0'],
    warn_names=['"="'],
    hcas_also={n: ['mlx5_0', 'mlx5_1'] for n in ('u1', 'u2')})
job('set-hca-port0',
    'mlx5_0:0',
    everywhere({'NCCL_IB_HCA': '=mlx5_0:0'}),
    **WARNS,
    verdict_any=['choose+warn', 'fallback'],
    ifs='eth0',
    warn_names=['NCCL_IB_HCA'])
job('set-hca-node2',
    'node 2 other list',
    [user_node(1, {'NCCL_IB_HCA': '=mlx5_0,mlx5_1'}), user_node(2, {'NCCL_IB_HCA': '=mlx5_0'})],
    **WARNS,
    ifs='eth0',
    hcas=['mlx5_0'],
    warn_names=['NCCL_IB_HCA', 'rail'])

job('set-gloo-docker', 'GLOO_SOCKET_IFNAME=docker0, which all nodes have', everywhere({'GLOO_SOCKET_IFNAME': 'docker0'}), **WARNS, ifs='eth0', hcas=ALL,
    warn_names=['GLOO_SOCKET_IFNAME'], gloo_ifname={'u1': 'eth0', 'u2': 'eth0'})
job('set-lo', 'NCCL_SOCKET_IFNAME=lo', everywhere({'NCCL_SOCKET_IFNAME': 'lo'}), **WARNS, ifs='eth0', hcas=ALL, warn_names=['NCCL_SOCKET_IFNAME'])
x = everywhere({'NCCL_SOCKET_IFNAME': 'eth0', 'GLOO_SOCKET_IFNAME': 'eth0'})
x[1]['interfaces'][2]['name'] = 'eno1'
for r in x[1]['routes']:
    r['dev'] = 'eno1' if r['dev'] == 'eth0' else r['dev']
job('set-other-name', 'eth0 is eno1 on node 2', x, **WARNS, ifs=['eth0', 'eno1'], hcas=ALL, warn_names=['u2'], gloo_ifname={'u2': 'eno1'})
