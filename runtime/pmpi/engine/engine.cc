// Engine: the lock, progress, and objects that live until their last operation ends.
#include "runtime/pmpi/engine/engine.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/which_mpi.h"

namespace torc::runtime::pmpi {

Engine* engine = nullptr;

namespace {

std::mutex engine_mutex;
std::atomic<bool> has_reports{false};

// With a core for every rank: polls without progress before a waiting call yields its core. A poll
// takes about 0.1 us, a yield without other threads 0.25 us.
constexpr unsigned kLooksBeforeYield = 300;

// Polls between two readings of the clock, and seconds between two checks for stalls and notices of
// other ranks.
constexpr unsigned kLooksBeforeClock = 64;
constexpr double kWatchSeconds = 0.05;
// Upper limit of waiting time counted between two checks: the program may have computed in between.
constexpr double kMostSecondsWaited = 0.5;
constexpr std::size_t kMostEarly = 256;

}  // namespace

EngineLock::EngineLock() {
  if (has_threads.load(std::memory_order_relaxed)) engine_mutex.lock();
  inside_torc = true;
}

EngineLock::~EngineLock() {
  inside_torc = false;
  if (has_threads.load(std::memory_order_relaxed)) engine_mutex.unlock();
}

int reportFailures() {
  int told = MPI_SUCCESS;
  while (has_reports.load(std::memory_order_relaxed)) {
    MPI_Comm comm = MPI_COMM_NULL;
    int code = MPI_SUCCESS;
    {
      EngineLock lock;
      if (!engine->takeReport(&comm, &code)) break;
    }
    tellErrorHandler(comm, told = code);
  }
  return told;
}

void tellErrorHandler(MPI_Comm comm, int code) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  if (endsJob(handler)) letLauncherRead();
  PMPI_Errhandler_free(&handler);
  PMPI_Comm_call_errhandler(comm, code);
}

/// Clang's analysis does not support a conditional lock.
void advance() TORC_NO_THREAD_SAFETY_ANALYSIS {
  if (inside_torc || engine == nullptr) return;
  const bool locks = has_threads.load(std::memory_order_relaxed);
  if (locks && !engine_mutex.try_lock()) return;
  inside_torc = true;
  engine->advance();
  inside_torc = false;
  if (locks) engine_mutex.unlock();
}

void goOn() {
  if (std::exchange(in_refused, false)) return;
  EngineLock lock;
  if (engine != nullptr) engine->tellRefused();
}

void rest(Backoff& backoff) {
  backoff.afterLook(oversubscribed.load(std::memory_order_relaxed) ? 0 : kLooksBeforeYield,
                    engine == nullptr ? 0 : engine->moves());
}

int waitFor(int started, MPI_Request* request, MPI_Status* status) {
  if (started != MPI_SUCCESS) return started;
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = PMPI_Test(request, &done, status);
    return done || code != MPI_SUCCESS;
  });
  return code;
}

void Engine::advance() {
  context.advance();
  std::erase_if(in_mpi, std::mem_fn(&Operation::testMpi));
  // A queue may become empty, but none is added here.
  std::erase_if(waiting, std::mem_fn(&CommunicatorState::proceed));
  countLook();
  if (has_failed_states) endFailed();
  if (!abandoned_.empty() || hasAbandoned()) destroyAbandoned();
}

void Engine::countLook() {
  if (++looks_ % kLooksBeforeClock == 0) watch();
}

/// Receives notices of other ranks, and checks operations for stalls.
void Engine::watch() {
  const double now = PMPI_Wtime();
  const double waited = now - last_watch_;
  if (waited < kWatchSeconds) return;
  last_watch_ = now;
  const Status status = attempt([&]() TORC_REQUIRES(engine_lock) {
    for (Notice notice; notices.receive(notice);) {
      const auto found = by_id.find(notice.communicator);
      if (found != by_id.end()) {
        found->second->history().take(notice);
      } else if (notice.kind == NoticeKind::kFailed || notice.kind == NoticeKind::kRefused) {
        // A freed communicator has no calls that could stall: few notices need to be kept.
        if (early.size() == kMostEarly) early.erase(early.begin());
        early.push_back(notice);
      }
    }
    for (Operation* operation = first_; operation != nullptr; operation = operation->next)
      operation->watch(std::min(waited, kMostSecondsWaited));
  });
  // Without memory the stall is not reported; the call that needs memory fails by itself.
  static_cast<void>(status);
}

/// Ends the operations of communicators on which a call has failed.
void Engine::endFailed() {
  has_failed_states = false;
  // Each ends at most once, and may remove itself from the list.
  for (Operation* operation = first_; operation != nullptr;) {
    if (operation->hasFailed()) {
      operation->giveUp();
      operation = first_;
    } else {
      operation = operation->next;
    }
  }
}

void Engine::add(Operation* operation) {
  operation->previous = nullptr;
  operation->next = first_;
  if (first_ != nullptr) first_->previous = operation;
  first_ = operation;
}

void Engine::destroy(Operation* operation) {
  (operation->previous != nullptr ? operation->previous->next : first_) = operation->next;
  if (operation->next != nullptr) operation->next->previous = operation->previous;
  delete operation;
}

Operation* Engine::persistentOperation(MPI_Request request) const {
  const auto found = persistent.find(request);
  return found == persistent.end() ? nullptr : found->second;
}

void Engine::report(CommunicatorState& state, int code) {
  reports_.push_back({&state, code});
  ++state.operations;  // keeps the state alive
  has_reports.store(true, std::memory_order_relaxed);
}

void Engine::noteRefused() {
  if (!has_refused.exchange(true)) attention.fetch_add(1);
}

void Engine::tellRefused() {
  if (!has_refused.exchange(false)) return;
  attention.fetch_sub(1);
  for (CommunicatorState* state : states)
    state->history().tellRefused();
}

bool Engine::takeReport(MPI_Comm* comm, int* code) {
  if (reports_.empty()) {
    has_reports.store(false, std::memory_order_relaxed);
    return false;
  }
  destroyAbandoned();  // finds the communicators that are freed by now
  const Report report = reports_.front();
  reports_.erase(reports_.begin());
  *comm = report.state->communicatorForErrors();
  *code = report.code;
  --report.state->operations;
  return true;
}

void Engine::abandon(CommunicatorState* state) {
  communicators_freed.fetch_add(1, std::memory_order_relaxed);
  state->next_freed = freed_.load(std::memory_order_relaxed);
  while (!freed_.compare_exchange_weak(state->next_freed, state, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

void Engine::destroyAbandoned() {
  CommunicatorState* state = freed_.exchange(nullptr, std::memory_order_acquire);
  for (; state != nullptr; state = state->next_freed) {
    state->communicatorFreed();
    abandoned_.push_back(state);
  }
  std::erase_if(abandoned_, [this](CommunicatorState* idle) TORC_REQUIRES(engine_lock) {
    if (idle->inUse()) return false;
    states.erase(idle);
    delete idle;
    return true;
  });
}

void Engine::destroyAll() {
  while (!persistent.empty()) {
    MPI_Request handle = persistent.begin()->first;
    persistent.begin()->second->freePersistent();
    PMPI_Request_free(&handle);
  }
  communicators_freed.fetch_add(1, std::memory_order_relaxed);
  for (CommunicatorState* state : states)
    delete state;
  states.clear();
  abandoned_.clear();
}

}  // namespace torc::runtime::pmpi
