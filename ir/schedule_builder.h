// ScheduleBuilder: appends streams, frames and operations to a schedule,
// storing equal boxes, lists of pieces and shifts once. Passes that restructure step operations
// read the old schedule and build a new one.
#ifndef TORC_IR_SCHEDULE_BUILDER_H_
#define TORC_IR_SCHEDULE_BUILDER_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/interning.h"
#include "schedules/schedule.h"

namespace torc::ir {

class ScheduleBuilder {
 public:
  /// Starts from the header of `from` (collective, flags, topology, name,
  /// producer, colors) with empty tables.
  explicit ScheduleBuilder(const Schedule& from) : schedule_(headerOf(from.view())) {}

  /// Index of an equal box (shift, loop over peers), stored now if it is new.
  std::uint32_t box(const Box& box) { return intern(box, schedule_.boxes, boxes_); }
  std::uint32_t shift(const Shift& shift) { return intern(shift, schedule_.shifts, shifts_); }
  std::uint32_t peerLoop(const PeerLoop& peers) {
    return intern(peers, schedule_.peer_loops, peer_loops_);
  }
  /// Index, for a piece, of the blocks from the nodes of one box to those of another.
  std::uint32_t pair(const Box& source, const Box& destination) {
    const BoxPair pair{box(source), box(destination)};
    return intern(pair, schedule_.pairs, pairs_);
  }
  /// Index, for a piece, of the blocks that box number `box` of a piece of another schedule names.
  /// `change` makes another box of each.
  template <typename Change = std::identity>
  std::uint32_t blocks(const ScheduleView& other, std::uint32_t index, Change change = {}) {
    if (!other.hasPairs()) return box(change(other.boxes[index]));
    const BoxPair& boxes = other.pairs[index];
    return pair(change(other.boxes[boxes.source]), change(other.boxes[boxes.destination]));
  }
  /// The pieces of a region or a frame of another schedule, with such blocks.
  template <typename Blocks, typename Change = std::identity>
  llvm::SmallVector<Piece, 8> piecesOf(const ScheduleView& other, const Blocks& of,
                                       Change change = {}) {
    llvm::SmallVector<Piece, 8> list;
    for (const Piece& piece : other.piecesOf(of))
      list.push_back({piece.part, piece.parts, blocks(other, piece.box, change)});
    return list;
  }
  /// Index of the shift or the loop over peers of an operation of another schedule.
  std::uint32_t peer(const ScheduleView& other, const Operation& operation);
  /// Sets the pieces of the regions of an operation: those that `piecesFor(region)` returns.
  template <typename PiecesFor>
  void setRegions(Operation& operation, PiecesFor piecesFor) {
    for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (!region->present()) continue;
      const auto pieces = piecesFor(*region);
      *region = this->region(region->buffer, pieces, region->frame);
    }
  }
  /// Adds the streams and frames of another schedule.
  void addStorage(const ScheduleView& other);
  /// Index of the first of an equal list of pieces, which is not empty.
  std::uint32_t pieces(llvm::ArrayRef<Piece> list);

  /// A region of these pieces in order: a region of one box if there is one piece of one part.
  Region region(Buffer buffer, llvm::ArrayRef<Piece> list, std::uint32_t frame = kNone);
  /// A new frame of these pieces; the slots of its copies count towards slot_count.
  std::uint32_t addFrame(llvm::ArrayRef<Piece> list, std::uint32_t slot, std::uint32_t copies = 1);

  std::uint32_t addStream(const Stream& stream);
  std::uint32_t addFrame(const Frame& frame);  // its slots count towards slot_count

  /// Operations added from now on, until endLoop, run `count` times.
  void beginLoop(std::uint32_t count);
  void endLoop();
  /// The dependence on an operation in these of its iterations, stored now if new. At most
  /// kMaxIterationRecords differ.
  std::uint32_t dependence(std::uint32_t operation, const Iterations& iterations) {
    return schedule_.dependence(operation, iterations);
  }

  /// Appends an operation with its dependences (indices returned earlier;
  /// duplicates are dropped, order is ascending). Its boxes and shifts are
  /// indices of this builder.
  std::uint32_t addOperation(Operation operation, llvm::ArrayRef<std::uint32_t> dependences);

  Schedule& schedule() { return schedule_; }
  /// The finished schedule; the builder is empty afterwards. Without loops, dependences encode
  /// their distance in segments directly.
  Schedule take() { return std::move(schedule_); }

 private:
  Schedule schedule_;
  std::vector<std::uint32_t> open_loops_;  // the outermost first
  RecordIndex<Box> boxes_;
  RecordIndex<BoxPair> pairs_;
  RecordIndex<Shift> shifts_;
  RecordIndex<PeerLoop> peer_loops_;
  RecordIndex<std::vector<Piece>> pieces_;
};

}  // namespace torc::ir

#endif  // TORC_IR_SCHEDULE_BUILDER_H_
