// ExchangeSteps: building blocks for the steps of an all-to-all's part: the progress of its
// exchanges, and regions of a node's blocks.
//
// Blocks. Of the axes, D are done, S those of the exchange, R the rest. A node holds the blocks
// from sources anywhere on D and at its own coordinates elsewhere, to destinations at its own
// coordinates on D and anywhere elsewhere. When S are done too, it has sent the blocks for other
// coordinates there, and received its own. Along an axis of cores with a leader, the first core
// holds the blocks of all, from any to any, and alone executes exchanges. The first exchange reads
// `in`, the last one writes `out`; between two of them a node's blocks are in a frame.
//
// Strides. An exchange with a stride B along a ring of A B nodes does a part of the work there: it
// sends to the nodes at multiples of B the blocks for the B destinations around each. Then a node
// holds, along this axis, the blocks from the A sources at multiples of B to the B destinations
// around itself. The next exchange is along this axis, too, and sends them there.
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

/// A part, with the progress of its exchanges.
struct ExchangePart {
  std::uint32_t part = 0;
  std::uint32_t color = 0;
  bool down = false;              // to the node opposite
  std::uint32_t done = 0;         // the axes exchanged along, a bit each
  std::uint32_t led = 0;          // the axis along which a leader holds all blocks, a bit
  std::uint32_t halfway = kNone;  // the axis along which an exchange with a stride has gone
  std::uint32_t stride = 0;       // of that exchange
  std::uint32_t frame = kNone;    // frame of its blocks between two exchanges
  ir::OperationIndices after;     // dependences of the next exchange

  bool hasStarted() const { return (done | led) != 0 || halfway != kNone; }
};

/// The steps of one exchange of a part along some axes, added between the constructor and `finish`.
class ExchangeSteps {
 public:
  /// All outlive this object; steps go to the builder's current phase. The axes of the exchange are
  /// not done, and some of them have more than one node.
  ExchangeSteps(ir::StepBuilder& builder, ExchangePart& part, const ir::PlanOperation& exchange);

  ir::StepBuilder& builder() { return builder_; }
  const Topology& topology() const { return builder_.schedule().topology; }
  const ExchangePart& part() const { return part_; }
  std::uint32_t axes() const { return axes_; }
  /// Whether it moves the blocks to the leader of a node's cores.
  bool gathers() const { return gathers_; }
  /// Whether the exchange has a stride.
  bool isStrided() const { return strided_; }
  /// The axis of its stride, or of the stride of the exchange before, which it completes; kNone:
  /// there is none. Also that stride.
  std::uint32_t splitAxis() const { return split_axis_; }
  std::uint32_t stride() const { return stride_; }
  /// The shift to the first of `count` consecutive nodes around one. Of an even number the farthest
  /// one is equally far both ways: a part of direction - goes down to it.
  std::int32_t firstOf(std::uint32_t count) const {
    return -static_cast<std::int32_t>(part_.down ? count / 2 : (count - 1) / 2);
  }
  /// The sources at multiples of the stride, relative to the node that holds their blocks.
  llvm::SmallVector<Interval, 4> multipleSources() const;
  /// Dependences of readers of the blocks before the exchange.
  const ir::OperationIndices& after() const { return part_.after; }

  /// A new stream of the part, for every node of the exchange.
  ir::StepPlace newStream();
  /// A guard of the nodes at this coordinate of an axis.
  std::uint32_t onlyAt(std::uint32_t axis, std::int32_t coordinate);

  /// Index of the blocks held before the exchange, along its axes from the nodes at `source` to
  /// those at `destination`. Along the other axes they are those of the holder.
  std::uint32_t blocks(const Interval& source, const Interval& destination) {
    return pairOf(part_.done, part_.led & ~axes_, axes_, source, destination);
  }
  /// The same, but along the split axis from `split_source` to `split_destination`.
  std::uint32_t blocks(const Interval& source, const Interval& destination,
                       const Interval& split_source, const Interval& split_destination) {
    return pairOf(part_.done, part_.led & ~axes_, axes_, source, destination, &split_source,
                  &split_destination);
  }
  /// Blocks of the part, at their place before the exchange, and after it.
  Region before(llvm::ArrayRef<std::uint32_t> blocks) { return region(from_, blocks, part_.frame); }
  Region behind(llvm::ArrayRef<std::uint32_t> blocks) { return region(to_, blocks, frame_); }
  /// Blocks in an additional frame of the exchange.
  Region within(std::uint32_t frame, llvm::ArrayRef<std::uint32_t> blocks) {
    return region(Buffer::kScratch, blocks, frame);
  }
  /// A new frame of these blocks, alone in its slot.
  std::uint32_t newFrame(llvm::ArrayRef<std::uint32_t> blocks);

  /// behind = before for the blocks that stay; returns the index of the operation.
  std::uint32_t keep(const ir::StepPlace& place);

  /// Ends the exchange; `brought` lists the operations that brought the blocks held now.
  void finish(ir::OperationIndices brought);

 private:
  /// The axes done after it.
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
  std::uint32_t frame_ = kNone;  // of the blocks held after it
};

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_EXCHANGE_STEPS_H_
