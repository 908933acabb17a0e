#include "compiler/algorithms/recursive/recursive_exchange.h"

#include <string>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/recursive/axis_rounds.h"
#include "compiler/algorithms/recursive/recursive_allgather.h"
#include "compiler/algorithms/recursive/recursive_allreduce.h"
#include "compiler/algorithms/recursive/recursive_reduce_scatter.h"
#include "compiler/algorithms/recursive/recursive_scan.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr std::uint32_t kDoubling = 1, kMultiplying = 7;  // per round

ProgramSize estimate(const CollectiveSpec& spec, std::uint32_t most_messages) {
  ProgramSize size;
  for (const Axis& axis : llvm::ArrayRef(spec.topology.axes).take_front(spec.topology.axis_count)) {
    const AxisRounds rounds = axisRounds(axis.size, most_messages);
    for (const AxisRound& round : rounds.rounds) {
      // A send, a receive and a sum; a guard covers `stride` nodes.
      size.operations += 3.0 * (round.radix - 1) * axis.size / round.stride;
    }
    size.boxes += 3.0 * axis.size;
  }
  if (rowOf(spec.collective).isPrefix()) size.operations *= 1.75;
  size.cell_steps =
      (rowOf(spec.collective).reduces() ? 1.7 : 0.6) * size.operations * size.operations;
  if (rowOf(spec.collective).isPrefix()) size.cell_steps /= 1.75;
  return size;
}

llvm::Expected<ir::Program> planExchanges(const CollectiveSpec& spec, const char* name,
                                          std::uint32_t most_messages) {
  if (spec.topology.isDamaged()) {
    return makeError(std::string(name) + ": messages cannot go round damage");
  }
  const CollectiveRow& row = rowOf(spec.collective);
  ir::Program program;
  program.schedule = row.isPrefix()   ? recursiveScan(spec, most_messages)
                     : !row.reduces() ? recursiveAllgather(spec, most_messages)
                     : row.outWhole() ? recursiveAllreduce(spec, most_messages)
                                      : recursiveReduceScatter(spec, most_messages);
  return program;
}

}  // namespace

llvm::Expected<ir::Program> lowerRecursiveDoubling(const CollectiveSpec& spec) {
  return planExchanges(spec, "recursive-doubling", kDoubling);
}

llvm::Expected<ir::Program> lowerRecursiveMultiplying(const CollectiveSpec& spec) {
  return planExchanges(spec, "recursive-multiplying", kMultiplying);
}

ProgramSize estimateRecursiveDoubling(const CollectiveSpec& spec) {
  return estimate(spec, kDoubling);
}

ProgramSize estimateRecursiveMultiplying(const CollectiveSpec& spec) {
  return estimate(spec, kMultiplying);
}

}  // namespace torc::compiler
