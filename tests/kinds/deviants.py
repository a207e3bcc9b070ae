# SPDX-License-Identifier: Apache-2.0
"""One node that is not like the others."""
from build import hca, job, link, loopback, near, node, pair, roce
from storage import M8


def rails_node(i, n=4, rate=None, state=None, mtu=None, ip=True, gpus=4, dist=True, name=None, **kw):
    rate = rate or {}
    state = state or {}
    mtu = mtu or {}
    links = [loopback(), link('eno1', '10.0.0.%d/24' % i, speed=10000)]
    hcas = []
    for k in range(n):
        down = state.get(k)
        links.append(
            link('ens%d' % (k + 1),
                 *(['10.11.%d.%d/24' % (k, i)] if ip else []),
                 speed=rate.get(k, 400) * 1000,
                 mtu=mtu.get(k, 9000),
                 up=not down))
        if down:
            hcas.append(
                hca('mlx5_%d' % k,
                    '0000:%02x:00.0' % (0x18 + 8 * k),
                    rate.get(k, 400),
                    state='DOWN',
                    phys=down,
                    netdev='ens%d' % (k + 1),
                    gids=[]))
        else:
            hcas.append(
                roce('mlx5_%d' % k,
                     'ens%d' % (k + 1),
                     links,
                     '0000:%02x:00.0' % (0x18 + 8 * k),
                     rate.get(k, 400),
                     mtu=1024 if mtu.get(k) == 1500 else 4096))
    kw.setdefault('gw', ('eno1', '10.0.0.254'))
    gw = kw.pop('gw')
    return node(name or 'n%d' % i, links, hcas, gw, gpus=gpus, dist=near(M8[:n], gpus) if dist else None, **kw)


