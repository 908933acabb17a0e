// Nodes by where they lie from the root, axis by axis, in a few classes of coordinates whatever the
// size of the torus, and boxes that cover what a rule says of the classes. So trees that a rule
// describes become guarded operations without going through the nodes.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ROOT_CLASSES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ROOT_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/box.h"

namespace torc::compiler {

/// What an axis is for trees from a root.
enum class TreeAxis : std::uint8_t {
  kSingle,        // of one node: nothing moves
  kRing,          // coordinates count from the root
  kLineFromRoot,  // the same, but nothing moves between the last coordinate and the root's
  kLine,          // coordinates are the machine's, the root's is any
};

/// Where a coordinate lies from the root's. A ring has kAtRoot, kNext, kMiddle (where there are
/// more than three nodes) and kLast (more than two); a line from the root kAtRoot and kAbove; a
/// line kBelow, kAtRoot and kAbove.
enum class RootClass : std::uint8_t { kAtRoot, kNext, kMiddle, kLast, kBelow, kAbove };

/// The class of a node on every axis.
using RootClasses = llvm::ArrayRef<RootClass>;

class RootGrid {
 public:
  /// `axes` and `sizes` by axis of the topology.
  RootGrid(llvm::ArrayRef<TreeAxis> axes, llvm::ArrayRef<std::uint32_t> sizes);

  /// Disjoint boxes of all nodes for whose classes `holds`.
  std::vector<Box> cover(llvm::function_ref<bool(RootClasses)> holds) const;

 private:
  /// Classes that lie next to each other, one bit for each, and their coordinates.
  struct Run {
    std::uint32_t classes = 0;
    Interval interval;
  };
  struct Line {
    llvm::SmallVector<RootClass, 4> classes;
    llvm::SmallVector<Run, 16> runs;  // those of fewer classes first
  };
  static Line lineOf(TreeAxis axis, std::uint32_t size);

  std::vector<Line> lines_;
  std::size_t cells_ = 1;
};

/// The senders of messages that go by `sign` along `axis` to the nodes of `box`: the same box,
/// moved the other way. On a line `box` must not reach round its end.
Box movedBack(const Box& box, std::uint32_t axis, int sign, std::uint32_t size);

/// Whether some node may be in both boxes, for some root.
bool mayMeet(const Box& a, const Box& b, llvm::ArrayRef<std::uint32_t> sizes);

/// The same of absolute intervals.
bool absoluteMeet(const Box& a, const Box& b, llvm::ArrayRef<std::uint32_t> sizes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ROOT_CLASSES_H_
