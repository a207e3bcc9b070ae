#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a recorded tree for `snapshot --sysroot`: tree.py DIR <DESCRIPTION.

One line for each thing, blanks between words:
  file PATH TEXT                a file
  link PATH TARGET              a symbolic link; both are paths in the tree
  pci ADDR PARENT CLASS VENDOR DEVICE NUMA [SECONDARY SUBORDINATE]
                                a PCI device; PARENT is an address or hostbridge:dddd:bb
  hca NAME ADDR LAYER RATE      a ConnectX-6 Dx with one active port and 256 GID entries
  table HCA SIZE                its GID table is smaller
  gid HCA INDEX GID TYPE [NDEV] a populated entry; "_" in TYPE is a blank
  net IFINDEX NAME [key=value]  an interface: kind, master, link, pci, speed, mode, vlan, mac, mtu
  addr IFINDEX ADDRESS/LENGTH   an IPv4 address
"""
import os
import socket
import struct
import sys

root = sys.argv[1]
devices = {}
links, addrs = [], []


def put(path, data):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else (data + "\n").encode())


def link(path, target):
    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
    os.symlink(os.path.relpath(target, os.path.dirname(path)), os.path.join(root, path))


def pci(addr, parent, cls, vendor, device, numa, *buses):
    if parent.startswith("hostbridge:"):
        up = "sys/devices/pci" + parent[len("hostbridge:"):]
    else:
        up = devices[parent]
    path = devices[addr] = f"{up}/{addr}"
    for name, text in (("class", f"0x{cls}00"), ("vendor", f"0x{vendor}"),
                       ("device", f"0x{device}"), ("numa_node", numa)):
        put(f"{path}/{name}", text)
    config = bytearray(64)
    struct.pack_into("<HH", config, 0, int(vendor, 16), int(device, 16))
    struct.pack_into("<H", config, 0x0A, int(cls, 16))
    if buses:
        config[0x0E] = 1
        config[0x18:0x1B] = bytes([int(addr[5:7], 16)] + [int(b, 16) for b in buses])
    put(f"{path}/config", bytes(config))
    link(f"sys/bus/pci/devices/{addr}", path)


def hca(name, addr, layer, *rate):
    path = f"{devices[addr]}/infiniband/{name}"
    link(f"{path}/device", devices[addr])
    link(f"sys/class/infiniband/{name}", path)
    put(f"{path}/node_type", "1: CA")
    for key, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"), ("link_layer", layer),
                      ("rate", " ".join(rate)), ("lid", "0x0"), ("sm_lid", "0x0")):
        put(f"{path}/ports/1/{key}", text)
    for i in range(256):
        put(f"{path}/ports/1/gids/{i}", ":".join(["0000"] * 8))


def table(name, size):
    for i in range(int(size), 256):
        os.unlink(os.path.join(root, f"sys/class/infiniband/{name}/ports/1/gids/{i}"))


def gid(name, index, value, kind, ndev=None):
    port = f"sys/class/infiniband/{name}/ports/1"
    put(f"{port}/gids/{index}", value)
    put(f"{port}/gid_attrs/types/{index}", kind.replace("_", " "))
    if ndev:
        put(f"{port}/gid_attrs/ndevs/{index}", ndev)


def attr(number, data):
    size = 4 + len(data)
    return struct.pack("=HH", size, number) + data + bytes(-size % 4)


def message(kind, payload):
    return struct.pack("=IHHII", 16 + len(payload), kind, 2, 1, 0) + payload


# Numbers of linux/if_link.h.
def net(index, name, *words):
    opt = dict(w.split("=", 1) for w in words)
    mac = bytes.fromhex(opt.get("mac", "020000000001").replace(":", ""))
    data = attr(3, name.encode() + b"\0") + attr(1, mac)
    data += attr(4, struct.pack("=I", int(opt.get("mtu", "1500")))) + attr(16, b"\6")
    data += attr(33, b"\1")
    for key, number in (("link", 5), ("master", 10)):
        if key in opt:
            data += attr(number, struct.pack("=I", int(opt[key])))
    info = b""
    if "kind" in opt:
        info += attr(1, opt["kind"].encode() + b"\0")
        inner = b""
        if "mode" in opt:
            inner = attr(1, bytes([int(opt["mode"])])) + attr(14, b"\1") + attr(21, b"\1")
        if "vlan" in opt:
            inner = attr(1, struct.pack("=H", int(opt["vlan"])))
        info += attr(2, inner)
    if "perm" in opt:
        info += attr(4, b"bond\0") + attr(5, attr(4, bytes.fromhex(opt["perm"].replace(":", ""))))
    if info:
        data += attr(18, info)
    links.append(message(16, struct.pack("=BxHiII", 0, 1, int(index), 0x11043, 0) + data))
    if "pci" in opt:
        path = f"{devices[opt['pci']]}/net/{name}"
        link(f"{path}/device", devices[opt["pci"]])
    else:
        path = f"sys/devices/virtual/net/{name}"
    put(f"{path}/ifindex", index)
    if "speed" in opt:
        put(f"{path}/speed", opt["speed"])
    link(f"sys/class/net/{name}", path)


def addr(index, text):
    address, length = text.split("/")
    packed = socket.inet_aton(address)
    addrs.append(message(20, struct.pack("=BBBBI", 2, int(length), 0, 0, int(index)) +
                         attr(1, packed) + attr(2, packed)))


words = {"file": lambda path, *text: put(path, " ".join(text)), "link": link, "pci": pci,
         "hca": hca, "table": table, "gid": gid, "net": net, "addr": addr}
for line in sys.stdin:
    if line.strip():
        word, *rest = line.split()
        words[word](*rest)
for name, answers in (("link", links), ("addr", addrs), ("route", []), ("route6", [])):
    put(f"netlink/{name}", b"".join(answers))
# What hwloc needs to take the tree for a machine.
put("sys/devices/system/cpu/online", "0")
put("sys/devices/system/cpu/possible", "0")
put("sys/devices/system/cpu/cpu0/topology/core_cpus", "1")
put("sys/devices/system/cpu/cpu0/topology/package_cpus", "1")
