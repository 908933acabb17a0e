"""MSCCL++ execution plans (microsoft/mscclpp src/core/executor/execution_plan.cc, python/mscclpp/language) as MSCCL XML. Their
data move one-sided: a gpu writes into the buffer of another, or reads it, and a signal reports it. The messages of XML have two
ends. So the work of a thread block in the memory of another gpu becomes a thread block there, and that of a proxy one of its own:

- put through memory: a message that is complete when it has arrived, as stores precede the signal that follows. A put through a
  port is sent by the proxy, in the order of requests, as are the port's signals. A flush waits for it.
- get, and the reading reductions: a signal that requests the chunks, and a message back.
- signal and wait: messages without chunks, which order other steps. Barriers and semaphores: dependences.
- packets: a packet's reader waits for its writer. Each place in scratch has one packet, once.

Operations of a thread block are assumed to be in order: the `nop`s that synchronise threads of the block are not checked. A
pipeline runs once, as for chunks of at most its unit. Shares of thread block groups are assumed to be of equal size.
"""
import collections
from xml.sax.saxutils import quoteattr

from mscclpp_plan import Plan
from places import CHUNKS, STEPS

# Channels of XML. Signals through memory and ports use the number of the channel between the two gpus; stores and reads of a
# thread block use its own number.
PORTS, STORES, REQUESTS, ANSWERS = (number << 14 for number in range(1, 5))


class Step:
    """A step of XML. It waits for `after`: the number of a thread block and of its step, or an Event. Without chunks: a signal."""
    __slots__ = "kind", "source", "target", "count", "after", "line", "number", "arrives"

    def __init__(self, op, kind, source=None, target=None, arrives=False, after=None):
        self.kind, self.line, self.number, self.arrives, self.after = kind, op.line, op.number, arrives, after
        self.source, self.target = (one and (one.buffer, one.first) for one in (source, target))
        self.count = source.count if source else 0


class Lane:
    """A thread block of XML: of one connection."""
    __slots__ = "number", "connection", "name", "steps"

    def __init__(self, number, connection, name):
        self.number, self.connection, self.name, self.steps = number, connection, name, []


class Event:
    """A step whose place is not yet known, and that others wait for; `missing` is the fault if it never happens."""
    __slots__ = "happened", "step", "missing"

    def __init__(self):
        self.happened, self.step, self.missing = False, None, ""


NO_PEERS = (-1, -1, 0)  # of a connection: the gpus that are sent to and received from, and the channel


