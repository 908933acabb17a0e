// segment{segments=S}: runs the program for each of S segments of every part in turn.
#ifndef TORC_PASSES_PIPELINING_SEGMENT_H_
#define TORC_PASSES_PIPELINING_SEGMENT_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

inline constexpr std::uint32_t kMostSegmentsOfPart = 1u << 17;

/// The largest number of segments for `schedule`, which has none: together they have no more
/// operations, frames, pieces and dependences than a schedule in segments may have
/// (schedules/validation/validate.h).
std::uint32_t mostSegments(const ScheduleView& schedule);

/// Units that go through the window of segments one after the other: single operations; chains of
/// them, as in rings, all of a stream in a phase; or chains with phases alternating on each link,
/// older segments first, for chains of unequal length, as along lines, which would otherwise be
/// overtaken.
enum class SegmentOrder { kOperations, kChains, kPhases };
llvm::ArrayRef<llvm::StringRef> words(SegmentOrder);

struct SegmentPass {
  std::uint32_t segments = 2;  // of each part, up to kMostSegmentsOfPart
  std::uint32_t window = 4;    // of them active at a node; up to kMaxSegmentsBefore
  SegmentOrder order = SegmentOrder::kOperations;

  auto operator<=>(const SegmentPass&) const = default;
};

std::unique_ptr<Pass> makePass(const SegmentPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_PIPELINING_SEGMENT_H_
