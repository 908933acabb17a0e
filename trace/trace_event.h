// The events of a trace: measured or predicted actions of ranks, with their times.
#ifndef TORC_TRACE_TRACE_EVENT_H_
#define TORC_TRACE_TRACE_EVENT_H_

#include <cstdint>
#include <string>

#include "schedules/schedule.h"

namespace torc {

enum class TraceKind : std::uint8_t {
  kCall = 0,        // a call of the program, from its begin to its return
  kLoad = 1,        // of a schedule: its file read, spread and checked
  kCollective = 2,  // a round, from its start to its completion
  kSend = 3,        // a message, from its start to its completion as MPI reports it
  kReceive = 4,
  kReduce = 5,  // local work
  kCopy = 6,
};
inline constexpr int kTraceKindCount = 7;

/// Plain data: ranks exchange events as they are in memory.
struct TraceEvent {
  std::int64_t begin = 0, end = 0;   // nanoseconds
  std::uint64_t bytes = 0;           // of the whole vector, the message, or the result
  std::uint64_t flow = 0;            // the same number at both ends of a message, or on all ranks
                                     // of a collective; 0: unknown
  std::uint32_t name = kNone;        // text: the function, the schedule
  std::uint32_t detail = kNone;      // text: more about it
  std::int32_t peer = -1;            // messages: a rank of the trace
  std::uint32_t tag = 0;             // messages: of the schedule
  std::uint32_t operation = kNone;   // index in the schedule
  std::uint32_t stream_row = kNone;  // of operations: see traceRow
  TraceKind kind = TraceKind::kCall;
  std::uint8_t reserved[7] = {};
};
static_assert(sizeof(TraceEvent) == 64);

/// The row of a stream: its color and direction, as one number. Streams without a part share one.
std::uint32_t traceRow(const ScheduleView& schedule, std::uint32_t stream);
inline constexpr std::uint32_t kAnyPartRow = 0xfffffffe;

/// "(1, 0, 2) of 4x3x2".
std::string traceCoordinates(const Topology& topology, const Coordinates& at);

}  // namespace torc

#endif  // TORC_TRACE_TRACE_EVENT_H_
