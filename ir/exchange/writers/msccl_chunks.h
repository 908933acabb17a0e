// Chunks of MSCCL programs: for which count of a schedule everything is whole, and what ranks'
// regions are in chunks then.
#ifndef TORC_IR_EXCHANGE_WRITERS_MSCCL_CHUNKS_H_
#define TORC_IR_EXCHANGE_WRITERS_MSCCL_CHUNKS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "schedules/expansion/expand.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// The least count, as in Counts, for which colors, directions, chunks, segments and blocks of the
/// vector are whole elements. An error where that is more than 2^40.
llvm::Expected<std::uint64_t> wholeCount(const ScheduleView& schedule);

/// Chunks in a row of a buffer.
struct ChunkRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const ChunkRun&) const = default;
};
using ChunkRuns = std::vector<ChunkRun>;

/// The greatest common divisor of `divisor` and of all that `program` says in elements.
std::uint64_t commonDivisor(const FlatProgram& program, std::uint64_t divisor);

/// A region in chunks of `chunk` elements, which divide it.
ChunkRuns runsOf(const FlatProgram& program, const FlatRegion& region, std::uint64_t chunk);

/// Chunks that a step moves, at most: MSCCL_MAX_COUNT of msccl_struct.h is one more.
inline constexpr std::uint64_t kMostChunksOfStep = 71;

/// Lengths, in order, of the steps that move what is one run in each of `lists`. These are equally
/// long, or empty.
std::vector<std::uint64_t> commonRuns(llvm::ArrayRef<ChunkRuns> lists);

/// Goes through runs in steps that lie in one each.
class RunWalk {
 public:
  explicit RunWalk(const ChunkRuns& runs) : runs_(runs) {}
  /// The first of the next `length` chunks.
  std::uint64_t next(std::uint64_t length) {
    if (inside_ == runs_[run_].count) {
      ++run_;
      inside_ = 0;
    }
    const std::uint64_t first = runs_[run_].first + inside_;
    inside_ += length;
    return first;
  }

 private:
  const ChunkRuns& runs_;
  std::size_t run_ = 0;
  std::uint64_t inside_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_MSCCL_CHUNKS_H_
