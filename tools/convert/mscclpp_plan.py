"""The content of MSCCL++ execution plans."""
import collections
import math

from places import CHUNKS, RANKS, STEPS, Json, shown

BLOCKS, SHARES, LIST = 4096, 4096, 65535  # most thread blocks, channels of a type and barriers of a gpu; shares; ids or chunks of an operation
TOUCHED = 1 << 28                         # most chunks that all operations together touch
COLLECTIVES = ("allreduce", "allgather", "reducescatter", "reduce_scatter", "alltoall", "broadcast")
TYPES = {"memory": 0, "port": 1, "switch": None}
OF_SWITCH = ("glres", "glre", "gstore", "gstorepkt")

# An operation: the numbers of sources and of targets in the gpu's own buffers (None: all), the others, which follow, being
# remote. Packets carry a flag that their reader waits for; they are in scratch.
Row = collections.namedtuple("Row", "kind own_sources own_targets packets_read packets_written signals flushes",
                             defaults=(None, None, False, False, False, False))
ROWS = {
    "nop": None, "pipeline": None,  # followed by its operations
    "copy": Row("copy"),            # each source to its target
    "cpkt": Row("copy", packets_written=True),
    "upkt": Row("copy", packets_read=True),
    "re": Row("reduce", None, 1),   # the first target gets the sum of the sources, other targets a copy
    "res": Row("reduce", None, 1),
    "repkt": Row("reduce", None, 1, True, True),
    "respkt": Row("reduce", None, 1, True, True),
    "recpkt": Row("reduce", None, 2, True, True),
    "recspkt": Row("reduce", None, 2, True, True),
    "put": Row("put", None, 0),     # as a copy, to other gpus
    "pws": Row("put", None, 0, signals=True),
    "pwsf": Row("put", None, 0, signals=True, flushes=True),
    "ppkt": Row("put", None, 0, packets_written=True),
    "rppkt": Row("put", None, 0, True, True),
    "get": Row("get", 0, None),     # as a copy, from other gpus
    "rre": Row("reduce", 1, 1),
    "rres": Row("reduce", 1, 1),
    "signal": Row("signal"), "rlxsignal": Row("signal"), "wait": Row("wait"), "rlxwait": Row("wait"), "flush": Row("flush"),
    "barrier": Row("barrier"), "sem_acquire": Row("acquire"), "sem_release": Row("release"),
}

Chunks = collections.namedtuple("Chunks", "rank buffer first count")  # consecutive; rank: of a remote buffer, or None
Channel = collections.namedtuple("Channel", "peer number")  # the i-th of a type to a gpu is paired with that gpu's i-th back


class Op:
    __slots__ = "row", "by_port", "share", "shares", "line", "number", "ids", "sources", "targets"


class Gpu:
    def __init__(self):
        self.chunks, self.channels, self.buffers, self.semaphores = [], ([], []), [], []
        self.blocks = []  # the operations of each


