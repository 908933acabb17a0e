// Classes of nodes by their position relative to the root, and boxes that cover the nodes of a
// rule. Each axis has a few classes of coordinates, for every size of the torus. So trees defined
// by a rule become guarded operations without a loop over the nodes.
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

/// The kind of an axis for trees from a root.
enum class TreeAxis : std::uint8_t {
  kSingle,        // of one node: nothing moves
  kRing,          // coordinates count from the root
  kLineFromRoot,  // like kRing, without a link between the last coordinate and the root's
  kLine,          // coordinates of the machine, with any root
};

/// Position of a coordinate relative to the root's. A ring has kAtRoot, kNext, kMiddle (with more
/// than three nodes) and kLast (more than two); a line from the root kAtRoot and kAbove; a line
/// kBelow, kAtRoot and kAbove.
enum class RootClass : std::uint8_t { kAtRoot, kNext, kMiddle, kLast, kBelow, kAbove };

RootClass classOf(TreeAxis axis, std::int32_t at, std::int32_t root, std::uint32_t size);

/// The class of a node on every axis.
using RootClasses = llvm::ArrayRef<RootClass>;

class RootGrid {
 public:
  /// `axes` and `sizes` by axis of the topology.
  RootGrid(llvm::ArrayRef<TreeAxis> axes, llvm::ArrayRef<std::uint32_t> sizes);

  /// Disjoint boxes of all nodes whose classes satisfy `holds`.
  std::vector<Box> cover(llvm::function_ref<bool(RootClasses)> holds) const;

 private:
  /// Adjacent classes, one bit for each, and their coordinates.
  struct Run {
    std::uint32_t classes = 0;
    Interval interval;
  };
  struct Line {
    llvm::SmallVector<RootClass, 4> classes;
    llvm::SmallVector<Run, 16> runs;  // of fewer classes first
  };
  static Line lineOf(TreeAxis axis, std::uint32_t size);

  std::vector<Line> lines_;
  std::size_t cells_ = 1;
};

/// The senders of messages by `sign` along `axis` to the nodes of `box`: the same box, moved the
/// other way. On a line `box` must not wrap around.
Box movedBack(const Box& box, std::uint32_t axis, int sign, std::uint32_t size);

/// Whether some node may be in both boxes, for some root.
bool mayMeet(const Box& a, const Box& b, llvm::ArrayRef<std::uint32_t> sizes);

/// The same for absolute intervals.
bool absoluteMeet(const Box& a, const Box& b, llvm::ArrayRef<std::uint32_t> sizes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ROOT_CLASSES_H_
