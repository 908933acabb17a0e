#!/usr/bin/env python3
"""make_msccl.py PROGRAM RANKS [CHUNKS]: an MSCCL file on stdout, as the field's writers have it.

ring-allgather, ring-allreduce, ring-reduce-scatter, chain-allreduce (CHUNKS per block), direct-allreduce, recursive-doubling,
recursive-halving, copying-allgather, copying-allreduce, copying-reduce-scatter (in place, with a copy onto itself), alltoall, relaying-alltoall, two-step-alltoall and hierarchical-allreduce (RANKS as NODESxGPUS), tree-broadcast.
"""
import sys


class Program:
    def __init__(self, collective, ranks, chunks, in_place):
        self.header = (collective, ranks, chunks, in_place)
        self.blocks = [{} for _ in range(ranks)]  # (send, recv, channel) -> steps
        self.scratch = [0] * ranks

    def step(self, rank, kind, src=("i", -1), dst=("o", -1), count=1, send=-1, recv=-1, channel=0, after=None):
        """Returns (block, step) of the step, for `after` of others."""
        key = (send, recv, channel)
        block = self.blocks[rank].setdefault(key, [])
        for buffer, offset in (src, dst):
            if buffer == "s":
                self.scratch[rank] = max(self.scratch[rank], offset + count)
        block.append((kind, src, dst, count, after or (-1, -1)))
        return list(self.blocks[rank]).index(key), len(block) - 1

    def print(self, name):
        collective, ranks, chunks, in_place = self.header
        channels = 1 + max(key[2] for blocks in self.blocks for key in blocks)
        print(f'<algo name="{name}" proto="Simple" nchannels="{channels}" nchunksperloop="{chunks}" '
              f'ngpus="{ranks}" coll="{collective}" inplace="{int(in_place)}">')
        for rank, blocks in enumerate(self.blocks):
            named = {s[4] for steps in blocks.values() for s in steps}
            print(f'  <gpu id="{rank}" i_chunks="{chunks}" o_chunks="{chunks}" s_chunks="{self.scratch[rank]}">')
            for number, ((send, recv, channel), steps) in enumerate(blocks.items()):
                print(f'    <tb id="{number}" send="{send}" recv="{recv}" chan="{channel}">')
                for index, (kind, src, dst, count, after) in enumerate(steps):
                    print(f'      <step s="{index}" type="{kind}" srcbuf="{src[0]}" srcoff="{src[1]}" '
                          f'dstbuf="{dst[0]}" dstoff="{dst[1]}" cnt="{count}" depid="{after[0]}" deps="{after[1]}" '
                          f'hasdep="{int((number, index) in named)}"/>')
                print("    </tb>")
            print("  </gpu>")
        print("</algo>")


def ring_allgather(n, k):
    program = Program("allgather", n, n * k, True)
    for r in range(n):
        peers = dict(send=(r + 1) % n, recv=(r - 1) % n)
        program.step(r, "s", ("o", r * k), ("o", r * k), k, **peers)
        for i in range(1, n):
            block = (r - i) % n * k
            program.step(r, "rcs" if i < n - 1 else "r", ("o", block), ("o", block), k, **peers)
    return program


def ring_allreduce(n, k):
    program = Program("allreduce", n, n * k, True)
    for r in range(n):
        for c in range(k):
            peers = dict(send=(r + 1) % n, recv=(r - 1) % n, channel=c)
            def at(i):
                return "i", (r - i) % n * k + c
            program.step(r, "s", at(1), at(1), **peers)
            for i in range(2, n):
                program.step(r, "rrs", at(i), at(i), **peers)
            program.step(r, "rrcs", at(n), at(n), **peers)
            for i in range(1, n - 1):
                program.step(r, "rcs", at(i), at(i), **peers)
            program.step(r, "r", at(n - 1), at(n - 1), **peers)
    return program


def ring_reduce_scatter(n, k):
    program = Program("reducescatter", n, n * k, True)
    for r in range(n):
        peers = dict(send=(r + 1) % n, recv=(r - 1) % n)
        for i in range(1, n + 1):
            at = "i", (r - i) % n * k
            program.step(r, "s" if i == 1 else "rrs" if i < n else "rrc", at, at, k, **peers)
    return program


def copying(ring, n, k):
    """Every rank also copies its input to where it lies in the output, and nothing waits for that."""
    program = ring(n, k)
    for r in range(n):
        src = r * k if ring == ring_reduce_scatter else 0
        dst = r * k if ring == ring_allgather else 0
        program.step(r, "cpy", ("i", src), ("o", dst), n * k if ring == ring_allreduce else k)
    return program


