// The sample schedules. Step numbers and blocks are those of the ring reduce-scatter and
// allgather: at step s, node x sends block x-1-s and receives block x-2-s; the allgather is the
// time reversal.
#include "tests/schedules/sample_schedule.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace torc::samples {
namespace {

/// Index of `value` in `table`, where it is appended if it is new.
template <typename T>
std::uint32_t intern(std::vector<T>& table, const T& value) {
  const auto found = std::ranges::find(table, value);
  const auto index = static_cast<std::uint32_t>(found - table.begin());
  if (found == table.end()) table.push_back(value);
  return index;
}

/// Allreduce of one part along `order`: reduce-scatters in order, allgathers in reverse, each
/// phase behind the one before.
class PartAllreduce {
 public:
  PartAllreduce(ScheduleWriter& writer, const Color& color, std::uint32_t part)
      : writer_(writer),
        order_(color.order.begin(), color.order.begin() + color.axis_count),
        part_(part),
        stream_(writer.stream(part)) {}

  /// Phases 0 .. axes-1 reduce, the rest gathers.
  void addPhase(std::uint32_t phase) {
    const auto axes = static_cast<std::uint32_t>(order_.size());
    std::vector<std::uint32_t> before = std::exchange(phase_operations_, {});
    if (phase < axes) {
      addReduceScatter(phase, before);
    } else {
      addAllgather(2 * axes - 1 - phase, before);
    }
    if (phase_operations_.empty()) phase_operations_ = std::move(before);
  }

 private:
  std::uint32_t sizeOf(std::uint32_t axis) const {
    return writer_.schedule().topology.axes[axis].size;
  }

  /// The block that `order_[level]` moves: axes before it are at the own coordinate.
  Box blockAt(std::uint32_t level, std::int32_t start) const {
    Box box;
    for (std::uint32_t i = 0; i < level; ++i)
      box[order_[i]] = Interval::relative(0);
    box[order_[level]] = Interval::relative(start);
    return box;
  }

  void add(const Operation& operation, std::vector<std::uint32_t> dependences) {
    phase_operations_.push_back(writer_.add(stream_, operation, dependences));
  }

  void addReduceScatter(std::uint32_t level, const std::vector<std::uint32_t>& before) {
    const std::uint32_t axis = order_[level];
    const auto steps = static_cast<std::int32_t>(sizeOf(axis)) - 1;
    for (std::int32_t s = 0; s < steps; ++s) {
      const Box sent = blockAt(level, -1 - s);
      const Box received = blockAt(level, -2 - s);
      // The first send reads what the phase before left; the others what was just reduced.
      const bool from_in = level == 0 && s == 0;
      const Region source = from_in ? writer_.in(part_, sent) : writer_.out(part_, sent);
      const Region own = level == 0 ? writer_.in(part_, received) : writer_.out(part_, received);
      std::vector<std::uint32_t> after = before;
      if (s > 0) after = {phase_operations_.back()};
      add(send(source, writer_.shift(axis, 1)), after);
      add(recvReduce(writer_.out(part_, received), own,
                     writer_.scratch(writer_.frame(part_, received), received),
                     writer_.shift(axis, -1)),
          before);
    }
  }

  void addAllgather(std::uint32_t level, const std::vector<std::uint32_t>& before) {
    const std::uint32_t axis = order_[level];
    const auto steps = static_cast<std::int32_t>(sizeOf(axis)) - 1;
    for (std::int32_t k = 0; k < steps; ++k) {
      std::vector<std::uint32_t> after = before;
      if (k > 0) after = {phase_operations_.back()};
      add(send(writer_.out(part_, blockAt(level, -k)), writer_.shift(axis, 1)), after);
      add(recv(writer_.out(part_, blockAt(level, -1 - k)), writer_.shift(axis, -1)), before);
    }
  }

  ScheduleWriter& writer_;
  std::vector<std::uint8_t> order_;
  std::uint32_t part_;
  std::uint32_t stream_;
  std::vector<std::uint32_t> phase_operations_;  // of the last phase that has any
};

}  // namespace

