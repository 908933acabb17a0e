// segment{segments=S}: runs the program for every one of S segments of each part, one behind the
// other.
#ifndef TORC_PASSES_PIPELINING_SEGMENT_H_
#define TORC_PASSES_PIPELINING_SEGMENT_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

inline constexpr std::uint32_t kMostSegmentsOfPart = 1u << 17;

/// In how many segments `schedule`, which has none, may be run: all of them together have no more
/// operations, frames, pieces and dependences than a schedule in segments may have
/// (schedules/validation/validate.h).
std::uint32_t mostSegments(const ScheduleView& schedule);

/// What goes through the window of segments one after the other: operations, each by itself, or
/// chains of them, as rings are, all of a stream in a phase; the same with phases in turn on each
/// link, older segments first, where chains of unequal length, as along lines, would be overtaken.
enum class SegmentOrder { kOperations, kChains, kPhases };
llvm::ArrayRef<llvm::StringRef> words(SegmentOrder);

struct SegmentPass {
  std::uint32_t segments = 2;  // of each part, up to kMostSegmentsOfPart
  std::uint32_t window = 4;    // of them under way at a node; up to kMaxSegmentsBefore
  SegmentOrder order = SegmentOrder::kOperations;

  auto operator<=>(const SegmentPass&) const = default;
};

std::unique_ptr<Pass> makePass(const SegmentPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_PIPELINING_SEGMENT_H_