def recursive_doubling(n, _):
    program = Program("allreduce", n, 1, True)
    for r in range(n):
        before = None
        distance = 1
        while distance < n:
            peer = r ^ distance
            program.step(r, "s", ("i", 0), ("i", 0), send=peer, after=before)
            # What is received waits in scratch until it has been sent.
            come = program.step(r, "r", ("i", 0), ("s", distance.bit_length() - 1), recv=peer)
            sent = (list(program.blocks[r]).index((peer, -1, 0)), 0)
            program.step(r, "nop", count=0, after=sent)
            before = program.step(r, "re", ("s", distance.bit_length() - 1), ("i", 0), after=come)
            distance *= 2
    return program


def recursive_halving(n, _):
    """Halves of the vector that is left, in one message each; then back."""
    program = Program("allreduce", n, n, True)
    for r in range(n):
        after, distance = None, n // 2
        while distance > 0:
            peer = r ^ distance
            own, other = r // distance * distance, peer // distance * distance
            program.step(r, "s", ("i", other), ("i", other), distance, send=peer, recv=peer, after=after)
            after = program.step(r, "rrc", ("i", own), ("i", own), distance, send=peer, recv=peer)
            distance //= 2
        distance = 1
        while distance < n:
            peer = r ^ distance
            own, other = r // distance * distance, peer // distance * distance
            program.step(r, "s", ("i", own), ("i", own), distance, send=peer, recv=peer, after=after)
            after = program.step(r, "r", ("i", other), ("i", other), distance, send=peer, recv=peer)
            distance *= 2
    return program


def direct_allreduce(n, _):
    """Not in place: all inputs to all, and the own one is added last, when the output has others."""
    program = Program("allreduce", n, 1, False)
    for r in range(n):
        come = []
        for i in range(1, n):
            program.step(r, "s", ("i", 0), ("s", 0), send=(r + i) % n)
            come.append(program.step(r, "r", ("i", 0), ("s", i - 1), recv=(r - i) % n))
        for i in range(1, n):
            program.step(r, "cpy" if i == 1 else "re", ("s", i - 1), ("o", 0), after=come[i - 1])
        program.step(r, "re", ("i", 0), ("o", 0))
    return program


def chain_allreduce(n, k):
    """All blocks in one message, up to the last rank and down again."""
    program = Program("allreduce", n, n * k, True)
    whole = (("i", 0), ("i", 0), n * k)
    for r in range(n):
        up = dict(send=r + 1 if r < n - 1 else -1, recv=r - 1)
        down = dict(send=r - 1, recv=r + 1 if r < n - 1 else -1, channel=1)
        program.step(r, "s" if r == 0 else "rrcs" if r < n - 1 else "rrc", *whole, **up)
        last = (list(program.blocks[r]).index((up["send"], up["recv"], 0)), 0)
        program.step(r, "s" if r == n - 1 else "rcs" if r > 0 else "r", *whole, after=last, **down)
    return program


def alltoall(n, k):
    program = Program("alltoall", n, n * k, False)
    for r in range(n):
        program.step(r, "cpy", ("i", r * k), ("o", r * k), k)
        for q in range(n):
            if q != r:
                program.step(r, "s", ("i", q * k), ("o", r * k), k, send=q)
                program.step(r, "r", ("i", r * k), ("o", q * k), k, recv=q)
    return program


def two_step_alltoall(nodes, gpus):
    """Between nodes by one message: gpu g of a node gathers what goes to gpus g of other nodes."""
    n = nodes * gpus
    program = Program("alltoall", n, n, False)
    for node in range(nodes):
        for g in range(gpus):
            r = node * gpus + g
            program.step(r, "cpy", ("i", r), ("o", r))
            for h in range(gpus):
                if h != g:
                    program.step(r, "s", ("i", node * gpus + h), ("o", r), send=node * gpus + h)
                    program.step(r, "r", ("i", r), ("o", node * gpus + h), recv=node * gpus + h)
            for m in range(nodes):
                if m == node:
                    continue
                come = []
                for h in range(gpus):
                    if h == g:
                        come.append(program.step(r, "cpy", ("i", m * gpus + g), ("s", m * gpus + g)))
                    else:
                        program.step(r, "s", ("i", m * gpus + h), ("s", m * gpus + g), send=node * gpus + h)
                        come.append(program.step(r, "r", ("i", r), ("s", m * gpus + h), recv=node * gpus + h))
                for one in come[:-1]:
                    program.step(r, "nop", count=0, send=m * gpus + g, after=one)
                program.step(r, "s", ("s", m * gpus), ("o", node * gpus), gpus, send=m * gpus + g, after=come[-1])
                program.step(r, "r", ("s", m * gpus), ("o", m * gpus), gpus, recv=m * gpus + g)
    return program