Operation operationOf(OperationKind kind, const Region& dst, const Region& a, const Region& b,
                      std::uint32_t peer) {
  Operation operation;
  operation.kind = kind;
  operation.peer = peer;
  operation.dst = dst;
  operation.a = a;
  operation.b = b;
  return operation;
}

Operation guarded(Operation operation, std::uint32_t guard) {
  operation.guard = guard;
  return operation;
}

Topology damaged(std::string_view shape, const std::vector<std::string_view>& nodes,
                 const std::vector<std::string_view>& links, std::string_view order) {
  Topology topology = parsed(shape, order);
  Status added;
  for (const std::string_view node : nodes)
    if (added.ok()) added = topology.addDeadNode(*parseDeadNode(topology, node));
  for (const std::string_view link : links)
    if (added.ok()) added = topology.addDeadLink(*parseDeadLink(topology, link));
  if (!added.ok()) std::abort();
  return topology;
}

ScheduleWriter::ScheduleWriter(Collective collective, std::string_view shape,
                               std::string_view order) {
  schedule_.collective = collective;
  schedule_.topology = parsed(shape, order);
  schedule_.name = rowOf(collective).name;
  schedule_.producer = "sample";
}

std::uint32_t ScheduleWriter::color(std::string_view axes, std::uint64_t weight,
                                    std::uint32_t directions, std::uint32_t chunks) {
  const std::uint32_t first_part = schedule_.view().partCount();
  Color color;
  color.weight = weight;
  color.directions = directions;
  color.chunks = chunks;
  color.axis_count = static_cast<std::uint32_t>(axes.size());
  for (std::uint32_t i = 0; i < axes.size(); ++i) {
    std::uint8_t axis = 0;
    while (schedule_.topology.axes[axis].name != axes[i])
      ++axis;
    color.order[i] = axis;
  }
  schedule_.colors.push_back(color);
  return first_part;
}

std::uint32_t ScheduleWriter::stream(std::uint32_t part) {
  schedule_.streams.push_back({.part = part, .core = 0});
  return static_cast<std::uint32_t>(schedule_.streams.size()) - 1;
}

std::uint32_t ScheduleWriter::box(const Box& box) {
  return intern(schedule_.boxes, box);
}

std::uint32_t ScheduleWriter::shift(std::uint32_t axis, std::int32_t distance) {
  Shift shift{};
  shift[axis] = distance;
  return intern(schedule_.shifts, shift);
}

std::uint32_t ScheduleWriter::frame(std::uint32_t part, const Box& box, std::uint32_t slot) {
  if (slot == kNone) slot = schedule_.slot_count;
  schedule_.slot_count = std::max(schedule_.slot_count, slot + 1);
  schedule_.frames.push_back({.part = part, .box = this->box(box), .slot = slot});
  return static_cast<std::uint32_t>(schedule_.frames.size()) - 1;
}

Region ScheduleWriter::list(Buffer buffer, const std::vector<Piece>& pieces, std::uint32_t frame) {
  const auto first = static_cast<std::uint32_t>(schedule_.pieces.size());
  schedule_.pieces.insert(schedule_.pieces.end(), pieces.begin(), pieces.end());
  return {.buffer = buffer,
          .pieces = static_cast<std::uint16_t>(pieces.size()),
          .box = first,
          .frame = frame};
}

std::uint32_t ScheduleWriter::frameOf(const Region& region) {
  schedule_.frames.push_back({.part = region.part,
                              .box = region.box,
                              .slot = schedule_.slot_count++,
                              .pieces = region.pieces});
  return static_cast<std::uint32_t>(schedule_.frames.size()) - 1;
}

