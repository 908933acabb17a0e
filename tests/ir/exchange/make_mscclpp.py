#!/usr/bin/env python3
"""make_mscclpp.py PROGRAM GPUS [REPEAT]: an MSCCL++ execution plan on stdout, as its language writes them.

put-allgather, read-allreduce, packet-allreduce, port-allgather, group-allreduce, semaphore-alltoall, ring-allreduce
(REPEAT blocks of a gpu).
"""
import json
import sys


class Plan:
    def __init__(self, collective, gpus, chunks, in_place=True, packets=False):
        self.header = {"name": collective, "collective": collective, "protocol": "LL" if packets else "Simple",
                       "inplace": in_place}
        self.gpus = [{"id": r, "input_chunks": chunks[0], "output_chunks": chunks[1], "scratch_chunks": chunks[2],
                      "threadblocks": [], "channels": [], "remote_buffers": [], "semaphores": []} for r in range(gpus)]
        self.peers = [{} for _ in range(gpus)]  # (type, peer) -> index among the type's channels
        self.buffers = [{} for _ in range(gpus)]

    def block(self, gpu):
        blocks = self.gpus[gpu]["threadblocks"]
        blocks.append({"id": len(blocks), "ops": [], "channels": [], "remote_buffer_refs": []})
        return Block(self, gpu, blocks[-1])

    def print(self):
        print(json.dumps({**self.header, "gpus": self.gpus}, indent=1))


class Block:
    def __init__(self, plan, gpu, block):
        self.plan, self.gpu, self.block = plan, gpu, block
        self.ids = {}

    def listed(self, lists, type_key, ids_key, kind, index):
        """The place of a channel or buffer in the thread block's own list."""
        known = self.ids.setdefault((ids_key, kind), [])
        if index not in known:
            known.append(index)
            self.block[lists] = [one for one in self.block[lists] if one[type_key] != kind] + [{type_key: kind, ids_key: known}]
        return known.index(index)

    def channel(self, kind, peer):
        gpu, peers = self.plan.gpus[self.gpu], self.plan.peers[self.gpu]
        if (kind, peer) not in peers:
            peers[kind, peer] = sum(1 for other, _ in peers if other == kind)
            for channel in gpu["channels"]:
                if channel["channel_type"] == kind:
                    channel["connected_to"].append(peer)
                    break
            else:
                gpu["channels"].append({"channel_type": kind, "connected_to": [peer]})
        return self.listed("channels", "channel_type", "channel_ids", kind, peers[kind, peer])

    def there(self, peer, letter, index, size=1, kind="memory"):
        gpu, known = self.plan.gpus[self.gpu], self.plan.buffers[self.gpu]
        if (peer, letter) not in known:
            known[peer, letter] = len(known)
            gpu["remote_buffers"].append({"rank": peer, "type": letter, "access_channel_types": ["memory", "port"]})
        number = self.listed("remote_buffer_refs", "access_channel_type", "remote_buffer_ids", kind, known[peer, letter])
        return {"buffer_id": number, "index": index, "size": size}

    def op(self, name, src=None, dst=None, peers=None, kind="memory", **more):
        op = {"name": name}
        if src:
            op["src_buff"] = src
        if dst:
            op["dst_buff"] = dst
        if peers is not None:
            op["channel_ids"] = [self.channel(kind, peer) for peer in peers]
        if any("buffer_id" in one for one in (src or []) + (dst or [])) or peers is not None:
            op["channel_type"] = kind
        self.block["ops"].append({**op, **more})
        return self


def here(letter, index, size=1):
    return {"type": letter, "index": index, "size": size}


def others(gpu, gpus):
    return [(gpu + i) % gpus for i in range(1, gpus)]


def put_allgather(n, _):
    """A thread block for each peer."""
    plan = Plan("allgather", n, (1, n, 0))
    for r in range(n):
        for p in others(r, n):
            block = plan.block(r)
            block.op("put", [here("o", r)], [block.there(p, "o", r)]).op("nop")
            block.op("signal", peers=[p]).op("wait", peers=[p])
    return plan


def read_allreduce(n, _):
    """Each gpu reads its chunk of all others, and writes the sum to them."""
    plan = Plan("allreduce", n, (n, n, 0))
    for r in range(n):
        block, all_peers = plan.block(r), others(r, n)
        block.op("rlxsignal", peers=all_peers).op("rlxwait", peers=all_peers).op("nop")
        block.op("rres", [here("i", r)] + [block.there(p, "i", r) for p in all_peers],
                 [here("i", r)] + [block.there(p, "i", r) for p in all_peers], reduce_op="sum").op("nop")
        block.op("signal", peers=all_peers).op("wait", peers=all_peers)
    return plan


