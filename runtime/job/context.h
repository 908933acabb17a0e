// Context: progress of started collectives, and how waiting calls wait.
#ifndef TORC_RUNTIME_JOB_CONTEXT_H_
#define TORC_RUNTIME_JOB_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/transport/smpi.h"
#include "support/status.h"

namespace torc::runtime {
class LaidOutCall;
class Trace;
class TraceJob;
}  // namespace torc::runtime

struct torc_context {
  torc_context();
  torc_context(const torc_context&) = delete;
  torc_context& operator=(const torc_context&) = delete;
  ~torc_context();

  /// Adds a started collective to, or takes one from, the list that `advance` walks.
  void link(torc_collective* collective);
  void unlink(torc_collective* collective);

  /// Takes a laid-out call that is used no more. One that has failed lives on, with its memory,
  /// until no message can touch that any more.
  void dispose(std::unique_ptr<torc::runtime::LaidOutCall> call);

  /// One pass over the started collectives; calls callbacks. Returns how many completed.
  int advance();

  /// Lets others run when that helps; `passes` counts this wait's fruitless looks.
  void rest(unsigned passes) const;

  /// Whether waiting for `collective` is left to MPI: nothing else is under way on this rank.
  bool waitsInside(const torc_collective* collective) const {
    return torc::runtime::kSimulated && first_ == collective && last_ == collective;
  }

  /// Whether no collective is started.
  bool isIdle() const { return first_ == nullptr; }

  /// Waits for an MPI request while the collectives go on: another rank may need them to get to
  /// its side of what the request stands for.
  torc::Status waitFor(MPI_Request* request, const char* call);

  int geometries = 0;
  int libraries = 0;
  int oversubscribed_geometries = 0;
  bool in_callback = false;

  // Null unless what the context does is traced. Collectives keep the trace until they are freed.
  std::shared_ptr<torc::runtime::TraceJob> trace_job;
  std::shared_ptr<torc::runtime::Trace> trace;

 private:
  torc_collective* first_ = nullptr;
  torc_collective* last_ = nullptr;
  std::uint64_t pass_ = 0;
  std::vector<std::unique_ptr<torc::runtime::LaidOutCall>> failed_;  // see dispose
};

#endif  // TORC_RUNTIME_JOB_CONTEXT_H_