std::uint32_t ScheduleWriter::add(std::uint32_t stream, Operation operation,
                                  const std::vector<std::uint32_t>& dependences) {
  std::vector<std::uint32_t>& table = schedule_.dependences;
  operation.stream = stream;
  operation.phase = phase_;
  operation.first_dependence = static_cast<std::uint32_t>(table.size());
  operation.dependence_count = static_cast<std::uint32_t>(dependences.size());
  table.insert(table.end(), dependences.begin(), dependences.end());
  schedule_.operations.push_back(operation);
  return static_cast<std::uint32_t>(schedule_.operations.size()) - 1;
}

Schedule ringAllreduce(std::uint32_t size) {
  return multicolorAllreduce(std::to_string(size));
}

Schedule ringReduceScatter(std::uint32_t size) {
  ScheduleWriter writer(Collective::kReduceScatter, std::to_string(size));
  const std::uint32_t part = writer.color("X");
  const std::uint32_t stream = writer.stream(part);
  const auto steps = static_cast<std::int32_t>(size) - 1;
  if (steps == 0) {
    const Box own = boxOf(Interval::relative(0));
    writer.add(stream, copy(writer.out(part, own), writer.in(part, own)));
  }
  Region partial;  // what the step before reduced
  std::uint32_t reduced = kNone;
  for (std::int32_t s = 0; s < steps; ++s) {
    const Box sent = boxOf(Interval::relative(-1 - s));
    const Box received = boxOf(Interval::relative(-2 - s));
    const bool last = s == steps - 1;
    if (s == 0) {
      writer.add(stream, send(writer.in(part, sent), writer.shift(0, 1)));
    } else {
      writer.add(stream, send(partial, writer.shift(0, 1)), {reduced});
    }
    const Region staging = writer.scratch(writer.frame(part, received), received);
    partial = last ? writer.out(part, boxOf(Interval::relative(0)))
                   : writer.scratch(writer.frame(part, received), received);
    reduced = writer.add(
        stream, recvReduce(partial, writer.in(part, received), staging, writer.shift(0, -1)));
  }
  return writer.take();
}

Schedule signalledAllgather(std::uint32_t size) {
  ScheduleWriter writer(Collective::kAllgather, std::to_string(size));
  const std::uint32_t part = writer.color("X");
  const std::uint32_t stream = writer.stream(part);
  const auto block = [](std::int32_t distance) { return boxOf(Interval::relative(distance)); };
  std::uint32_t received =
      writer.add(stream, copy(writer.out(part, block(0)), writer.in(part, block(0))));
  for (std::int32_t k = 0; k + 1 < static_cast<std::int32_t>(size); ++k) {
    const std::uint32_t ready =
        writer.add(stream, operationOf(OperationKind::kNotify, {}, {}, {}, writer.shift(0, -1)));
    const std::uint32_t told =
        writer.add(stream, operationOf(OperationKind::kAwait, {}, {}, {}, writer.shift(0, 1)));
    writer.add(stream, send(writer.out(part, block(-k)), writer.shift(0, 1)), {received, told});
    received =
        writer.add(stream, recv(writer.out(part, block(-k - 1)), writer.shift(0, -1)), {ready});
  }
  return writer.take();
}

Schedule directAlltoall(std::string_view shape) {
  ScheduleWriter writer(Collective::kAlltoall, shape);
  Schedule& schedule = writer.schedule();
  const std::uint32_t axes = schedule.topology.axis_count;
  std::string order;
  Box own, to, from;
  PeerLoop peers;
  peers.order = PeerOrder::kShuffled;
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    order += schedule.topology.axes[axis].name;
    own[axis] = Interval::relative(0);
    to[axis] = Interval::ofPeer(true);
    from[axis] = Interval::ofPeer(false);
    peers.count[axis] = schedule.topology.axes[axis].size;
  }
  const std::uint32_t part = writer.color(order);
  const std::uint32_t stream = writer.stream(part);
  const std::uint32_t self = writer.box(own);
  schedule.pairs = {{self, self}, {self, writer.box(to)}, {writer.box(from), self}};
  schedule.peer_loops = {peers};
  writer.add(stream, copy(boxRegion(Buffer::kOut, part, 0), boxRegion(Buffer::kIn, part, 0)));
  for (Operation message :
       {send(boxRegion(Buffer::kIn, part, 1), 0), recv(boxRegion(Buffer::kOut, part, 2), 0)}) {
    message.peer_kind = PeerKind::kLoop;
    writer.add(stream, message);
  }
  return writer.take();
}

