// Properties of expansion over random topologies (tori, meshes, cores, dead nodes), boxes, parts
// and counts: strided runs equal an enumeration element by element, and both ends of a message name
// the same elements.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedules/expansion/expand.h"
#include "schedules/expansion/shares.h"
#include "schedules/validation/validate.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

using samples::ScheduleWriter;

template <typename T>
T within(T low, T high) {
  return *rc::gen::inRange<T>(low, static_cast<T>(high + 1));
}

Topology randomTopology() {
  Topology topology;
  topology.axis_count = within(1u, 3u);
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    topology.axes[axis].size = within(1u, 6u);
    topology.axes[axis].name = "XYZ"[axis];
    if (within(0, 3) == 0) topology.axes[axis].kind = AxisKind::kMesh;
  }
  if (within(0, 3) == 0) {
    Axis& cores = topology.axes[topology.axis_count++];
    cores.size = within(1u, 3u);
    cores.name = 'T';
    cores.kind = AxisKind::kCore;
  }
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    topology.order[i] = static_cast<std::uint8_t>(i);
    std::swap(topology.order[i], topology.order[within(0u, i)]);
  }
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (std::uint32_t dead = within(0u, 3u); dead > 0 && dead < topology.ranks() / 2; --dead) {
    Coordinates at{};
    for (std::uint32_t axis = 0; axis < dimensions; ++axis)
      at[axis] = static_cast<std::int32_t>(within(0u, topology.axes[axis].size - 1));
    static_cast<void>(topology.addDeadNode(at).ok());  // no matter if it is dead already
  }
  if (!topology.validate().ok()) {  // the damage disconnects it
    topology.dead_node_count = 0;
    topology.dead_node_table = {};
  }
  return topology;
}

/// A box that lies inside for every node: on a mesh, absolute.
Box randomBox(const Topology& topology) {
  Box box;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    const auto last = static_cast<std::int32_t>(size - 1);
    const std::uint32_t length = within(1u, size);
    if (within(0, 3) == 0) continue;
    if (!topology.axes[axis].wraps()) {
      box[axis] = Interval::absolute(within(0, static_cast<std::int32_t>(size - length)), length);
    } else if (within(0, 1) == 0) {
      box[axis] = Interval::absolute(within(0, last), length);
    } else {
      box[axis] = Interval::relative(within(-last, last), length);
    }
  }
  return box;
}

/// A box inside `outer`, for every node.
Box randomBoxInside(const Topology& topology, const Box& outer) {
  Box box = outer;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    const bool all = outer[axis].kind == IntervalKind::kAll;
    const std::uint32_t room = all ? size : outer[axis].length;
    if (within(0, 1) == 0) continue;
    const std::uint32_t length = within(1u, room);
    const auto ahead = static_cast<std::int32_t>(within(0u, room - length));
    box[axis].start += ahead;
    box[axis].length = length;
    if (all) box[axis].kind = IntervalKind::kAbsolute;
    if (box[axis].kind == IntervalKind::kAbsolute) {
      box[axis].start %= static_cast<std::int32_t>(size);
    }
  }
  return box;
}

std::vector<std::uint8_t> randomOrder(const Topology& topology) {
  std::vector<std::uint8_t> order;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    order.push_back(static_cast<std::uint8_t>(i));
    std::swap(order[i], order[within(0u, i)]);
  }
  return order;
}

void addRandomColors(Schedule& schedule) {
  for (std::uint32_t colors = within(1u, 2u); colors > 0; --colors) {
    Color color;
    color.weight = within(1u, 3u);
    color.directions = within(1u, 2u);
    color.chunks = within(1u, 3u);
    color.axis_count = schedule.topology.axis_count;
    std::ranges::copy(randomOrder(schedule.topology), color.order.begin());
    schedule.colors.push_back(color);
  }
}

ScheduleWriter writerOn(Collective collective, const Topology& topology) {
  ScheduleWriter writer(collective, "2");
  writer.schedule().topology = topology;
  addRandomColors(writer.schedule());
  return writer;
}

