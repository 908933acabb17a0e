// Round trace: records the operations of an executor in a trace.
//
// The two ends of a message must give it the same number (TraceEvent::flow) without communication.
// The number is a hash of the data that both know: the geometry, the call and its round there, the
// two ranks and the schedule's tag.
#ifndef TORC_RUNTIME_TRACE_ROUND_TRACE_H_
#define TORC_RUNTIME_TRACE_ROUND_TRACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/trace/trace.h"
#include "schedules/expansion/expand.h"

namespace torc::runtime {

/// A hash of two numbers: 64 bits.
std::uint64_t traceHash(std::uint64_t a, std::uint64_t b);

class RoundTrace {
 public:
  /// For rounds of `program`, the program of `schedule` on rank `program.rank` of the geometry; an
  /// element has `element_bytes` bytes. `trace_rank` gives the trace's rank of a peer.
  RoundTrace(std::shared_ptr<Trace> trace, const ScheduleView& schedule, const FlatProgram& program,
             std::size_t element_bytes,
             const std::function<std::int32_t(std::int32_t)>& trace_rank);

  /// Begins a round. `key` is the same on all ranks, and unique to the round.
  void beginRound(std::uint64_t key);
  /// Ends it; `bytes` of the whole vector.
  void endRound(std::uint64_t bytes);

  // Called by the executor. `step`: index in the program. A step's message precedes its work.
  void beginMessage(std::uint32_t step) { operations_[step].begin = traceClock(); }
  void endMessage(std::uint32_t step);
  void beginWork(std::uint32_t step) { operations_[step].begin = traceClock(); }
  void endWork(std::uint32_t step, std::uint64_t bytes);

  std::size_t bytes() const {
    return sizeof(*this) + operations_.capacity() * sizeof(operations_[0]);
  }

 private:
  struct Operation {
    std::int64_t begin = 0;
    std::uint64_t message_bytes = 0;
    std::uint64_t message_key = 0;  // of the ranks and the tag
    std::uint32_t source = 0;
    std::uint32_t stream_row = 0;
    std::int32_t peer = -1;
    std::uint32_t tag = 0;
    OperationKind kind = OperationKind::kSend;
  };

  std::shared_ptr<Trace> trace_;
  std::uint32_t name_;      // of the collective
  std::uint32_t schedule_;  // of the schedule
  std::int64_t begin_ = 0;
  std::uint64_t key_ = 0;
  std::vector<Operation> operations_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRACE_ROUND_TRACE_H_
