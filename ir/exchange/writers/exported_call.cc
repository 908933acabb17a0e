// Expands the programs of an exported call, and bounds the number of operations.
#include "ir/exchange/writers/exported_call.h"

#include <algorithm>

#include "ir/make_error.h"
#include "ir/node_classes.h"

namespace torc::ir {

std::uint64_t countOf(const ScheduleView& schedule, std::uint64_t elements) {
  return elements / rowOf(schedule.collective)
                        .countedBlocks(schedule.topology.ranks(), schedule.topology.axis_count);
}

llvm::Expected<ExportedCall> ExportedCall::make(const ScheduleView& schedule,
                                                const CallSize& size) {
  ExportedCall call;
  call.size_ = size;
  call.schedule_ = schedule;
  if (!schedule.loops.empty()) {
    call.unrolled_ = std::make_unique<UnrolledLoops>(unrollLoops(schedule));
    call.schedule_ = call.unrolled_->schedule.view();
  }
  const NodeClasses nodes(call.schedule_, /*per_rank=*/true);
  double operations = 0;
  for (const Operation& operation : call.schedule_.operations) {
    const double messages =
        operation.hasPeerLoop()
            ? static_cast<double>(call.schedule_.peer_loops[operation.peer].size())
            : 1;
    operations += nodes.executions(operation) * messages;
  }
  operations *= call.schedule_.segments;
  if (operations <= static_cast<double>(kMostExported)) return call;
  return makeError("too large: all ranks have " +
                   llvm::Twine(static_cast<std::uint64_t>(std::min(operations, 1e18))) +
                   " operations, more than " + llvm::Twine(kMostExported));
}

llvm::Expected<FlatProgram> ExportedCall::program(std::int32_t rank) const {
  Counts counts;
  counts.count = size_.count;
  StatusOr<FlatProgram> program = expand(schedule_, rank, counts, false, size_.root);
  if (!program.ok()) return makeError(program.status());
  return std::move(*program);
}

std::uint64_t ExportedCall::bytesOf(const FlatOperation& operation) const {
  if (isSignal(operation.kind)) return 1;
  return size_.element_bytes *
         (sends(operation.kind) ? operation.a.elements : operation.dst.elements);
}

double ExportedCall::secondsOf(const FlatOperation& operation) const {
  const bool sums = regionsOf(operation.kind).b;
  const double copy_s_per_byte = operation.kind == OperationKind::kCopy ? size_.copy_s_per_byte : 0;
  return static_cast<double>(bytesOf(operation)) *
         (sums ? size_.reduce_s_per_byte : copy_s_per_byte);
}

}  // namespace torc::ir
