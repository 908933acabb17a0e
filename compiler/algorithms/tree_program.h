// What the programs of single nodes are made of: guards of a node, regions of absolute boxes,
// messages over an arc as a send and a receive that follow one another in the list. Since all that
// an operation waits for is further up, and both ends of a message stand side by side, the list is
// an order in which everything can happen: nothing can deadlock.
#ifndef TORC_COMPILER_ALGORITHMS_TREE_PROGRAM_H_
#define TORC_COMPILER_ALGORITHMS_TREE_PROGRAM_H_

#include <array>
#include <cstdint>
#include <map>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/live_graph.h"
#include "compiler/collective_spec.h"
#include "ir/schedule_builder.h"

namespace torc {

using OperationList = llvm::SmallVector<std::uint32_t, 4>;

class TreeProgram {
 public:
  /// A schedule of `parts` colors of equal weight, each with a stream.
  TreeProgram(const CollectiveSpec& spec, std::uint32_t parts);

  /// The following operations belong to this phase.
  void setPhase(std::uint32_t phase) { phase_ = static_cast<std::uint16_t>(phase); }

  /// The blocks of all nodes; those of one node.
  std::uint32_t allBlocks() { return builder_.box({}); }
  std::uint32_t blockOf(std::uint32_t node);
  std::uint32_t box(const Box& box) { return builder_.box(box); }

  Region region(Buffer buffer, std::uint32_t part, std::uint32_t box) const {
    return {buffer, {}, part, box, kNone};
  }
  /// The blocks `box` in scratch: in a frame of these blocks, or of `frame_box`, in `slot`.
  Region scratch(std::uint32_t part, std::uint32_t box, std::uint32_t slot);
  Region scratch(std::uint32_t part, std::uint32_t box, std::uint32_t slot,
                 std::uint32_t frame_box);

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
  Box boxAt(std::uint32_t node) const;
  Operation operation(OperationKind kind, std::uint32_t node, std::uint32_t part);
  Operation message(OperationKind kind, std::uint32_t node, std::uint32_t part, const LiveArc& arc,
                    int sign);

  const Topology topology_;
  ScheduleBuilder builder_;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> frames_;  // by part, box and slot
  std::uint16_t phase_ = 0;
};

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_TREE_PROGRAM_H_