class Plan(Json):
    """The content of a plan, with indices resolved. It is read gpu by gpu, so that the values of only one are in memory."""

    def __init__(self, text, origin):
        self.gpus, self.shares, self.reduction = [], 1, None
        self.ops = self.touched = self.highest = 0  # of all operations; highest: one past the last chunk
        super().__init__(text, origin, "gpus", self.read_gpu)
        self.collective = self.text_of(self.root, "collective")
        line = self.root.line
        if self.collective not in COLLECTIVES:
            self.refuse(line, f"the collective is {shown(self.collective)}; imported are allreduce, allgather, reducescatter, alltoall and broadcast")
        inplace = self.member(self.root, "inplace")
        if not isinstance(inplace.of, bool):
            self.refuse(inplace.line, "'inplace' is neither true nor false")
        self.in_place = inplace.of
        if not self.gpus:
            self.refuse(line, "has no gpus")
        if self.highest * self.shares > CHUNKS:
            self.refuse(line, f"names chunk {self.highest - 1}, in {self.shares} shares each; buffers have at most {CHUNKS}")
        if self.touched * self.shares > TOUCHED:
            self.refuse(line, f"its operations touch {self.touched * self.shares} chunks, or shares of them; the limit is {TOUCHED}")
        for gpu in self.gpus:
            for op in (op for block in gpu.blocks for op in block):
                op.sources, op.targets = (
                    [Chunks(one.rank, one.buffer, one.first * self.shares + op.share * (one.count * self.shares // op.shares),
                            one.count * self.shares // op.shares) for one in chunks] for chunks in (op.sources, op.targets))

    def text_of(self, value, key):
        found = self.member(value, key)
        if not isinstance(found.of, str):
            self.refuse(found.line, f"'{key}' is no string")
        return found.of

    def any(self, value, key):
        """The elements of a list that may be missing."""
        return self.elements(value, key) if isinstance(value.of, dict) and key in value.of else []

    def count(self, value, key, lowest=0):
        return self.number(value, key, lowest, CHUNKS)

    def buffer(self, value):
        name = self.text_of(value, "type")
        if name not in ("i", "o", "s"):
            self.refuse(value.line, f"type is {shown(name)}; allowed: i, o, s")
        return name

    def channel_type(self, value, key):
        """0: memory, 1: a port, None: a switch."""
        name = self.text_of(value, key)
        if name not in TYPES:
            self.refuse(value.line, f"{key} is {shown(name)}; allowed: memory, port, switch")
        return TYPES[name]

    def read_gpu(self, value):
        def at_most(count, most, what):
            if count > most:
                self.refuse(value.line, f"has more than {most} {what}")

        gpu, rank, numbers = Gpu(), len(self.gpus), collections.Counter()
        at_most(rank + 1, RANKS, "gpus")
        self.number(value, "id", rank, rank)
        gpu.chunks = [self.count(value, key) for key in ("input_chunks", "output_chunks", "scratch_chunks")]
        for channel in self.any(value, "channels"):
            kind = self.channel_type(channel, "channel_type")
            for one in self.elements(channel, "connected_to") if kind is not None else ():
                peer = self.whole(one, "a peer", 0, RANKS - 1)
                gpu.channels[kind].append(Channel(peer, numbers[kind, peer]))
                numbers[kind, peer] += 1
        at_most(max(map(len, gpu.channels)), BLOCKS, "channels of a type")
        for buffer in self.any(value, "remote_buffers"):
            gpu.buffers.append((self.number(buffer, "rank", 0, RANKS - 1), self.buffer(buffer)))
        gpu.semaphores = [self.count(one, "init_value") for one in self.any(value, "semaphores")]
        blocks = self.elements(value, "threadblocks")
        at_most(len(blocks), BLOCKS, "thread blocks")
        for block in blocks:
            self.read_block(gpu, block)
        self.gpus.append(gpu)

    def read_block(self, gpu, value):
        self.number(value, "id", len(gpu.blocks), len(gpu.blocks))
        channels, buffers = ([], []), ([], [])  # the block's own lists, of indices into those of the gpu
        for lists, key, type_key, ids_key, known in ((channels, "channels", "channel_type", "channel_ids", gpu.channels),
                                                     (buffers, "remote_buffer_refs", "access_channel_type", "remote_buffer_ids",
                                                      (gpu.buffers, gpu.buffers))):
            for one in self.any(value, key):
                kind, ids = self.channel_type(one, type_key), self.elements(one, ids_key)
                if kind is not None:
                    lists[kind].extend(known[kind][self.whole(number, "an id", 0, len(known[kind]) - 1)] for number in ids)
        block = []
        for index, op in enumerate(self.elements(value, "ops")):
            self.where = f"gpu {len(self.gpus)} tb {len(gpu.blocks)} step {index}: "
            for one in (op, *self.any(op, "ops")):  # those of a pipeline once, as for chunks of at most its unit
                self.read_op(gpu, channels, buffers, block, one, index)
        gpu.blocks.append(block)

    def fault(self, value, what):
        self.refuse(value.line, self.where + what)

    def read_op(self, gpu, channels, buffers, block, value, index):
        name = self.text_of(value, "name")
        if name not in ROWS:
            self.fault(value, f"'{name}' is done by a switch, which has no messages" if name in OF_SWITCH else f"there is no operation {shown(name)}")
        row = ROWS[name]
        if row is None:
            return
        self.ops += 1
        if self.ops > STEPS:
            self.fault(value, f"more than {STEPS} operations")
        op = Op()
        op.row, op.line, op.number, op.share, op.shares = row, value.line, index, 0, 1
        kind = self.channel_type(value, "channel_type") if "channel_type" in value.of else 0
        if kind is None:
            self.fault(value, f"'{name}' is on a switch channel, which has no messages")
        op.by_port = kind == 1
        if "tbg_info" in value.of:
            group = value.of["tbg_info"]
            op.shares = self.number(group, "tbg_size", 1, SHARES)
            op.share = self.number(group, "tb_id", 0, op.shares - 1)
            self.shares = self.shares * op.shares // math.gcd(self.shares, op.shares)
            if self.shares > SHARES:
                self.fault(value, "chunks are cut into too many shares")
        if "reduce_op" in value.of:
            reduction = self.text_of(value, "reduce_op")
            self.reduction = self.reduction or reduction
            if reduction != self.reduction:
                self.fault(value, f"reduces by {shown(reduction)}, and others by {shown(self.reduction)}")
        if row.kind == "barrier":
            op.ids = [self.number(value, "barrier_id", 0, BLOCKS - 1), self.number(value, "num_threadblocks", 1, BLOCKS)]
        elif row.kind in ("acquire", "release"):
            op.ids = self.ids(value, "semaphore_ids", range(len(gpu.semaphores)))
        else:
            op.ids = self.ids(value, "channel_ids", channels[kind])
        op.sources = [self.chunks(one, buffers[kind]) for one in self.some(value, "src_buff", "chunks")]
        op.targets = [self.chunks(one, buffers[kind]) for one in self.some(value, "dst_buff", "chunks")]
        self.check(value, name, op)
        block.append(op)

    def some(self, value, key, what):
        found = self.any(value, key)
        if len(found) > LIST:
            self.fault(value, f"too many {what}")
        return found

    def ids(self, value, key, known):
        return [known[self.whole(one, self.where + "an id", 0, len(known) - 1)] for one in self.some(value, key, "ids")]

    def chunks(self, value, buffers):
        remote = isinstance(value.of, dict) and value.of.get("buffer_id")
        rank, buffer = (buffers[self.whole(remote, "'buffer_id'", 0, len(buffers) - 1)] if remote else (None, self.buffer(value)))
        chunks = Chunks(rank, buffer, self.count(value, "index"), self.count(value, "size", 1))
        self.touched += chunks.count
        self.highest = max(self.highest, chunks.first + chunks.count)
        return chunks

    def check(self, value, name, op):
        """Checks the operands that the kind needs, for all later uses."""
        def lie(chunks, own):
            remote = [one.rank is not None for one in chunks]
            count = (remote + [True]).index(True)
            return count == (len(chunks) if own is None else own) and all(remote[count:])

        row, sources, targets = op.row, op.sources, op.targets
        moves, reduces = row.kind in ("copy", "put", "get"), row.kind == "reduce"
        is_one_source = row.kind == "put" and row.packets_read  # rppkt
        is_paired = moves and not is_one_source
        fits = row.kind == "barrier" or bool(op.ids)
        if moves or reduces:
            fits = lie(sources, row.own_sources) and lie(targets, row.own_targets)
        fits &= not is_paired or len(sources) == len(targets)
        fits &= not is_one_source or len(sources) == 1
        fits &= not reduces or bool(sources)
        fits &= not (op.by_port and row.kind == "put") or len(op.ids) == len(targets)
        fits &= not (op.by_port and row.kind == "get")
        fits &= not (op.by_port and reduces) or (lie(sources, None) and lie(targets, None))
        if not fits:
            self.fault(value, f"'{name}' has not the sources, targets and channels that it needs")
        for i, one in enumerate(sources + targets):
            other = sources[i % len(sources) if is_paired else 0]
            if one.count != other.count:
                self.fault(value, f"its sources and targets are of {other.count} and {one.count} chunks")
