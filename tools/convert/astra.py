"""ASTRA-sim's analytical network (astra-network-analytical, common/network-parser): a building block for each dimension,
the first one counting fastest; GB/s of 2^30 bytes per link and direction, ns per hop. Rings make a torus.
"""
import re

from places import BANDWIDTH, DIMENSIONS, NODES, NUMBER, SECONDS, Fault, shown

KEYS = ("topology", "npus_count", "bandwidth", "latency")
# A subset of YAML: keys with a list each: [a, b], or items on lines that begin with a hyphen.
TOKEN = re.compile(r"""\s*(?:([\w ]+?)\s*:(?=\s)|([][,]|-(?=\s))|("[^"\n]*"|'[^'\n]*'|[^][,:\s]+)|(\S))""")


def read_lists(text, origin):
    """Of each key its line and list, of (item, line)."""
    text = re.sub(r"(?m)(^|[ \t])#.*$", "", text).rstrip()
    lists, items, opened, at = {}, None, False, 0
    while at < len(text):
        token = TOKEN.match(text, at)
        at, line = token.end(), text.count("\n", 0, token.end()) + 1
        key, mark, word, other = token.groups()
        if key and not opened:
            if key not in KEYS:
                raise Fault(origin, line, f"key {shown(key)} is not known in an ASTRA-sim network ({', '.join(KEYS)})")
            if key in lists:
                raise Fault(origin, line, f"key {shown(key)} occurs twice")
            items = []
            lists[key] = line, items
        elif mark == "[" and items == [] and not opened:
            opened = True
        elif mark == "]" and opened:
            opened, items = False, None
        elif mark == "-" and items is not None and not opened or mark == "," and opened:
            pass
        elif word and items is not None and (opened or text[:token.start(3)].rsplit("\n", 1)[-1].strip() == "-"):
            items.append((word.strip("'\""), line))
        elif word and items == []:
            raise Fault(origin, line, f"{next(reversed(lists))} must be a list of 1 to {DIMENSIONS} dimensions")
        elif not (word == "---" and not lists):
            raise Fault(origin, line, f"{shown(key or mark or word or other)} stands where a list of dimensions does not have it")
    if opened:
        raise Fault(origin, line, "a list is not closed")
    return lists


def convert(text, origin):
    lists = read_lists(text, origin)
    for key in KEYS:
        if key not in lists:
            raise Fault(origin, 1, f"an ASTRA-sim network without {key}")
        line, items = lists[key]
        if not 1 <= len(items) <= DIMENSIONS:
            raise Fault(origin, line, f"{key} must be a list of 1 to {DIMENSIONS} dimensions")
        if len(items) != len(lists["topology"][1]):
            raise Fault(origin, line, f"{key} has {len(items)} dimensions, topology has {len(lists['topology'][1])}")

    def number(item, what, scale, lowest, highest):
        text, line = item
        if not re.fullmatch(NUMBER, text) or not lowest <= float(text) * scale <= highest:
            raise Fault(origin, line, f"{what} is {shown(text)}; allowed: a number from {lowest / scale:g} to {highest / scale:g}")
        return float(text) * scale

    dimensions, nodes = [], 1
    for i, (block, size, bandwidth, latency) in enumerate(zip(*(lists[key][1] for key in KEYS)), 1):
        if block[0] != "Ring":
            raise Fault(origin, block[1], f"dimension {i} is a {shown(block[0])}; a torus is made of Ring alone")
        nodes *= int(size[0]) if re.fullmatch("[0-9]{1,10}", size[0]) and int(size[0]) > 1 else NODES + 1
        if nodes > NODES:
            raise Fault(origin, size[1], f"npus_count is {shown(size[0])}; allowed: 2 and more, in all dimensions {NODES} nodes")
        dimensions.append({"size": int(size[0]), "bandwidth": number(bandwidth, "bandwidth", 1 << 30, *BANDWIDTH),
                           "latency": number(latency, "latency", 1e-9, *SECONDS), "width": 1})  # a ring of two has one link each way
    return {"description": "ASTRA-sim network: " + ", ".join(f"Ring of {one['size']}" for one in dimensions),
            "dimensions": dimensions,
            "sources": {"dimensions.bandwidth": "bandwidth: per link and direction, in GB/s of 2^30 bytes",
                        "dimensions.latency": "latency: per hop, in ns",
                        "dimensions.size": "npus_count: the first dimension counts fastest",
                        "dimensions.width": "ASTRA-sim: one link each way between two neighbours"}}