A4 = M8[:4]
job('half-rate',
    'rail 2 of node 3 trained to 200', [rails_node(i, rate={2: 200} if i == 3 else None) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['mlx5_2'],
    hcas=A4,
    hcas_also={'n%d' % i: ['mlx5_0', 'mlx5_1', 'mlx5_3'] for i in (1, 2, 3)})
job('half-rate-2nodes',
    'rail 2 of node 2 trained to 200', [rails_node(i, rate={2: 200} if i == 2 else None) for i in (1, 2)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['mlx5_2'],
    hcas=A4,
    hcas_also={'n%d' % i: ['mlx5_0', 'mlx5_1', 'mlx5_3'] for i in (1, 2)})
job('all-slow-node',
    'all rails of node 2 at 200', [rails_node(i, rate={k: 200 for k in range(4)} if i == 2 else None) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['n2'],
    hcas=A4)
job('mtu-node',
    'rail 1 of node 2 has MTU 1500', [rails_node(i, mtu={1: 1500} if i == 2 else None) for i in (1, 2, 3)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['mtu'],
    hcas=A4)
job('rail-down',
    'rail 3 of node 5 of 16 down', [rails_node(i, state={3: 'Polling'} if i == 5 else None) for i in range(1, 17)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['n5'],
    hcas=A4[:3])
job('rail-disabled-2',
    'rail 0 of node 2 of 2 disabled', [rails_node(i, state={0: 'Disabled'} if i == 2 else None) for i in (1, 2)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['n2'],
    hcas=A4[1:])
job('two-nodes-lack-different',
    'n1 lacks rail 0, n2 lacks rail 3', [rails_node(i, state={0: 'Polling'} if i == 1 else {3: 'Polling'}) for i in (1, 2)],
    verdict='choose+warn',
    ifs='eno1',
    warn_names=['n1', 'n2'],
    hcas=['mlx5_1', 'mlx5_2'])
x = [rails_node(i, name='n%d' % i) for i in (1, 2, 3)]
x[2]['hcas'] = []
x[2]['interfaces'] = x[2]['interfaces'][:2]
job('node-without-hcas', 'node 3 has no HCAs', x, verdict='fallback', ifs='eno1', net='Socket', warn_names=['n3'])
x = [rails_node(i) for i in (1, 2)]
for h in x[1]['hcas']:
    h['uverbs_opens'] = False
job('one-node-cannot-open',
    'devices closed on node 2',
    x,
    verdict='fallback',
    net='Socket',
    warn_names=['n2'],
    ifs='ens1',
    socket_ifname_any={n: ['ens2', 'ens3', 'ens4'] for n in ('n1', 'n2')})
x = [rails_node(i) for i in (1, 2, 3)]
x[1]['memlock_kb'] = 64
job('memlock-one-node', 'memlock 64 on node 2', x, verdict='refuse', warn_names=['n2'])
x = [rails_node(i) for i in (1, 2, 3, 4)]
for h in x[2]['hcas']:
    h['name'] = h['name'].replace('mlx5_', 'rocep')
job('other-names',
    'verbs names differ on node 3',
    x,
    ifs='eno1',
    hcas={'n1': A4, 'n2': A4, 'n3': ['rocep0', 'rocep1', 'rocep2', 'rocep3'], 'n4': A4},
    hcas_ordered=True)
x = [rails_node(i) for i in (1, 2)]
x[1]['hcas'] = [x[1]['hcas'][k] for k in (2, 0, 3, 1)]
job('other-order', 'HCAs listed in another order', x, ifs='eno1', hcas=A4, hcas_ordered=True)
x = [rails_node(i, n=8, gpus=8) if i < 3 else rails_node(i, n=4, gpus=8) for i in (1, 2, 3)]
job('half-rails-node', 'node 3 has 4 of 8 rails', x, verdict='choose+warn', ifs='eno1', hcas=A4, warn_names=['n3', 'rail'])
x = [rails_node(i) for i in (1, 2, 3)]
x[2]['interfaces'][4]['addresses'] = []
x[2]['hcas'][2]['ports'][0]['gids'] = x[2]['hcas'][2]['ports'][0]['gids'][:2]
x[2]['routes'] = [r for r in x[2]['routes'] if r['dev'] != 'ens3']
job('rail-no-ip',
    'rail 2 of node 3 lost its address',
    x,
    verdict='choose+warn',
    ifs='eno1',
    hcas=['mlx5_0', 'mlx5_1', 'mlx5_3'],
    warn_names=['n3'])


def swapped(i):
    n = rails_node(i)
    if i == 2:
        a = n['interfaces']
        a[2]['addresses'], a[3]['addresses'] = a[3]['addresses'], a[2]['addresses']
        g = n['hcas']
        g0 = g[0]['ports'][0]['gids']
        g1 = g[1]['ports'][0]['gids']
        for s, t in zip(g0[2:], g1[2:]):
            s['gid'], t['gid'] = t['gid'], s['gid']
        for r in n['routes']:
            if r['dev'] in ('ens1', 'ens2') and r['dst'] != 'default': r['dev'] = {'ens1': 'ens2', 'ens2': 'ens1'}[r['dev']]
    return n


job('swapped-rails',
    'addresses of rails 0 and 1 swapped on node 2',
    pair(swapped),
    verdict='choose+warn',
    ifs='eno1',
    hcas={'n1': A4, 'n2': ['mlx5_1', 'mlx5_0', 'mlx5_2', 'mlx5_3']},
    hcas_ordered=True,
    warn_names=['n2'])

x = [rails_node(i, mtu={1: 1500} if i == 2 else None) for i in (1, 2, 3)]
for n in x:
    for h in n['hcas']:
        h['ports'][0]['active_mtu'] = None
job('mtu-of-netdev', 'rail 1 of node 2 has MTU 1500, which only its netdev shows', x, verdict='choose+warn', ifs='eno1', warn_names=['mtu'], hcas=A4)


def over_rail(i, dev=None, rate=400):
    """dev: over which the default route leaves, eno1 without one."""
    links = [loopback(), link('eno1', '192.168.0.%d/24' % i, speed=10000)]
    links += [link('r%d' % k, '10.%d.0.%d/24' % (60 + k, i), speed=rate * 1000 if k == 2 else 400000, mtu=9000) for k in range(3)]
    hcas = [roce('mlx5_%d' % k, 'r%d' % k, links, '0000:%02x:00.0' % (0x20 + 16 * k), rate if k == 2 else 400) for k in range(3)]
    return node('or%d' % i, links, hcas, (dev, '10.62.0.254') if dev else ('eno1', '192.168.0.254'), gpus=4)


job('default-route-over-a-rail',
    'DHCP on a rail of node 2 brought a default route', [over_rail(1), over_rail(2, 'r2'), over_rail(3)],
    ifs='eno1',
    hcas=['mlx5_0', 'mlx5_1', 'mlx5_2'])
job('default-route-over-a-slow-port',
    'the port of the default route is slower: a front end that two nodes do not use as such',
    [over_rail(i, 'r2' if i == 2 else None, 100) for i in (1, 2, 3)],
    hcas=['mlx5_0', 'mlx5_1'])
job('default-route-over-all-third-ports', 'a front end of all nodes', [over_rail(i, 'r2') for i in (1, 2, 3)], hcas=['mlx5_0', 'mlx5_1'])
