// Trace of a job: compares clocks, matches both ends of messages, and writes one file for all
// ranks.
#include "runtime/job/trace_job.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "runtime/api/api.h"
#include "runtime/trace/round_trace.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr std::string_view kCalls = "calls:";  // before the file's name
constexpr int kExchangesPerRank = 8;           // messages to compare two clocks
// Together 1 GiB: their bytes fit the count of one message.
constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 24;
constexpr std::uint64_t kDefaultEvents = 100000;
constexpr int kTag = 0;  // one rank at a time exchanges messages with rank 0, and messages keep
                         // their order

struct ClockReading {
  std::int64_t time = 0;  // traceClock()
  std::uint64_t identity = 0;
};

/// Sent to rank 0 before a rank's events.
struct Header {
  std::uint64_t events = 0, dropped = 0;
  std::uint64_t coordinates_bytes = 0, text_bytes = 0, texts = 0;
};

}  // namespace

StatusOr<std::unique_ptr<TraceJob>> TraceJob::open(torc_context* context, MPI_Comm comm,
                                                   const std::string& path, std::uint64_t events) {
  std::unique_ptr<TraceJob> job(new TraceJob(context));
  if (Status status = job->duplicate(comm); !status.ok()) return status;
  char calls_only = path.starts_with(kCalls) ? 1 : 0;
  if (Status status = job->broadcast(&calls_only, 1, job->comm_); !status.ok()) return status;
  const Status mine = attempt([&]() -> Status {
    job->trace_ = std::make_shared<Trace>(std::clamp<std::uint64_t>(events, 1, kMostEvents),
                                          job->rank_, calls_only != 0);
    if (job->rank_ != 0) return {};
    const std::string file = calls_only != 0 ? path.substr(kCalls.size()) : path;
    if (file.empty()) return {StatusCode::kInvalidArgument, "the path is NULL or empty"};
    job->path_ = file;
    // A file that cannot be written should be reported before a long run. A pipe is not opened
    // here: its reader would take the attempt for the whole.
    std::error_code unknown;
    return std::filesystem::is_fifo(file, unknown) ? Status() : TraceFile::create(file, 0).status();
  });
  if (Status agreed = job->agreement_.agree(mine); !agreed.ok()) return agreed;
  job->start_ = traceClock();
  if (Status status = job->measureClocks(job->first_clocks_); !status.ok()) return status;
  return job;
}

Status TraceJob::duplicate(MPI_Comm parent) {
  MPI_Request request = MPI_REQUEST_NULL;
  Status status =
      context_->waitFor(startDuplicate(&request, parent, &comm_), &request, "MPI_Comm_idup");
  if (!status.ok()) return status;
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  rank_ = commRank(comm_);
  size_ = commSize(comm_);
  PMPI_Comm_group(comm_, &group_);
  agreement_.open(comm_, [this] { context_->advance(); });
  return {};
}

TraceJob::~TraceJob() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  if (group_ != MPI_GROUP_NULL) PMPI_Group_free(&group_);
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

Status TraceJob::send(const void* data, std::size_t bytes, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kTag, comm_, &request);
  return context_->waitFor(code, &request, "MPI_Isend");
}

Status TraceJob::receive(void* data, std::size_t bytes, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kTag, comm_, &request);
  return context_->waitFor(code, &request, "MPI_Irecv");
}

/// From rank 0 of `comm`.
Status TraceJob::broadcast(void* data, std::size_t bytes, MPI_Comm comm) {
  ServiceCollective telling;
  telling.broadcast(comm, data, bytes, 0);
  return telling.wait([this] { context_->advance(); });
}

StatusOr<std::shared_ptr<const GeometryTrace>> TraceJob::addGeometry(MPI_Comm comm) {
  const int size = commSize(comm);
  // All ranks take part, before one may lack memory.
  std::uint64_t number = 0;
  if (commRank(comm) == 0) number = traceHash(static_cast<std::uint64_t>(rank_), ++geometries_);
  if (Status status = broadcast(&number, sizeof(number), comm); !status.ok()) return status;
  auto result = std::make_shared<GeometryTrace>();
  result->trace = trace_;
  result->of_all = size == size_;
  result->number = number;
  result->trace_rank = translatedRanks(comm, 0, size, group_);
  std::replace(result->trace_rank.begin(), result->trace_rank.end(), MPI_UNDEFINED, -1);
  return std::shared_ptr<const GeometryTrace>(std::move(result));
}