def packet_allreduce(n, _):
    """Chunks go to who reduces them, sums come back, all as packets."""
    plan = Plan("allreduce", n, (n, n, 2 * n), packets=True)
    for r in range(n):
        block, all_peers = plan.block(r), others(r, n)
        for p in all_peers:
            block.op("ppkt", [here("i", p)], [block.there(p, "s", r)])
        block.op("respkt", [here("i", r)] + [here("s", p) for p in all_peers],
                 [here("i", r)] + [block.there(p, "s", n + r) for p in all_peers], reduce_op="sum")
        block = plan.block(r)
        for p in all_peers:
            block.op("upkt", [here("s", n + p)], [here("i", p)])
    return plan


def port_allgather(n, _):
    """Around a ring of ports."""
    plan = Plan("allgather", n, (1, n, 0), in_place=False)
    for r in range(n):
        block, up, down = plan.block(r), (r + 1) % n, (r - 1) % n
        block.op("copy", [here("i", 0)], [here("o", r)]).op("nop")
        for i in range(n - 1):
            chunk = (r - i) % n
            block.op("pws" if i % 2 else "pwsf", [here("o", chunk)], [block.there(up, "o", chunk, kind="port")], [up], "port")
            block.op("wait", peers=[down], kind="port").op("nop")
        block.op("flush", peers=[up], kind="port")
    return plan


def group_allreduce(n, _):
    """Two thread blocks share each chunk, one of them signals."""
    plan = Plan("allreduce", n, (1, 1, 1))
    for r in range(n):
        for t in range(2):
            block, all_peers, share = plan.block(r), others(r, n), {"tb_id": t, "tbg_size": 2}
            block.op("copy", [here("i", 0)], [here("s", 0)], tbg_info=share)
            block.op("barrier", barrier_id=0, num_threadblocks=2)
            if t == 0:
                block.op("signal", peers=all_peers).op("wait", peers=all_peers)
            block.op("barrier", barrier_id=0, num_threadblocks=2)
            block.op("rre", [here("i", 0)] + [block.there(p, "s", 0) for p in all_peers], [here("i", 0)],
                     reduce_op="sum", tbg_info=share)
    return plan


def semaphore_alltoall(n, _):
    """One thread block puts into scratch, another copies what has come."""
    plan = Plan("alltoall", n, (n, n, n), in_place=False)
    for r in range(n):
        plan.gpus[r]["semaphores"] = [{"init_value": 0}]
        block = plan.block(r)
        for p in others(r, n):
            block.op("put", [here("i", p)], [block.there(p, "s", r)]).op("nop").op("signal", peers=[p])
        for p in others(r, n):
            block.op("wait", peers=[p]).op("sem_release", semaphore_ids=[0])
        block = plan.block(r).op("copy", [here("i", r)], [here("o", r)])
        for p in others(r, n):
            block.op("sem_acquire", semaphore_ids=[0]).op("nop").op("copy", [here("s", p)], [here("o", p)])
    return plan


def ring_allreduce(n, k):
    """What a gpu sums comes into scratch of its own."""
    plan = Plan("allreduce", n, (n * k, n * k, (n - 1) * k))
    for r in range(n):
        block, up, down = plan.block(r), (r + 1) % n, (r - 1) % n
        for c in range(k):
            for i in range(1, n):
                slot = c * (n - 1) + i - 1
                block.op("put", [here("i", (r - i) % n * k + c)], [block.there(up, "s", slot)]).op("nop")
                block.op("signal", peers=[up]).op("wait", peers=[down]).op("nop")
                chunk = (r - i - 1) % n * k + c
                block.op("re", [here("i", chunk), here("s", slot)], [here("i", chunk)], reduce_op="sum").op("nop")
            for i in range(n - 1):
                chunk = (r - i) % n * k + c
                block.op("put", [here("i", chunk)], [block.there(up, "i", chunk)]).op("nop")
                block.op("signal", peers=[up]).op("wait", peers=[down]).op("nop")
    return plan


def main():
    makers = {"put-allgather": put_allgather, "read-allreduce": read_allreduce, "packet-allreduce": packet_allreduce,
              "port-allgather": port_allgather, "group-allreduce": group_allreduce,
              "semaphore-alltoall": semaphore_alltoall, "ring-allreduce": ring_allreduce}
    makers[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1).print()


main()
