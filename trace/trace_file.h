// The trace of a job as JSON of the Trace Event Format, for Perfetto and Chrome:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
// docs/users/view.md explains the display.
//
// It is written rank by rank, so that only one rank's events are in memory at a time.
#ifndef TORC_TRACE_TRACE_FILE_H_
#define TORC_TRACE_TRACE_FILE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"
#include "trace/trace_event.h"

namespace torc {

/// The difference of a rank's clock from that of rank 0, measured at the trace's begin and end.
struct ClockSample {
  std::int64_t at = 0;      // of the rank's clock
  std::int64_t offset = 0;  // the rank's clock minus that of rank 0
  std::int64_t error = 0;   // accuracy of the offset; 0: the clock is that of rank 0
};

/// A time of the rank on the clock of rank 0: between the samples the offset changes linearly.
std::int64_t onClockOfRank0(const ClockSample& first, const ClockSample& last, std::int64_t time);

/// The recorded events of a rank.
struct RankTrace {
  int rank = 0;
  std::string coordinates;  // "(1, 0, 2) of 4x3x2"; empty: unknown
  std::vector<TraceEvent> events;
  std::vector<std::string> texts;
  std::uint64_t dropped = 0;
  ClockSample first_clock, last_clock;
};

/// `text` as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD.
std::string jsonString(std::string_view text);

class TraceFile {
 public:
  /// Creates a file beside `path`, under another name until `finish`. Times in the file count from
  /// `start`, on the clock of rank 0.
  static StatusOr<std::unique_ptr<TraceFile>> create(const std::string& path, std::int64_t start);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void add(RankTrace& rank);

  /// Ends the file and renames it into place.
  Status finish();

 private:
  struct Lanes;

  TraceFile(std::string path, std::string temporary, std::FILE* file, std::int64_t start)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(file), start_(start) {}
  void begin(const char* phase, int process);
  void metadata(int process, int thread, const char* name, const std::string& arguments);
  void event(const TraceEvent& event, const RankTrace& rank, int thread);
  void time(const char* name, std::int64_t nanoseconds);

  std::string path_, temporary_;
  std::FILE* file_;
  std::int64_t start_;
  bool empty_ = true;
  std::uint64_t ranks_ = 0, events_ = 0, dropped_ = 0;
  std::int64_t clock_error_ = 0;
};

}  // namespace torc

#endif  // TORC_TRACE_TRACE_FILE_H_
