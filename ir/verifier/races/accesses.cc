// Collects accesses, and decides whether two of them meet.
#include "ir/verifier/races/accesses.h"

#include "ir/verifier/box_algebra.h"

namespace torc::ir {
namespace {

class Collector : public RuleChecker {
 public:
  explicit Collector(RaceProof& proof) : RuleChecker(proof.context), proof_(proof) {}

  Storages run() {
    storages_.parts.resize(context_.parts.size());
    storages_.slots.resize(schedule_.slot_count);
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      const bool onto_itself = operation.kind == OperationKind::kCopy &&
                               operation.a.buffer == Buffer::kIn &&
                               operation.dst.buffer == Buffer::kOut;
      add({i, true, &operation.dst}, onto_itself);
      add({i, false, &operation.a}, onto_itself);
      // recv_reduce writes received data to b; reduce only reads it.
      add({i, operation.kind == OperationKind::kRecvReduce, &operation.b}, false);
    }
    return std::move(storages_);
  }

 private:
  void add(const Use& use, bool onto_itself) {
    const Region& region = *use.region;
    if (!region.present()) return;
    const bool scratch = region.buffer == Buffer::kScratch;
    if (scratch) {
      add(use, kNone, onto_itself, storages_.slots[schedule_.frames[region.frame].slot]);
    }
    context_.forEachPart(region, [&](const Piece& piece, std::uint32_t part) {
      add(use, piece.box, onto_itself,
          scratch ? storages_.frame_parts[{region.frame, part}] : storages_.parts[part]);
    });
  }

  void add(const Use& use, std::uint32_t box, bool onto_itself, Storage& storage) {
    ++proof_.steps;
    const Region& region = *use.region;
    const std::uint32_t guard = schedule_.operations[use.operation].guard;
    const auto kind =
        static_cast<std::uint32_t>(region.buffer) << 1 | static_cast<std::uint32_t>(onto_itself);
    const auto [entry, is_new] =
        storage.number_of.try_emplace({kind, region.frame, guard, box}, storage.accesses.size());
    if (is_new) {
      Access access;
      access.buffer = region.buffer;
      access.frame = region.frame;
      access.guard = guard;
      access.box = box;
      access.onto_itself = onto_itself;
      if (box != kNone) access.at_origin = schedule_.blocksOf(box, Coordinates{});
      storage.accesses.push_back(std::move(access));
    }
    Access& access = storage.accesses[entry->second];
    access.writes |= use.writes;
    if (!access.uses.empty() && access.uses.back().operation == use.operation) {
      access.uses.back().writes |= use.writes;
    } else {
      access.uses.push_back(use);
    }
  }

  RaceProof& proof_;
  Storages storages_;
};

/// Whether the boxes share blocks on some coordinate of one axis of the torus that both guards
/// admit, considering the block axes of that axis only.
bool meetOnAxis(const VerifyContext& context, const Access& a, const Access& b,
                std::uint32_t axis) {
  const ScheduleView& schedule = context.schedule;
  const BlockAxes& axes = context.axes;
  const std::uint32_t size = axes.size(axis);
  Range nodes = resolve(schedule.guardBox(a.guard)[axis], 0, size);
  Range others = resolve(schedule.guardBox(b.guard)[axis], 0, size);
  if (others.length < nodes.length) std::swap(nodes, others);
  for (std::uint32_t i = 0; i < nodes.length; ++i) {
    const std::uint32_t x = wrap(std::int64_t{nodes.start} + i, size);
    const auto at = static_cast<std::int32_t>(x);
    bool meet = contains(others, x, size);
    for (std::uint32_t end = 0; end < axes.ends() && meet; ++end) {
      const std::uint32_t block_axis = end * axes.nodeAxes() + axis;
      meet = overlaps(resolve(schedule.blockInterval(a.box, block_axis), at, size),
                      resolve(schedule.blockInterval(b.box, block_axis), at, size), size);
    }
    if (meet) return true;
  }
  return false;
}

}  // namespace

Storages collectAccesses(RaceProof& proof) {
  return Collector(proof).run();
}

bool collide(const VerifyContext& context, const Access& a, const Access& b) {
  const ScheduleView& schedule = context.schedule;
  const BlockAxes& axes = context.axes;
  const bool whole_slot = a.box == kNone;
  if (whole_slot && a.frame == b.frame) return false;  // part by part
  if (a.buffer != b.buffer) {
    if (!rowOf(schedule.collective).inPlaceAliases() || a.onto_itself || b.onto_itself) {
      return false;
    }
  }
  if (whole_slot) return guardsMeet(schedule, a.guard, b.guard);
  bool anywhere = a.guard == kNone && b.guard == kNone;  // the origin stands for all nodes
  for (std::uint32_t axis = 0; axis < axes.count(); ++axis) {
    if (!sameView(schedule.blockInterval(a.box, axis), schedule.blockInterval(b.box, axis))) {
      anywhere = false;
    } else if (!overlaps(a.at_origin[axis], b.at_origin[axis], axes.size(axis))) {
      return false;
    }
  }
  if (anywhere) return true;
  for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
    if (!meetOnAxis(context, a, b, axis)) return false;
  }
  return true;
}

}  // namespace torc::ir
