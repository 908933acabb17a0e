// Compiles every algorithm on a few shapes, and rolls the steps into loops.
#include "tests/properties/looped_cases.h"

#include <cstdint>
#include <optional>
#include <utility>

#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "passes/loops/roll_loops.h"

namespace torc {
namespace {

constexpr const char* kShapes[] = {"7", "5x3", "6m", "5mx3", "4x2+2", "12"};
constexpr std::uint32_t kSegments = 7;

/// The schedule, if there is one, with loops where steps repeat.
std::optional<Schedule> compiled(const compiler::Algorithm& algorithm, Collective collective,
                                 const char* shape, std::uint32_t segments) {
  const compiler::CollectiveSpec spec{collective, *parseTopology(shape)};
  if (!compiler::isWorthTrying(algorithm, spec)) return std::nullopt;
  compiler::PipelineOptions options;
  // The segments of what is settled are its chunks; rings have a pass of their own.
  (algorithm.isSettled() ? options.chunks : options.segments) = segments;
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  llvm::Expected<ir::Program> program =
      compiler::compile(spec, algorithm, compiler::pipelineOf(algorithm, options), manager);
  if (!program) {
    llvm::consumeError(program.takeError());  // more than the algorithm can do
    return std::nullopt;
  }
  passes::PassManager rolling(passes::PassPipeline{passes::RollLoopsPass{.least = 2}}.passes(),
                              manager);
  cantFail(rolling.run(*program));
  return std::move(program->schedule);
}

}  // namespace

std::vector<LoopedCase> loopedCases() {
  std::vector<LoopedCase> cases;
  for (const compiler::Algorithm& algorithm : compiler::algorithms()) {
    for (int i = 0; i < kCollectiveCount; ++i) {
      const auto collective = static_cast<Collective>(i);
      if (!algorithm.serves(rowOf(collective))) continue;
      for (const std::uint32_t segments : {1u, kSegments}) {
        for (const char* shape : kShapes) {
          std::optional<Schedule> schedule = compiled(algorithm, collective, shape, segments);
          if (!schedule || (segments == 1 ? schedule->loops.empty() : schedule->segments == 1))
            continue;
          cases.push_back({std::string(rowOf(collective).name) + " on " + shape + " by " +
                               algorithm.name.str() + (segments > 1 ? " in segments" : ""),
                           std::move(*schedule)});
          break;
        }
      }
    }
  }
  return cases;
}

}  // namespace torc
