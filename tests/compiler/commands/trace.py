"""Prints a trace of some ranks: trace.py RANKS."""
import json
import sys

ranks = int(sys.argv[1])
events = []


def event(rank, category, name, begin, length, **args):
    events.append(
        {"ph": "X", "pid": rank + 1, "cat": category, "name": name, "ts": begin, "dur": length, "args": args}
    )


def flow(number, phase, rank, time):
    events.append({"ph": phase, "pid": rank + 1, "cat": "message", "id": number, "ts": time})


for rank in range(ranks):
    arrival = [0, 10, 40][rank]
    event(rank, "call", "MPI_Allreduce", arrival, 60 - arrival, bytes=1024, detail="a.torc")
    event(rank, "collective", "allreduce", arrival + 1, 58 - arrival, bytes=1024, schedule="allreduce")
    event(rank, "send", "send", 42, 10, bytes=512, operation=0)
    event(rank, "reduce", "reduce", 50, 2, bytes=512, operation=1)
    event(rank, "collective", "broadcast", 100, 10, bytes=16, schedule="broadcast")
    event(rank, "receive", "receive", 101, 5, bytes=16, operation=0)
    if ranks > 1:
        for number, time in (("a", 43), ("b", 102)):
            flow(f"{number}{rank}", "s", rank, time)
            flow(f"{number}{rank}", "f", (rank + 1) % ranks, time + 1)
event(0, "call", "MPI_Allreduce", 200, 5, bytes=8, detail="no schedule")
print(json.dumps({"traceEvents": events, "otherData": {"dropped": 0}}))
