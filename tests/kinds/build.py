# SPDX-License-Identifier: Apache-2.0
"""Nodes and jobs in a few words: hwdesc/1 and job/1 as the planner reads them, with the right answer as in tests/jobs."""
import ipaddress

UP = ['UP', 'RUNNING', 'LOWER_UP']
ARPHRD = {'infiniband': 32, 'loopback': 772, 'tun': 65534}
JOBS = []
counter = [0]


def address(text):
    i = ipaddress.ip_interface(text)
    scope = 'link' if i.ip.is_link_local else 'host' if i.ip.is_loopback else 'global'
    return {'family': 'inet' if i.version == 4 else 'inet6', 'addr': str(i.ip), 'prefixlen': i.network.prefixlen, 'scope': scope}


def link(name, *addresses, kind='ether', speed=None, mtu=1500, up=True, driver=None, pci=None, master=None, link=None, **more):
    return {'name': name, 'kind': kind, 'arphrd': ARPHRD.get(kind, 1), 'mac': None, 'mtu': mtu, 'flags': UP if up else ['UP'],
            'operstate': 'up' if up else 'down', 'carrier': 1 if up else 0, 'speed_mbps': speed, 'pci': pci, 'driver': driver,
            'master': master, 'link': link, 'addresses': [address(a) for a in addresses], **more}


def loopback(*addresses):
    return link('lo', '127.0.0.1/8', '::1/128', *addresses, kind='loopback', mtu=65536)


def bond(name, slaves, *addresses, mode='802.3ad', speed=None, mtu=9000, **more):
    about = {'mode': mode, 'miimon': 100, 'slaves': slaves, 'mii_status': 'up'}
    return link(name, *addresses, kind='bond', speed=speed, mtu=mtu, bond=about, **more)


def hca(name, pci=None, rate=400, layer='Ethernet', state='ACTIVE', netdev=None, driver='mlx5_core', gids=None, mtu=4096, lid=None,
        sm=None, phys=None, node_type='1: CA', **more):
    port = {'port': 1, 'state': state, 'phys_state': phys or ('LinkUp' if state == 'ACTIVE' else 'Polling'), 'link_layer': layer,
            'rate_gbps': rate, 'active_mtu': mtu, 'lid': lid, 'sm_lid': sm, 'netdev': netdev, 'gids': gids}
    return {'name': name, 'pci': pci, 'numa': None, 'driver': driver, 'node_type': node_type, 'is_vf': False, 'physfn': None,
            'ports': [port], **more}


def gid(index, text, version, ndev):
    return {'index': index, 'gid': text, 'type': 'IB/RoCE v1' if version == 'v1' else 'RoCE v2', 'ndev': ndev}


def gid_text(addr):
    ip = ipaddress.ip_address(addr)
    return ipaddress.ip_address(f'::ffff:{ip}' if ip.version == 4 else addr).exploded


def infiniband(name, pci=None, rate=400, prefix='fe80:0000:0000:0000', sm=1, state='ACTIVE', **more):
    counter[0] += 1
    gids = [gid(0, f'{prefix}:b83f:d203:0000:{counter[0]:04x}', 'v1', None)]
    up = state == 'ACTIVE'
    return hca(name, pci, rate, 'InfiniBand', state, gids=gids, lid=counter[0] + 10 if up else 65535, sm=sm if up else 0, **more)


def roce(name, dev, links, pci=None, rate=400, ndevs=None, types=('v1', 'v2'), ll=True, start=0, **more):
    """The GID table follows from the addresses of the interfaces `ndevs`, as the kernel fills it."""
    counter[0] += 1
    rows = [(f'fe80:0000:0000:0000:0000:00ff:fe00:{counter[0]:04x}', (ndevs or [dev])[0])] if ll else []
    for n in ndevs or [dev]:
        for a in next(i for i in links if i['name'] == n)['addresses']:
            if a['scope'] != 'link' or a['family'] != 'inet6':
                rows.append((gid_text(a['addr']), n))
    pairs = [(text, n, t) for text, n in rows for t in types]
    return hca(name, pci, rate, netdev=dev, gids=[gid(start + k, text, t, n) for k, (text, n, t) in enumerate(pairs)], **more)


def route(dst, dev, via=None, table='main'):
    return {'family': 'inet6' if ':' in dst else 'inet', 'dst': dst, 'dev': dev, 'gateway': via, 'table': table}


def connected(i):
    """The routes that the kernel makes for the addresses of a link."""
    for a in i['addresses']:
        net = ipaddress.ip_interface(f"{a['addr']}/{a['prefixlen']}").network
        if i['kind'] != 'loopback' and i['carrier'] and net.prefixlen < net.max_prefixlen:
            yield {'family': a['family'], 'dst': str(net), 'dev': i['name'], 'table': 'main', 'scope': 'link', 'protocol': 'kernel',
                   'prefsrc': a['addr'] if a['family'] == 'inet' else None}


def node(name, links, hcas=(), gw=None, gpus=8, dist=None, routes=(), **more):
    """gw: (device, gateway) of the default route, or several. dist: levels to the GPUs by device, where they are known."""
    all_routes = []
    for k, i in enumerate(links):
        i.setdefault('ifindex', k + 1)
        all_routes += connected(i)
    for dev, via in [gw] if isinstance(gw, tuple) else gw or []:
        all_routes.append({'family': 'inet6' if ':' in via else 'inet', 'dst': 'default', 'dev': dev, 'gateway': via, 'table': 'main'})
    n = {'schema': 'hwdesc/1', 'name': name, 'interfaces': links, 'hcas': list(hcas), 'routes': all_routes + list(routes),
         'gpus': [{'index': i, 'pci': None, 'vendor': '10de'} for i in range(gpus)], **more}
    if dist:
        n['distances'] = dist
    return n


def near(names, gpus=8, far=()):
    """Distances where the named HCAs share a switch with GPUs, in order, and the others with none."""
    rows = {}
    for k, name in enumerate(names):
        at = k * gpus // len(names)
        rows[name] = ['PIX' if g == at else 'NODE' if g // 4 == at // 4 else 'SYS' for g in range(gpus)]
    return rows | {name: ['NODE' if g < 4 else 'SYS' for g in range(gpus)] for name in far}


def pair(make):
    return [make(1), make(2)]


def job(name, title, nodes, verdict='choose', nnodes=None, ifs=None, hcas=None, unsure=False, **expect):
    """ifs, hcas: the right answer of all nodes, or of each; the rest as `expect` of FORMATS."""
    names = [n['name'] for n in nodes]
    want = {'verdict': verdict, **expect}
    if ifs is not None:
        want['socket_ifname'] = dict.fromkeys(names, ifs) if isinstance(ifs, str) else dict(zip(names, ifs))
    if hcas is not None:
        want['hcas'] = hcas if isinstance(hcas, dict) else {n: list(hcas) for n in names}
    JOBS.append({'schema': 'job/1', 'id': name, 'title': title, 'nnodes': nnodes or max(2, len(nodes)), 'nodes': nodes, 'expect': want,
                 'unsure': unsure})
