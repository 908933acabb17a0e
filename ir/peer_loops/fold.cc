// Computes the blocks that all messages of a loop over peers name together. The shifts of a loop
// are a box without its origin, which is cut into boxes; over each of them an interval that counts
// from the peer becomes one that counts from the node.
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/peer_loops/peer_loops.h"
#include "ir/schedule_builder.h"

namespace torc::ir {
namespace {

/// Shifts along every axis, from `first` on.
struct ShiftBox {
  Coordinates first{};
  std::array<std::uint32_t, kMaxAxes> count{};
};

class Folder {
 public:
  explicit Folder(const ScheduleView& schedule)
      : schedule_(schedule), axes_(schedule.blockAxes()), builder_(headerOf(schedule)) {}

  Schedule run() {
    // Guards keep their boxes; boxes of blocks are added.
    builder_.schedule().boxes.assign(schedule_.boxes.begin(), schedule_.boxes.end());
    for (const PeerLoop& peers : schedule_.peer_loops)
      builder_.peerLoop(peers);
    builder_.addStorage(schedule_);
    for (Operation operation : schedule_.operations) {
      builder_.setRegions(operation, [&](const Region& region) {
        return operation.hasPeerLoop() ? folded(operation, region)
                                       : builder_.piecesOf(schedule_, region);
      });
      if (operation.peer != kNone) operation.peer = builder_.peer(schedule_, operation);
      const auto dependences = schedule_.dependencesOf(operation);
      builder_.addOperation(operation, {dependences.data(), dependences.size()});
    }
    return builder_.take();
  }

 private:
  llvm::SmallVector<Piece, 8> folded(const Operation& operation, const Region& region) {
    const PeerLoop& peers = schedule_.peer_loops[operation.peer];
    llvm::SmallVector<Piece, 8> list;
    for (const Piece& piece : schedule_.piecesOf(region)) {
      for (const ShiftBox& shifts : cut(peers, piece.box)) {
        const auto change = [&](const Box& box) { return over(shifts, box); };
        list.push_back({piece.part, piece.parts, builder_.blocks(schedule_, piece.box, change)});
      }
    }
    return list;
  }

  /// Boxes of shifts over which the blocks of `box` are those of all shifts: without the origin if
  /// it alone would add blocks.
  std::vector<ShiftBox> cut(const PeerLoop& peers, std::uint32_t box) const {
    ShiftBox all{peers.first, peers.count};
    std::vector<std::uint32_t> moving;
    bool single = true, told_apart = true;
    for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
      if (peers.count[axis] < 2) continue;
      moving.push_back(axis);
      bool counts = false;
      for (std::uint32_t end = 0; end < axes_.ends(); ++end) {
        const Interval& interval = schedule_.blockInterval(box, end * axes_.nodeAxes() + axis);
        if (!isPeerRelative(interval.kind)) continue;
        counts = true;
        single = single && interval.length == 1;
      }
      told_apart = told_apart && counts;
    }
    // Otherwise a shift besides the origin names the same blocks, or the adjacent ones.
    if (!peers.holdsOrigin() || !told_apart || !single) return {all};
    std::vector<ShiftBox> boxes;
    for (const std::uint32_t axis : moving) {
      const std::int32_t first = peers.first[axis];
      const auto below = static_cast<std::uint32_t>(-first);
      const std::uint32_t above = peers.count[axis] - below - 1;
      if (below > 0) {
        all.count[axis] = below;
        boxes.push_back(all);
      }
      if (above > 0) {
        all.first[axis] = 1;
        all.count[axis] = above;
        boxes.push_back(all);
      }
      all.first[axis] = 0;
      all.count[axis] = 1;
    }
    return boxes;
  }

  /// The blocks of `box` over all `shifts`.
  Box over(const ShiftBox& shifts, Box box) const {
    for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
      Interval& interval = box[axis];
      if (!isPeerRelative(interval.kind)) continue;
      const std::int32_t last =
          shifts.first[axis] + static_cast<std::int32_t>(shifts.count[axis]) - 1;
      const std::int32_t first =
          interval.kind == IntervalKind::kPlusShift ? shifts.first[axis] : -last;
      const std::uint64_t length = std::uint64_t{shifts.count[axis]} + interval.length - 1;
      interval =
          length >= axes_.size(axis)
              ? Interval::all()
              : Interval::relative(interval.start + first, static_cast<std::uint32_t>(length));
    }
    return box;
  }

  const ScheduleView& schedule_;
  const BlockAxes axes_;
  ScheduleBuilder builder_;
};

}  // namespace

Schedule foldPeerLoops(const ScheduleView& schedule) {
  return Folder(schedule).run();
}

}  // namespace torc::ir
