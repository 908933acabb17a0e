// Strands: the units of a color's data that the steps of its rings move together, and their
// streams. In two directions each half of a color goes its own way: a strand per part, in one
// stream. On half-latency rings both halves go together, both ways: a strand per pair of them, with
// a stream for each way that serves any part.
#ifndef TORC_PASSES_ANALYSIS_STRANDS_H_
#define TORC_PASSES_ANALYSIS_STRANDS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "ir/program.h"
#include "ir/schedule_builder.h"
#include "passes/analysis/plan_progress.h"

namespace torc::passes {

/// A part, or the two halves of a color's chunk, with the progress of its steps.
struct Strand {
  Strand(const Schedule& schedule, std::uint32_t color) : color(color), progress(schedule, color) {}

  std::uint32_t color;
  std::uint32_t direction = 0;
  llvm::SmallVector<std::uint32_t, 2> parts;
  std::uint32_t first_stream = 0;  // of two halves: of way +; the next one is of way -
  PlanProgress progress;
  std::uint32_t own_frame = kNone;  // reduce_scatter: sums of the own coordinate's blocks on the
                                    // first axis ...
  llvm::DenseMap<std::int32_t, std::uint32_t> frames;  // ... and of others there, by offset

  bool isHalfLatency() const { return parts.size() == 2; }
};

/// The strands of a plan in the order of their first parts; adds their streams to `builder`. An
/// error if only some rings of a color are half-latency ones, or it has only one direction.
llvm::Expected<std::vector<Strand>> makeStrands(const ir::Program& plan,
                                                ir::ScheduleBuilder& builder);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_STRANDS_H_
