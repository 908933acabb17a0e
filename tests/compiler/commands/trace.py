"""Prints a trace of some ranks: trace.py RANKS [calls], with events of calls only."""
import json
import sys

ranks = int(sys.argv[1])
calls_only = len(sys.argv) > 2
events = []


def event(rank, category, name, begin, length, **args):
    events.append(
        {"ph": "X", "pid": rank + 1, "cat": category, "name": name, "ts": begin, "dur": length, "args": args}
    )


for rank in range(ranks):
    arrival = [0, 10, 40][rank]
    if calls_only:
        event(rank, "collective", "MPI_Allreduce", arrival, 60 - arrival, bytes=1024, call="a")
        event(rank, "collective", "MPI_Bcast", 100, 10, bytes=16, call="b")
        continue
    event(rank, "call", "MPI_Allreduce", arrival, 60 - arrival, bytes=1024, detail="a.torc")
    event(rank, "collective", "allreduce", arrival + 1, 58 - arrival, bytes=1024, call="a")
    event(rank, "send", "send", 42, 10, bytes=512, operation=0)
    event(rank, "reduce", "reduce", 50, 2, bytes=512, operation=1)
    event(rank, "collective", "broadcast", 100, 10, bytes=16, call="b")
    event(rank, "receive", "receive", 101, 5, bytes=16, operation=0)
event(0, "call", "MPI_Allreduce", 200, 5, bytes=8, detail="no schedule")
print(json.dumps({"traceEvents": events, "otherData": {"dropped": 0}}))
