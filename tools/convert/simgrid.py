"""SimGrid's platform XML (simgrid.dtd, version 4): of one <cluster topology="TORUS">, as src/kernel/routing/TorusZone.cpp
wires it: hosts count along the first dimension fastest, with one link to the next host of each dimension. Everything else
that carries messages is refused by name.
"""
import collections
import re
from xml.parsers import expat

from places import BANDWIDTH, DIMENSIONS, NODES, NUMBER, SECONDS, Fault, shown

TIMES = {"": 1, "w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
PREFIXES = {"": 1, **{p: 10.0 ** (3 * i) for i, p in enumerate("kMGTPE", 1)}, **{p + "i": 2.0 ** (10 * i) for i, p in enumerate("KMGTPE", 1)}}
SPEEDS = {"": 1, **{p + "Bps": size for p, size in PREFIXES.items()}, **{p + "bps": size / 8 for p, size in PREFIXES.items()}}


def hosts(radical):
    """How many hosts "0-63,70" names; 0: not a radical."""
    count = 0
    for one in radical.split(","):
        ends = re.fullmatch("([0-9]{1,10})(?:-([0-9]{1,10}))?", one)
        if not ends or int(ends[2] or ends[1]) < int(ends[1]):
            return 0
        count += int(ends[2] or ends[1]) - int(ends[1]) + 1
    return count


def machine_of(attributes, refuse):
    get = collections.defaultdict(str, {"topology": "FLAT", "sharing_policy": "SPLITDUPLEX"}, **attributes).__getitem__

    def quantity(name, units, lowest, highest, example):
        parts = re.fullmatch(rf"\s*({NUMBER})\s*([A-Za-z]*)\s*", get(name))
        value = float(parts[1]) * units[parts[2]] if parts and parts[2] in units else -1
        if not lowest <= value <= highest:
            refuse(f"<cluster>: {name} is {shown(get(name))}; allowed: as {example}, {lowest:g} to {highest:g}")
        return value

    if get("topology") != "TORUS":
        refuse(f"<cluster>: topology is {shown(get('topology'))}, not TORUS")
    if get("limiter_link"):
        refuse("<cluster>: limiter_link bounds what a node sends on all links at a time, which no machine of torc's does")
    if get("sharing_policy") not in ("SPLITDUPLEX", "FULLDUPLEX", "SHARED"):
        refuse(f"<cluster>: sharing_policy is {shown(get('sharing_policy'))}; allowed: SPLITDUPLEX, SHARED")
    shared = get("sharing_policy") == "SHARED"
    bandwidth = quantity("bw", SPEEDS, *BANDWIDTH, "125MBps") / (2 if shared else 1)
    latency = quantity("lat", TIMES, *SECONDS, "50us")
    sizes, nodes = get("topo_parameters").split(","), 1
    for size in sizes:
        nodes *= int(size) if re.fullmatch(r"\s*[0-9]{1,10}\s*", size) and int(size) > 0 else NODES + 1
        if nodes > NODES or len(sizes) > DIMENSIONS:
            refuse(f"<cluster>: topo_parameters is {shown(get('topo_parameters'))}; allowed: 1 to {DIMENSIONS} sizes, as 4,4,4, of "
                   f"{NODES} nodes in all")
    if hosts(get("radical")) != nodes:
        refuse(f"<cluster>: radical {shown(get('radical'))} does not name the {nodes} hosts of the torus")
    return {"description": f"SimGrid cluster {shown(get('id'))}",
            "dimensions": [{"size": int(size), "bandwidth": bandwidth, "latency": latency, "width": 1} for size in sizes],
            "sources": {"dimensions.bandwidth": "half of bw: sharing_policy SHARED, one link for both directions" if shared else
                                                "bw: per link and direction",
                        "dimensions.latency": "lat: per link",
                        "dimensions.size": "topo_parameters: the first dimension counts fastest",
                        "dimensions.width": "SimGrid: one link per pair, also where a dimension has two nodes"}}


def convert(text, origin):
    parser = expat.ParserCreate()
    seen, machines = [], []

    def refuse(what):
        raise Fault(origin, parser.CurrentLineNumber, what)

    def start(name, attributes):
        seen.append(name)
        if (len(seen) == 1) != (name == "platform"):
            refuse(f"<{name}> stands where <platform> is expected")
        # Zones only group their contents; settings and properties are for the simulator.
        if name in ("platform", "zone", "AS", "config", "prop"):
            return
        if name != "cluster":
            refuse(f"<{name}> describes no torus: of a platform one <cluster topology=\"TORUS\"> is read")
        if machines:
            refuse("has a second <cluster>")
        machines.append(machine_of(attributes, refuse))

    parser.StartElementHandler = start
    parser.EntityDeclHandler = lambda name, *_: refuse(f"declares the entity {shown(name)}, which no machine needs")
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise Fault(origin, error.lineno, f"is no XML that can be read: {expat.ErrorString(error.code)}") from None
    if not machines:
        refuse("has no <cluster topology=\"TORUS\">")
    return machines[0]
