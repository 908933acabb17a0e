// Writes JSON, and arranges events in rows.
#include "trace/trace_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "support/files.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr const char* kHead = "{\"traceEvents\":[";  // not before the first event

/// Bytes of the UTF-8 character at the start of `text`; 0 if there is none.
std::size_t utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  // Overlong forms, surrogates, code points beyond U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

/// Opens a device, a pipe or the like without replacing it, at its end. A pipe without a reader is
/// a fault, not a reason to wait.
std::FILE* openAsItIs(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int file = ::open(path.c_str(), kFlags);
  if (file < 0) return nullptr;
  ::fcntl(file, F_SETFL, O_APPEND);
  return ::fdopen(file, "a");
}

const char* nameOf(TraceKind kind) {
  static constexpr const char* kNames[kTraceKindCount] = {"call",    "load",   "collective", "send",
                                                          "receive", "reduce", "copy"};
  return kNames[static_cast<int>(kind)];
}

bool isMessage(TraceKind kind) {
  return kind == TraceKind::kSend || kind == TraceKind::kReceive;
}

// A row of a rank is one thread of its process. Calls come first, then collectives, then of each
// stream its sends, its receives and its local work.
constexpr std::uint64_t kCalls = 0, kCollectives = 1, kStreams = 2, kRowsPerStream = 3;

std::uint64_t rowOf(const TraceEvent& event) {
  std::uint64_t part = 0;
  switch (event.kind) {
    case TraceKind::kCall:
    case TraceKind::kLoad:
      return kCalls;
    case TraceKind::kCollective:
      return kCollectives;
    case TraceKind::kSend:
      break;
    case TraceKind::kReceive:
      part = 1;
      break;
    case TraceKind::kReduce:
    case TraceKind::kCopy:
      part = 2;
      break;
  }
  return kStreams + kRowsPerStream * event.stream_row + part;
}

/// "color 1 -, receives". Overlapping events of a row are in several lanes of it.
std::string rowName(std::uint64_t row, std::size_t lane) {
  std::string name = "calls";
  if (row == kCollectives) name = "collectives";
  if (row >= kStreams) {
    static constexpr const char* kParts[kRowsPerStream] = {"sends", "receives", "work"};
    const std::uint64_t stream = (row - kStreams) / kRowsPerStream;
    name = stream == kAnyPartRow ? std::string("all colors")
                                 : message("color ", stream / 2, stream % 2 == 0 ? " +" : " -");
    name += std::string(", ") + kParts[(row - kStreams) % kRowsPerStream];
  }
  return lane == 0 ? name : message(name, " (", lane + 1, ")");
}

}  // namespace

std::int64_t onClockOfRank0(const ClockSample& first, const ClockSample& last, std::int64_t time) {
  const std::int64_t span = last.at - first.at;
  if (span <= 0) return time - first.offset;
  const double share = static_cast<double>(time - first.at) / static_cast<double>(span);
  return time - first.offset -
         static_cast<std::int64_t>(share * static_cast<double>(last.offset - first.offset));
}

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8Length(text.substr(i));
    if (length == 0) {
      result += "\\ufffd";
    } else if (byte == '"' || byte == '\\') {
      result += {'\\', text[i]};
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
      result += escape;
    } else {
      result += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return result + '"';
}

StatusOr<std::unique_ptr<TraceFile>> TraceFile::create(const std::string& path,
                                                       std::int64_t start) {
  const bool is_replaced = isReplaced(path);
  const std::string temporary = is_replaced ? message(path, ".", ::getpid(), ".tmp") : "";
  std::FILE* file = is_replaced ? std::fopen(temporary.c_str(), "wxe") : openAsItIs(path);
  if (file == nullptr) {
    return Status(StatusCode::kIo, message("cannot write '", path, "': ", std::strerror(errno)));
  }
  return std::unique_ptr<TraceFile>(new TraceFile(path, temporary, file, start));
}

