#!/usr/bin/env python3
"""The least time of a sum by dedicated ranks on the cluster of Sancho, Kerbyson and Barker, by LogP.

    studies/papers/cdcp_bound.py [RANKS DEDICATED [MOST_OF_A_NODE]]

RANKS of the program (512) with DEDICATED ranks (64), at most MOST_OF_A_NODE (4) of these on a node. Sums
follow each other, and all dedicated ranks have the result of one at the same time. Until it has all
contributions to the next, a dedicated rank works for a message to and one from each of its ranks. The
sum of them has to reach every other dedicated rank: a broadcast, in the best order. Each end works 0.8 us
for a message, the wire takes 2.4 us between nodes and 0.2 us inside one. Bytes are free.
"""
import functools
import sys

# In quarters of 0.8 us.
WORK = 4
REMOTE = WORK + 12 + WORK
LOCAL = WORK + 1 + WORK
NEVER = -10**9


def broadcast_time(dedicated, lanes):
    """Least time until `dedicated` ranks, `lanes` a node, have what one of them has."""

    @functools.cache
    def nodes_from(time):
        """Nodes that a rank reaches which has the message `time` before the end, its own included."""
        return max(0, 1 + nodes_beside(time, lanes)) if time >= 0 else 0

    @functools.cache
    def nodes_beside(time, here):
        """Of these without its own, where it is to reach `here` ranks of it, itself included."""
        if time < 0:
            return NEVER
        best = 0 if here == 1 else NEVER
        if nodes_from(time - REMOTE) > 0:
            best = max(best, nodes_from(time - REMOTE) + nodes_beside(time - WORK, here))
        for there in range(1, here):
            best = max(best, nodes_beside(time - LOCAL, there) + nodes_beside(time - WORK, here - there))
        return best

    time = 0
    while nodes_from(time) < -(-dedicated // lanes):
        time += 1
    return time


def main():
    ranks, dedicated, most = (int(x) for x in (sys.argv[1:] + ["512", "64", "4"][len(sys.argv) - 1:]))
    own = 2 * WORK * ranks // dedicated
    print("of a node  own ranks us  broadcast us  sum us")
    for lanes in range(1, most + 1):
        among = broadcast_time(dedicated, lanes)
        print(f"{lanes:9}  {own / 5:12.1f}  {among / 5:12.1f}  {(own + among) / 5:6.1f}")


main()
