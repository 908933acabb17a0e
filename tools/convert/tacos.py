"""TACOS results (astra-sim/tacos 1.1, src/writer/csv_writer.cpp): an allgather as a list of chunks for each link, in the
order in which they are sent. Chunk c begins on NPU c modulo their number. Latencies and bandwidths are for `torc import --graph`.
"""
import collections

import torc
from places import CHUNKS, RANKS, STEPS, Fault, integer


def convert(text, origin):
    lines = list(enumerate(map(str.strip, text.split("\n")), 1)) + [(0, "")] * 5

    def refuse(what):
        raise Fault(origin, number, what)

    counts = []
    for (number, line), name, most in zip(lines, ("NPUs Count", "Links Count", "Chunks Count"), (RANKS, STEPS, CHUNKS)):
        key, _, count = line.partition(",")
        if key != name:
            refuse(f"'{name},...' is expected")
        counts.append(integer(count, name, 1, most, refuse))
    ranks, link_count, chunks = counts
    if chunks % ranks != 0:
        refuse(f"{chunks} chunks are not shared evenly by {ranks} NPUs")
    for (number, line), begin in zip(lines[3:], ("Chunk Size,", "SrcID,")):
        if not line.startswith(begin):
            refuse(f"'{begin}...' is expected")

    links = {}
    for number, line in lines[5:]:
        fields = line.split(",")
        if not line:
            continue
        if len(fields) < 5:
            refuse("a link has five fields and more, this line fewer")
        ends = tuple(integer(field, name, 0, ranks - 1, refuse) for field, name in zip(fields, ("SrcID", "DestID")))
        if ends[0] == ends[1]:
            refuse("the link ends where it begins")
        if ends in links:
            refuse("the link is there twice")
        sent = [] if [field.strip() for field in fields[4:]] == ["None"] else fields[4:]
        links[ends] = number, [integer(field, "a chunk", 0, chunks - 1, refuse) for field in sent]
    number = max(number for number, _ in lines)
    if len(links) != link_count:
        refuse(f"has {len(links)} links, not {link_count}")
    return schedule(ranks, chunks, links, origin)


def schedule(ranks, chunks, links, origin):
    """A chunk is sent when it has come, and those before it on its link have been sent."""
    program = torc.Program("allgather", ranks, chunks, in_order=True)
    left = {link: collections.deque(sent) for link, (_, sent) in links.items()}
    has = {(chunk % ranks, chunk) for chunk in range(chunks)}
    waiting = collections.defaultdict(list)  # links, for a chunk on a NPU
    ready = collections.deque(links)
    while ready:
        source, to = link = ready.popleft()
        while left[link]:
            chunk = left[link][0]
            if (source, chunk) not in has:
                waiting[source, chunk].append(link)
                break
            left[link].popleft()
            has.add((to, chunk))  # TACOS has each chunk come back to where it began
            program.copy(to, chunk % ranks * (chunks // ranks) + chunk // ranks, source=source, src=f"{origin}:{links[link][0]}")
            ready.extend(waiting.pop((to, chunk), ()))
    for (source, to), chunks_left in left.items():
        if chunks_left:
            line, sent = links[source, to]
            raise Fault(origin, line, f"link {source} to {to} step {len(sent) - len(chunks_left)}: deadlock: waits for chunk "
                        f"{chunks_left[0]}, which does not come to NPU {source}")
    return program