TraceFile::~TraceFile() {
  if (file_ == nullptr) return;
  const QuietWriting quiet;
  std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void TraceFile::begin(const char* phase, int process) {
  std::fprintf(file_, "%s\n{\"ph\":\"%s\",\"pid\":%d", empty_ ? kHead : ",", phase, process);
  empty_ = false;
}

void TraceFile::metadata(int process, int thread, const char* name, const std::string& arguments) {
  begin("M", process);
  if (thread > 0) std::fprintf(file_, ",\"tid\":%d", thread);
  std::fprintf(file_, ",\"name\":\"%s\",\"args\":{%s}}", name, arguments.c_str());
}

/// Microseconds.
void TraceFile::time(const char* name, std::int64_t nanoseconds) {
  const auto magnitude = static_cast<unsigned long long>(std::abs(nanoseconds));
  std::fprintf(file_, ",\"%s\":%s%llu.%03llu", name, nanoseconds < 0 ? "-" : "", magnitude / 1000,
               magnitude % 1000);
}

void TraceFile::event(const TraceEvent& event, const RankTrace& rank, int thread) {
  const int process = rank.rank + 1;
  const auto text = [&](std::uint32_t number) {
    return number < rank.texts.size() ? jsonString(rank.texts[number]) : std::string("\"\"");
  };
  begin("X", process);
  std::fprintf(file_, ",\"tid\":%d", thread);
  time("ts", event.begin - start_);
  time("dur", event.end - event.begin);
  std::fprintf(
      file_, ",\"cat\":\"%s\",\"name\":%s,\"args\":{\"bytes\":%llu", nameOf(event.kind),
      event.name != kNone ? text(event.name).c_str() : jsonString(nameOf(event.kind)).c_str(),
      static_cast<unsigned long long>(event.bytes));
  if (event.detail != kNone) {
    std::fprintf(file_, ",\"%s\":%s",
                 event.kind == TraceKind::kLoad         ? "file"
                 : event.kind == TraceKind::kCollective ? "schedule"
                                                        : "detail",
                 text(event.detail).c_str());
  }
  if (event.kind == TraceKind::kCollective && event.flow != 0)
    std::fprintf(file_, ",\"call\":\"%016llx\"", static_cast<unsigned long long>(event.flow));
  if (event.operation != kNone) std::fprintf(file_, ",\"operation\":%u", event.operation);
  if (isMessage(event.kind)) std::fprintf(file_, ",\"peer\":%d,\"tag\":%u", event.peer, event.tag);
  std::fputs("}}", file_);

  if (!isMessage(event.kind) || event.flow == 0) return;
  // The arrow leads from the beginning of the send to the end of the receive. A time belongs to the
  // event that has begun and not ended.
  const bool sends = event.kind == TraceKind::kSend;
  begin(sends ? "s" : "f", process);
  std::fprintf(file_, ",\"tid\":%d", thread);
  time("ts", (sends ? event.begin : event.end - 1) - start_);
  std::fprintf(file_, ",\"cat\":\"message\",\"name\":\"message\",\"id\":\"%016llx\"%s}",
               static_cast<unsigned long long>(event.flow), sends ? "" : ",\"bp\":\"e\"");
}

void TraceFile::add(RankTrace& rank) {
  const QuietWriting quiet;
  // Process 0 and thread 0 mean something else to Perfetto.
  const int process = rank.rank + 1;
  const std::string title =
      message("rank ", rank.rank, rank.coordinates.empty() ? "" : " at ", rank.coordinates);
  metadata(process, 0, "process_name", "\"name\":" + jsonString(title));
  metadata(process, 0, "process_sort_index", message("\"sort_index\":", rank.rank));
  if (rank.dropped > 0) {
    metadata(process, 0, "process_labels",
             message("\"labels\":\"", rank.dropped, " older events dropped\""));
  }

  for (TraceEvent& event : rank.events) {
    event.begin = onClockOfRank0(rank.first_clock, rank.last_clock, event.begin);
    event.end = onClockOfRank0(rank.first_clock, rank.last_clock, event.end);
    event.end = std::max(event.end, event.begin + 1);
  }
  std::stable_sort(rank.events.begin(), rank.events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) {
                     return std::tuple(rowOf(a), a.begin) < std::tuple(rowOf(b), b.begin);
                   });
  int threads = 0;  // of rows before this one
  std::vector<std::int64_t> lane_ends;
  for (std::size_t i = 0; i < rank.events.size(); ++i) {
    const TraceEvent& next = rank.events[i];
    const std::uint64_t row = rowOf(next);
    if (i > 0 && row != rowOf(rank.events[i - 1])) {
      threads += static_cast<int>(lane_ends.size());
      lane_ends.clear();
    }
    const auto free_lane = std::find_if(lane_ends.begin(), lane_ends.end(),
                                        [&](std::int64_t end) { return end <= next.begin; });
    const auto lane = static_cast<std::size_t>(free_lane - lane_ends.begin());
    const int thread = threads + static_cast<int>(lane) + 1;
    if (free_lane == lane_ends.end()) {
      lane_ends.push_back(0);
      metadata(process, thread, "thread_name", "\"name\":" + jsonString(rowName(row, lane)));
      metadata(process, thread, "thread_sort_index", message("\"sort_index\":", thread));
    }
    lane_ends[lane] = next.end;
    event(next, rank, thread);
  }
  ++ranks_;
  events_ += rank.events.size();
  dropped_ += rank.dropped;
  clock_error_ = std::max({clock_error_, rank.first_clock.error, rank.last_clock.error});
}

Status TraceFile::finish() {
  const QuietWriting quiet;
  std::fprintf(
      file_,
      "%s\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"producer\":\"torc\",\"ranks\":%llu,"
      "\"events\":%llu,\"dropped\":%llu,\"clock_error_us\":%.3f}}\n",
      empty_ ? kHead : "", static_cast<unsigned long long>(ranks_),
      static_cast<unsigned long long>(events_), static_cast<unsigned long long>(dropped_),
      1e-3 * static_cast<double>(clock_error_));
  // A full disk is detected here, or when the file is closed. The file is not synchronised with the
  // disk: that would only help against a crash of the host after the job, and takes seconds for
  // long traces.
  const bool written = std::fflush(file_) == 0 && std::ferror(file_) == 0;
  const int error = errno;
  std::FILE* file = std::exchange(file_, nullptr);
  if (written && std::fclose(file) == 0 &&
      (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0)) {
    return {};
  }
  const Status status(StatusCode::kIo,
                      message("cannot write '", path_, "': ", writeFault(written ? errno : error)));
  if (!written) std::fclose(file);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  return status;
}

}  // namespace torc