Piece randomPiece(ScheduleWriter& writer, const Box& box) {
  const std::uint32_t parts = writer.schedule().view().partCount();
  Piece piece;
  piece.part = within(0u, parts - 1);
  piece.parts = within(1u, parts - piece.part);
  piece.box = writer.box(box);
  return piece;
}

/// Counts, whose tables this owns.
struct Call {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> per_rank, displacements;

  Counts counts() const { return {count, per_rank, displacements}; }
};

Call randomCall(const Schedule& schedule) {
  Call call;
  const std::uint64_t ranks = schedule.topology.ranks();
  const std::uint64_t parts = schedule.view().partCount();
  // Often divisible by all that it is divided by.
  const bool regular = within(0, 1) == 0;
  call.count = regular ? within(0u, 2u) * 720 * parts : within(0u, 200u);
  if (rowOf(schedule.collective).layout == Layout::kPartMajor || within(0, 2) > 0) return call;
  call.count = 0;
  std::uint64_t next = 0;
  const bool apart = within(0, 1) == 0;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    call.per_rank.push_back(within(0u, 20u));
    next += within(0u, 3u);
    if (apart) call.displacements.push_back(next);
    next += call.per_rank.back();
  }
  return call;
}

/// What enumeration gives, block by block and element by element.
class Enumeration {
 public:
  Enumeration(const ScheduleView& schedule, std::int32_t rank, const Counts& counts)
      : schedule_(schedule),
        at_(schedule.topology.coordinatesOf(rank)),
        rank_(rank),
        counts_(counts),
        part_major_(rowOf(schedule.collective).layout == Layout::kPartMajor),
        parts_(schedule) {}

  struct Block {
    std::uint32_t part, parts;
    Coordinates at;
    bool operator==(const Block&) const = default;
  };

  std::vector<Block> blocksOf(const PieceList& pieces) const {
    std::vector<Block> blocks;
    for (const Piece& piece : pieces) {
      const Ranges ranges = resolve(schedule_.boxes[piece.box], schedule_.topology, at_);
      const std::uint32_t step = part_major_ ? 1 : piece.parts;
      for (std::uint32_t part = piece.part; part < piece.part + piece.parts; part += step)
        nest(ranges, 0, {part, step, {}}, blocks);
    }
    return blocks;
  }

  /// Of a block in a buffer that holds the whole vector, or the own block alone.
  Extent place(const Block& block, bool whole) const {
    if (part_major_) {
      Extent extent = parts_.extent(block.part, {0, counts_.count});
      const Color& color = schedule_.colors[parts_.index(block.part).color];
      for (std::uint32_t level = 0; level < color.axis_count; ++level) {
        const std::uint32_t axis = color.order[level];
        extent = shareOf(extent, static_cast<std::uint64_t>(block.at[axis]),
                         schedule_.topology.axes[axis].size);
      }
      return extent;
    }
    const std::int32_t owner = schedule_.topology.rankOf(block.at);
    if (owner < 0) return {};
    const auto index = static_cast<std::size_t>(owner);
    std::uint64_t offset = 0, count = counts_.count;
    if (!counts_.per_rank.empty()) count = counts_.per_rank[index];
    if (whole && !counts_.displacements.empty()) {
      offset = counts_.displacements[index];
    } else if (whole) {
      for (std::size_t before = 0; before < index; ++before)
        offset += counts_.per_rank.empty() ? counts_.count : counts_.per_rank[before];
    }
    return parts_.extent(block.part, block.parts, {offset, count});
  }

