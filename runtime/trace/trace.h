// Trace: events of this process, in a ring buffer of fixed size.
//
// All memory for events is allocated at the beginning; beyond it, the oldest events are dropped and
// counted. Threads may record at the same time. trace_job.h writes the events of all ranks to one
// file; trace/trace_file.h defines its format.
#ifndef TORC_RUNTIME_TRACE_TRACE_H_
#define TORC_RUNTIME_TRACE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/non_copyable.h"
#include "trace/trace_event.h"

namespace torc::runtime {

/// Nanoseconds on this host's steady clock.
std::int64_t traceClock();

/// Identifies the clock: the same number in processes that read the same one; 0: unknown.
std::uint64_t traceClockIdentity();

/// An event of this kind that ends now.
inline TraceEvent endedEvent(TraceKind kind, std::int64_t begin, std::uint64_t bytes) {
  TraceEvent event;
  event.kind = kind;
  event.begin = begin;
  event.end = traceClock();
  event.bytes = bytes;
  return event;
}

class Trace : NonCopyable {
 public:
  /// Allocates `capacity` events, at least 1. `rank`: of this process among the trace's ranks.
  /// Throws std::bad_alloc.
  /// `calls_only`: keeps rounds and the calls that begin them, which become one event.
  Trace(std::size_t capacity, int rank, bool calls_only = false);

  /// Never waits for another process, and never allocates. Ignored when closed.
  void record(const TraceEvent& event);

  /// A call or the loading of a file, with its texts. Empty: none.
  void record(TraceKind kind, std::string_view name, std::string_view detail, std::int64_t begin,
              std::uint64_t bytes);

  /// The number of a text, equal for equal texts. A known text costs a lookup.
  std::uint32_t text(std::string_view text);

  /// Sets the position of this process, for its title: "(1, 0, 2) of 4x3x2". Only the first call
  /// has an effect.
  void setCoordinates(std::string coordinates);

  /// Ends the recording. Returns the remaining events, oldest first.
  std::vector<TraceEvent> close();

  int rank() const { return rank_; }
  bool isOfCalls() const { return calls_only_; }
  // Precondition: closed.
  std::uint64_t dropped() const { return recorded_ > capacity_ ? recorded_ - capacity_ : 0; }
  const std::vector<std::string>& texts() const { return texts_; }
  const std::string& coordinates() const { return coordinates_; }

 private:
  std::vector<TraceEvent> joined() const;

  const int rank_;
  const bool calls_only_;
  std::mutex mutex_;
  const std::size_t capacity_;
  std::vector<TraceEvent> ring_;  // reserved for all events, and touched as events come
  std::uint64_t recorded_ = 0;
  bool closed_ = false;
  std::vector<std::string> texts_;
  struct HashText {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, std::uint32_t, HashText, std::equal_to<>> number_of_text_;
  std::string coordinates_;
};

/// Records a call from here to the end of the scope; a null trace records nothing.
class TraceCall : NonCopyable {
 public:
  explicit TraceCall(Trace* trace, const char* function, TraceKind kind = TraceKind::kCall)
      : trace_(trace), function_(function), kind_(kind) {
    if (trace_ != nullptr) begin_ = traceClock();
  }
  ~TraceCall() {
    if (trace_ != nullptr) trace_->record(kind_, function_, detail_, begin_, bytes_);
  }

  /// Sets values that are known later; `detail` must outlive this object.
  void setBytes(std::uint64_t bytes) { bytes_ = bytes; }
  void setDetail(std::string_view detail) { detail_ = detail; }

 private:
  Trace* const trace_;
  const char* const function_;
  const TraceKind kind_;
  std::string_view detail_;
  std::int64_t begin_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRACE_TRACE_H_
