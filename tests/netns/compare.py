#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a snapshot with what ip(8) says: compare.py SNAPSHOT, in the namespace of both."""
import json
import subprocess
import sys

failed = False


def ip(*words):
    return json.loads(subprocess.run(["ip", "-j", "-d", *words], check=True,
                                     stdout=subprocess.PIPE).stdout or "[]")


def check(what, have, want):
    global failed
    if have != want:
        failed = True
        print(f"{what}: snapshot {have!r}, ip {want!r}")


def kind_of(link):
    kind = link.get("linkinfo", {}).get("info_kind")
    return "loopback" if link["link_type"] == "loopback" else kind or "ether"


def compare_links(snapshot):
    have = {l["name"]: l for l in snapshot["interfaces"]}
    want = {l["ifname"]: l for l in ip("addr")}
    check("names", sorted(have), sorted(want))
    for name in sorted(have.keys() & want.keys()):
        h, w = have[name], want[name]
        check(f"{name} ifindex", h["ifindex"], w["ifindex"])
        check(f"{name} kind", h["kind"], kind_of(w))
        check(f"{name} mtu", h["mtu"], w["mtu"])
        check(f"{name} mac", h.get("mac"), w.get("address"))
        check(f"{name} operstate", h["operstate"], w["operstate"].lower())
        check(f"{name} master", h.get("master"), w.get("master"))
        check(f"{name} altnames", h.get("altnames", []), w.get("altnames", []))
        check(f"{name} flags", set(h["flags"]) - {"RUNNING"}, set(w["flags"]) - {"M-DOWN"})
        if kind_of(w) != "veth":
            lower = w.get("link") or w.get("linkinfo", {}).get("info_data", {}).get("link")
            check(f"{name} link", h.get("link"), lower)
        if kind_of(w) == "vlan":
            check(f"{name} vlan", h["vlan"]["id"], w["linkinfo"]["info_data"]["id"])
        if kind_of(w) == "bridge":
            check(f"{name} ports", sorted(h["bridge"]["ports"]),
                  sorted(l["ifname"] for l in want.values() if l.get("master") == name))
        check(f"{name} addresses",
              [(a["family"], a["addr"], a["prefixlen"], a["scope"]) for a in h["addresses"]],
              [(a["family"], a["local"], a["prefixlen"], a["scope"]) for a in w["addr_info"]
               if not a.get("tentative") and not a.get("deprecated")])


def key(route):
    return json.dumps(route, sort_keys=True)


def compare_routes(snapshot):
    for family, flag in (("inet", "-4"), ("inet6", "-6")):
        have = [{k: v for k, v in r.items() if k in ("dst", "dev", "gateway", "metric", "prefsrc",
                                                     "protocol", "table")}
                for r in snapshot["routes"] if r["family"] == family]
        want = []
        for r in ip(flag, "route", "show", "table", "all"):
            if r.get("type", "unicast") != "unicast" or r.get("table") == "local":
                continue
            dst = r["dst"]
            if dst != "default" and "/" not in dst:
                dst += "/32" if family == "inet" else "/128"
            found = {k: r[k] for k in ("dev", "gateway", "metric", "prefsrc", "protocol") if k in r}
            want.append({**found, "dst": dst, "table": str(r.get("table", "main"))})
        check(f"{family} routes", sorted(map(key, have)), sorted(map(key, want)))


with open(sys.argv[1], encoding="utf-8") as f:
    document = json.load(f)
compare_links(document)
compare_routes(document)
sys.exit(failed)
