// Compilation: from a collective and a shape to a program, by an algorithm's plan and a pipeline of
// passes.
#ifndef TORC_COMPILER_COMPILE_H_
#define TORC_COMPILER_COMPILE_H_

#include <cstdint>
#include <string>

#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"
#include "passes/manager/pass_manager.h"
#include "passes/registry/pass_pipeline.h"

namespace torc::compiler {

/// Treatment of rings that dead links cut at one coordinate.
enum class CutRings { kLines, kDetours };

/// The options of a compilation's pipeline, each with its pass.
struct PipelineOptions {
  CutRings cuts = CutRings::kLines;                                            // detour-cuts
  passes::ColorWeights weights = passes::ColorWeights::kEqual;                 // assign-colors
  passes::DirectionModel directions = passes::DirectionModel::kBidirectional;  // split-directions
  std::uint32_t chunks = 1;              // pipeline; 1: omitted, 0: auto
  std::uint64_t auto_bytes = 64 << 20;   // vector size for automatic chunks ...
  std::string auto_machine = "generic";  // ... and their machine
  passes::DependenceKind dependences = passes::DependenceKind::kRegion;  // infer-dependences
  // order-links; window of segment; along trees, chunks of each segment; 0: omitted
  std::uint32_t in_flight = 0;
  std::uint32_t segments = 1;  // segment, of rings; 1: omitted
  passes::SegmentOrder segment_order = passes::SegmentOrder::kChains;
  std::uint32_t cores = 1;                 // assign-cores; 1: omitted
  std::uint32_t scratch_depth = 2;         // allocate-scratch
  PeerOrder peers = PeerOrder::kShuffled;  // expand-exchanges
  // expand-exchanges: messages in flight, 0: all; along trees, segments in flight at a node, 0: the
  // algorithm's default.
  std::uint32_t window = 0;
  std::uint32_t led_cores = 0;     // lead-cores: the number of cores per node; 0: omitted
  bool synchronous_sends = false;  // synchronize-sends
};

/// Segments of an all-to-all in flight at a node: one is forwarded while the next one arrives. They
/// must fit together into the scratch limit.
inline constexpr std::uint32_t kExchangeWindow = 2;
/// Default number of segments of rings in flight at a node.
inline constexpr std::uint32_t kRingWindow = 4;

/// The passes on the plan: `assign-colors{weights=equal},assign-permutations,...`.
passes::PassPipeline planPipeline(const Algorithm& algorithm, const PipelineOptions& options);
/// These passes and the ones that expand the plan into uncut steps.
passes::PassPipeline uncutPipeline(const Algorithm& algorithm, const PipelineOptions& options);

/// All passes of a compilation; none for an algorithm that makes steps, in one chunk. If the steps
/// are final, only the option of chunks has an effect.
passes::PassPipeline pipelineOf(const Algorithm& algorithm, const PipelineOptions& options);

/// Runs `pipeline`, which may be empty, on the plan of `algorithm` for `spec`. The program's
/// producer is the version and the pipeline; its tables are canonical, so that its text, parsed,
/// gives the same file. If the first core of a node leads the others (lead-cores), the plan is for
/// the network alone. Then an error if the nodes have another number of cores.
llvm::Expected<ir::Program> compile(const CollectiveSpec& spec, const Algorithm& algorithm,
                                    const passes::PassPipeline& pipeline,
                                    const passes::PassManagerOptions& options);

/// Runs further passes on a compiled program; the producer names them too, and the tables are
/// canonical.
llvm::Expected<ir::Program> compileOn(ir::Program program, const passes::PassPipeline& pipeline,
                                      const passes::PassManagerOptions& options);

/// `program` with loops of repeated steps (roll-loops), as for a file; if there are any, its
/// producer names the pass.
llvm::Expected<ir::Program> rollLoops(const ir::Program& program,
                                      const passes::PassManagerOptions& options);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMPILE_H_