  std::vector<std::uint64_t> elements(const Region& region, std::uint64_t scratch_base) const {
    std::vector<std::uint64_t> list;
    const auto add = [&](const Extent& extent) {
      for (std::uint64_t i = 0; i < extent.length; ++i)
        list.push_back(extent.offset + i);
    };
    const CollectiveRow& row = rowOf(schedule_.collective);
    const bool whole = region.buffer == Buffer::kIn ? row.inWhole() : row.outWhole();
    if (region.buffer != Buffer::kScratch) {
      for (const Block& block : blocksOf(schedule_.piecesOf(region)))
        add(place(block, whole));
      return list;
    }
    for (const Block& block : blocksOf(schedule_.piecesOf(region))) {
      const Extent wanted = place(block, true);
      std::uint64_t base = scratch_base;
      for (const Block& kept : blocksOf(schedule_.piecesOf(schedule_.frames[region.frame]))) {
        const Extent extent = place(kept, true);
        if (kept.at == block.at && kept.part <= block.part &&
            block.part + block.parts <= kept.part + kept.parts) {
          add({base + wanted.offset - extent.offset, wanted.length});
          break;
        }
        base += extent.length;
      }
    }
    return list;
  }

 private:
  void nest(const Ranges& ranges, std::uint32_t level, Block block,
            std::vector<Block>& blocks) const {
    const Color& color = schedule_.colors[parts_.index(block.part).color];
    if (level == color.axis_count) {
      blocks.push_back(block);
      return;
    }
    const std::uint32_t axis = color.order[level];
    for (std::uint32_t i = 0; i < ranges[axis].length; ++i) {
      block.at[axis] =
          static_cast<std::int32_t>((ranges[axis].start + i) % schedule_.topology.axes[axis].size);
      nest(ranges, level + 1, block, blocks);
    }
  }

  const ScheduleView& schedule_;
  const Coordinates at_;
  const std::int32_t rank_;
  const Counts counts_;
  const bool part_major_;
  const PartTable parts_;
};

std::vector<std::uint64_t> flattened(const FlatProgram& program, const FlatRegion& region) {
  std::vector<std::uint64_t> list;
  for (const Extent& extent : program.extentsOf(region)) {
    for (std::uint64_t i = 0; i < extent.length; ++i)
      list.push_back(extent.offset + i);
  }
  return list;
}

std::int32_t randomRank(const Schedule& schedule) {
  return static_cast<std::int32_t>(within<std::uint64_t>(0, schedule.topology.ranks() - 1));
}

RC_GTEST_PROP(ExpandProperties, StridedRunsAreWhatEnumerationGives, ()) {
  const Collective collective =
      *rc::gen::element(Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather);
  ScheduleWriter writer = writerOn(collective, randomTopology());
  const std::uint32_t stream = writer.stream(kNone);
  // Copies between the buffer that is whole and scratch: regions of a frame with pieces that are
  // apart, by their parts.
  const Topology& topology = writer.schedule().topology;
  std::vector<Piece> pieces, taken;
  const std::uint32_t parts = writer.schedule().view().partCount();
  for (std::uint32_t part = 0; part < parts;) {
    const Box box = randomBox(topology);
    const std::uint32_t several = within(1u, parts - part);
    pieces.push_back({part, several, writer.box(box)});
    if (within(0, 3) > 0) {
      Piece some = pieces.back();
      some.parts = within(1u, several);
      some.part += within(0u, several - some.parts);
      some.box = writer.box(randomBoxInside(topology, box));
      taken.push_back(some);
    }
    part += several;
  }
  if (taken.empty()) taken = {pieces[0]};
  if (within(0, 1) == 0) std::ranges::reverse(taken);
  const bool listed = pieces.size() > 1 || pieces[0].parts > 1;
  const std::uint32_t frame =
      listed ? writer.frameOf(writer.list(Buffer::kScratch, pieces))
             : writer.frame(pieces[0].part, writer.schedule().boxes[pieces[0].box]);
  const auto region = [&](Buffer buffer) {
    const std::uint32_t inside = buffer == Buffer::kScratch ? frame : kNone;
    if (taken.size() > 1 || taken[0].parts > 1) return writer.list(buffer, taken, inside);
    return boxRegion(buffer, taken[0].part, taken[0].box, inside);
  };
  const Region whole = region(rowOf(collective).inWhole() ? Buffer::kIn : Buffer::kOut);
  const Operation copy = samples::copy(region(Buffer::kScratch), whole);
  writer.add(stream, copy);
  const Schedule& schedule = writer.schedule();
  RC_ASSERT(validate(schedule.view()).message() == std::string());

  const Call call = randomCall(schedule);
  const std::int32_t rank = randomRank(schedule);
  const StatusOr<FlatProgram> program = expand(schedule.view(), rank, call.counts());
  RC_ASSERT(program.ok());
  const ScheduleView view = schedule.view();
  const Enumeration enumeration(view, rank, call.counts());
  const std::vector<std::uint64_t> a = enumeration.elements(copy.a, 0);
  const std::vector<std::uint64_t> dst = enumeration.elements(copy.dst, 0);
  RC_ASSERT(a.size() == dst.size());
  RC_ASSERT(program->operations.size() == (a.empty() ? 0u : 1u));
  if (a.empty()) return;
  const FlatOperation& flat = program->operations[0];
  RC_ASSERT(flattened(*program, flat.a) == a);
  RC_ASSERT(flattened(*program, flat.dst) == dst);
  RC_ASSERT(flat.a.elements == a.size());
  RC_ASSERT(flat.dst.elements == dst.size());
  // One count, no dead node: a box is one extent, or two where a contiguous one wraps.
  const bool alike = call.per_rank.empty() && topology.dead_node_count == 0 &&
                     rowOf(collective).layout == Layout::kBlockMajor;
  if (alike) RC_ASSERT(flat.a.extent_count <= 2 * taken.size());
  if (alike) RC_ASSERT(flat.dst.extent_count <= 2 * taken.size());
}

