// Context: progress of rounds under way, and the polling of waiting calls.
#ifndef TORC_RUNTIME_JOB_CONTEXT_H_
#define TORC_RUNTIME_JOB_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/non_copyable.h"
#include "runtime/transport/put/memory_share.h"
#include "runtime/transport/smpi.h"
#include "runtime/transport/transport.h"
#include "settings/settings.h"
#include "support/backoff.h"
#include "support/status.h"

namespace torc::runtime {

class CoreThreads;
class Trace;
class TraceJob;

/// The rounds of a collective, seen from the context of its communicator: one at a time.
class Round : NonCopyable {
 public:
  virtual ~Round() = default;
  /// Makes progress; true when complete.
  virtual bool advance() = 0;
  /// After completion: last copies, and the callback. The round is no longer linked.
  virtual void finish() = 0;
  /// Whether no message can touch its memory any more.
  virtual bool isDrained() = 0;

 private:
  friend struct ::torc_context;
  Round* previous_ = nullptr;
  Round* next_ = nullptr;
  std::uint64_t started_in_pass_ = 0;
};

/// The checks of a context that every collective function makes.
Status checkContext(const torc_context* context);

}  // namespace torc::runtime

struct torc_context : torc::runtime::NonCopyable {
  torc_context();
  ~torc_context();

  /// Adds an active round to, or removes it from, the list that `advance` walks.
  void link(torc::runtime::Round* round);
  void unlink(torc::runtime::Round* round);

  /// Frees a collective once no message can touch its memory any more.
  void dispose(std::unique_ptr<torc::runtime::Round> round);

  /// One pass over the active rounds; calls callbacks. Returns the number of rounds completed.
  int advance();

  /// After a poll of `wait` without progress: yields the core if that helps.
  void rest(torc::Backoff& wait) const;

  /// Makes progress until done() is true.
  template <typename Done>
  void progressUntil(Done done) {
    for (torc::Backoff wait; !done(); rest(wait))
      advance();
  }

  /// Grows whenever steps of rounds complete. Read by any thread.
  std::atomic<std::uint64_t> moves{0};

  /// Whether MPI may wait for `round`: nothing else is under way on this rank.
  bool waitsInside(const torc::runtime::Round* round) const {
    return torc::runtime::kSimulated && first_ == round && last_ == round;
  }

  /// Whether no round is under way.
  bool isIdle() const { return first_ == nullptr; }

  /// Waits for an MPI request of a call that returned `started`, with progress on collectives:
  /// another rank may need that progress before it makes the matching call.
  torc::Status waitFor(int started, MPI_Request* request, const char* call);

  /// Uses up to `wanted` cores for reductions and copies of future geometries, the caller's
  /// included; returns their number: at most as many as the process may run on.
  int useCores(std::uint32_t wanted);

  int geometries = 0;
  int libraries = 0;
  int oversubscribed_geometries = 0;
  bool in_callback = false;
  torc::runtime::SentBytes sent;                                   // in messages of all collectives
  torc::TransportChoice transport = torc::TransportChoice::kAuto;  // for future geometries
  std::unique_ptr<torc::runtime::CoreThreads> cores;               // null: the caller's core alone

  // Null unless the context is traced. Collectives keep the trace until they are freed.
  std::shared_ptr<torc::runtime::TraceJob> trace_job;
  std::shared_ptr<torc::runtime::Trace> trace;

  // For the segments of all geometries.
  std::shared_ptr<torc::runtime::MemoryShare> put_memory =
      std::make_shared<torc::runtime::MemoryShare>();

 private:
  torc::runtime::Round* first_ = nullptr;
  torc::runtime::Round* last_ = nullptr;
  std::uint64_t pass_ = 0;
  std::vector<std::unique_ptr<torc::runtime::Round>> disposed_;  // not drained yet
};

#endif  // TORC_RUNTIME_JOB_CONTEXT_H_
