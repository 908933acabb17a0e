"""torc from Python: schedules written chunk by chunk, and what the command `torc` knows, as values.

    import torc
    n = 8
    ring = torc.Program("allreduce", ranks=n, chunks=n)
    for c in range(n):
        for i in range(1, n):
            ring.add((c + i) % n, c, source=(c + i - 1) % n)
        for i in range(n, 2 * n - 1):
            ring.copy((c + i) % n, c, source=(c + i - 1) % n)
    ring.compile("ring.torc")
    print(torc.simulate("ring.torc", bytes="1M")["ratio"], "times the bound")

The file is by itself: no other module is needed. The command is $TORC, or `torc` on the path.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import quoteattr

BUFFERS = {"in": "i", "out": "o", "scratch": "s"}
# Of `compile` and `bounds`; a Program is of one of the first five.
COLLECTIVES = ("allreduce", "allgather", "reduce_scatter", "alltoall", "broadcast", "reduce", "gather", "scatter", "scan",
               "exscan", "neighbor_allgather", "neighbor_alltoall")


class TorcError(Exception):
    """What `torc` says on stderr."""


_HERE = (lambda: None).__code__.co_filename


def _callers():
    """(FILE, LINE) of the callers outside of this file, the innermost first."""
    frame, places = sys._getframe(1), []
    while frame is not None:
        if frame.f_code.co_filename != _HERE:
            places.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(places)


class Program:
    """A collective as one list of copies and additions of chunks, on all ranks, in an order in which they may be
    executed one by one. What does not touch the same chunk runs at the same time.

    collective: allreduce, allgather, reduce_scatter, alltoall, broadcast. `chunks`: that the vector of all blocks
    is cut into; a multiple of the ranks where ranks have blocks. In place (the default), "in" and "out" are one
    memory: chunk c of an allreduce's, of an allgather's and of a reduce_scatter's whole vector. An alltoall is
    not in place: chunk q*k+c of "in" goes to rank q, of "out" comes from it. `in_order`: messages between two ranks
    go in the order of the list; else as early as what they touch allows.
    """

    def __init__(self, collective, ranks, chunks, in_place=None, name=None, in_order=False):
        self.collective, self.ranks, self.chunks = collective, ranks, chunks
        if collective not in COLLECTIVES[:5]:
            raise ValueError(f"a Program's collective is {', '.join(COLLECTIVES[:5])}; not {collective!r}")
        self._made_at = _callers()
        self.in_place = collective != "alltoall" if in_place is None else in_place
        self.name, self.in_order = name or collective, in_order
        self._moves = []
        self._scratch = [0] * ranks
        self._levels = [{} for _ in range(ranks)]  # of a chunk: when it was written, and last read

    def copy(self, rank, chunk, source=None, from_chunk=None, buffer=None, from_buffer=None, count=1, channel=0,
             src=None):
        """`count` chunks of `rank`, from `chunk` on, become those of rank `source` (default: of the same rank) from
        `from_chunk` on (default: the same). Messages between two ranks on one channel keep their order. `src`:
        "FILE:LINE" that faults are to name, of all moves or none, and of one file; default: the caller's."""
        self._move(("cpy", "r"), rank, chunk, source, from_chunk, buffer, from_buffer, count, channel, src)

    def add(self, rank, chunk, source=None, from_chunk=None, buffer=None, from_buffer=None, count=1, channel=0,
            src=None):
        """The same chunks are added to those of `rank`."""
        self._move(("re", "rrc"), rank, chunk, source, from_chunk, buffer, from_buffer, count, channel, src)

    def _move(self, kinds, rank, chunk, source, from_chunk, buffer, from_buffer, count, channel, src):
        source = rank if source is None else source
        for one in (rank, source):
            if not 0 <= one < self.ranks:
                raise ValueError(f"there is no rank {one}: there are {self.ranks}")
        if count < 1:
            raise ValueError(f"count is {count}")
        for name in (buffer, from_buffer):
            if name is not None and name not in BUFFERS:
                raise ValueError(f"there is no buffer {name!r}; there are {', '.join(BUFFERS)}")
        src = src or _callers()
        default = "out" if self.collective in ("allgather", "alltoall") else "in"
        to = (BUFFERS[buffer or default], chunk)
        read = (BUFFERS[from_buffer or ("in" if self.collective == "alltoall" else default)],
                chunk if from_chunk is None else from_chunk)
        if self.in_place:  # the one memory, by the name of the buffer that holds all of it
            whole = "o" if self.collective == "allgather" else "i"
            to, read = [(whole if letter in "io" else letter, first) for letter, first in (to, read)]
        for one, (letter, first) in ((source, read), (rank, to)):
            if letter == "s":
                self._scratch[one] = max(self._scratch[one], first + count)
        level = 0 if self.in_order else self._level([(source, place) for place in self._cells(read, count)],
                                                    [(rank, place) for place in self._cells(to, count)])
        self._moves.append((level, kinds, rank, to, source, read, count, channel, src))

    def _level(self, reads, writes):
        """As early as what is touched allows: after who wrote what it reads, and who used what it writes."""
        level = 1 + max([self._levels[r].get(c, (0, 0))[0] for r, c in reads] +
                        [max(self._levels[r].get(c, (0, 0))) for r, c in writes])
        for r, c in reads:
            written, used = self._levels[r].get(c, (0, 0))
            self._levels[r][c] = written, max(used, level)
        for r, c in writes:
            self._levels[r][c] = level, level
        return level

    def _cells(self, place, count):
        letter, first = place
        return [(letter, first + i) for i in range(count)]

    def _thread_blocks(self):
        """For each rank its steps (kind, source, target, count, dependence, src) by (send, receive, channel)."""
        place = self._file()
        ranks = [_Rank(self) for _ in range(self.ranks)]
        for _, kinds, rank, to, source, read, count, channel, src in sorted(self._moves, key=lambda move: move[0]):
            if not isinstance(src, str):
                src = next((f"{file}:{line}" for file, line in src if file == place), None)
            if source == rank:
                reads = [read] if kinds[0] == "cpy" else [read, to]
                ranks[rank].step(kinds[0], read, to, count, (-1, -1, channel), reads, [to], src)
            else:
                ranks[source].step("s", read, to, count, (rank, -1, channel), [read], [], src)
                ranks[rank].step(kinds[1], to, to, count, (-1, source, channel), [to] if kinds[1] == "rrc" else [], [to], src)
        return [rank.blocks for rank in ranks]

    def _file(self):
        """The innermost file of callers that has a line of every move; None: there is none."""
        moves = [move[-1] for move in self._moves if not isinstance(move[-1], str)]
        common = set.intersection(*({file for file, _ in src} for src in set(moves))) if moves else ()
        return next((file for file, _ in moves[0] if file in common), None) if len(moves) == len(self._moves) > 0 else None

    def xml(self):
        """The program as MSCCL XML."""
        return "".join(self.xml_lines())

    def xml_lines(self):
        ranks = self._thread_blocks()
        channels = 1 + max((key[2] for blocks in ranks for key in blocks), default=0)
        yield (f'<algo name={quoteattr(self.name)} proto="Simple" nchannels="{channels}" nchunksperloop="{self.chunks}" '
               f'ngpus="{self.ranks}" coll="{self.collective.replace("_", "")}" inplace="{int(self.in_place)}" '
               f'outofplace="{int(not self.in_place)}" minBytes="0" maxBytes="0">\n')
        for rank, blocks in enumerate(ranks):
            named = {step[4] for steps in blocks.values() for step in steps}
            yield f'  <gpu id="{rank}" i_chunks="{self.chunks}" o_chunks="{self.chunks}" s_chunks="{self._scratch[rank]}">\n'
            for number, ((send, receive, channel), steps) in enumerate(blocks.items()):
                yield f'    <tb id="{number}" send="{send}" recv="{receive}" chan="{channel}">\n'
                for index, (kind, source, target, count, after, src) in enumerate(steps):
                    yield (f'      <step s="{index}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" '
                           f'dstbuf="{target[0]}" dstoff="{target[1]}" cnt="{count}" depid="{after[0]}" '
                           f'deps="{after[1]}" hasdep="{int((number, index) in named)}"' +
                           (f" src={quoteattr(src)}/>\n" if src else "/>\n"))
                yield "    </tb>\n"
            yield "  </gpu>\n"
        yield "</algo>\n"

    def compile(self, path, torus=None, order=None, graph=None):
        """Proves the program and writes its schedule file; `graph` is a table of links. Raises TorcError with the fault."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "program.xml")
            with open(source, "w") as file:
                file.write(self.xml())
            try:
                run("import", source, "-o", path, quiet=True, torus=torus, order=order, graph=graph)
            except TorcError as fault:
                # Faults of the whole program are of the line that made it.
                file, line = next((one for one in self._made_at if one[0] == self._file()), self._made_at[0])
                text = re.sub(re.escape(source) + r"(:\d+)?", lambda _: f"{file}:{line}", str(fault))
                raise TorcError(text.replace(f"{file}: error", f"{file}:{line}: error")) from None


class _Rank:
    """The thread blocks of a rank. Each has one peer and its own order; others are waited for by name."""

    def __init__(self, program):
        self.blocks = {}
        self._program = program
        self._numbers = {}
        self._writer, self._readers = {}, {}  # of a chunk: (thread block, step)

    def step(self, kind, source, target, count, block, reads, writes, src):
        steps = self.blocks.setdefault(block, [])
        number = self._numbers.setdefault(block, len(self._numbers))
        reads = [cell for place in reads for cell in self._program._cells(place, count)]
        writes = [cell for place in writes for cell in self._program._cells(place, count)]
        waits = {self._writer.get(cell) for cell in reads + writes}
        for cell in writes:
            waits.update(self._readers.pop(cell, ()))
        # The last step of each other thread block; a step waits for one, and a nop before it for
        # another.
        last = {}
        for wait in waits - {None}:
            if wait[0] != number:
                last[wait[0]] = max(last.get(wait[0], -1), wait[1])
        *others, final = sorted(last.items()) or [(-1, -1)]
        for wait in others:
            steps.append(("nop", ("i", -1), ("o", -1), 0, wait, src))
        steps.append((kind, source, target, count, final, src))
        here = number, len(steps) - 1
        for cell in reads:
            self._readers.setdefault(cell, []).append(here)
        for cell in writes:
            self._writer[cell] = here


def run(*arguments, **options):
    """What `torc ARGUMENTS --option=value...` prints on stdout. True: an option without a value. Underscores stand
    for hyphens. Raises TorcError."""
    command = [os.environ.get("TORC", "torc"), *map(str, arguments)]
    for option, value in options.items():
        if value is None or value is False:
            continue
        flag = "--" + option.replace("_", "-")
        command.append(flag if value is True else f"{flag}={value}")
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise TorcError(f"cannot run '{command[0]}': {error.strerror}; set TORC to the command, or PATH") from None
    if done.returncode != 0:
        raise TorcError(done.stderr.strip())
    return done.stdout


def compile(collective, torus, path, **options):
    """Compiles a collective for a torus, as `torc compile`: bytes="1M", machine="bgp"; without a size the best for
    1 MiB, or the form of algorithm="bucket"."""
    run("compile", collective, "-o", path, torus=torus, quiet=True, **options)


def verify(path, **options):
    """What `torc verify --json` says of a schedule file; count=N: of the programs for N elements. Raises TorcError with
    the faults."""
    return json.loads(run("verify", path, json=True, **options))


def view(path, page=None, **options):
    """Writes the page of `torc view`, by default beside the file, and returns its path."""
    page = os.path.splitext(path)[0] + ".html" if page is None else page
    run("view", path, "-o", page, **options)
    return page


def simulate(path, **options):
    """What `torc simulate --json` says of a schedule file: of bytes="1M" a dictionary, of "1K:1M" a list of them."""
    return json.loads(run("simulate", path, json=True, **options))


def bounds(collective, **options):
    """What `torc bounds --json` says."""
    return json.loads(run("bounds", collective, json=True, **options))
