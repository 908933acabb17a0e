// Trace: what this process did and when, in a ring of events of fixed size.
//
// All memory for events is allocated at the beginning; where there are more events than room, the
// oldest are dropped and counted. Threads may record at the same time. trace_job.h brings the
// events of all ranks into one file, trace/trace_file.h says how they look there.
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

#include "trace/trace_event.h"

namespace torc::runtime {

/// Nanoseconds on this host's steady clock.
std::int64_t traceClock();

/// Of the clock: the same number in processes that read the same one; 0: unknown.
std::uint64_t traceClockIdentity();

class Trace {
 public:
  /// Room for `capacity` events, at least 1. `rank` of the trace's ranks is this process. Throws
  /// std::bad_alloc.
  Trace(std::size_t capacity, int rank);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Never waits for another process; allocates nothing. Ignored when closed.
  void record(const TraceEvent& event);

  /// A call or the loading of a file, with the texts that stand for it. Empty: none.
  void record(TraceKind kind, std::string_view name, std::string_view detail, std::int64_t begin,
              std::uint64_t bytes);

  /// The number of a text, the same for equal ones. Texts that repeat cost a lookup.
  std::uint32_t text(std::string_view text);

  /// Where this process is, for its title: "(1, 0, 2) of 4x3x2". What is said first counts.
  void setCoordinates(std::string coordinates);

  /// No more events from now on. Returns those that are left, oldest first.
  std::vector<TraceEvent> close();

  int rank() const { return rank_; }
  // After close.
  std::uint64_t dropped() const { return recorded_ > capacity_ ? recorded_ - capacity_ : 0; }
  const std::vector<std::string>& texts() const { return texts_; }
  const std::string& coordinates() const { return coordinates_; }

 private:
  const int rank_;
  std::mutex mutex_;
  const std::size_t capacity_;
  std::vector<TraceEvent> ring_;  // memory for all is reserved, and touched as events come
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

/// Records a call from here to the end of the scope; a null trace does nothing.
class TraceCall {
 public:
  explicit TraceCall(Trace* trace, const char* function, TraceKind kind = TraceKind::kCall)
      : trace_(trace), function_(function), kind_(kind) {
    if (trace_ != nullptr) begin_ = traceClock();
  }
  ~TraceCall() {
    if (trace_ != nullptr) trace_->record(kind_, function_, detail_, begin_, bytes_);
  }
  TraceCall(const TraceCall&) = delete;
  TraceCall& operator=(const TraceCall&) = delete;

  /// What is known only later; `detail` lives as long as this object.
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
