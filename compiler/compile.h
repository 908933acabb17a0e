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

/// What rings are that dead links cut at one coordinate.
enum class CutRings { kLines, kDetours };

/// What the pipeline of a compilation is made of.
struct PipelineOptions {
  CutRings cuts = CutRings::kLines;                                            // detour-cuts
  passes::ColorWeights weights = passes::ColorWeights::kEqual;                 // assign-colors
  passes::DirectionModel directions = passes::DirectionModel::kBidirectional;  // split-directions
  std::uint32_t chunks = 1;              // pipeline; 1: left out, 0: auto
  std::uint64_t auto_bytes = 64 << 20;   // for which vector chunks are chosen, if auto ...
  std::string auto_machine = "generic";  // ... and for which machine
  passes::DependenceKind dependences = passes::DependenceKind::kRegion;  // infer-dependences
  // order-links; window of segment; along trees, chunks of each segment; 0: left out
  std::uint32_t in_flight = 0;
  std::uint32_t segments = 1;  // segment, of rings; 1: left out
  passes::SegmentOrder segment_order = passes::SegmentOrder::kChains;
  std::uint32_t cores = 1;                 // assign-cores; 1: left out
  std::uint32_t scratch_depth = 2;         // allocate-scratch
  PeerOrder peers = PeerOrder::kShuffled;  // expand-exchanges: in which order; and how many ...
  // ... messages at a time, 0: all; along trees, segments under way at a node, 0: as the algorithm
  // says.
  std::uint32_t window = 0;
  std::uint32_t led_cores = 0;     // lead-cores: all of a node's; 0: left out
  bool synchronous_sends = false;  // synchronize-sends
};

/// Segments of an all-to-all under way at a node: one is sent on while the next one arrives. What
/// they share is the scratch that the exchange takes in one piece.
inline constexpr std::uint32_t kExchangeWindow = 2;
/// Segments of rings under way at a node, unless options say how many.
inline constexpr std::uint32_t kRingWindow = 4;

/// The passes on the plan: `assign-colors{weights=equal},assign-permutations,...`.
passes::PassPipeline planPipeline(const Algorithm& algorithm, const PipelineOptions& options);
/// Those and the ones that make steps of the plan, uncut.
passes::PassPipeline uncutPipeline(const Algorithm& algorithm, const PipelineOptions& options);

/// All passes of a compilation; none for an algorithm that makes steps, in one chunk. Where the
/// steps are settled, options but that of chunks mean nothing.
passes::PassPipeline pipelineOf(const Algorithm& algorithm, const PipelineOptions& options);

/// Runs `pipeline`, which may be empty, on the plan of `algorithm` for `spec`. The program's
/// producer is the version and the pipeline; its tables are canonical, so that its text, parsed,
/// gives the same file. Where the first core of a node leads the others (lead-cores), the plan is
/// for the network alone; an error where the nodes have another number of cores.
llvm::Expected<ir::Program> compile(const CollectiveSpec& spec, const Algorithm& algorithm,
                                    const passes::PassPipeline& pipeline,
                                    const passes::PassManagerOptions& options);

/// Runs more passes on a program that was compiled; its producer names them, too, and its tables
/// are canonical.
llvm::Expected<ir::Program> compileOn(ir::Program program, const passes::PassPipeline& pipeline,
                                      const passes::PassManagerOptions& options);

/// `program` with loops of steps that repeat (roll-loops), as it goes into a file; its producer
/// says so where there are any.
llvm::Expected<ir::Program> rollLoops(const ir::Program& program,
                                      const passes::PassManagerOptions& options);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMPILE_H_
