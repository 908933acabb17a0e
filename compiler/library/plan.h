// What a library is for: partitions of a machine, their parts, and the shapes that parts share.
#ifndef TORC_COMPILER_LIBRARY_PLAN_H_
#define TORC_COMPILER_LIBRARY_PLAN_H_

#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/target.h"
#include "model/machines/machine.h"
#include "schedules/library/index.h"

namespace torc {

/// Which parts of a partition.
enum class PartKind {
  kTori,   // all combinations of whole axes: lines, planes, ..., the partition itself
  kBoxes,  // and all shorter extents
};

/// A shape with the machine that it is a part of: equal topologies whose links differ in speed are
/// two shapes.
struct PlannedShape {
  Topology topology;
  Machine machine;
  std::uint32_t parts = 0;  // that have it
};

struct LibraryPlan {
  std::vector<LibraryPartition> partitions;
  std::vector<PlannedShape> shapes;  // in the order of their first parts
  std::vector<LibraryPart> parts;    // as in an index
};

/// Plans for `partitions`, each with its machine. Errors: a partition of one node, or one that
/// is there twice.
llvm::Expected<LibraryPlan> planLibrary(llvm::ArrayRef<Target> partitions, PartKind kind);

/// The machine that a part of `partition` is: the links of its axes, its damage where it is the
/// whole one. `extents` and `axes` are those of a part.
Machine partMachine(const Target& partition, const Extents& extents, const PartAxes& axes);

}  // namespace torc

#endif  // TORC_COMPILER_LIBRARY_PLAN_H_
