// ScheduleBuilder: appends streams, frames and operations to a schedule,
// storing equal boxes, lists of pieces and shifts once. Passes that restructure step operations
// read the old schedule and build a new one.
#ifndef TORC_IR_SCHEDULE_BUILDER_H_
#define TORC_IR_SCHEDULE_BUILDER_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "schedules/schedule.h"

namespace torc {

class ScheduleBuilder {
 public:
  /// Starts from the header of `from` (collective, flags, topology, name,
  /// producer, colors) with empty tables.
  explicit ScheduleBuilder(const Schedule& from);

  /// Index of an equal box (shift), stored now if it is new.
  std::uint32_t box(const Box& box);
  std::uint32_t shift(const Shift& shift);
  /// Index of the first of an equal list of pieces, which has at least one.
  std::uint32_t pieces(llvm::ArrayRef<Piece> list);

  /// A region of these pieces, in their order: of one box where there is one piece of one part.
  Region region(Buffer buffer, llvm::ArrayRef<Piece> list, std::uint32_t frame = kNone);
  /// A new frame of these pieces; frame.slot counts towards slot_count.
  std::uint32_t addFrame(llvm::ArrayRef<Piece> list, std::uint32_t slot);

  std::uint32_t addStream(const Stream& stream);
  std::uint32_t addFrame(const Frame& frame);  // frame.slot counts towards slot_count

  /// Appends an operation with its dependences (indices returned earlier;
  /// duplicates are dropped, order is ascending). Its boxes and shifts are
  /// indices of this builder.
  std::uint32_t addOperation(Operation operation, llvm::ArrayRef<std::uint32_t> dependences);

  Schedule& schedule() { return schedule_; }
  /// The finished schedule; the builder is empty afterwards.
  Schedule take() { return std::move(schedule_); }

 private:
  struct BytesHash {
    std::size_t operator()(const Box& box) const;
    std::size_t operator()(const Shift& shift) const;
    std::size_t operator()(const std::vector<Piece>& list) const;
  };
  Schedule schedule_;
  std::unordered_map<Box, std::uint32_t, BytesHash> boxes_;
  std::unordered_map<Shift, std::uint32_t, BytesHash> shifts_;
  std::unordered_map<std::vector<Piece>, std::uint32_t, BytesHash> pieces_;
};

}  // namespace torc

#endif  // TORC_IR_SCHEDULE_BUILDER_H_
