#!/usr/bin/env python3
"""make_links.py PROGRAM GPUS [PARTS]: on stdout a schedule that says which chunk goes over which link.

SCCL algorithms: sccl-allgather (both ways round a ring, PARTS of each chunk), sccl-allreduce (recursive doubling),
sccl-alltoall (from neighbour to neighbour). TACOS results: tacos-allgather (around a ring, PARTS chunks of each NPU).
"""
import json
import sys


def sccl(name, n, parts, chunks, steps):
    """Chunks are (where they begin, where they end, address), steps lists of sends."""
    collective = {"msccl_type": "collective", "name": name, "nodes": n, "triggers": {}, "runtime_name": name,
                  "chunks": [{"msccl_type": "chunk", "pre": [pre], "post": post, "addr": addr} for pre, post, addr in chunks]}
    instance = {"msccl_type": "instance", "steps": len(steps), "extra_rounds": 0, "chunks": parts, "pipeline": None,
                "extra_memory": None, "allow_exchange": False}
    used = {(b, a) for sends in steps for _, a, b in sends}
    links = [[int((b, a) in used) for a in range(n)] for b in range(n)]
    return json.dumps({
        "msccl_type": "algorithm", "name": name, "instance": instance, "input_map": {}, "output_map": {},
        "steps": [{"msccl_type": "step", "rounds": 1, "sends": sends} for sends in steps],
        "collective": collective,
        "topology": {"msccl_type": "topology", "name": "used", "switches": [], "links": links}}, indent=1)


def sccl_allgather(n, parts):
    everywhere = list(range(n))
    steps = [[[(r - i) % n * parts + part, r, (r + 1) % n] for r in range(n) for part in range(parts)] for i in range(n - 1)]
    return sccl("allgather", n, parts, [(c, everywhere, c) for c in range(n)], steps)


def sccl_allreduce(n, parts):
    everywhere = list(range(n))
    steps = [[[part, r, r ^ (1 << bit)] for r in range(n) for part in range(parts)] for bit in range(n.bit_length() - 1)]
    return sccl("allreduce", n, parts, [(c, everywhere, 0) for c in range(n)], steps)


def sccl_alltoall(n, parts):
    steps = []
    for i in range(n - 1):
        # What is still on its way goes on by one.
        steps.append([[(to * n + come) * parts + part, (come + i) % n, (come + i + 1) % n]
                      for come in range(n) for to in range(n) for part in range(parts) if (to - come) % n > i])
    return sccl("alltoall", n, parts, [(c % n, [c // n], c) for c in range(n * n)], steps)


def tacos_allgather(n, parts):
    lines = [f"NPUs Count,{n}", f"Links Count,{2 * n}", f"Chunks Count,{n * parts}", "Chunk Size,1048576,B",
             "SrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks"]
    for r in range(n):
        chunks = [(r - i) % n + part * n for i in range(n - 1) for part in range(parts)]
        lines.append(f"{r},{(r + 1) % n},500,50," + ",".join(map(str, chunks)))
        lines.append(f"{r},{(r - 1) % n},500,50,None")
    return "\n".join(lines)


def main():
    makers = {"sccl-allgather": sccl_allgather, "sccl-allreduce": sccl_allreduce, "sccl-alltoall": sccl_alltoall,
              "tacos-allgather": tacos_allgather}
    print(makers[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1))


main()