RC_GTEST_PROP(ExpandProperties, BothEndsOfAMessageNameTheSameElements, ()) {
  const Collective collective = *rc::gen::element(Collective::kAllreduce, Collective::kAllgather);
  Topology topology = randomTopology();
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (topology.axes[axis].kind == AxisKind::kMesh) topology.axes[axis].kind = AxisKind::kTorus;
  }
  if (topology.axes[0].size == 1) return;
  if (!topology.validate().ok()) return;  // a line may be cut where a ring is
  ScheduleWriter writer = writerOn(collective, topology);
  const std::uint32_t stream = writer.stream(kNone);
  const auto distance =
      within<std::int32_t>(1, static_cast<std::int32_t>(topology.axes[0].size) - 1);
  const Box sent = randomBox(topology);
  Box received = sent;
  if (sent[0].kind == IntervalKind::kRelative) received[0].start -= distance;
  const Piece piece = randomPiece(writer, sent);
  const auto region = [&](Buffer buffer, const Box& box) {
    const std::uint32_t index = writer.box(box);
    if (piece.parts == 1) return boxRegion(buffer, piece.part, index);
    return writer.list(buffer, {{piece.part, piece.parts, index}});
  };
  const Region source = region(rowOf(collective).inWhole() ? Buffer::kIn : Buffer::kOut, sent);
  const Operation send = samples::send(source, writer.shift(0, distance));
  writer.add(stream, send);
  writer.add(stream, samples::recv(region(Buffer::kOut, received), writer.shift(0, -distance)));

  const Schedule& schedule = writer.schedule();
  const Call call = randomCall(schedule);
  const std::int32_t rank = randomRank(schedule);
  const std::int32_t peer =
      topology.neighbour(topology.coordinatesOf(rank), schedule.shifts[send.peer]);
  if (peer < 0) return;  // dead
  const StatusOr<FlatProgram> here = expand(schedule.view(), rank, call.counts());
  const StatusOr<FlatProgram> there = expand(schedule.view(), peer, call.counts());
  RC_ASSERT(here.ok() && there.ok());
  const auto isSend = [](const FlatOperation& operation) { return sends(operation.kind); };
  const auto from = std::ranges::find_if(here->operations, isSend);
  const auto to = std::ranges::find_if_not(there->operations, isSend);
  RC_ASSERT((from == here->operations.end()) == (to == there->operations.end()));
  if (from == here->operations.end()) return;
  RC_ASSERT(from->peer == peer && to->peer == rank && from->tag == to->tag);
  RC_ASSERT(flattened(*here, from->a) == flattened(*there, to->dst));
}

}  // namespace
}  // namespace torc