def relaying_alltoall(n, _):
    """Up a ring of 4. One message has the last hop of blocks to rank + 3 and the first of blocks to rank + 2: its blocks have two sources, and consecutive destinations."""
    program = Program("alltoall", n, n, False)
    for r in range(n):
        ring = dict(send=(r + 1) % n, recv=(r - 1) % n)
        def of(k):
            return ("i", (r + k) % n), ("o", (r - k) % n)
        program.step(r, "cpy", ("i", r), ("o", r))
        program.step(r, "cpy", of(2)[0], ("s", 1), **ring)
        for kind, src, dst, count in (
                ("s", of(3)[0], ("s", 4), 1), ("rcs", ("s", 4), ("s", 4), 1), ("r", ("s", 4), ("s", 0), 1),
                ("s", ("s", 0), ("s", 2), 2), ("r", ("s", 2), ("s", 2), 2), ("cpy", ("s", 2), of(3)[1], 1),
                ("s", ("s", 3), ("s", 3), 1), ("r", ("s", 3), of(2)[1], 1),
                ("s", of(1)[0], ("o", r), 1), ("r", of(1)[0], of(1)[1], 1)):
            program.step(r, kind, src, dst, count, **ring)
    return program


def hierarchical_allreduce(nodes, gpus):
    """Within nodes a reduce-scatter, between them an exchange of sums, within nodes an allgather."""
    n = nodes * gpus
    program = Program("allreduce", n, gpus, True)
    for node in range(nodes):
        for g in range(gpus):
            r = node * gpus + g
            up, down = node * gpus + (g + 1) % gpus, node * gpus + (g - 1) % gpus
            ring = dict(send=up, recv=down)
            program.step(r, "s", ("i", (g - 1) % gpus), ("i", (g - 1) % gpus), **ring)
            for i in range(2, gpus):
                program.step(r, "rrs", ("i", (g - i) % gpus), ("i", (g - i) % gpus), **ring)
            last = program.step(r, "rrc", ("i", g), ("i", g), **ring)
            # Around the nodes, with the own chunk.
            m_up, m_down = (node + 1) % nodes * gpus + g, (node - 1) % nodes * gpus + g
            between = dict(send=m_up, recv=m_down, channel=1)
            program.step(r, "cpy", ("i", g), ("s", 0), after=last, **between)
            program.step(r, "s", ("s", 0), ("s", 0), **between)
            for i in range(1, nodes):
                program.step(r, "r" if i == nodes - 1 else "rcs", ("s", i), ("s", i), **between)
                last = program.step(r, "re", ("s", i), ("i", g), **between)
            program.step(r, "nop", count=0, after=last, channel=2, **ring)
            program.step(r, "s", ("i", g), ("i", g), channel=2, **ring)
            for i in range(1, gpus):
                c = (g - i) % gpus
                program.step(r, "r" if i == gpus - 1 else "rcs", ("i", c), ("i", c), channel=2, **ring)
    return program


def tree_broadcast(n, k):
    program = Program("broadcast", n, k, True)
    for r in range(n):
        come = program.step(r, "r", ("i", 0), ("i", 0), k, recv=(r - 1) // 2) if r > 0 else None
        for child in (2 * r + 1, 2 * r + 2):
            if child < n:
                program.step(r, "s", ("i", 0), ("i", 0), k, send=child, after=come)
    return program


def main():
    name, ranks = sys.argv[1:3]
    makers = {"recursive-halving": recursive_halving, "chain-allreduce": chain_allreduce, "direct-allreduce": direct_allreduce, "ring-allgather": ring_allgather, "ring-allreduce": ring_allreduce,
              "ring-reduce-scatter": ring_reduce_scatter,
              "copying-allgather": lambda n, k: copying(ring_allgather, n, k),
              "copying-allreduce": lambda n, k: copying(ring_allreduce, n, k),
              "copying-reduce-scatter": lambda n, k: copying(ring_reduce_scatter, n, k),
              "recursive-doubling": recursive_doubling, "alltoall": alltoall,
              "two-step-alltoall": two_step_alltoall, "relaying-alltoall": relaying_alltoall, "hierarchical-allreduce": hierarchical_allreduce,
              "tree-broadcast": tree_broadcast}
    if "x" in ranks:
        program = makers[name](*map(int, ranks.split("x")))
    else:
        program = makers[name](int(ranks), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    program.print(name)


main()