Schedule meshAllgather(std::uint32_t size) {
  ScheduleWriter writer(Collective::kAllgather, std::to_string(size) + "m");
  const std::uint32_t part = writer.color("X");
  const std::uint32_t stream = writer.stream(part);
  const auto d = static_cast<std::int32_t>(size);
  const Box own = boxOf(Interval::relative(0));
  const std::uint32_t copied =
      writer.add(stream, copy(writer.out(part, own), writer.in(part, own)));
  for (const std::int32_t sign : {1, -1}) {
    std::uint32_t received = copied;
    for (std::int32_t k = 0; k < d - 1; ++k) {
      // The line up: x sends block x-k to x+1 if there is such a block and such a node.
      const std::int32_t nodes = d - 1 - k;
      const auto length = static_cast<std::uint32_t>(nodes);
      const std::int32_t first_sender = sign > 0 ? k : 1;
      const std::int32_t first_receiver = sign > 0 ? k + 1 : 0;
      const Box sent = boxOf(Interval::relative(-sign * k));
      const Box next = boxOf(Interval::relative(-sign * (k + 1)));
      writer.add(stream,
                 guarded(send(writer.out(part, sent), writer.shift(0, sign)),
                         writer.box(boxOf(Interval::absolute(first_sender, length)))),
                 {received});
      received = writer.add(stream,
                            guarded(recv(writer.out(part, next), writer.shift(0, -sign)),
                                    writer.box(boxOf(Interval::absolute(first_receiver, length)))));
    }
  }
  return writer.take();
}

Schedule meshBroadcast(std::uint32_t size) {
  ScheduleWriter writer(Collective::kBroadcast, std::to_string(size) + "m");
  const std::uint32_t part = writer.color("X");
  const std::uint32_t stream = writer.stream(part);
  const Box whole = boxOf(Interval::all());
  const auto when = [&](const Interval& interval) { return writer.box(boxOf(interval)); };
  const std::uint32_t copied = writer.add(
      stream,
      guarded(copy(writer.out(part, whole), writer.in(part, whole)), when(Interval::root())));
  const std::uint32_t from_below =
      writer.add(stream, guarded(recv(writer.out(part, whole), writer.shift(0, -1)),
                                 when(Interval::fromRoot(1, size - 1))));
  writer.add(stream,
             guarded(send(writer.out(part, whole), writer.shift(0, 1)),
                     when(Interval::fromRoot(0, size - 2))),
             {copied, from_below});
  const std::uint32_t from_above = writer.add(
      stream,
      guarded(recv(writer.out(part, whole), writer.shift(0, 1)), when(Interval::toRoot(0, -1))));
  writer.add(
      stream,
      guarded(send(writer.out(part, whole), writer.shift(0, -1)), when(Interval::toRoot(1, 0))),
      {copied, from_above});
  return writer.take();
}

Schedule multicolorAllreduce(std::string_view shape, std::uint32_t chunks) {
  ScheduleWriter writer(Collective::kAllreduce, shape);
  const Topology& topology = writer.schedule().topology;
  std::vector<PartAllreduce> parts;
  for (std::uint32_t c = 0; c < topology.axis_count; ++c) {
    std::string axes;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      axes += topology.axes[(c + i) % topology.axis_count].name;
    }
    const std::uint32_t first = writer.color(axes, 1, 1, chunks);
    for (std::uint32_t k = 0; k < chunks; ++k)
      parts.emplace_back(writer, writer.schedule().colors[c], first + k);
  }
  for (std::uint32_t phase = 0; phase < 2 * topology.axis_count; ++phase) {
    writer.phase(static_cast<std::uint16_t>(phase));
    for (PartAllreduce& part : parts)
      part.addPhase(phase);
  }
  return writer.take();
}

