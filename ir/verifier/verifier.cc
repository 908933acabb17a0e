// The verifier's driver: rules in order, each only where those before it hold, and fault texts.
#include "ir/verifier/verifier.h"

#include <algorithm>

#include <llvm/ADT/StringRef.h>

#include "ir/text/text.h"
#include "ir/verifier/context.h"
#include "schedules/validate.h"

namespace torc {

llvm::StringRef name(Rule rule) {
  static constexpr llvm::StringLiteral kNames[] = {"matching", "progress", "races",
                                                   "meaning",  "bounds",   "links"};
  return kNames[static_cast<int>(rule)];
}

VerifyResult verify(const ScheduleView& schedule, const VerifyOptions& options) {
  VerifyResult result;
  if (Status status = validate(schedule); !status.ok()) {
    result.faults.push_back({Rule::kBounds, kNone, status.message()});
    return result;
  }
  VerifyContext context(schedule, options, result);
  std::uint64_t longest = 1;  // each step of a line leaves pieces that later steps look through
  for (std::uint32_t axis = 0; axis < schedule.topology.axis_count; ++axis) {
    if (!context.collapsed(axis)) {
      longest = std::max<std::uint64_t>(longest, schedule.topology.axes[axis].size);
    }
  }
  const double work = static_cast<double>(context.classCount()) *
                      static_cast<double>(schedule.operations.size() + schedule.pieces.size()) *
                      static_cast<double>(longest);
  if (work > kMaxProofWork) {
    result.faults.push_back({Rule::kBounds, kNone,
                             "too large to prove: " + std::to_string(context.classCount()) +
                                 " nodes that differ (mesh axes, guards, absolute boxes) with " +
                                 std::to_string(schedule.operations.size()) +
                                 " operations each, on axes of up to " + std::to_string(longest)});
    return result;
  }
  checkLinks(context);
  checkMatching(context);
  if (!result.ok()) return result;
  bool per_class_order = false;
  const std::vector<std::uint64_t> order = checkProgress(context, per_class_order);
  checkRaces(context);
  if (!result.ok()) return result;
  checkMeaning(context, order, per_class_order);
  return result;
}

void printFaults(const ScheduleView& schedule, const VerifyResult& result, llvm::raw_ostream& out) {
  for (const Fault& fault : result.faults) {
    out << "error: ";
    if (fault.operation != kNone) {
      const Operation& operation = schedule.operations[fault.operation];
      out << "op %" << fault.operation << " (stream " << operation.stream << ", phase "
          << operation.phase << "): ";
    }
    out << name(fault.rule) << ": " << fault.message << "\n";
    if (fault.operation != kNone) {
      out << "  " << operationText(schedule, fault.operation) << "\n";
    }
  }
}

}  // namespace torc
