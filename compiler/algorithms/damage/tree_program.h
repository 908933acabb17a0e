// What the programs of single nodes are made of: guards of a node, regions of absolute boxes,
// messages over an arc as a send and a receive that follow one another in the list. Since all that
// an operation waits for is further up, and both ends of a message stand side by side, the list is
// an order in which everything can happen: nothing can deadlock.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_PROGRAM_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_PROGRAM_H_

#include <array>
#include <cstdint>
#include <map>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/spec/collective_spec.h"
#include "ir/step_builder.h"

namespace torc::compiler {

/// Blocks, as disjoint boxes.
using Blocks = llvm::SmallVector<Box, 1>;
using OperationList = llvm::SmallVector<std::uint32_t, 4>;

class TreeProgram {
 public:
  /// A schedule of `parts` colors of equal weight, each with a stream.
  TreeProgram(const CollectiveSpec& spec, std::uint32_t parts);

  /// The following operations belong to this phase.
  void setPhase(std::uint32_t phase) { builder_.setPhase(phase); }

  /// The blocks of all nodes; those of one node.
  Blocks allBlocks() const { return {Box{}}; }
  Blocks blockOf(std::uint32_t node) const { return {boxOf(topology_, node)}; }

  Region region(Buffer buffer, std::uint32_t part, const Blocks& blocks);
  /// Blocks in scratch: in a frame of these blocks, or of `frame_blocks`, in `slot`.
  Region scratch(std::uint32_t part, const Blocks& blocks, std::uint32_t slot);
  Region scratch(std::uint32_t part, const Blocks& blocks, std::uint32_t slot,
                 const Blocks& frame_blocks);

  /// Operations of a node; they return their index.
  std::uint32_t send(const Region& a, const LiveArc& arc, llvm::ArrayRef<std::uint32_t> after);
  std::uint32_t receive(const Region& dst, const LiveArc& arc, llvm::ArrayRef<std::uint32_t> after);
  /// dst = a + what comes over the arc, received into `staging`.
  std::uint32_t receiveAndReduce(const Region& dst, const Region& a, const Region& staging,
                                 const LiveArc& arc, llvm::ArrayRef<std::uint32_t> after);
  std::uint32_t reduce(std::uint32_t node, const Region& dst, const Region& a, const Region& b,
                       llvm::ArrayRef<std::uint32_t> after);
  std::uint32_t copy(std::uint32_t node, const Region& dst, const Region& a);

  Schedule take() { return builder_.take(); }

 private:
  llvm::SmallVector<Piece, 4> pieces(std::uint32_t part, const Blocks& blocks);
  /// The stream of the part of `region`, on one node.
  ir::StepPlace placeOf(std::uint32_t node, const Region& region);

  const Topology topology_;
  ir::StepBuilder builder_;
  /// By first piece or box, number of pieces, part and slot.
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> frames_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_PROGRAM_H_
