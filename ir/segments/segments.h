// Unrolls segments (schedules/schedule.h): turns a schedule in segments into one without, for
// proofs and the simulator.
#ifndef TORC_IR_SEGMENTS_SEGMENTS_H_
#define TORC_IR_SEGMENTS_SEGMENTS_H_

#include <cstdint>

#include "schedules/schedule.h"

namespace torc::ir {

/// `schedule` with its first `segments` segments unrolled, which divide the vector among
/// themselves; 1 to all of them. Segment s has the operations from s times those of `schedule` on,
/// and in place of every part the s-th of `segments` chunks of it.
Schedule unrollSegments(const ScheduleView& schedule, std::uint32_t segments);

/// Number of segments for a proof: a property of so many holds for all
/// (docs/developers/verifier.md, "Segments").
std::uint32_t segmentsToProve(const ScheduleView& schedule);

/// Number of segments to simulate if `fit` of them are affordable, at least 2: the times of further
/// segments follow from these. All of them, if that many fit.
std::uint32_t segmentsToSimulate(const ScheduleView& schedule, double fit);

}  // namespace torc::ir

#endif  // TORC_IR_SEGMENTS_SEGMENTS_H_
