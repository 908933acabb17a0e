// The shapes of a library: partitions of a machine, their sub-tori, and the shapes that these
// share.
#ifndef TORC_COMPILER_LIBRARY_LIBRARY_SHAPES_H_
#define TORC_COMPILER_LIBRARY_LIBRARY_SHAPES_H_

#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/target.h"
#include "model/machines/machine.h"
#include "schedules/library/index.h"

namespace torc::compiler {

/// Selection of sub-tori of a partition.
enum class SubToriKind {
  kWholeAxes,  // all combinations of whole axes: lines, planes, ..., the partition itself
  kAll,        // also all shorter extents
};

/// A shape with its machine: equal topologies with different link speeds are two shapes.
struct PlannedShape {
  Topology topology;
  model::Machine machine;
  std::uint32_t sub_tori = 0;  // number of sub-tori of this shape
};

struct LibraryShapes {
  std::vector<LibraryPartition> partitions;
  std::vector<PlannedShape> shapes;       // in the order of their first sub-tori
  std::vector<LibrarySubTorus> sub_tori;  // as in an index
};

/// Plans for `partitions`, each with its machine. Errors: a partition of one node, or a duplicate.
llvm::Expected<LibraryShapes> libraryShapes(llvm::ArrayRef<Target> partitions, SubToriKind kind);

/// The machine of a sub-torus of `partition`: the links of its axes, and its damage if it is the
/// whole partition. `extents` and `axes` are those of a sub-torus.
model::Machine subTorusMachine(const Target& partition, const Extents& extents,
                               const SubTorusAxes& axes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_LIBRARY_SHAPES_H_