class Program:
    """A plan as steps. Events are keyed by their kind, gpu, the gpu that causes them, port, semaphore, barrier or chunk, and turn."""

    def __init__(self, plan):
        self.plan, self.origin = plan, plan.origin
        self.lanes = [{} for _ in plan.gpus]    # of a gpu: by thread block of the plan, if of one, and connection
        self.packets = [{} for _ in plan.gpus]  # of a gpu: by chunk, the event
        self.events = collections.defaultdict(Event)
        self.waited, self.signalled = collections.Counter(), collections.Counter()
        self.steps = 0
        self.check_sizes()
        for self.rank, gpu in enumerate(plan.gpus):
            for op in self.ops_of(gpu):
                self.find_packets(op)
        for self.rank, self.gpu in enumerate(plan.gpus):
            self.add_rank()
        self.place_events()

    def refuse(self, op, what):
        self.plan.refuse(op.line, f"gpu {self.rank} tb {self.block} step {op.number}: {what}")

    def ops_of(self, gpu):
        for self.block, ops in enumerate(gpu.blocks):
            yield from ops

    def check_sizes(self):
        """All gpus share them."""
        plan, ranks = self.plan, len(self.plan.gpus)
        for rank, gpu in enumerate(plan.gpus):
            own, out, scratch = gpu.chunks
            chunks = max(own, out)
            if plan.collective == "allgather" and out == 0:
                chunks = own * ranks
            if plan.collective.startswith("reduce") and own == 0:
                chunks = out * ranks
            chunks *= plan.shares
            if rank == 0:
                self.chunks = chunks
            if chunks != self.chunks or not 1 <= chunks <= CHUNKS or scratch * plan.shares > CHUNKS:
                why = (", unlike gpu 0" if chunks != self.chunks else "" if chunks < 1 else
                       f", in {plan.shares} shares each; at most {CHUNKS} are imported")
                plan.refuse(1, f"gpu {rank} has {own}, {out} and {scratch} chunks of input, output and scratch{why}")
        for rank, gpu in enumerate(plan.gpus):
            for peer in [channel.peer for channels in gpu.channels for channel in channels] + [of for of, _ in gpu.buffers]:
                if peer >= ranks or peer == rank:
                    plan.refuse(1, f"gpu {rank} has gpu {peer} as a peer, of {ranks} gpus")

    # Steps and events.

    def lane(self, rank, block, connection):
        lanes = self.lanes[rank]
        if (block, connection) not in lanes:
            lanes[block, connection] = Lane(len(lanes), connection, f"gpu {self.rank} tb {self.block}")
        return lanes[block, connection]

    def push(self, lane, step, before=()):
        """Appends a step that waits for all of `before`; empty steps before it carry all but one dependence."""
        for earlier in before:
            if earlier is None or (isinstance(earlier, tuple) and earlier[0] == lane.number):
                continue
            if step.after is not None:
                lane.steps.append(Step(step, "nop", after=step.after))
                self.steps += 1
            step.after = earlier
        lane.steps.append(step)
        self.steps += 1
        return lane.number, len(lane.steps) - 1

    def add(self, step, connection=NO_PEERS):
        """Adds a step to the current thread block, in order."""
        self.tail = self.push(self.lane(self.rank, self.block, connection), step, self.pending + [self.tail])
        self.pending = []
        return self.tail

    def end_so_far(self, op):
        return self.add(Step(op, "nop")) if self.pending else self.tail

    def add_there(self, rank, channel, step):
        """Adds a step in the memory of `rank`, after those of this gpu there on the channel."""
        ends = (self.rank, -1) if step.kind == "s" else (-1, self.rank)
        return self.push(self.lane(rank, None, (*ends, channel)), step)

    def happen(self, key, step):
        self.events[key].happened, self.events[key].step = True, step

    def wait_for(self, key, op, missing):
        """Makes the next step wait for an event."""
        self.events[key].missing = self.rank, self.block, op, missing
        self.pending.append(self.events[key])

    def place_events(self):
        for lanes in self.lanes:
            for step in (step for lane in lanes.values() for step in lane.steps):
                if isinstance(step.after, Event):
                    if not step.after.happened:
                        self.rank, self.block, op, missing = step.after.missing
                        self.refuse(op, missing)
                    step.after = step.after.step
        for (kind, rank, _, _, turn), event in sorted(self.events.items(), key=lambda item: item[0]):
            if kind == "port" and not event.missing:
                number, index = event.step
                lane = next(lane for lane in self.lanes[rank].values() if lane.number == number)
                step = lane.steps[index]
                self.plan.refuse(step.line, f"{lane.name} step {step.number}: sends signal {turn} to gpu {rank}, which nobody waits for")

    # Packets.

    def packets_at(self, chunks):
        return "packets", self.rank if chunks.rank is None else chunks.rank, 0, chunks.first, 0

    def find_packets(self, op):
        if not op.row.packets_written:
            return
        for chunks in op.targets[1 if op.row.kind == "reduce" else 0:]:  # the first target of a sum is data
            key = self.packets_at(chunks)
            rank = key[1]
            if chunks.buffer != "s":
                self.refuse(op, "writes packets to a buffer that is not scratch")
            if chunks.first + chunks.count > self.plan.gpus[rank].chunks[2] * self.plan.shares:
                self.refuse(op, f"writes packets beyond the scratch of gpu {rank}")
            for chunk in range(chunks.first, chunks.first + chunks.count):
                if chunk in self.packets[rank]:
                    self.refuse(op, f"writes packets to s[{chunks.first // self.plan.shares}] of gpu {rank}, where others are written: "
                                "readers could not tell them apart")
                self.packets[rank][chunk] = self.events[key]

    def wait_for_packets(self, op, chunks):
        events = {}
        for chunk in range(chunks.first, chunks.first + chunks.count):
            if chunks.buffer != "s" or chunk not in self.packets[self.rank]:
                self.refuse(op, "waits for packets that nobody writes")
            events[id(self.packets[self.rank][chunk])] = self.packets[self.rank][chunk]
        self.pending.extend(events.values())

    def check_scratch(self, op):
        """Packets take twice the space of data: packets and data have different places."""
        def has_data(chunks, of_packets):  # the first source and target of a sum are data
            data = chunks if not of_packets else chunks[:1] if op.row.kind == "reduce" else []
            return any(one.buffer == "s" and one.rank is None for one in data)

        # A port transfers packets as they are.
        if has_data(op.sources, op.row.packets_read or (op.row.packets_written and op.by_port)):
            self.refuse(op, "reads data from scratch, which has packets")
        if has_data(op.targets, op.row.packets_written):
            self.refuse(op, "writes data to scratch, which has packets")

    # Operations.

    def add_rank(self):
        self.barriers = {}  # by barrier and turn: the number of thread blocks, their arrivals, the last operation
        self.acquires, self.releases = (collections.defaultdict(list) for _ in range(2))  # of a semaphore: by which thread blocks
        for op in self.ops_of(self.gpu):
            self.count_semaphores(op)
        self.acquired, self.released = collections.Counter(), collections.Counter()
        for self.block, ops in enumerate(self.gpu.blocks):
            self.pending, self.tail, self.arrivals = [], None, collections.Counter()
            for op in ops:
                self.add_op(op)
            if ops:  # the last dependences must be met, too
                self.end_so_far(ops[-1])
        self.add_barriers()

    def add_op(self, op):
        kind = op.row.kind
        if self.steps > STEPS:
            self.refuse(op, f"has more than {STEPS} steps before it")
        if self.packets[self.rank]:
            self.check_scratch(op)
        if kind in ("copy", "put"):
            for i in range(len(op.targets)):
                source = op.sources[i % len(op.sources)]
                if op.row.packets_read:
                    self.wait_for_packets(op, source)
                self.add_write(op, source, i)
        elif kind == "reduce":
            self.add_reduction(op)
        elif kind == "get":
            for source, target in zip(op.sources, op.targets):
                self.add_read(op, "r", source, target)
        elif kind == "barrier":
            self.add_arrival(op)
        elif kind in ("acquire", "release"):
            self.add_semaphores(op)
        else:
            for channel in op.ids:
                self.add_signal(op, channel, kind)

    def add_write(self, op, source, number):
        """Writes chunks to a target: copies them, stores them in the memory of another gpu, or puts them there through a port."""
        target = op.targets[number]
        if target.rank is None:
            written = self.add(Step(op, "cpy", source, target))
        elif not op.by_port:
            self.add(Step(op, "s", source, source, arrives=True), (target.rank, -1, STORES + self.block))
            written = self.add_there(target.rank, STORES + self.block, Step(op, "r", target, target))
        else:
            port = op.ids[number]
            if port.peer != target.rank:
                self.refuse(op, f"puts to gpu {target.rank} through a port to gpu {port.peer}")
            self.add_by_proxy(op, port, Step(op, "s", source, source))
            written = self.add_there(target.rank, PORTS + port.number, Step(op, "r", target, target))
            if op.row.signals:  # the message itself is also the signal
                self.happen(self.signal_to(port), written)
            if op.row.flushes:
                self.add_signal(op, port, "flush")
        if op.row.packets_written:
            self.happen(self.packets_at(target), written)

    def add_by_proxy(self, op, port, step):
        """A port's proxy executes requests in order while the thread block continues; a flush waits for it."""
        proxy = self.lane(self.rank, None, (port.peer, -1, PORTS + port.number))
        if proxy.name != f"gpu {self.rank} tb {self.block}":
            self.refuse(op, f"port {self.gpu.channels[1].index(port)} serves {proxy.name}, too: who comes first is not said")
        asked = self.push(proxy, step, [self.end_so_far(op)])
        if step.arrives:
            self.pending.append(asked)

    def add_read(self, op, kind, source, target):
        self.add(Step(op, "s"), (source.rank, -1, REQUESTS + self.block))
        request = self.add_there(source.rank, REQUESTS + self.block, Step(op, "r"))
        self.add_there(source.rank, ANSWERS + self.block, Step(op, "s", source, source, after=request))
        self.add(Step(op, kind, target, target), (-1, source.rank, ANSWERS + self.block))

    def memory(self, chunks):
        """The memory of chunks of this gpu, so that aliases get one name."""
        if not self.plan.in_place or chunks.buffer == "s":
            return chunks.buffer, chunks.first
        is_own = self.plan.collective == "allgather" if chunks.buffer == "i" else self.plan.collective.startswith("reduce")
        return "i", chunks.first + (self.rank * (self.chunks // len(self.plan.gpus)) if is_own else 0)

    def add_reduction(self, op):
        """The sum accumulates in the first target; a source there is its first operand."""
        target = op.targets[0]
        buffer, first = self.memory(target)
        own = op.sources[:op.row.own_sources]
        begins = None
        for i, source in enumerate(own):
            other, at = self.memory(source)
            if other != buffer or at >= first + target.count or first >= at + target.count:
                continue
            if at != first or begins is not None:
                self.refuse(op, "its target overlaps its sources, and is not one of them")
            begins = i
        for source in own[1:] if op.row.packets_read else ():
            self.wait_for_packets(op, source)
        if begins is None:
            begins = 0
            self.add(Step(op, "cpy", op.sources[0], target))
        for source in own[:begins] + own[begins + 1:]:
            self.add(Step(op, "re", source, target))
        for source in op.sources[len(own):]:
            self.add_read(op, "rrc", source, target)
        for i in range(1, len(op.targets)):
            self.add_write(op, target, i)

    def signal_to(self, port):
        """The next signal through a port."""
        self.signalled[self.rank, port] += 1
        return "port", port.peer, self.rank, port.number, self.signalled[self.rank, port] - 1

    def add_signal(self, op, channel, kind):
        peer, number = channel
        if not op.by_port:  # stores need no flush
            if kind != "flush":
                self.add(*((Step(op, "r"), (-1, peer, number)) if kind == "wait" else (Step(op, "s"), (peer, -1, number))))
        elif kind == "wait":
            turn = self.waited[self.rank, channel]
            self.waited[self.rank, channel] += 1
            self.wait_for(("port", self.rank, peer, number, turn), op, f"waits for signal {turn} of gpu {peer}, which nobody sends")
        else:
            self.add_by_proxy(op, channel, Step(op, "s", arrives=kind == "flush"))
            arrival = self.add_there(peer, PORTS + number, Step(op, "r"))
            if kind == "signal":
                self.happen(self.signal_to(channel), arrival)

    def count_semaphores(self, op):
        for semaphore in op.ids if op.row.kind in ("acquire", "release") else ():
            uses = (self.acquires if op.row.kind == "acquire" else self.releases)[semaphore]
            uses.append(self.block)
            if op.row.kind == "acquire" and uses[0] != self.block:
                self.refuse(op, f"acquires semaphore {semaphore}, as another thread block does: who comes first is not said")

    def add_semaphores(self, op):
        for semaphore in op.ids:
            if op.row.kind == "release":
                self.happen(("semaphore", self.rank, 0, semaphore, self.released[semaphore]), self.end_so_far(op))
                self.released[semaphore] += 1
                continue
            turn, begin = self.acquired[semaphore], self.gpu.semaphores[semaphore]
            self.acquired[semaphore] += 1
            releases = self.releases[semaphore]
            is_known = len(set(releases)) <= 1  # else the releaser is known only after all of them
            if turn < begin or (not is_known and turn - begin + 1 < len(releases)):
                continue
            for one in range(turn - begin if is_known else 0, turn - begin + 1):
                self.wait_for(("semaphore", self.rank, 0, semaphore, one), op,
                              f"deadlock: acquires semaphore {semaphore} for the {turn + 1}. time, which begins with {begin} and is "
                              f"released {len(releases)} times")

    def add_arrival(self, op):
        barrier, blocks = op.ids
        turn = self.arrivals[barrier]
        self.arrivals[barrier] += 1
        known, arrivals, _ = self.barriers.get((barrier, turn), (blocks, [], op))
        if known != blocks:
            self.refuse(op, f"barrier {barrier} waits for {blocks} thread blocks here, for {known} elsewhere")
        self.barriers[barrier, turn] = blocks, arrivals + [self.end_so_far(op)], op
        self.wait_for(("barrier", self.rank, 0, barrier, turn), op, "")

    def add_barriers(self):
        """Each has a thread block, which all others wait for."""
        lanes = self.lanes[self.rank]
        for (barrier, turn), (blocks, arrivals, op) in sorted(self.barriers.items(), key=lambda item: item[0]):
            if len(arrivals) != blocks:
                self.plan.refuse(op.line, f"gpu {self.rank}: deadlock: barrier {barrier} waits for {blocks} thread blocks, and "
                                 f"{len(arrivals)} come to it")
            hub = lanes.setdefault(("barrier", barrier), Lane(len(lanes), NO_PEERS, f"gpu {self.rank} barrier {barrier}"))
            for arrival in arrivals:
                step = Step(op, "nop", after=arrival)
                step.number = turn
                last = self.push(hub, step)
            self.happen(("barrier", self.rank, 0, barrier, turn), last)

    def xml_lines(self):
        plan, src = self.plan, quoteattr(self.origin)[:-1]
        yield (f'<algo name="plan" proto="Simple" nchannels="1" nchunksperloop="{self.chunks}" ngpus="{len(plan.gpus)}" '
               f'coll="{plan.collective}" inplace="{int(plan.in_place)}" shares="{plan.shares}">\n')
        for rank, gpu in enumerate(plan.gpus):
            own, out, scratch = (chunks * plan.shares for chunks in gpu.chunks)
            yield f'  <gpu id="{rank}" i_chunks="{own}" o_chunks="{out}" s_chunks="{scratch}">\n'
            for lane in self.lanes[rank].values():
                send, receive, channel = lane.connection
                yield f'    <tb id="{lane.number}" send="{send}" recv="{receive}" chan="{channel}" name="{lane.name}">\n'
                for index, step in enumerate(lane.steps):
                    (source, first), (target, at) = step.source or ("i", 0), step.target or ("i", 0)
                    block, after = step.after or (-1, -1)
                    more = (' signal="1"' if step.kind != "nop" and not step.count else "") + (' arrives="1"' if step.arrives else "")
                    yield (f'      <step s="{index}" type="{step.kind}" srcbuf="{source}" srcoff="{first}" dstbuf="{target}" '
                           f'dstoff="{at}" cnt="{step.count}" depid="{block}" deps="{after}" src={src}:{step.line}{src[0]} '
                           f'number="{step.number}"{more}/>\n')
                yield "    </tb>\n"
            yield "  </gpu>\n"
        yield "</algo>\n"


def convert(text, origin):
    return Program(Plan(text, origin))
