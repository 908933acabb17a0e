// Estimates the size of a schedule's file, and compares it with limits.
#include "compiler/spec/program_size.h"

#include <cstdio>

#include "ir/verifier/verifier.h"
#include "support/message.h"

namespace torc::compiler {
namespace {

constexpr double kHeaderBytes = 1600;
constexpr double kDependences = 2.5;  // per operation

}  // namespace

double ProgramSize::fileBytes(double chunks) const {
  const double of_operation = sizeof(Operation) + kDependences * sizeof(std::uint32_t);
  return kHeaderBytes + boxes * sizeof(Box) +
         chunks * (operations * of_operation + pieces * sizeof(Piece));
}

std::string beyondLimits(const ProgramSize& size) {
  const auto beyond = [](double amount, const char* of, double limit) {
    char rounded[32];
    std::snprintf(rounded, sizeof(rounded), "%.3g", amount);
    return message("about ", rounded, of, ", more than ", std::uint64_t(limit));
  };
  if (size.operations > kMaxPlannedOperations) {
    return beyond(size.operations, " operations", kMaxPlannedOperations);
  }
  if (size.boxes + size.pieces > 8 * kMaxPlannedOperations) {
    return beyond(size.boxes + size.pieces, " boxes and pieces", 8 * kMaxPlannedOperations);
  }
  if (size.proof_steps > kMaxProofSteps) {
    return beyond(size.proof_steps, " proof steps", kMaxProofSteps);
  }
  if (size.cell_steps > ir::kMaxProofWork) {
    return beyond(size.cell_steps, " proof steps", ir::kMaxProofWork);
  }
  return {};
}

ProgramSize sizeOf(const ScheduleView& schedule) {
  ProgramSize size;
  size.operations = static_cast<double>(schedule.operations.size());
  size.pieces = static_cast<double>(schedule.pieces.size());
  size.boxes = static_cast<double>(schedule.boxes.size());
  return size;
}

}  // namespace torc::compiler
