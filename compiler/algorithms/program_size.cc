// Bytes of tables.
#include "compiler/algorithms/program_size.h"

namespace torc::compiler {
namespace {

constexpr double kHeaderBytes = 1600;
constexpr double kDependences = 2.5;  // of an operation

}  // namespace

double ProgramSize::fileBytes(double chunks) const {
  const double of_operation = sizeof(Operation) + kDependences * sizeof(std::uint32_t);
  return kHeaderBytes + boxes * sizeof(Box) +
         chunks * (operations * of_operation + pieces * sizeof(Piece));
}

ProgramSize sizeOf(const ScheduleView& schedule) {
  ProgramSize size;
  size.operations = static_cast<double>(schedule.operations.size());
  size.pieces = static_cast<double>(schedule.pieces.size());
  size.boxes = static_cast<double>(schedule.boxes.size());
  return size;
}

}  // namespace torc::compiler
