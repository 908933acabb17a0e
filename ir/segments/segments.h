// Segments (schedules/schedule.h), one by one: a schedule in segments as one without, which proofs
// and the simulator go through.
#ifndef TORC_IR_SEGMENTS_SEGMENTS_H_
#define TORC_IR_SEGMENTS_SEGMENTS_H_

#include <cstdint>

#include "schedules/schedule.h"

namespace torc::ir {

/// `schedule` with the program of each segment written out, for the first `segments` of them,
/// 1 to as many as it has, which divide the vector among themselves. Segment s has the operations
/// from s times those of `schedule` on, and in place of every part the s-th of `segments` chunks of
/// it.
Schedule unrollSegments(const ScheduleView& schedule, std::uint32_t segments);

/// How many segments a proof goes through: what holds for so many holds for all
/// (docs/developers/verifier.md, "Segments").
std::uint32_t segmentsToProve(const ScheduleView& schedule);

/// How many segments are simulated where `fit` of them are little enough work, at least 2: what
/// more of them take follows from these. All of them, if that many fit.
std::uint32_t segmentsToSimulate(const ScheduleView& schedule, double fit);

}  // namespace torc::ir

#endif  // TORC_IR_SEGMENTS_SEGMENTS_H_
