// Numbers boxes, pairs, pieces, shifts, loops over peers and iterations in the order in which the
// text form names them.
#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"
#include "ir/text/text.h"

namespace torc::ir {

Schedule canonicalize(const ScheduleView& from) {
  ScheduleBuilder builder(headerOf(from));
  builder.addStorage(from);
  builder.schedule().loops.assign(from.loops.begin(), from.loops.end());
  for (Operation operation : from.operations) {
    builder.setRegions(operation,
                       [&](const Region& region) { return builder.piecesOf(from, region); });
    if (operation.peer != kNone) operation.peer = builder.peer(from, operation);
    if (operation.guard != kNone) operation.guard = builder.box(from.boxes[operation.guard]);
    llvm::SmallVector<std::uint32_t, 8> dependences;
    for (const std::uint32_t dependence : from.dependencesOf(operation)) {
      const bool has_record = iterationsOf(dependence) != 0;
      dependences.push_back(has_record
                                ? builder.dependence(operationOf(dependence),
                                                     from.iterations[iterationsOf(dependence) - 1])
                                : dependence);
    }
    builder.addOperation(operation, dependences);
  }
  return builder.take();
}

}  // namespace torc::ir
