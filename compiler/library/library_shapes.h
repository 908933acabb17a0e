// What a library is for: partitions of a machine, their sub-tori, and the shapes that these share.
#ifndef TORC_COMPILER_LIBRARY_LIBRARY_SHAPES_H_
#define TORC_COMPILER_LIBRARY_LIBRARY_SHAPES_H_

#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/target.h"
#include "model/machines/machine.h"
#include "schedules/library/index.h"

namespace torc::compiler {

/// Which sub-tori of a partition.
enum class SubToriKind {
  kWholeAxes,  // all combinations of whole axes: lines, planes, ..., the partition itself
  kAll,        // and all shorter extents
};

/// A shape with the machine that it is taken from: equal topologies whose links differ in speed are
/// two shapes.
struct PlannedShape {
  Topology topology;
  model::Machine machine;
  std::uint32_t sub_tori = 0;  // that have it
};

struct LibraryShapes {
  std::vector<LibraryPartition> partitions;
  std::vector<PlannedShape> shapes;       // in the order of their first sub-tori
  std::vector<LibrarySubTorus> sub_tori;  // as in an index
};

/// Plans for `partitions`, each with its machine. Errors: a partition of one node, or one that
/// is there twice.
llvm::Expected<LibraryShapes> libraryShapes(llvm::ArrayRef<Target> partitions, SubToriKind kind);

/// The machine that a sub-torus of `partition` is: the links of its axes, its damage where it is
/// the whole one. `extents` and `axes` are those of a sub-torus.
model::Machine subTorusMachine(const Target& partition, const Extents& extents,
                               const SubTorusAxes& axes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_LIBRARY_SHAPES_H_
