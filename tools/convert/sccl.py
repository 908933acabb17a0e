"""SCCL algorithms (microsoft/msccl-tools msccl/serialization.py, algorithm.py, collectives.py): in each step chunks go from
gpu to gpu, all as they are when it begins. Which collective it is, follows from where chunks begin and end. A sum that
arrives where some of it is already replaces that if it has all of it, and is added if it has nothing of it.
"""
import collections

import torc
from places import CHUNKS, RANKS, Json, shown

ADDRESSES = 1 << 40

Send = collections.namedtuple("Send", "address source to line step")


class Address:
    """Where the chunks of an address begin, one gpu for each, and end: everywhere is None."""

    def __init__(self, ends):
        self.begins, self.ends, self.index = [], ends, 0


def convert(text, origin):
    return Algorithm(Json(text, origin)).program


class Algorithm:
    def __init__(self, json):
        self.json = json
        root = json.root
        kind = json.member(root, "sccl_type" if '"sccl_type"' in json.text else "msccl_type")  # as it was called until 2021
        if kind.of != "algorithm":
            json.refuse(root.line, f"is of type {shown(kind.of)}; algorithms are imported")
        steps = [self.sends(number, step) for number, step in enumerate(json.elements(root, "steps"))]
        collective = json.member(root, "collective")
        self.line = collective.line
        self.ranks = json.number(collective, "nodes", 1, RANKS)
        self.parts = json.number(json.member(root, "instance"), "chunks", 1, CHUNKS)
        self.addresses = {}
        for chunk in json.elements(collective, "chunks"):
            self.add_chunk(chunk)
        self.addresses = dict(sorted(self.addresses.items()))
        if not self.addresses:
            json.refuse(self.line, "has no chunks")
        topology = root.of.get("topology")
        self.links = topology.of.get("links") if topology and isinstance(topology.of, dict) else None
        self.program = self.find_collective()
        self.slots = collections.defaultdict(dict)  # of each gpu's scratch, by what is in them
        self.sums = {}  # of a gpu's address, if not its own contribution alone: whose are in it, a bit for each
        if self.collective == "alltoall":
            for number, address in self.addresses.items():
                for part in range(self.parts if address.begins[0] == address.ends else 0):
                    _, place = self.place(number * self.parts + part, address.ends)
                    self.move(address.ends, ("in", place), address.ends, ("out", place), False, self.line)
        for step in steps:
            self.add_step(step)

    def sends(self, number, step):
        sends = []
        for send in self.json.elements(step, "sends"):
            if not isinstance(send.of, list) or len(send.of) != 3:
                self.json.refuse(send.line, "a send is an address and two gpus")
            address = self.json.whole(send.of[0], "an address", 0, ADDRESSES)
            sends.append(Send(address, *(self.json.whole(gpu, "a gpu", 0, RANKS - 1) for gpu in send.of[1:]), send.line, number))
            if sends[-1].source == sends[-1].to:
                self.json.refuse(send.line, "a gpu sends to itself")
        return sends

    def add_chunk(self, chunk):
        pre, post = self.json.elements(chunk, "pre"), self.json.elements(chunk, "post")
        number = self.json.number(chunk, "addr", 0, ADDRESSES)
        if len(pre) != 1 or len(post) not in (1, self.ranks):
            self.json.refuse(chunk.line, f"a chunk begins on {len(pre)} gpus and ends on {len(post)}, as in no collective that is imported")
        ends = {self.json.whole(gpu, "a gpu", 0, self.ranks - 1) for gpu in post}
        end = None if len(ends) == self.ranks > 1 else min(ends)
        address = self.addresses.setdefault(number, Address(end))
        address.begins.append(self.json.whole(pre[0], "a gpu", 0, self.ranks - 1))
        if len(ends) != len(post) or end != address.ends:
            self.json.refuse(chunk.line, f"the chunks of address {number} end on different gpus")

    def find_collective(self):
        """What it is, and the place of each address in the vector."""
        first, ranks = next(iter(self.addresses.values())), self.ranks
        sums, to_all = len(first.begins) > 1 or ranks == 1, first.ends is None
        from_one = all(address.begins == first.begins for address in self.addresses.values())
        self.collective = (("allreduce" if to_all or ranks == 1 else "reduce_scatter") if sums else
                           ("broadcast" if from_one else "allgather") if to_all else "alltoall")
        if self.collective == "broadcast" and first.begins[0] != 0:
            self.json.refuse(self.line, f"a broadcast comes from gpu 0, not from gpu {first.begins[0]}")
        of_block = collections.Counter()  # addresses of one block, or of one pair of gpus, are its parts
        for number, address in self.addresses.items():
            if (address.ends is None) != to_all or (sorted(address.begins) != list(range(ranks)) if sums else len(address.begins) != 1):
                self.json.refuse(self.line, f"address {number} begins or ends as in no collective that is imported")
            address.index = of_block[self.block(address)]
            of_block[self.block(address)] += 1
        per_block = of_block[self.block(first)]
        blocks = {"alltoall": ranks * ranks, "allreduce": 1, "broadcast": 1}.get(self.collective, ranks)
        if len(of_block) != blocks or set(of_block.values()) != {per_block}:
            self.json.refuse(self.line, f"the {len(self.addresses)} addresses are not shared evenly by the gpus")
        self.per_block = per_block * self.parts
        chunks = self.per_block * (ranks if blocks > 1 else 1)
        if chunks > CHUNKS:
            self.json.refuse(self.line, f"has {chunks} chunks of a vector; at most {CHUNKS} are imported")
        self.is_sum = sums
        return torc.Program(self.collective, ranks, chunks, in_order=True)

    def block(self, address):
        return {"allgather": address.begins[0], "reduce_scatter": address.ends,
                "alltoall": (address.begins[0], address.ends)}.get(self.collective, 0)

    def place(self, number, rank):
        """Where a part of an address lies on a gpu: buffer, chunk."""
        address = self.addresses[number // self.parts]
        part = address.index * self.parts + number % self.parts
        if self.collective != "alltoall":
            return "in" if self.collective != "allgather" else "out", (self.block(address) or 0) * self.per_block + part
        if rank == address.ends:
            return "out", address.begins[0] * self.per_block + part
        if rank == address.begins[0]:
            return "in", address.ends * self.per_block + part
        return self.scratch(rank, number)

    def scratch(self, rank, what):
        return "scratch", self.slots[rank].setdefault(what, len(self.slots[rank]))

    def move(self, source, read, to, written, adds, line):
        (self.program.add if adds else self.program.copy)(to, written[1], source, read[1], written[0], read[0],
                                                          src=f"{self.json.origin}:{line}")

    def has_link(self, send):
        """Whether the topology says so, which has chunks per step by receiver, then by sender; or nothing."""
        at = self.links
        for gpu in (send.to, send.source) if at else ():
            if not isinstance(at.of, list) or len(at.of) <= gpu:
                return False
            at = at.of[gpu]
        return at is None or (isinstance(at.of, (int, float)) and at.of > 0)

    def add_step(self, sends):
        """All that is sent is what was there before: what comes where something is sent waits in scratch."""
        for send in sends:
            if max(send.source, send.to) >= self.ranks:
                self.refuse(send, f"there are {self.ranks} gpus")
            if send.address // self.parts not in self.addresses:
                self.refuse(send, f"there is no address {send.address}")
            if not self.has_link(send):
                self.refuse(send, "the topology has no such link")
        sent = {(send.source, send.address) for send in sends}
        arriving = [self.sum(send.source, send.address) for send in sends]
        used, waiting = collections.Counter(), []
        for send, words in zip(sends, arriving):
            adds = self.is_sum and self.add_sum(send, words)
            read, written = self.place(send.address, send.source), self.place(send.address, send.to)
            if (send.to, send.address) not in sent:
                self.move(send.source, read, send.to, written, adds, send.line)
                continue
            slot = self.scratch(send.to, ("step", used[send.to]))
            used[send.to] += 1
            self.move(send.source, read, send.to, slot, False, send.line)
            waiting.append((send.to, slot, send.to, written, adds, send.line))
        for one in waiting:
            self.move(*one)

    def sum(self, rank, address):
        return self.sums.get((rank, address), 1 << rank)

    def add_sum(self, send, arriving):
        """Whether what arrives is added; it replaces what is there otherwise."""
        there = self.sum(send.to, send.address)
        if there & arriving and there & ~arriving:
            self.refuse(send, f"double sum: address {send.address} on gpu {send.to} has some of what arrives, and something else")
        self.sums[send.to, send.address] = there | arriving
        return not there & arriving

    def refuse(self, send, what):
        self.json.refuse(send.line, f"link {send.source} to {send.to} step {send.step}: {what}")
