// pipeline{chunks=K}: cuts every part into K chunks that follow each other.
#ifndef TORC_PASSES_PIPELINING_PIPELINE_H_
#define TORC_PASSES_PIPELINING_PIPELINE_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

/// Sends of the chunks of a part: at the same time, or one by one.
enum class ChunkSends { kTogether, kInTurn };
llvm::ArrayRef<llvm::StringRef> words(ChunkSends);

inline constexpr std::uint32_t kMostChunksOfPart = 4096;

struct PipelinePass {
  std::uint32_t chunks = 2;  // of each part, up to kMostChunksOfPart; 0: by the cost model for ...
  std::uint64_t bytes = std::uint64_t{64} << 20;  // ... a vector of this size ...
  std::string machine = "generic";                // ... on this preset or file
  ChunkSends sends = ChunkSends::kTogether;

  auto operator<=>(const PipelinePass&) const = default;
};

/// Whether `chunks` chunks are dealt the parts of `schedule`: none is cut.
bool dealsChunks(const ScheduleView& schedule, std::uint32_t chunks);

std::unique_ptr<Pass> makePass(const PipelinePass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_PIPELINING_PIPELINE_H_
