// The trace of a job: every rank records its own events, and at the end rank 0 writes one file.
//
// All times in the file are on rank 0's clock. The offset of each rank's clock is measured at the
// beginning and at the end, each time as the best of a few exchanges of messages; its error is at
// most half a round trip. Ranks on rank 0's host read the same clock, and need no offset.
//
// Functions here are collective over the trace's ranks, and fail alike on all of them.
#ifndef TORC_RUNTIME_JOB_TRACE_JOB_H_
#define TORC_RUNTIME_JOB_TRACE_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "runtime/job/context.h"
#include "runtime/non_copyable.h"
#include "runtime/service/agreement.h"
#include "runtime/trace/trace.h"
#include "schedules/topology/topology.h"
#include "support/status.h"
#include "trace/trace_file.h"

namespace torc::runtime {

/// Data of a geometry whose collectives are traced.
struct GeometryTrace {
  std::shared_ptr<Trace> trace;
  std::uint64_t number = 0;              // unique, the same on the geometry's ranks
  bool of_all = false;                   // its ranks are those of the trace
  std::vector<std::int32_t> trace_rank;  // of its communicator's ranks; -1: not traced
};

class TraceJob : NonCopyable {
 public:
  /// Only rank 0's `path` is significant: FILE, or calls:FILE; `events` on every rank. The context
  /// progresses while ranks wait.
  static StatusOr<std::unique_ptr<TraceJob>> open(torc_context* context, MPI_Comm comm,
                                                  const std::string& path, std::uint64_t events);
  ~TraceJob();

  /// Writes the file. `dropped`: events of all ranks that found no room.
  Status close(std::uint64_t& dropped);

  /// Collective over `comm`, the communicator of a new geometry.
  StatusOr<std::shared_ptr<const GeometryTrace>> addGeometry(MPI_Comm comm);

  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  explicit TraceJob(torc_context* context) : context_(context) {}
  Status duplicate(MPI_Comm parent);
  Status send(const void* data, std::size_t bytes, int to);
  Status receive(void* data, std::size_t bytes, int from);
  Status broadcast(void* data, std::size_t bytes, MPI_Comm comm);
  Status measureClocks(std::vector<ClockSample>& samples);
  Status tellPeers(const std::vector<TraceEvent>& events, TraceKind kind,
                   std::vector<std::uint64_t>& told);
  Status matchFlows(std::vector<TraceEvent>& events);
  Status sendEvents(const RankTrace& mine);
  Status receiveEvents(RankTrace& rank);
  Status writeAll(TraceFile& file, RankTrace& mine, const std::vector<ClockSample>& last_clocks,
                  std::uint64_t& dropped);

  torc_context* context_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Group group_ = MPI_GROUP_NULL;
  Agreement agreement_;
  int rank_ = 0, size_ = 1;
  std::string path_;
  std::int64_t start_ = 0;                 // rank 0's clock
  std::vector<ClockSample> first_clocks_;  // of all ranks, on rank 0
  std::uint64_t geometries_ = 0;           // geometries numbered by this rank
  std::shared_ptr<Trace> trace_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_TRACE_JOB_H_
