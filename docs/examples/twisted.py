#!/usr/bin/env python3
"""An allreduce on a twisted torus of a TPU pod, along breadth-first trees, proved by torc.

    PYTHONPATH=tools TORC=bazel-bin/compiler/torc python3 docs/examples/twisted.py 4 4 8 twisted.torc

In a twisted torus the links that wrap along an axis of k nodes end k further along every axis of 2k. Counted from the
sum of its short coordinates on along the long axes, it is a plain torus whose short axes have diagonal links: all nodes
look alike, and torc makes one program of them. Each node's block goes to all others along shortest ways, those of equal
length spread over the links; an allreduce sums it up on the way back first.
"""

import itertools
import sys

import torc


def steps(sizes):
    """The six links of a node of the plain torus, as vectors."""
    short = min(sizes)
    for axis, size in enumerate(sizes):
        for sign in (1, -1):
            yield tuple(sign * (i == axis or size == short < other) for i, other in enumerate(sizes))


def tree(sizes):
    """Of every offset but zero the link by which it is reached, nearest first: the next hop's load is the least."""
    links = list(steps(sizes))
    load = dict.fromkeys(links, 0)
    distance, front, order = {(0,) * len(sizes): 0}, [(0,) * len(sizes)], []
    moved = lambda at, link, sign=1: tuple((c + sign * d) % n for c, d, n in zip(at, link, sizes))
    while front:
        new = sorted({moved(at, link) for at in front for link in links} - distance.keys())
        for at in new:
            distance[at] = distance[front[0]] + 1
        for at in new:
            ways = [link for link in links if distance.get(moved(at, link, -1), -1) == distance[at] - 1]
            link = min(ways, key=load.get)
            load[link] += 1
            order.append((at, moved(at, link, -1)))
        front = new
    # Sums come back against the links that blocks go out on.
    both = max(load[link] + load[tuple(-d for d in link)] for link in links)
    return order, both, max(distance.values())


def allreduce(sizes):
    """The program, the messages of a block's size on the busiest link, and the hops to the furthest node."""
    order, load, furthest = tree(sizes)
    nodes = list(itertools.product(*map(range, reversed(sizes))))  # by rank: the first axis counts fastest
    rank = {node[::-1]: i for i, node in enumerate(nodes)}
    program = torc.Program("allreduce", ranks=len(rank), chunks=len(rank))
    placed = lambda owner, offset: rank[tuple((c + d) % n for c, d, n in zip(owner, offset, sizes))]
    for at, before in reversed(order):
        for owner, block in rank.items():
            program.add(placed(owner, before), block, source=placed(owner, at))
    for at, before in order:
        for owner, block in rank.items():
            program.copy(placed(owner, at), block, source=placed(owner, before))
    return program, load, furthest


if __name__ == "__main__":
    sizes = tuple(map(int, sys.argv[1:4]))
    program, load, furthest = allreduce(sizes)
    shape = "x".join(map(str, sizes))
    program.compile(sys.argv[4], torus=shape + "t")
    bound = torc.bounds("allreduce", torus=shape + "t", bytes=program.ranks * 1000)
    print(f"{shape}t: proved; {2 * furthest} steps; the busiest link carries {load} blocks, "
          f"{load * 1e3 / bound['bandwidth_s'] / 1e9:.3f} of the bound")