/// Rank 0 asks each rank in turn for the time, and keeps the fastest answer. Processes with the
/// same clock are not asked.
Status TraceJob::measureClocks(std::vector<ClockSample>& samples) {
  const std::uint64_t identity = traceClockIdentity();
  if (rank_ != 0) {
    for (int i = 0; i < kExchangesPerRank; ++i) {
      ClockReading now;
      if (Status status = receive(&now, sizeof(now), 0); !status.ok()) return status;
      now = {traceClock(), identity};
      if (Status status = send(&now, sizeof(now), 0); !status.ok()) return status;
    }
    return {};
  }
  samples.resize(static_cast<std::size_t>(size_));
  samples[0].at = traceClock();
  for (int peer = 1; peer < size_; ++peer) {
    ClockSample& best = samples[static_cast<std::size_t>(peer)];
    for (int i = 0; i < kExchangesPerRank; ++i) {
      ClockReading there;
      const std::int64_t asked = traceClock();
      if (Status status = send(&there, sizeof(there), peer); !status.ok()) return status;
      if (Status status = receive(&there, sizeof(there), peer); !status.ok()) return status;
      const std::int64_t answered = traceClock();
      const std::int64_t error = (answered - asked + 1) / 2;
      if (identity != 0 && there.identity == identity) {
        best = {there.time, 0, 0};
      } else if (i == 0 || error < best.error) {
        best = {there.time, there.time - (asked + error), error};
      }
    }
  }
  return {};
}

/// Exchanges with every peer the numbers of the messages of `kind` between the two.
Status TraceJob::tellPeers(const std::vector<TraceEvent>& events, TraceKind kind,
                           std::vector<std::uint64_t>& told) {
  const auto size = static_cast<std::size_t>(size_);
  std::vector<int> counts(size), offsets(size), their_counts(size), their_offsets(size);
  const auto matters = [&](const TraceEvent& event) {
    return event.kind == kind && event.peer >= 0;
  };
  for (const TraceEvent& event : events)
    if (matters(event)) ++counts[static_cast<std::size_t>(event.peer)];
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  std::vector<std::uint64_t> flows(static_cast<std::size_t>(offsets.back() + counts.back()));
  std::vector<int> next = offsets;
  for (const TraceEvent& event : events) {
    if (!matters(event)) continue;
    flows[static_cast<std::size_t>(next[static_cast<std::size_t>(event.peer)]++)] = event.flow;
  }

  const std::vector<int> ones(size, 1);
  std::vector<int> steps(size);
  std::iota(steps.begin(), steps.end(), 0);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = startAlltoallv(&request, counts.data(), ones.data(), steps.data(), MPI_INT,
                            their_counts.data(), ones.data(), steps.data(), MPI_INT, comm_);
  Status status = context_->waitFor(code, &request, "MPI_Ialltoallv");
  if (!status.ok()) return status;
  std::exclusive_scan(their_counts.begin(), their_counts.end(), their_offsets.begin(), 0);
  told.resize(static_cast<std::size_t>(their_offsets.back()) +
              static_cast<std::size_t>(their_counts.back()));
  code =
      startAlltoallv(&request, flows.data(), counts.data(), offsets.data(), MPI_UINT64_T,
                     told.data(), their_counts.data(), their_offsets.data(), MPI_UINT64_T, comm_);
  return context_->waitFor(code, &request, "MPI_Ialltoallv");
}

/// Messages whose other end is not in the trace (dropped, never completed) lose their flow.
Status TraceJob::matchFlows(std::vector<TraceEvent>& events) {
  for (const auto& [kind, other] : {std::pair(TraceKind::kSend, TraceKind::kReceive),
                                    std::pair(TraceKind::kReceive, TraceKind::kSend)}) {
    std::vector<std::uint64_t> told;
    if (Status status = tellPeers(events, kind, told); !status.ok()) return status;
    std::ranges::sort(told);
    for (TraceEvent& event : events) {
      const bool has_end = event.kind != other || std::ranges::binary_search(told, event.flow);
      if (!has_end) event.flow = 0;
    }
  }
  return {};
}

Status TraceJob::sendEvents(const RankTrace& mine) {
  std::string texts;
  for (const std::string& text : mine.texts) {
    texts += text;
    texts += '\0';
  }
  const Header header{mine.events.size(), mine.dropped, mine.coordinates.size(), texts.size(),
                      mine.texts.size()};
  char turn = 0;
  if (Status status = receive(&turn, 1, 0); !status.ok()) return status;
  const std::pair<const void*, std::size_t> parts[] = {
      {&header, sizeof(header)},
      {mine.events.data(), mine.events.size() * sizeof(TraceEvent)},
      {mine.coordinates.data(), mine.coordinates.size()},
      {texts.data(), texts.size()}};
  for (const auto& [data, bytes] : parts) {
    if (Status status = send(data, bytes, 0); !status.ok()) return status;
  }
  return {};
}

