// Round trace: makes events of an executor's operations.
#include "runtime/trace/round_trace.h"

#include "support/hash.h"

namespace torc::runtime {

std::uint64_t traceHash(std::uint64_t a, std::uint64_t b) {
  return hashNumbers(a, b);
}

RoundTrace::RoundTrace(std::shared_ptr<Trace> trace, const ScheduleView& schedule,
                       const FlatProgram& program, std::size_t element_bytes,
                       const std::function<std::int32_t(std::int32_t)>& trace_rank)
    : trace_(std::move(trace)),
      name_(trace_->text(rowOf(schedule.collective).name)),
      schedule_(trace_->text(schedule.name)) {
  const auto me = static_cast<std::uint64_t>(trace_->rank());
  operations_.reserve(program.operations.size());
  for (const FlatOperation& flat : program.operations) {
    Operation& operation = operations_.emplace_back();
    operation.kind = flat.kind;
    operation.source = flat.source;
    operation.stream_row = traceRow(schedule, flat.stream);
    if (!sends(flat.kind) && !receives(flat.kind)) continue;
    const FlatRegion& region = sends(flat.kind)                          ? flat.a
                               : flat.kind == OperationKind::kRecvReduce ? flat.b
                                                                         : flat.dst;
    operation.message_bytes = region.elements * element_bytes;
    operation.tag = flat.tag;
    operation.peer = trace_rank(flat.peer);
    const auto peer = static_cast<std::uint64_t>(operation.peer);
    const std::uint64_t ends = sends(flat.kind) ? me << 32 | peer : peer << 32 | me;
    operation.message_key = traceHash(ends, flat.tag);
  }
}

void RoundTrace::beginRound(std::uint64_t key) {
  key_ = key;
  begin_ = traceClock();
}

void RoundTrace::endRound(std::uint64_t bytes) {
  TraceEvent event = endedEvent(TraceKind::kCollective, begin_, bytes);
  event.name = name_;
  event.detail = schedule_;
  event.flow = key_;
  trace_->record(event);
}

void RoundTrace::endMessage(std::uint32_t step) {
  const Operation& operation = operations_[step];
  TraceEvent event = endedEvent(sends(operation.kind) ? TraceKind::kSend : TraceKind::kReceive,
                                operation.begin, operation.message_bytes);
  event.flow = traceHash(key_, operation.message_key);
  event.peer = operation.peer;
  event.tag = operation.tag;
  event.operation = operation.source;
  event.stream_row = operation.stream_row;
  trace_->record(event);
}

void RoundTrace::endWork(std::uint32_t step, std::uint64_t bytes) {
  if (bytes == 0) return;  // done as part of another copy
  const Operation& operation = operations_[step];
  TraceEvent event =
      endedEvent(operation.kind == OperationKind::kCopy ? TraceKind::kCopy : TraceKind::kReduce,
                 operation.begin, bytes);
  event.operation = operation.source;
  event.stream_row = operation.stream_row;
  trace_->record(event);
}

}  // namespace torc::runtime