Schedule damagedAllgather() {
  ScheduleWriter writer(Collective::kAllgather, "3");
  const std::uint32_t stream = writer.stream(writer.color("X"));
  const Box own = boxOf(Interval::relative(0));
  writer.add(stream, copy(writer.out(0, own), writer.in(0, own)));
  for (const std::int32_t sign : {1, -1}) {
    const std::int32_t sender = sign > 0 ? 0 : 1;
    writer.add(stream, guarded(send(writer.in(0, own), writer.shift(0, sign)),
                               writer.box(boxOf(Interval::absolute(sender)))));
    writer.add(stream, guarded(recv(writer.out(0, boxOf(Interval::relative(-sign))),
                                    writer.shift(0, -sign)),
                               writer.box(boxOf(Interval::absolute(1 - sender)))));
  }
  Schedule schedule = writer.take();
  schedule.topology = damaged("3", {"2"}, {"1:X"});
  return schedule;
}

Schedule bothWaysReduceScatter() {
  ScheduleWriter writer(Collective::kReduceScatter, "3");
  writer.color("X", 1, 2);
  const std::uint32_t stream = writer.stream(kNone);
  const auto whole = [&](std::int32_t offset) {
    return std::vector<Piece>{{0, 2, writer.box(boxOf(Interval::relative(offset)))}};
  };
  const auto halves = [&](std::int32_t offset) {
    const std::uint32_t box = writer.box(boxOf(Interval::relative(offset)));
    return std::vector<Piece>{{0, 1, box}, {1, 1, box}};
  };
  const auto all_of = [&](std::uint32_t frame) {
    return wholeFrame(writer.schedule().frames[frame], frame);
  };
  const std::uint32_t first = writer.frameOf(writer.list(Buffer::kScratch, whole(0)));
  const std::uint32_t second = writer.frameOf(writer.list(Buffer::kScratch, halves(0)));
  writer.add(stream, send(writer.list(Buffer::kIn, whole(1)), writer.shift(0, 1)));
  writer.add(stream, send(writer.list(Buffer::kIn, halves(-1)), writer.shift(0, -1)));
  const Region own_sum = writer.list(Buffer::kOut, whole(0));
  const Region own = writer.list(Buffer::kIn, whole(0));
  const std::uint32_t before =
      writer.add(stream, recvReduce(own_sum, own, all_of(first), writer.shift(0, -1)));
  const std::uint32_t received = writer.add(stream, recv(all_of(second), writer.shift(0, 1)));
  const Region result = writer.list(Buffer::kOut, halves(0));
  writer.add(stream, operationOf(OperationKind::kReduce, result, result, all_of(second)),
             {before, received});
  return writer.take();
}

Schedule segmentedAllreduce(std::uint32_t size) {
  Schedule schedule = ringAllreduce(size);
  schedule.segments = 3;
  schedule.window = 3;  // scratch for each of them
  // A send waits for itself in the segment before, its number being the highest that it waits for.
  std::vector<std::uint32_t> dependences;
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    Operation& operation = schedule.operations[i];
    const auto before = schedule.view().dependencesOf(operation);
    operation.first_dependence = static_cast<std::uint32_t>(dependences.size());
    dependences.insert(dependences.end(), before.begin(), before.end());
    if (!sends(operation.kind)) continue;
    dependences.push_back(schedule.dependence(i, {.segments = 1}));
    ++operation.dependence_count;
  }
  schedule.dependences = std::move(dependences);
  return schedule;
}

std::vector<Schedule> all() {
  return {ringAllreduce(4),
          ringReduceScatter(4),
          signalledAllgather(4),
          directAlltoall("3x2m"),
          meshAllgather(4),
          meshBroadcast(4),
          multicolorAllreduce("3x2", 2),
          multicolorAllreduce("2x3x2"),
          damagedAllgather(),
          bothWaysReduceScatter(),
          segmentedAllreduce(3)};
}

}  // namespace torc::samples