/// Receives the events of `rank.rank`, on rank 0.
Status TraceJob::receiveEvents(RankTrace& rank) {
  Header header;
  char turn = 0;
  if (Status status = send(&turn, 1, rank.rank); !status.ok()) return status;
  if (Status status = receive(&header, sizeof(header), rank.rank); !status.ok()) return status;
  rank.events.resize(header.events);
  rank.coordinates.resize(header.coordinates_bytes);
  rank.dropped = header.dropped;
  std::string texts(header.text_bytes, '\0');
  const std::pair<void*, std::size_t> parts[] = {
      {rank.events.data(), rank.events.size() * sizeof(TraceEvent)},
      {rank.coordinates.data(), rank.coordinates.size()},
      {texts.data(), texts.size()}};
  for (const auto& [data, bytes] : parts) {
    if (Status status = receive(data, bytes, rank.rank); !status.ok()) return status;
  }
  for (std::size_t at = 0; rank.texts.size() < header.texts;) {
    rank.texts.emplace_back(texts.c_str() + at);
    at += rank.texts.back().size() + 1;
  }
  return {};
}

/// On rank 0: writes its own events, then those of the others, with one rank's in memory at a time.
Status TraceJob::writeAll(TraceFile& file, RankTrace& mine,
                          const std::vector<ClockSample>& last_clocks, std::uint64_t& dropped) {
  for (int number = 0; number < size_; ++number) {
    RankTrace other;
    other.rank = number;
    RankTrace& rank = number == 0 ? mine : other;
    if (number > 0) {
      if (Status status = receiveEvents(rank); !status.ok()) return status;
    }
    rank.first_clock = first_clocks_[static_cast<std::size_t>(number)];
    rank.last_clock = last_clocks[static_cast<std::size_t>(number)];
    dropped += rank.dropped;
    file.add(rank);
  }
  return file.finish();
}

Status TraceJob::close(std::uint64_t& dropped) {
  dropped = 0;
  RankTrace mine;
  mine.rank = rank_;
  mine.events = trace_->close();
  mine.texts = trace_->texts();
  mine.coordinates = trace_->coordinates();
  mine.dropped = trace_->dropped();
  std::vector<ClockSample> last_clocks;
  if (Status status = measureClocks(last_clocks); !status.ok()) return status;
  if (Status status = matchFlows(mine.events); !status.ok()) return status;

  std::unique_ptr<TraceFile> file;
  Status status;
  if (rank_ == 0) {
    StatusOr<std::unique_ptr<TraceFile>> created = TraceFile::create(path_, start_);
    if (created.ok()) {
      file = std::move(*created);
    } else {
      status = created.status();
    }
  }
  if (status = agreement_.agree(status); !status.ok()) return status;
  status = rank_ == 0 ? writeAll(*file, mine, last_clocks, dropped) : sendEvents(mine);
  if (status = agreement_.agree(status); !status.ok()) return status;
  return broadcast(&dropped, sizeof(dropped), comm_);
}

namespace {

Status openTrace(torc_context* context, MPI_Comm comm, const char* path, std::uint64_t events) {
  if (Status status = checkContext(context); !status.ok()) return status;
  if (comm == MPI_COMM_NULL) {
    return {StatusCode::kInvalidArgument, "the communicator is MPI_COMM_NULL"};
  }
  if (context->trace_job != nullptr) {
    return {StatusCode::kBusy, "the context is traced already"};
  }
  StatusOr<std::unique_ptr<TraceJob>> job = TraceJob::open(
      context, comm, path != nullptr ? path : "", events > 0 ? events : kDefaultEvents);
  if (!job.ok()) return job.status();
  context->trace_job = std::move(*job);
  context->trace = context->trace_job->trace();
  return {};
}

Status closeTrace(torc_context* context, std::uint64_t& dropped) {
  if (Status status = checkContext(context); !status.ok()) return status;
  if (context->trace_job == nullptr) {
    return {StatusCode::kInvalidArgument, "the context is not traced"};
  }
  const std::shared_ptr<TraceJob> job = std::move(context->trace_job);
  context->trace.reset();
  return job->close(dropped);
}

}  // namespace
}  // namespace torc::runtime

using namespace torc::runtime;

int torc_trace_open(torc_context* context, MPI_Comm comm, const char* path, uint64_t events) {
  return apiCall(__func__, [&] { return openTrace(context, comm, path, events); });
}

int torc_trace_close(torc_context* context, uint64_t* dropped) {
  std::uint64_t count = 0;
  const int code = apiCall(__func__, [&] { return closeTrace(context, count); });
  if (dropped != nullptr) *dropped = count;
  return code;
}
