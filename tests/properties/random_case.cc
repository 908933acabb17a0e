// Random shapes, pipelines and calls.
#include "tests/properties/random_case.h"

#include <algorithm>

#include <rapidcheck.h>

#include "compiler/compile.h"

namespace torc {
namespace {

/// A number in [low, high].
std::uint32_t draw(std::uint32_t low, std::uint32_t high) {
  return *rc::gen::inRange(low, high + 1);
}

template <typename T>
T oneOf(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

}  // namespace

std::string CompileCase::text() const {
  return "torc compile " + collective + " --torus " + shape + " --order " + order +
         " --algorithm " + algorithm + " --directions " + directions + " --chunks " +
         std::to_string(chunks) + " --dependences " + dependences + " (scratch depth " +
         std::to_string(scratch_depth) + ")";
}

CompileCase drawCase(std::uint64_t max_ranks) {
  CompileCase result;
  result.collective = oneOf<std::string>({"allreduce", "reduce_scatter", "allgather"});
  const std::uint32_t dimensions = draw(1, 5);
  std::uint64_t ranks = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    // The last dimension may be long, the others leave room for it.
    const std::uint64_t room = max_ranks / ranks;
    const std::uint64_t longest = i + 1 == dimensions ? 24 : 6;
    const std::uint32_t size = draw(1, static_cast<std::uint32_t>(std::min(longest, room)));
    ranks *= size;
    result.shape += (i > 0 ? "x" : "") + std::to_string(size);
    if (draw(0, 2) == 2) result.shape += "m";
  }
  result.order = std::string(kAxisNames.substr(0, dimensions));
  if (ranks * 2 <= max_ranks && draw(0, 3) == 3) {
    result.shape +=
        "+" + std::to_string(draw(
                  2, static_cast<std::uint32_t>(std::min<std::uint64_t>(4, max_ranks / ranks))));
    result.order += kCoreAxisName;
  }
  const std::size_t turn = draw(0, static_cast<std::uint32_t>(result.order.size() - 1));
  std::rotate(result.order.begin(), result.order.begin() + static_cast<std::ptrdiff_t>(turn),
              result.order.end());
  result.algorithm = oneOf<std::string>({"bucket", "bucket", "bucket-1d"});
  result.directions = oneOf<std::string>({"bidirectional", "unidirectional"});
  result.dependences = oneOf<std::string>({"region", "phase"});
  result.chunks = oneOf<std::uint32_t>({1, 1, 2, 3});
  result.scratch_depth = draw(1, 3);
  return result;
}

Schedule compileCase(const CompileCase& test_case) {
  llvm::Expected<Collective> collective = parseCollective(test_case.collective);
  llvm::Expected<const Algorithm*> algorithm = findAlgorithm(test_case.algorithm);
  StatusOr<Topology> topology = parseTopology(test_case.shape, test_case.order);
  if (!collective) RC_FAIL(llvm::toString(collective.takeError()));
  if (!algorithm) RC_FAIL(llvm::toString(algorithm.takeError()));
  if (!topology.ok()) RC_FAIL(topology.status().message());
  PipelineOptions options;
  options.directions = test_case.directions;
  options.chunks = test_case.chunks;
  options.dependences = test_case.dependences;
  const std::string pipeline = planPipeline(**algorithm, options) + "," + stepPipeline(options);
  PassManagerOptions manager;
  manager.verify_each = false;
  llvm::Expected<Program> program =
      compile({*collective, *topology}, **algorithm, pipeline, manager);
  if (!program) RC_FAIL(test_case.text() + ": " + llvm::toString(program.takeError()));
  return std::move(program->schedule);
}

CheckedCall drawCall(const Schedule& schedule) {
  CheckedCall call;
  const auto ranks = static_cast<std::uint32_t>(schedule.topology.ranks());
  auto count = [&] {
    return oneOf<std::uint64_t>({0, 1, 2, 7, 13, 97, draw(0, ranks), draw(0, 3000)});
  };
  call.type = static_cast<CheckedType>(draw(0, kCheckedTypeCount - 1));
  call.count = count();
  const bool blocks = schedule.collective != Collective::kAllreduce;
  if (blocks && draw(0, 1) == 1) {
    const std::uint64_t largest = std::min<std::uint64_t>(count(), 200);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      call.per_rank.push_back(draw(0, static_cast<std::uint32_t>(largest)));
    }
  } else if (blocks) {
    call.count = std::min<std::uint64_t>(call.count, 100'000 / ranks);
  }
  call.in_place = schedule.collective != Collective::kReduceScatter && draw(0, 1) == 1;
  call.delivery = oneOf({Delivery::kRendezvous, Delivery::kEager, Delivery::kAdversarial});
  call.seed = draw(0, 1u << 30);
  return call;
}

}  // namespace torc
