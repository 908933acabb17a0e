// ExchangeSteps: what the steps of an all-to-all's part are made of, whichever way its blocks go:
// how far its exchanges have come, and regions of what a node holds.
//
// Blocks. Of the axes, D are done, S those of the exchange, R the rest. What a node holds is from
// the sources that are anywhere on D and at its own coordinates elsewhere, to the destinations that
// are at its own coordinates on D and anywhere elsewhere. When S are done too, it has sent away
// what of that is for other coordinates there, and received the like. Along an axis of cores that
// has a leader, the first of them holds the blocks of all, from any to any, and alone executes
// exchanges. The first exchange reads `in`, the last one writes `out`; between two of them what a
// node holds lies in a frame.
//
// Strides. An exchange with a stride B along a ring of A B nodes does a part of the work there: it
// goes to the nodes that are multiples of B away, with the blocks for the B destinations around
// each. Then a node holds, along this axis, from the A sources that are multiples of B away to the
// B destinations around itself. The next exchange is along this axis, too, and goes to these.
#ifndef TORC_PASSES_EXCHANGES_EXCHANGE_STEPS_H_
#define TORC_PASSES_EXCHANGES_EXCHANGE_STEPS_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/program.h"
#include "ir/step_builder.h"

namespace torc::passes {

/// Indices of blocks: of pairs of boxes of the builder.
using BlockList = llvm::SmallVector<std::uint32_t, 4>;

/// A part, and how far its exchanges have come.
struct ExchangePart {
  std::uint32_t part = 0;
  std::uint32_t color = 0;
  bool down = false;              // to the node opposite
  std::uint32_t done = 0;         // the axes exchanged along, a bit each
  std::uint32_t led = 0;          // the axis along which a leader holds all, a bit
  std::uint32_t halfway = kNone;  // the axis along which an exchange with a stride went
  std::uint32_t stride = 0;       // of that
  std::uint32_t frame = kNone;    // what holds its blocks between two exchanges
  ir::OperationIndices after;     // what the next exchange waits for: what brought them

  bool hasStarted() const { return (done | led) != 0 || halfway != kNone; }
};

/// The steps of one exchange of a part along some axes: the steps are added between the constructor
/// and `finish`.
class ExchangeSteps {
 public:
  /// All outlive this object; steps go to the builder's current phase. The axes of the exchange are
  /// not done, and some of them have more than one node.
  ExchangeSteps(ir::StepBuilder& builder, ExchangePart& part, const ir::PlanOperation& exchange);

  ir::StepBuilder& builder() { return builder_; }
  const Topology& topology() const { return builder_.schedule().topology; }
  const ExchangePart& part() const { return part_; }
  std::uint32_t axes() const { return axes_; }
  /// Whether it brings the blocks to the leader of a node's cores.
  bool gathers() const { return gathers_; }
  /// Whether the exchange has a stride.
  bool isStrided() const { return strided_; }
  /// The axis of its stride, or of that of the exchange before it, which it completes; kNone: there
  /// is none. And that stride.
  std::uint32_t splitAxis() const { return split_axis_; }
  std::uint32_t stride() const { return stride_; }
  /// The shift to the first of `count` nodes in a row around one. Of an even number the farthest
  /// one is as far both ways: a part of direction - goes down to it.
  std::int32_t firstOf(std::uint32_t count) const {
    return -static_cast<std::int32_t>(part_.down ? count / 2 : (count - 1) / 2);
  }
  /// The sources at multiples of the stride, as the node sees them that holds their blocks.
  llvm::SmallVector<Interval, 4> multipleSources() const;
  /// What reads the blocks that there were before the exchange has to wait for.
  const ir::OperationIndices& after() const { return part_.after; }

  /// A new stream of the part, for every node that exchanges.
  ir::StepPlace newStream();
  /// A guard of the nodes at this coordinate of an axis.
  std::uint32_t onlyAt(std::uint32_t axis, std::int32_t coordinate);

  /// Index of the blocks that are held before the exchange, along its axes from the nodes at
  /// `source` to those at `destination`. Along the other axes they are those of the holder.
  std::uint32_t blocks(const Interval& source, const Interval& destination) {
    return pairOf(part_.done, part_.led & ~axes_, axes_, source, destination);
  }
  /// The same, but along the split axis from `split_source` to `split_destination`.
  std::uint32_t blocks(const Interval& source, const Interval& destination,
                       const Interval& split_source, const Interval& split_destination) {
    return pairOf(part_.done, part_.led & ~axes_, axes_, source, destination, &split_source,
                  &split_destination);
  }
  /// Blocks of the part, where they are before the exchange, and after it.
  Region before(llvm::ArrayRef<std::uint32_t> blocks) { return region(from_, blocks, part_.frame); }
  Region behind(llvm::ArrayRef<std::uint32_t> blocks) { return region(to_, blocks, frame_); }
  /// Blocks in a frame that the exchange itself needs.
  Region within(std::uint32_t frame, llvm::ArrayRef<std::uint32_t> blocks) {
    return region(Buffer::kScratch, blocks, frame);
  }
  /// A new frame of these blocks, alone in its slot.
  std::uint32_t newFrame(llvm::ArrayRef<std::uint32_t> blocks);

  /// behind = before for the blocks that stay; the index of the operation.
  std::uint32_t keep(const ir::StepPlace& place);

  /// Ends the exchange; `brought` is what brought the blocks that are held now.
  void finish(ir::OperationIndices brought);

 private:
  /// The axes that are done behind it.
  std::uint32_t doneBehind() const;
  Region region(Buffer buffer, llvm::ArrayRef<std::uint32_t> blocks, std::uint32_t frame) {
    return builder_.region(buffer, pieces(blocks), frame);
  }
  llvm::SmallVector<Piece, 4> pieces(llvm::ArrayRef<std::uint32_t> blocks) const;
  std::uint32_t pairOf(std::uint32_t done, std::uint32_t led, std::uint32_t along,
                       const Interval& source, const Interval& destination,
                       const Interval* split_source = nullptr,
                       const Interval* split_destination = nullptr);

  ir::StepBuilder& builder_;
  ExchangePart& part_;
  const std::uint32_t axes_;
  const bool gathers_;
  const bool strided_;
  const std::uint32_t split_axis_;
  const std::uint32_t stride_;
  Buffer from_ = Buffer::kIn;
  Buffer to_ = Buffer::kOut;
  std::uint32_t frame_ = kNone;  // of what is held after it
};

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_EXCHANGE_STEPS_H_
